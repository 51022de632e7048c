package main

import (
	"context"
	"fmt"
	"log/slog"

	"connectrpc.com/connect"

	"github.com/berthhq/berth/clients/go/berth"
	v1 "github.com/berthhq/berth/gen/berth/v1"
)

// run reads the event log from its beginning, or from where the last run stopped, and then follows it.
//
// An event says which booking changed, and run reads the current booking. So handling an event twice leaves the same
// row as handling it once. To miss nothing it only needs this order: first store the rows durably, then the
// cursor that says so.
func run(ctx context.Context, client *berth.Client, file string, log *slog.Logger) error {
	t, err := openTable(file)
	if err != nil {
		return err
	}
	cursor, err := readCursor(file)
	if err != nil {
		return err
	}
	handle := func(events []*v1.Event, cursor string) error {
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

	if cursor == "" { // without a cursor a watch would start now
		request := &v1.ListEventsRequest{PageSize: 500}
		for page, err := range berth.Pages(ctx, client.Events.ListEvents, request) {
			if err != nil {
				return err
			}
			events := page.GetEvents()
			if page.GetNextPageToken() == "" {
				cursor = page.GetEndCursor()
			} else if len(events) > 0 { // the end of the log is after this page
				cursor = events[len(events)-1].GetCursor()
			}
			if err := handle(events, cursor); err != nil {
				return err
			}
		}
	}
	for message, err := range client.Watch(ctx, &v1.WatchEventsRequest{Cursor: cursor}) {
		if err != nil {
			return err
		}
		if err := handle(message.GetEvents(), message.GetCursor()); err != nil {
			return err
		}
	}
	return nil
}

// bookingsOf returns the IDs of the bookings that the events are about, each once.
// It handles new types of events, too.
func bookingsOf(events []*v1.Event) map[string]bool {
	ids := map[string]bool{}
	for _, e := range events {
		if id := e.GetBookingId(); id != "" {
			ids[id] = true
		}
	}
	return ids
}
