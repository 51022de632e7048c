package rpc

import (
	"cmp"
	"context"
	"time"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// eventService serves berth.v1.EventService.
type eventService struct {
	app *app.App
	now func() time.Time
	// beat makes what ticks while a stream is silent.
	beat func(every time.Duration) heartbeat
	// sendTimeout is how long a client may leave a message untaken.
	sendTimeout time.Duration
}

// heartbeat ticks; Reset starts the time anew.
type heartbeat struct {
	ticks <-chan time.Time
	reset func()
	stop  func()
}

const (
	usualBeat = 15 * time.Second
	// sendTimeout ends streams whose client has stopped reading. It cannot be told so: it does not read.
	sendTimeout = 30 * time.Second
)

func newEventService(c Config) *eventService {
	s := &eventService{app: c.App, now: c.Now, beat: c.beat, sendTimeout: cmp.Or(c.sendTimeout, sendTimeout)}
	if s.beat == nil {
		s.beat = func(every time.Duration) heartbeat {
			ticker := time.NewTicker(every)
			return heartbeat{ticker.C, func() { ticker.Reset(every) }, ticker.Stop}
		}
	}
	return s
}

func (s *eventService) ListEvents(ctx context.Context, req *connect.Request[v1.ListEventsRequest]) (*connect.Response[v1.ListEventsResponse], error) {
	page, err := openPage[events.EventCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	who := caller(ctx)
	found, err := s.app.Events.ListEvents(ctx, who, events.EventQuery{
		Filter: eventFilter(req.Msg.GetFilter()), Cursor: req.Msg.GetCursor(), After: page.After,
		Backwards: req.Msg.GetNewestFirst(), Limit: page.Size,
	})
	if page.After != nil && fault.ReasonOf(err) == fault.InvalidField {
		err = errPageToken.Because(err)
	}
	if err != nil {
		return nil, err
	}
	answer := &v1.ListEventsResponse{Events: eventMessages(who.Tenant, found.Events), EndCursor: found.End}
	if found.Next != nil {
		if answer.NextPageToken, err = page.next(*found.Next); err != nil {
			return nil, err
		}
	}
	return reply(answer)
}

var errExpired = fault.New(fault.Unauthenticated, fault.Unauthorized, "The token has expired. Watch again with a new one, from the last cursor.")

func (s *eventService) WatchEvents(ctx context.Context, req *connect.Request[v1.WatchEventsRequest], stream *connect.ServerStream[v1.WatchEventsResponse]) (err error) {
	// What is allowed by a token ends with it.
	ctx, cancel := context.WithTimeoutCause(ctx, callOf(ctx).principal.Expires.Sub(s.now()), errExpired)
	defer cancel()
	defer func() {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // whatever failed by it
		}
	}()
	who := caller(ctx)
	watch, err := s.app.Events.WatchEvents(ctx, who, eventFilter(req.Msg.GetFilter()), req.Msg.GetCursor())
	if err != nil {
		return err
	}
	defer watch.Close()
	beat := s.beat(cmp.Or(span(req.Msg.GetHeartbeatInterval()), usualBeat))
	defer beat.stop()

	send := func(events []*events.EventRecord, who tenant.Caller) error {
		beat.reset()
		release := callOf(ctx).writeWithin(s.sendTimeout)
		defer release()
		return stream.Send(&v1.WatchEventsResponse{Events: eventMessages(who.Tenant, events), Cursor: watch.Cursor()})
	}
	if err := send(nil, who); err != nil {
		return err
	}
	for {
		events, err := watch.Next(ctx, beat.ticks)
		if err != nil {
			return err
		}
		// Roles may have changed while nothing happened, and among what happened.
		if who, err = stillCaller(ctx); err != nil {
			return err
		}
		seen := watch.See(events, who)
		if len(seen) == 0 && len(events) > 0 {
			continue
		}
		if err := send(seen, who); err != nil {
			return err
		}
	}
}
