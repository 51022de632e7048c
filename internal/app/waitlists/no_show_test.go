package waitlists_test

import (
	"context"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// With the defaults, ten minutes after the start: an empty chair is offered for what is left of 15 minutes, a mat in a
// class is not.
func TestNoShow_OffersASingleSeatForAWhile(t *testing.T) {
	t.Parallel()
	type row struct {
		capacity int
		after    time.Duration
		want     waitlist.Status
	}
	testkit.Each(t, map[string]row{
		"a chair":                 {1, 10 * time.Minute, waitlist.Offered},
		"a chair, with less left": {1, 10*time.Minute + time.Second, waitlist.Waiting},
		"a mat in a class":        {2, 10 * time.Minute, waitlist.Waiting},
	}, func(studio *testkit.Studio, tt row) {
		starts := testkit.Noon.Add(24 * time.Hour)
		class, _, booked := studio.AddFullSession(tt.capacity, testkit.StartingAt(starts))
		id := studio.MustJoin(studio.AddMember("Mia"), testkit.ForSessions(class)).ID
		studio.Clock.Set(starts.Add(tt.after))
		expect.OK(studio.T)(studio.App.Bookings.MarkNoShow(context.Background(), studio.Owner, booked[0]))
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{id: tt.want})
		if tt.want == waitlist.Offered {
			test.EqOp(studio.T, starts.Add(15*time.Minute), studio.LiveOffer(id).ExpiresAt.UTC())
		}
	})
}

// Who has not come ten minutes after the start is marked then, and the chair is offered. Members can no longer check
// in, and staff can. Who takes the chair late has time until the end, as without the rule.
func TestSweep_MarksNoShowsAfterTheStartAndFillsTheirSeats(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPolicy(func(p *catalog.PolicyLayer) {
		p.AutoNoShow, p.AutoNoShowAfterStart = new(true), new(10*time.Minute)
	})
	starts := testkit.Noon.Add(24 * time.Hour)
	chair, members, booked := studio.AddFullSession(1, testkit.StartingAt(starts))
	mia := studio.AddMember("Mia")
	id := studio.MustJoin(mia, testkit.ForSessions(chair)).ID
	studio.Clock.Set(starts.Add(10*time.Minute - time.Second))
	test.EqOp(t, 0, studio.Sweep().NoShows)
	studio.Clock.Set(starts.Add(10 * time.Minute))
	expect.Reason(t, fault.CheckInWindow)(studio.SelfCheckIn(members[0], chair, studio.ScanQR(chair)))
	test.EqOp(t, 1, studio.Sweep().NoShows)
	test.EqOp(t, "NO_SHOW", studio.BookingStatus(booked[0]))
	o := studio.LiveOffer(id)
	test.EqOp(t, starts.Add(15*time.Minute), o.ExpiresAt.UTC())
	studio.Clock.Set(starts.Add(12 * time.Minute))
	got := expect.Value(studio.App.Waitlists.AcceptWaitlistOffer(
		context.Background(), mia, o.ID, tenant.SubscriptionID{},
	))(t)
	test.EqOp(t, 0, studio.Sweep().NoShows, test.Sprint("who booked late"))
	expect.OK(t)(studio.SelfCheckIn(mia, chair, studio.ScanQR(chair)))
	test.EqOp(t, "ATTENDED", studio.BookingStatus(got.Booking.ID))
}

// Staff who take a mark back are right, also if the policy is edited later. And who comes late is checked in by them.
func TestSweep_LeavesMarksThatStaffTookBack(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	after := func(d time.Duration) {
		studio.SetPolicy(func(p *catalog.PolicyLayer) { p.AutoNoShow, p.AutoNoShowAfterStart = new(true), &d })
	}
	after(5 * time.Minute)
	starts := testkit.Noon.Add(24 * time.Hour)
	_, _, booked := studio.AddFullSession(2, testkit.StartingAt(starts))
	studio.Clock.Set(starts.Add(5 * time.Minute))
	expect.OK(t)(studio.App.Bookings.CheckIn(context.Background(), studio.Coach, booked[1]))
	test.EqOp(t, 1, studio.Sweep().NoShows)
	expect.OK(t)(studio.App.Bookings.UndoNoShow(context.Background(), studio.Owner, booked[0]))
	test.EqOp(t, 0, studio.Sweep().NoShows)
	after(0)
	studio.Clock.Set(starts.Add(3 * time.Hour))
	test.EqOp(t, 0, studio.Sweep().NoShows)
	test.EqOp(t, "CONFIRMED", studio.BookingStatus(booked[0]))
	test.EqOp(t, "ATTENDED", studio.BookingStatus(booked[1]))
}

// An entry ends when its session can give no seat: when booking closes, or with a single seat 15 minutes after the
// start.
func TestSweep_EndsEntriesWithTheirLastSession(t *testing.T) {
	t.Parallel()
	type row struct {
		capacity int
		closes   time.Duration
		ends     time.Duration // after the start
	}
	testkit.Each(t, map[string]row{
		"a class":                       {2, 0, 0},
		"a class that closes before":    {2, time.Hour, -time.Hour},
		"a chair":                       {1, 0, 15 * time.Minute},
		"a chair, where booking closes": {1, time.Hour, 15 * time.Minute},
	}, func(studio *testkit.Studio, tt row) {
		studio.SetPolicy(func(p *catalog.PolicyLayer) { p.BookingClosesBefore = &tt.closes })
		starts := testkit.Noon.Add(24 * time.Hour)
		class, _, _ := studio.AddFullSession(tt.capacity, testkit.StartingAt(starts))
		id := studio.MustJoin(studio.AddMember("Mia"), testkit.ForSessions(class)).ID
		studio.Clock.Set(starts.Add(tt.ends - time.Second))
		test.EqOp(studio.T, 0, studio.Sweep().Entries)
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{id: waitlist.Waiting})
		studio.Clock.Set(starts.Add(tt.ends))
		test.EqOp(studio.T, 1, studio.Sweep().Entries)
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{id: waitlist.Expired})
	})
}
