package waitlists_test

import (
	"context"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// nights are rules with the quiet hours of the defaults.
func nights(h *testkit.Studio) {
	h.T.Helper()
	h.SetRules(func(s *waitlist.Settings) { s.Mode, s.OffersInQuietHours = new(waitlist.OfferInTurn), nil })
}

// The clock of an offer stands still at night, where the member lives: at the location, unless they say otherwise.
func TestOffer_WindowStartsAfterQuietHours(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		made, zone, ends string
	}{
		"by day":                      {"2026-03-16T14:00:00Z", "", "2026-03-16T14:30:00Z"},
		"ten minutes before it":       {"2026-03-16T19:50:00Z", "", "2026-03-17T07:20:00Z"}, // 20:50 and 08:20 in Berlin
		"at night":                    {"2026-03-17T01:00:00Z", "", "2026-03-17T07:30:00Z"},
		"in the minute of its end":    {"2026-03-17T07:00:00Z", "", "2026-03-17T07:30:00Z"},
		"where it is afternoon still": {"2026-03-16T19:50:00Z", "America/New_York", "2026-03-16T20:20:00Z"},
		// 23:00, and 08:30 the next day
		"where it is night already": {"2026-03-16T14:00:00Z", "Asia/Tokyo", "2026-03-16T23:30:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			nights(h)
			class, _, booked := h.AddFullSession(1)
			waiters, entries := h.AddWaiters(2, testkit.ForSessions(class))
			h.EditMember(waiters[0], func(m *member.Member) { m.TimeZone = tt.zone })
			h.Clock.Set(testkit.UTC(tt.made))
			if _, err := h.App.Bookings.CancelBooking(
				context.Background(), h.Owner, bookings.CancelRequest{ID: booked[0]},
			); err != nil {
				t.Fatal(err)
			}
			o := h.LiveOffer(entries[0])
			if got := o.ExpiresAt.UTC().Format(time.RFC3339); got != tt.ends {
				t.Errorf("the offer ends at %s, want %s", got, tt.ends)
			}
			// It stands until then, and not a moment longer.
			h.Clock.Set(o.ExpiresAt.Add(-time.Microsecond))
			if _, _, err := h.App.Housekeeping.ExpireDue(context.Background(), h.Tenant); err != nil {
				t.Fatal(err)
			}
			h.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Offered, entries[1]: waitlist.Waiting})
			h.Clock.Set(o.ExpiresAt)
			if _, _, err := h.App.Housekeeping.ExpireDue(context.Background(), h.Tenant); err != nil {
				t.Fatal(err)
			}
			h.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting, entries[1]: waitlist.Offered})
			h.WantSound()
		})
	}
}

// Who would wake up too late for a session is passed over for the next, for whom it is day; where it is night for all
// the seat is open.
func TestOffer_SkipsEntriesInQuietHoursUntilTooLate(t *testing.T) {
	t.Parallel()
	early := testkit.UTC("2026-03-18T05:30:00Z") // at 06:30 in Berlin
	for name, tt := range map[string]struct {
		zone  string
		even  bool // offers in quiet hours
		first waitlist.Status
		next  waitlist.Status
		move  waitlist.Move
	}{
		"the next is awake": {
			zone: "America/New_York", first: waitlist.Waiting, next: waitlist.Offered, move: waitlist.MakeOffer,
		},
		"everybody sleeps": {
			zone: "Europe/Paris", first: waitlist.Waiting, next: waitlist.Waiting, move: waitlist.NobodyFits,
		},
		"offers do not wait": {
			zone: "Europe/Paris", even: true, first: waitlist.Offered, next: waitlist.Waiting, move: waitlist.MakeOffer,
		},
		"and the next is awake": {
			zone: "America/New_York", even: true, first: waitlist.Offered, next: waitlist.Waiting, move: waitlist.MakeOffer,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			nights(h)
			if tt.even {
				h.SetRules(func(*waitlist.Settings) {})
			}
			class, _, booked := h.AddFullSession(1, testkit.StartingAt(early))
			waiters, entries := h.AddWaiters(2, testkit.ForSessions(class))
			h.EditMember(waiters[1], func(m *member.Member) { m.TimeZone = tt.zone })
			h.Clock.Set(testkit.UTC("2026-03-17T21:30:00Z"))
			if _, err := h.App.Bookings.CancelBooking(
				context.Background(), h.Owner, bookings.CancelRequest{ID: booked[0]},
			); err != nil {
				t.Fatal(err)
			}
			h.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: tt.first, entries[1]: tt.next})
			last := h.LastDecision(class)
			if last.Decision.Move != tt.move || (last.Decision.Verdicts[0].Reason == waitlist.InQuietHours) == tt.even {
				t.Errorf("%s: %+v", last.Decision.Move, last.Decision.Verdicts)
			}
			if (last.Note != "") != (tt.move == waitlist.NobodyFits) {
				t.Errorf("staff are told %q", last.Note)
			}
			h.WantSound()
		})
	}
}
