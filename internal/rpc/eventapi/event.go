package eventapi

import (
	"cmp"
	"context"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

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

const defaultHeartbeat = 15 * time.Second

// ListEvents handles EventService.ListEvents.
func (s *Events) ListEvents(ctx context.Context, req *v1.ListEventsRequest) (*v1.ListEventsResponse, error) {
	page, err := convert.ParsePage[events.EventCursor](req)
	if err != nil {
		return nil, err
	}
	caller, err := reader(ctx, request.Caller(ctx))
	if err != nil {
		return nil, err
	}
	found, err := s.Service.ListEvents(ctx, caller, events.EventQuery{
		Filter: eventFilterValue(req.GetFilter()), Cursor: req.GetCursor(), After: page.After,
		Backwards: req.GetNewestFirst(), Limit: page.Size,
	})
	if page.After != nil && fault.ReasonOf(err) == fault.InvalidField {
		err = convert.ErrPageToken.WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	response := &v1.ListEventsResponse{Events: eventMessages(caller.Tenant, found.Events), EndCursor: found.End}
	if found.Next != nil {
		response.NextPageToken = page.NextToken(*found.Next)
	}
	return response, nil
}

// reader returns the caller with the permissions that decide which events it may read.
func reader(ctx context.Context, caller tenant.Caller) (events.EventReader, error) {
	granted, err := request.Permitted(ctx, caller, events.ReadPermissions)
	return events.EventReader{Caller: caller, May: granted}, err
}

var errTokenExpired = fault.New(
	fault.Unauthenticated, fault.UnauthenticatedReason,
	"The token has expired. Watch again with a new one, from the last cursor.",
)

// maxWatched is the size, in bytes of protobuf, at which a message of a stream is cut. With it the message stays below
// 1 MiB in JSON, too.
const maxWatched = 256 << 10

// cut divides events, in their order, into messages of at most a size: at least one message, and at least one event in
// each unless there is none.
func cut(events []*v1.Event, size int) [][]*v1.Event {
	var parts [][]*v1.Event
	start, total := 0, 0
	for i, e := range events {
		n := proto.Size(e) + 8 // with its tag and length
		if total+n > size && i > start {
			parts, start, total = append(parts, events[start:i]), i, 0
		}
		total += n
	}
	return append(parts, events[start:])
}

// WatchEvents handles EventService.WatchEvents.
func (s *Events) WatchEvents(
	ctx context.Context, req *v1.WatchEventsRequest, stream *connect.ServerStream[v1.WatchEventsResponse],
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
	watch, err := s.Service.WatchEvents(ctx, caller, eventFilterValue(req.GetFilter()), req.GetCursor())
	if err != nil {
		return err
	}
	defer watch.Close()
	start := s.NewHeartbeat
	if start == nil {
		start = newHeartbeat
	}
	heartbeat := start(cmp.Or(convert.DurationValue(req.GetHeartbeatInterval()), defaultHeartbeat))
	defer heartbeat.Stop()

	sent := watch.Cursor()
	send := func(events []*events.EventRecord, caller tenant.Caller) error {
		heartbeat.Reset()
		parts := cut(eventMessages(caller.Tenant, events), maxWatched)
		for _, part := range parts[:len(parts)-1] {
			// Some changes of seats may be older than these events, and come last: who resumes here starts with this part.
			if err := stream.Send(&v1.WatchEventsResponse{Events: part, Cursor: sent}); err != nil {
				return err
			}
		}
		sent = watch.Cursor()
		return stream.Send(&v1.WatchEventsResponse{Events: parts[len(parts)-1], Cursor: sent})
	}
	if err := send(nil, caller); err != nil {
		return err
	}
	var due <-chan time.Time
	for {
		events, err := watch.Next(ctx, heartbeat.Ticks, due)
		if err != nil {
			return err
		}
		// Roles may have changed, while the stream was silent or by one of these events.
		if caller, err = request.Reauthorize(ctx); err != nil {
			return err
		}
		reader, err := reader(ctx, caller)
		if err != nil {
			return err
		}
		now := s.Now()
		visible := watch.See(events, reader, now)
		if due = nil; watch.Wait(now) > 0 {
			due = time.After(watch.Wait(now))
		}
		if len(visible) == 0 && len(events) > 0 {
			continue
		}
		if err := send(visible, caller); err != nil {
			return err
		}
	}
}
