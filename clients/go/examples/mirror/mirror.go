package main

import (
	"context"
	"fmt"
	"log/slog"

	"connectrpc.com/connect"

	"github.com/berthhq/berth/clients/go/berth"
	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// run goes through the log from its beginning, or from where the last run got to, and then follows it.
//
// An event says which booking changed, and the booking is read as it is now. So dealing with an event twice leaves the same
// row as doing it once, and this order is all that it takes to miss nothing: first the rows are made durable, then
// the cursor that says that they are.
func run(ctx context.Context, client *berth.Client, file string, log *slog.Logger) error {
	t, err := openTable(file)
	if err != nil {
		return err
	}
	cursor, err := readCursor(file)
	if err != nil {
		return err
	}
	deal := func(events []*v1.Event, cursor string) error {
		changed := false
		for id := range bookingsOf(events) {
			answer, err := client.Bookings.GetBooking(ctx, connect.NewRequest(&v1.GetBookingRequest{BookingId: id}))
			if err != nil {
				return fmt.Errorf("booking %s: %w", id, err)
			}
			changed = t.put(answer.Msg.GetBooking()) || changed
		}
		if changed {
			if err := t.write(); err != nil {
				return err
			}
			log.LogAttrs(ctx, slog.LevelInfo, "written", slog.Int("events", len(events)), slog.Int("rows", len(t.rows)))
		}
		return writeCursor(file, cursor)
	}

	if cursor == "" { // a watch would begin now
		request := &v1.ListEventsRequest{PageSize: 500}
		for page, err := range berth.Pages(ctx, client.Events.ListEvents, request) {
			if err != nil {
				return err
			}
			events := page.GetEvents()
			if page.GetNextPageToken() == "" {
				cursor = page.GetEndCursor()
			} else if len(events) > 0 { // the end of the log is beyond this page
				cursor = events[len(events)-1].GetCursor()
			}
			if err := deal(events, cursor); err != nil {
				return err
			}
		}
	}
	for message, err := range client.Watch(ctx, &v1.WatchEventsRequest{Cursor: cursor}) {
		if err != nil {
			return err
		}
		if err := deal(message.GetEvents(), message.GetCursor()); err != nil {
			return err
		}
	}
	return nil
}

// bookingsOf are the bookings that events are about, each once. New types of events
// need no change here.
func bookingsOf(events []*v1.Event) map[string]bool {
	ids := map[string]bool{}
	for _, e := range events {
		if id := e.GetBookingId(); id != "" {
			ids[id] = true
		}
	}
	return ids
}
