package booking_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
)

// move is a booking for two that can be moved a day later.
type move struct {
	booking  booking.Booking
	from, to booking.Slot
	entry    tenant.EntryID
	payer    *credit.Subscription
	at       time.Time
}

func newMove() *move {
	m := &move{from: openSlot(), to: openSlot(), at: now}
	m.to.StartsAt, m.to.EndsAt = m.to.StartsAt.Add(24*time.Hour), m.to.EndsAt.Add(24*time.Hour)
	m.to.LocalDate, m.to.Title, m.to.TimeZone = civiltest.Date("2026-03-19"), "Later", "Asia/Tokyo"
	m.to.Rules.HoldTTL++ // differs from the rules before
	m.booking = booking.Booking{
		ID: id[tenant.BookingID](), Session: m.from.ID, Party: 2, Status: booking.Confirmed, Channel: catalog.Online,
		Credits: 2, Counted: true, StartsAt: m.from.StartsAt, EndsAt: m.from.EndsAt, LocalDate: m.from.LocalDate,
		Rules: m.from.Rules, GraceUntil: new(now.Add(-time.Hour)),
	}
	m.payer = &credit.Subscription{
		UsedToday: 1, UsedThisWeek: 2, Plan: credit.Plan{DailyLimit: new(2), WeeklyLimit: new(2)},
	}
	return m
}

func TestReschedule_MovesTheBookingWithItsCredits(t *testing.T) {
	t.Parallel()
	m := newMove()
	want := m.booking
	want.Session, want.StartsAt, want.EndsAt, want.LocalDate = m.to.ID, m.to.StartsAt, m.to.EndsAt, m.to.LocalDate
	want.SessionTitle, want.TimeZone, want.Rules, want.GraceUntil = "Later", "Asia/Tokyo", m.to.Rules, nil
	got, err := booking.Reschedule(m.booking, m.from, m.to, m.entry, m.payer, false, now)
	test.NoError(t, err)
	test.Eq(t, booking.RescheduleResult{Booking: want}, got)
	got, err = booking.Reschedule(m.booking, m.from, m.from, m.entry, m.payer, false, now)
	test.NoError(t, err)
	test.Eq(t, booking.RescheduleResult{Booking: m.booking, Unchanged: true}, got)
	test.Eq(t, newMove().payer, m.payer) // its usage is the caller's
}

func TestReschedule_RejectsMovesUnlessTheCallerMayMoveAny(t *testing.T) {
	t.Parallel()
	deadline := newMove().booking.CancellableUntil()
	entry := id[tenant.EntryID]()
	const target, state = "RESCHEDULE_TARGET @session_id reason=", "BOOKING_STATE status="
	waits := "ALREADY_BOOKED entry_id=" + entry.String()
	for name, tt := range map[string]struct {
		change func(*move)
		want   string
		any    string // for a caller who may move the bookings of others
	}{
		"in time": {func(m *move) { m.at = deadline }, "", ""},
		"late": {
			func(m *move) { m.at, m.booking.Rules.AllowReschedule = deadline.Add(1), false },
			"CANCELLATION_WINDOW deadline=" + deadline.UTC().Format(time.RFC3339) + " hours_before=24", "",
		},
		"late, but allowed": {func(m *move) { m.at, m.booking.Rules.AllowReschedule = deadline.Add(1), true }, "", ""},
		"started": {
			func(m *move) { m.at, m.booking.Rules.AllowReschedule = m.from.StartsAt, true }, state + "CONFIRMED", "",
		},
		"about to start": {
			func(m *move) { m.at, m.booking.Rules.AllowReschedule = m.from.StartsAt.Add(-1), true }, "", "",
		},
		"a hold": {func(m *move) { m.booking.Status = booking.Pending }, state + "PENDING", state + "PENDING"},
		"elsewhere": {
			func(m *move) { m.to.Location = id[tenant.LocationID]() }, target + "LOCATION", target + "LOCATION",
		},
		"to a draft": {
			func(m *move) { m.to.State = catalog.Draft }, target + "SESSION_NOT_OPEN", target + "SESSION_NOT_OPEN",
		},
		"to a full one": {func(m *move) { m.to.SeatsTaken = 9 }, target + "SESSION_FULL", target + "SESSION_FULL"},
		"just fits":     {func(m *move) { m.to.SeatsTaken = 8 }, "", ""},
		"party": {
			func(m *move) { m.to.MaxParty = 1 }, "PARTY_SIZE @party_size max=1 min=1", "PARTY_SIZE @party_size max=1 min=1",
		},
		"waits there":     {func(m *move) { m.entry = entry }, waits, waits},
		"staff's channel": {func(m *move) { m.booking.Channel = catalog.Phone }, "", ""},
		"closed channel": {
			func(m *move) { m.to.Channels = nil }, "CHANNEL_CLOSED @channel channel=ONLINE",
			"CHANNEL_CLOSED @channel channel=ONLINE",
		},
		"day's quota":           {func(m *move) { m.payer.UsedToday = 2 }, "DAILY_LIMIT date=2026-03-19 limit=2", ""},
		"day's quota, same day": {func(m *move) { m.payer.UsedToday, m.to.LocalDate = 2, m.from.LocalDate }, "", ""},
		"week's quota": {
			func(m *move) { m.to.LocalDate = civiltest.Date("2026-03-25") }, "WEEKLY_LIMIT limit=2 week=2026-03-23", "",
		},
		"not counted": {func(m *move) { m.payer.UsedToday, m.booking.Counted = 2, false }, "", ""},
		"no payer":    {func(m *move) { m.payer = nil }, "", ""},
	} {
		m := newMove()
		tt.change(m)
		for anyone, want := range map[bool]string{false: tt.want, true: tt.any} {
			_, err := booking.Reschedule(m.booking, m.from, m.to, m.entry, m.payer, anyone, m.at)
			test.EqOp(t, want, faulttest.Text(err), test.Sprintf("%s, anyone %v", name, anyone))
		}
	}
}

// The sentence names what is too late, and the metadata has the window of the member's tier.
func TestCancellationWindow_IsReportedToCancelAndToReschedule(t *testing.T) {
	t.Parallel()
	m := newMove()
	m.booking.Rules.Cancellation, m.booking.Rules.AllowReschedule = 90*time.Minute, false
	m.at = m.booking.CancellableUntil().Add(1)
	_, err := booking.Reschedule(m.booking, m.from, m.to, m.entry, m.payer, false, m.at)
	test.StrContains(t, err.Error(), "too late to reschedule: that was possible until 1.5 hours before")
	_, err = booking.Cancel(m.booking, nil, booking.CancelRequest{}, m.at)
	test.StrContains(t, err.Error(), "too late to cancel: that was possible until 1.5 hours before")
}
