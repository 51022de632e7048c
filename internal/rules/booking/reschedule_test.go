package booking_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// move is a booking for two that can be moved a day later.
type move struct {
	Booking  booking.Booking
	From, To booking.Slot
	Entry    tenant.EntryID
	Offer    *booking.OfferedSeats
	Payer    *credit.Subscription
	At       time.Time
}

func newMove(differ set) move {
	from := openSlot()
	start := from.StartsAt.Add(24 * time.Hour)
	to := vary.From(openSlot(), set{
		"StartsAt": start, "EndsAt": start.Add(time.Hour), "LocalDate": civiltest.Date("2026-03-19"), "Title": "Later",
		"TimeZone": "Asia/Tokyo", "Policy.HoldTTL": time.Minute,
	})
	return vary.From(move{From: from, To: to, At: now, Booking: booking.Booking{
		ID: id[tenant.BookingID](), Session: from.ID, Party: 2, Status: booking.Confirmed, Channel: catalog.Online,
		Credits: 2, Counted: true, StartsAt: from.StartsAt, EndsAt: from.EndsAt, LocalDate: from.LocalDate,
		Policy: from.Policy, GraceUntil: new(now.Add(-time.Hour)),
	}, Payer: &credit.Subscription{
		UsedToday: 1, UsedThisWeek: 2, Plan: credit.Plan{DailyLimit: new(2), WeeklyLimit: new(2)},
	}}, differ)
}

func (m move) do(anyone bool) (booking.RescheduleResult, error) {
	facts := booking.Facts{Slot: m.To, Entry: m.Entry, Offer: m.Offer}
	return booking.Reschedule(m.Booking, m.From, facts, m.Payer, anyone, m.At)
}

func TestReschedule_MovesTheBookingWithItsCredits(t *testing.T) {
	t.Parallel()
	m := newMove(nil)
	test.Eq(t, booking.RescheduleResult{Booking: vary.From(m.Booking, set{
		"Session": m.To.ID, "StartsAt": m.To.StartsAt, "EndsAt": m.To.EndsAt, "LocalDate": m.To.LocalDate,
		"SessionTitle": "Later", "TimeZone": "Asia/Tokyo", "Policy": m.To.Policy, "GraceUntil": nil,
	})}, expect.Value(m.do(false))(t))
	test.Eq(t, newMove(nil).Payer, m.Payer, test.Sprint("its usage is the caller's"))
	m.To = m.From
	test.Eq(t, booking.RescheduleResult{Booking: m.Booking, Unchanged: true}, expect.Value(m.do(false))(t))
}

func TestReschedule_RejectsMovesUnlessTheCallerMayMoveAny(t *testing.T) {
	t.Parallel()
	deadline := newMove(nil).Booking.CancelDeadline()
	entry := id[tenant.EntryID]()
	pair := &booking.OfferedSeats{Seats: 2, Until: deadline.Add(100 * time.Hour)}
	const target, state = "RESCHEDULE_TARGET @session_id reason=", "BOOKING_STATE status="
	waits := "ALREADY_BOOKED entry_id=" + entry.String()
	for name, tt := range map[string]struct {
		differ set
		want   string
		any    string // for a caller who may move the bookings of others
	}{
		"in time": {set{"At": deadline}, "", ""},
		"late": {
			set{"At": deadline.Add(1), "Booking.Policy.AllowReschedule": false},
			"CANCELLATION_WINDOW deadline=" + deadline.UTC().Format(time.RFC3339) + " hours_before=24", "",
		},
		"late, but allowed": {set{"At": deadline.Add(1), "Booking.Policy.AllowReschedule": true}, "", ""},
		"started": {
			set{"At": openSlot().StartsAt, "Booking.Policy.AllowReschedule": true}, state + "CONFIRMED", "",
		},
		"about to start": {set{"At": openSlot().StartsAt.Add(-1), "Booking.Policy.AllowReschedule": true}, "", ""},
		"a hold":         {set{"Booking.Status": booking.Pending}, state + "PENDING", state + "PENDING"},
		"elsewhere": {
			set{"To.Location": id[tenant.LocationID]()}, target + "LOCATION", target + "LOCATION",
		},
		"to a draft": {
			set{"To.State": catalog.Draft}, target + "SESSION_NOT_OPEN", target + "SESSION_NOT_OPEN",
		},
		"to a full one": {set{"To.SeatsTaken": 9}, target + "SESSION_FULL", target + "SESSION_FULL"},
		"just fits":     {set{"To.SeatsTaken": 8}, "", ""},
		"party": {
			set{"To.MaxParty": 1}, "PARTY_SIZE @party_size max=1 min=1", "PARTY_SIZE @party_size max=1 min=1",
		},
		"waits there":                     {set{"Entry": entry, "To.SeatsTaken": 9}, waits, waits},
		"waits there, and seats are open": {set{"Entry": entry}, "", ""},
		"has an offer there":              {set{"Entry": entry, "Offer": pair, "To.SeatsTaken": 10}, "", ""},
		"has an offer of too few": {
			set{"Entry": entry, "Offer": &booking.OfferedSeats{Seats: 1, Until: pair.Until}, "To.SeatsTaken": 10}, waits, waits,
		},
		"an offer before it opens": {
			set{"Offer": pair, "To.Policy.AdvanceWindow": time.Hour}, "", "",
		},
		"staff's channel": {set{"Booking.Channel": catalog.Phone}, "", ""},
		"closed channel": {
			set{"To.Channels": nil}, "CHANNEL_CLOSED @channel channel=ONLINE",
			"CHANNEL_CLOSED @channel channel=ONLINE",
		},
		"day's quota":           {set{"Payer.UsedToday": 2}, "DAILY_LIMIT date=2026-03-19 limit=2", ""},
		"day's quota, same day": {set{"Payer.UsedToday": 2, "To.LocalDate": openSlot().LocalDate}, "", ""},
		"week's quota": {
			set{"To.LocalDate": civiltest.Date("2026-03-25")}, "WEEKLY_LIMIT limit=2 week=2026-03-23", "",
		},
		"not counted": {set{"Payer.UsedToday": 2, "Booking.Counted": false}, "", ""},
		"no payer":    {set{"Payer": nil}, "", ""},
	} {
		for anyone, want := range map[bool]string{false: tt.want, true: tt.any} {
			expect.Fault(t, want, name, ", anyone: ", anyone)(newMove(tt.differ).do(anyone))
		}
	}
}

// The sentence names what is too late, and the metadata has the window of the member's tier.
func TestCancellationWindow_IsReportedToCancelAndToReschedule(t *testing.T) {
	t.Parallel()
	m := newMove(set{"Booking.Policy.CancellationWindow": 90 * time.Minute, "Booking.Policy.AllowReschedule": false})
	m.At = m.Booking.CancelDeadline().Add(1)
	_, err := m.do(false)
	test.StrContains(t, err.Error(), "too late to reschedule: that was possible until 1.5 hours before")
	_, err = booking.Cancel(m.Booking, nil, booking.CancelRequest{}, m.At)
	test.StrContains(t, err.Error(), "too late to cancel: that was possible until 1.5 hours before")
}
