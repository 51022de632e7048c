package booking_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestDecide_SaysWhyTheSessionIsNotOpen(t *testing.T) {
	t.Parallel()
	s := openSlot()
	s.Rules.BookingCloses = time.Hour
	closes, fill := s.StartsAt.Add(-time.Hour), s.StartsAt.Add(time.Minute)
	for name, tt := range map[string]struct {
		change func(*booking.Slot)
		until  *time.Time
		at     time.Time
		state  string
	}{
		"open":                       {nil, nil, closes.Add(-1), ""},
		"draft":                      {func(s *booking.Slot) { s.State, s.Blocked = catalog.Draft, true }, nil, now, "draft"},
		"cancelled":                  {func(s *booking.Slot) { s.State = catalog.Cancelled }, nil, now, "cancelled"},
		"blocked":                    {func(s *booking.Slot) { s.Blocked = true }, nil, now, "blocked"},
		"closed":                     {nil, nil, closes, "closed"},
		"closed until the start":     {nil, nil, s.StartsAt.Add(-1), "closed"},
		"started":                    {nil, nil, s.StartsAt, "started"},
		"filled after it closed":     {nil, &fill, closes, ""},
		"filled after it started":    {nil, &fill, s.StartsAt, ""},
		"no longer filled":           {nil, &fill, fill, "started"},
		"filled, and then cancelled": {func(s *booking.Slot) { s.State = catalog.Cancelled }, &fill, now, "cancelled"},
	} {
		f, c := booking.Facts{Slot: s}, onePerson()
		if tt.change != nil {
			tt.change(&f.Slot)
		}
		c.FillUntil = tt.until
		_, err := booking.Decide(f, c, tt.at)
		want := ""
		if tt.state != "" {
			want = "SESSION_NOT_OPEN state=" + tt.state
		}
		test.EqOp(t, want, faulttest.Text(err), test.Sprint(name))
	}
}

func TestDecide_ChecksAdmissionUnlessPromoted(t *testing.T) {
	t.Parallel()
	opens := openSlot().StartsAt.Add(-openSlot().Rules.Advance)
	for name, tt := range map[string]struct {
		change func(*booking.Slot, *booking.Request)
		at     time.Time
		want   string
	}{
		"before it opens": {nil, opens.Add(-1), "ADVANCE_WINDOW opens_at=" + opens.Format(time.RFC3339)},
		"as it opens":     {nil, opens, ""},
		"a closed channel": {func(s *booking.Slot, _ *booking.Request) {
			s.Channels = []catalog.Channel{catalog.Phone}
		}, now, "CHANNEL_CLOSED @channel channel=ONLINE"},
		"staff's channel": {
			func(_ *booking.Slot, c *booking.Request) { c.Channel = catalog.Phone }, now,
			"CHANNEL_CLOSED @channel channel=PHONE",
		},
		"staff's channel, by staff": {
			func(_ *booking.Slot, c *booking.Request) { c.Channel, c.Staff = catalog.Phone, true }, now, "",
		},
		"too few": {
			func(s *booking.Slot, _ *booking.Request) { s.MinParty = 2 }, now, "PARTY_SIZE @party_size max=4 min=2",
		},
		"just few": {func(s *booking.Slot, _ *booking.Request) { s.MinParty = 1 }, now, ""},
		"too many": {
			func(_ *booking.Slot, c *booking.Request) { c.Party = 5 }, now, "PARTY_SIZE @party_size max=4 min=1",
		},
		"just many": {func(_ *booking.Slot, c *booking.Request) { c.Party = 4 }, now, ""},
	} {
		f, c := booking.Facts{Slot: openSlot()}, onePerson()
		if tt.change != nil {
			tt.change(&f.Slot, &c)
		}
		_, err := booking.Decide(f, c, tt.at)
		test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(name))
		c.Promotion = true
		_, err = booking.Decide(f, c, tt.at)
		test.NoError(t, err, test.Sprint(name))
	}
}

// A full session takes neither holds nor promotions, and a member only joins once.
func TestDecide_JoinsTheWaitlistOfAFullSessionOnly(t *testing.T) {
	t.Parallel()
	slot := openSlot()
	slot.SeatsTaken = 10
	in := " session_id=" + slot.ID.String()
	made, entry := id[tenant.BookingID](), id[tenant.EntryID]()
	for name, tt := range map[string]struct {
		change func(*booking.Facts, *booking.Request)
		want   string
		joined string // of a request to join and nothing else
	}{
		"room": {func(f *booking.Facts, _ *booking.Request) { f.Slot.Waiting = 4 }, "", ""},
		"no room": {
			func(f *booking.Facts, _ *booking.Request) { f.Slot.Waiting = 5 }, "SESSION_FULL", "WAITLIST_FULL limit=5" + in,
		},
		"no waitlist": {
			func(f *booking.Facts, _ *booking.Request) { f.Slot.Rules.WaitlistEnabled = false },
			"SESSION_FULL", "WAITLIST_CLOSED" + in,
		},
		"no places": {
			func(f *booking.Facts, _ *booking.Request) { f.Slot.WaitlistCapacity = 0 }, "SESSION_FULL", "WAITLIST_CLOSED" + in,
		},
		"not wanted":  {func(_ *booking.Facts, c *booking.Request) { c.NoWaitlist = true }, "SESSION_FULL", ""},
		"a promotion": {func(_ *booking.Facts, c *booking.Request) { c.Promotion = true }, "SESSION_FULL", ""},
		"a hold":      {func(_ *booking.Facts, c *booking.Request) { c.Hold = true }, "SESSION_FULL", ""},
		"an open seat": {
			func(f *booking.Facts, _ *booking.Request) { f.Slot.SeatsTaken = 9 }, "booked", "SEATS_AVAILABLE" + in,
		},
		"booked already": {
			func(f *booking.Facts, _ *booking.Request) { f.Booking = made },
			"ALREADY_BOOKED booking_id=" + made.String(), "ALREADY_BOOKED booking_id=" + made.String(),
		},
		"waiting already": {
			func(f *booking.Facts, _ *booking.Request) { f.Entry = entry },
			"ALREADY_BOOKED entry_id=" + entry.String(), "ALREADY_BOOKED entry_id=" + entry.String(),
		},
	} {
		for join, want := range map[bool]string{false: tt.want, true: tt.joined} {
			f, c := booking.Facts{Slot: slot}, onePerson()
			tt.change(&f, &c)
			c.JoinWaitlist = join
			got, err := booking.Decide(f, c, now)
			result := faulttest.Text(err)
			if err == nil && !got.Wait {
				result = "booked"
			}
			test.EqOp(t, want, result, test.Sprintf("%s, to join %v", name, join))
		}
	}
}

func TestDecide_ChargesThePlanByItsTerms(t *testing.T) {
	t.Parallel()
	sub := func(change func(*credit.Subscription)) credit.Subscription {
		s := credit.Subscription{
			ID: id[tenant.SubscriptionID](), Status: credit.Active, Balance: 3, UsedToday: 1, UsedThisWeek: 1,
			Plan: credit.Plan{Kind: credit.Credits},
		}
		change(&s)
		return s
	}
	slot := openSlot()
	busy := func(from, until time.Duration) []civil.Span {
		return []civil.Span{{Start: slot.StartsAt.Add(from), End: slot.StartsAt.Add(until)}}
	}
	for name, tt := range map[string]struct {
		sub                credit.Subscription
		busy               []civil.Span
		staff              bool // who name the subscription
		want               fault.Reason
		counted, exclusive bool
	}{
		"plain":   {sub(func(*credit.Subscription) {}), nil, false, "", false, true},
		"overlap": {sub(func(*credit.Subscription) {}), busy(59*time.Minute, 2*time.Hour), false, fault.Overlap, false, true},
		"next":    {sub(func(*credit.Subscription) {}), busy(time.Hour, 2*time.Hour), false, "", false, true},
		"before":  {sub(func(*credit.Subscription) {}), busy(-time.Hour, 0), false, "", false, true},
		"may overlap": {
			sub(func(s *credit.Subscription) { s.Plan.AllowOverlap = true }), busy(0, time.Hour), false, "", false, false,
		},
		"within its quota": {
			sub(func(s *credit.Subscription) { s.Plan.DailyLimit = new(2) }), nil, false, "", true, true,
		},
		"at its quota": {
			sub(func(s *credit.Subscription) { s.Plan.WeeklyLimit = new(1) }), nil, false, fault.WeeklyLimit, true, true,
		},
		"at its quota, by staff": {
			sub(func(s *credit.Subscription) { s.Plan.WeeklyLimit = new(1) }), nil, true, "", true, true,
		},
	} {
		c := onePerson()
		if c.Staff = tt.staff; tt.staff {
			c.Subscription = tt.sub.ID
		}
		f := booking.Facts{Slot: slot, Subscriptions: []credit.Subscription{tt.sub}, Busy: tt.busy}
		got, err := booking.Decide(f, c, now)
		test.EqOp(t, tt.want, fault.ReasonOf(err), test.Sprintf("%s: %v", name, err))
		test.False(t, err == nil && (got.Counted != tt.counted || got.Exclusive != tt.exclusive || got.Credits != 1 ||
			got.Payer == nil), test.Sprintf("%s: %+v", name, got))
	}
}

// The ledger renews the subscription that pays, and no other.
func TestDecide_RenewsThePayerOnly(t *testing.T) {
	t.Parallel()
	period := func() credit.Subscription {
		return credit.Subscription{
			ID: id[tenant.SubscriptionID](), Status: credit.Active, Balance: 2, PeriodEndsAt: new(now.Add(-time.Hour)),
			Plan: credit.Plan{Kind: credit.Credits, Credits: 8, Period: new(30 * 24 * time.Hour)},
		}
	}
	first, second := period(), period()
	c := onePerson()
	c.Subscription = second.ID
	both := booking.Facts{Slot: openSlot(), Subscriptions: []credit.Subscription{first, second}}
	got := expect.Value(booking.Decide(both, c, now))(t)
	must.EqOp(t, 3, len(got.Ledger), must.Sprintf("%+v", got))
	for _, line := range got.Ledger {
		test.EqOp(t, second.ID, line.Subscription, test.Sprintf("a line of another subscription: %+v", line))
	}
	e := booking.EligibilityOf(booking.Facts{Slot: openSlot(), Subscriptions: []credit.Subscription{second}},
		onePerson(), now)
	test.True(t, e.Subscription == second.ID && e.Status == booking.Eligible, test.Sprintf("%+v", e))
}

func TestSlot_CountsOpenSeats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ capacity, taken, open int }{{10, 3, 7}, {10, 10, 0}, {10, 12, 0}} {
		got := (booking.Slot{Capacity: &tt.capacity, SeatsTaken: tt.taken}).SeatsOpen()
		test.True(t, got != nil && *got == tt.open, test.Sprintf("%+v: %v", tt, got))
	}
	got := (booking.Slot{SeatsTaken: 3}).SeatsOpen()
	test.Nil(t, got, test.Sprint("unlimited"))
}
