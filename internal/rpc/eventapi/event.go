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

// A Heartbeat ticks at an interval. Reset restarts the interval.
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
	defaultHeartbeat = 15 * time.Second
	// defaultSendTimeout ends streams whose client has stopped reading. Such a client receives no error, because it
	// does not read.
	defaultSendTimeout = 30 * time.Second
)

// ListEvents handles EventService.ListEvents.
func (s *Events) ListEvents(
	ctx context.Context, req *connect.Request[v1.ListEventsRequest],
) (*connect.Response[v1.ListEventsResponse], error) {
	page, err := convert.ParsePage[events.EventCursor](req.Msg)
	if err != nil {
		return nil, err
	}
	caller := request.Caller(ctx)
	found, err := s.Service.ListEvents(ctx, caller, events.EventQuery{
		Filter: eventFilterValue(req.Msg.GetFilter()), Cursor: req.Msg.GetCursor(), After: page.After,
		Backwards: req.Msg.GetNewestFirst(), Limit: page.Size,
	})
	if page.After != nil && fault.ReasonOf(err) == fault.InvalidField {
		err = convert.ErrPageToken.WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	response := &v1.ListEventsResponse{Events: eventMessages(caller.Tenant, found.Events), EndCursor: found.End}
	if found.Next != nil {
		if response.NextPageToken, err = page.NextToken(*found.Next); err != nil {
			return nil, err
		}
	}
	return convert.Response(response)
}

var errTokenExpired = fault.New(
	fault.Unauthenticated, fault.UnauthenticatedReason,
	"The token has expired. Watch again with a new one, from the last cursor.",
)

// WatchEvents handles EventService.WatchEvents.
func (s *Events) WatchEvents(
	ctx context.Context, req *connect.Request[v1.WatchEventsRequest], stream *connect.ServerStream[v1.WatchEventsResponse],
) (err error) {
	// The stream must not outlive the token that permits it.
	ctx, cancel := context.WithTimeoutCause(ctx, request.CallFrom(ctx).Principal.Expires.Sub(s.Now()), errTokenExpired)
	defer cancel()
	defer func() {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // why the context ended, not what failed because of it
		}
	}()
	caller := request.Caller(ctx)
	watch, err := s.Service.WatchEvents(ctx, caller, eventFilterValue(req.Msg.GetFilter()), req.Msg.GetCursor())
	if err != nil {
		return err
	}
	defer watch.Close()
	start := s.NewHeartbeat
	if start == nil {
		start = newHeartbeat
	}
	heartbeat := start(cmp.Or(convert.DurationValue(req.Msg.GetHeartbeatInterval()), defaultHeartbeat))
	defer heartbeat.Stop()

	send := func(events []*events.EventRecord, caller tenant.Caller) error {
		heartbeat.Reset()
		reset := request.CallFrom(ctx).SetWriteTimeout(cmp.Or(s.SendTimeout, defaultSendTimeout))
		defer reset()
		return stream.Send(&v1.WatchEventsResponse{Events: eventMessages(caller.Tenant, events), Cursor: watch.Cursor()})
	}
	if err := send(nil, caller); err != nil {
		return err
	}
	for {
		events, err := watch.Next(ctx, heartbeat.Ticks)
		if err != nil {
			return err
		}
		// Roles may have changed, while the stream was silent or by one of these events.
		if caller, err = request.Reauthorize(ctx); err != nil {
			return err
		}
		visible := watch.See(events, caller)
		if len(visible) == 0 && len(events) > 0 {
			continue
		}
		if err := send(visible, caller); err != nil {
			return err
		}
	}
}
