package eventapi

import (
	"cmp"
	"context"
	"time"

	"connectrpc.com/connect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/events"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/request"
	"github.com/berthhq/berth/internal/tenant"
)

// Heartbeat ticks; Reset starts the time anew.
type Heartbeat struct {
	Ticks <-chan time.Time
	Reset func()
	Stop  func()
}

func newHeartbeat(every time.Duration) Heartbeat {
	ticker := time.NewTicker(every)
	return Heartbeat{ticker.C, func() { ticker.Reset(every) }, ticker.Stop}
}

const (
	usualBeat = 15 * time.Second
	// sendTimeout ends streams whose client has stopped reading. It cannot be told so: it does not read.
	sendTimeout = 30 * time.Second
)

func (s *Events) ListEvents(
	ctx context.Context, req *connect.Request[v1.ListEventsRequest],
) (*connect.Response[v1.ListEventsResponse], error) {
	page, err := convert.OpenPage[events.EventCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	who := request.Caller(ctx)
	found, err := s.Events.ListEvents(ctx, who, events.EventQuery{
		Filter: eventFilter(req.Msg.GetFilter()), Cursor: req.Msg.GetCursor(), After: page.After,
		Backwards: req.Msg.GetNewestFirst(), Limit: page.Size,
	})
	if page.After != nil && fault.ReasonOf(err) == fault.InvalidField {
		err = convert.ErrPageToken.WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	answer := &v1.ListEventsResponse{Events: eventMessages(who.Tenant, found.Events), EndCursor: found.End}
	if found.Next != nil {
		if answer.NextPageToken, err = page.Next(*found.Next); err != nil {
			return nil, err
		}
	}
	return convert.Reply(answer)
}

var errExpired = fault.New(
	fault.Unauthenticated, fault.UnauthenticatedReason, "The token has expired. Watch again with a new one, from the last cursor.",
)

func (s *Events) WatchEvents(
	ctx context.Context, req *connect.Request[v1.WatchEventsRequest], stream *connect.ServerStream[v1.WatchEventsResponse],
) (err error) {
	// What is allowed by a token ends with it.
	ctx, cancel := context.WithTimeoutCause(ctx, request.CallOf(ctx).Principal.Expires.Sub(s.Now()), errExpired)
	defer cancel()
	defer func() {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // whatever failed by it
		}
	}()
	who := request.Caller(ctx)
	watch, err := s.Events.WatchEvents(ctx, who, eventFilter(req.Msg.GetFilter()), req.Msg.GetCursor())
	if err != nil {
		return err
	}
	defer watch.Close()
	tick := s.Beat
	if tick == nil {
		tick = newHeartbeat
	}
	beat := tick(cmp.Or(convert.Span(req.Msg.GetHeartbeatInterval()), usualBeat))
	defer beat.Stop()

	send := func(events []*events.EventRecord, who tenant.Caller) error {
		beat.Reset()
		release := request.CallOf(ctx).WriteWithin(cmp.Or(s.SendTimeout, sendTimeout))
		defer release()
		return stream.Send(&v1.WatchEventsResponse{Events: eventMessages(who.Tenant, events), Cursor: watch.Cursor()})
	}
	if err := send(nil, who); err != nil {
		return err
	}
	for {
		events, err := watch.Next(ctx, beat.Ticks)
		if err != nil {
			return err
		}
		// Roles may have changed while nothing happened, and among what happened.
		if who, err = request.StillCaller(ctx); err != nil {
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
