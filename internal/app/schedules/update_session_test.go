package schedules_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestUpdateSession_EditsFieldsAndRecordsThem(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.CreateSession(studio.SessionInput(testkit.Evening), true)

	after, _, err := studio.App.Schedules.UpdateSession(
		context.Background(), studio.Owner, s.ID, new(1), session.Input{Title: "Flow", Capacity: new(12)},
		session.TitleField|session.CapacityField,
	)
	must.NoError(t, err)
	test.EqOp(t, "Flow", after.Title)
	test.EqOp(t, 12, *after.Capacity)
	test.EqOp(t, 2, after.Version)
	want := map[string]any{
		"before": map[string]any{"title": "Vinyasa", "capacity": 10.0},
		"after":  map[string]any{"title": "Flow", "capacity": 12.0},
	}
	test.Eq(t, want, studio.LastAudit("session.updated"), test.Sprint("audit"))

	// Again: nothing changes, and no one is notified.
	again, _, err := studio.App.Schedules.UpdateSession(
		context.Background(), studio.Owner, s.ID, nil, session.Input{Title: "Flow"}, session.TitleField,
	)
	must.NoError(t, err, must.Sprintf("version %d, events %q (%v)", again.Version, studio.SessionEvents(s.ID), err))
	test.EqOp(t, 2, again.Version,
		test.Sprintf("version %d, events %q (%v)", again.Version, studio.SessionEvents(s.ID), err))
	test.EqOp(t, "session.created session.updated", studio.SessionEvents(s.ID),
		test.Sprintf("version %d, events %q (%v)", again.Version, studio.SessionEvents(s.ID), err))
	expect.Reason(t, fault.ETagMismatch)(studio.App.Schedules.UpdateSession(
		context.Background(), studio.Owner, s.ID, new(1), session.Input{Title: "Old"}, session.TitleField,
	))
}

func TestUpdateSession_BookingsDoNotChangeTheEtag(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	s := studio.CreateSession(studio.SessionInput(testkit.Evening), true)
	studio.MustBook(studio.AddMember("Mia"), s.ID)
	got := studio.GetSession(s.ID)
	test.EqOp(t, s.Version, got.Version)
	test.EqOp(t, 1, got.SeatsTaken)
	test.True(t, got.UpdatedAt.Equal(s.UpdatedAt), test.Sprintf("%+v", got))
}

func TestUpdateSession_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	there := studio.OtherTenant()
	theirs := there.CreateSession(there.SessionInput(testkit.Evening), true)
	off := studio.AddSession(testkit.Session{State: catalog.Cancelled})
	full := studio.AddSession(testkit.Session{Capacity: 2, Waitlist: 3})
	for _, name := range []string{"Mia", "Noa"} {
		studio.MustBook(studio.AddMember(name), full)
	}
	for _, name := range []string{"Ole", "Pia"} {
		studio.MustWaitlist(studio.AddMember(name), full)
	}
	room := studio.AddResource(catalog.Resource{Name: "Studio"})
	busy, other := studio.SessionInput(testkit.Evening), studio.SessionInput(testkit.Evening)
	busy.Resource, busy.Coach = room, studio.Coach.Member
	studio.CreateSession(busy, true)
	free := studio.CreateSession(other, true)

	for name, tt := range map[string]struct {
		id     tenant.SessionID
		in     session.Input
		fields session.Fields
		reason fault.Reason
		meta   [2]string
	}{
		"no such session": {
			testkit.NewID[tenant.SessionID](), session.Input{}, session.TitleField, fault.SessionNotFound, [2]string{},
		},
		"another tenant's session": {theirs.ID, session.Input{}, session.TitleField, fault.SessionNotFound, [2]string{}},
		"cancelled": {
			off, session.Input{Title: "x"}, session.TitleField, fault.SessionState, [2]string{"state", "CANCELLED"},
		},
		"capacity below taken": {
			full, session.Input{Capacity: new(1)}, session.CapacityField, fault.CapacityBelowTaken,
			[2]string{"seats_taken", "2"},
		},
		"waitlist below waiting": {
			full, session.Input{WaitlistCapacity: new(1)}, session.WaitlistField, fault.CapacityBelowTaken,
			[2]string{"waiting", "2"},
		},
		"the resource is taken": {
			free.ID, session.Input{Resource: room}, session.ResourceField, fault.ResourceBusy, [2]string{},
		},
		"the staff member is taken": {
			free.ID, session.Input{Coach: studio.Coach.Member}, session.CoachField, fault.StaffBusy, [2]string{},
		},
		"another tenant's service": {
			free.ID, session.Input{Service: there.Service}, session.ServiceField, fault.ServiceNotFound, [2]string{},
		},
		"a member cannot lead": {
			free.ID, session.Input{Coach: studio.AddMember("Mia").Member}, session.CoachField, fault.CoachInvalid, [2]string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused := expect.Reason(t, tt.reason)(
				studio.App.Schedules.UpdateSession(t.Context(), studio.Owner, tt.id, nil, tt.in, tt.fields),
			)
			test.EqOp(t, tt.meta[1], refused.Metadata[tt.meta[0]])
		})
	}
}

func TestUpdateSession_RaisedCapacityPromotes(t *testing.T) {
	t.Parallel()
	testkit.Each(t, map[string]session.Input{"by one": {Capacity: new(2)}, "without limit": {Unlimited: true}}, func(
		studio *testkit.Studio, in session.Input,
	) {
		studio.SetPromoting()
		class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 5})
		studio.MustBook(studio.AddMember("Mia"), class)
		noa, ole := studio.AddMember("Noa"), studio.AddMember("Ole")
		studio.MustWaitlist(noa, class)
		studio.MustWaitlist(ole, class)

		after, promoted, err := studio.App.Schedules.UpdateSession(
			context.Background(), studio.Owner, class, nil, in, session.CapacityField,
		)
		must.NoError(studio.T, err)
		want := 1
		if in.Unlimited {
			want = 2
		}
		test.EqOp(studio.T, want, promoted,
			test.Sprintf("promoted %d, %d taken, %d waiting", promoted, after.SeatsTaken, after.Waiting))
		test.EqOp(studio.T, 1+want, after.SeatsTaken,
			test.Sprintf("promoted %d, %d taken, %d waiting", promoted, after.SeatsTaken, after.Waiting))
		test.EqOp(studio.T, 2-want, after.Waiting,
			test.Sprintf("promoted %d, %d taken, %d waiting", promoted, after.SeatsTaken, after.Waiting))
		test.EqOp(studio.T, 1, studio.Count(
			`select count(*) from bookings where member_id = $1 and promoted and status = 'CONFIRMED'`, noa.Member,
		), test.Sprint("the first in the queue was not promoted"))
	})
}

func TestUpdateSession_MovesBookings(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	limited := studio.AddPlan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1), WeeklyLimit: new(1)})
	mia := studio.AddMember("Mia")
	sub := studio.Subscribe(mia, limited)
	class := studio.AddSession(testkit.Session{Starts: testkit.Evening})
	id := studio.MustBook(mia, class)
	expect.Reason(t, fault.DailyLimit)(
		studio.Book(mia, studio.AddSession(testkit.Session{Starts: testkit.Evening.Add(2 * time.Hour)})),
	)

	later := testkit.Evening.AddDate(0, 0, 7)
	expect.OK(t)(studio.App.Schedules.UpdateSession(
		t.Context(), studio.Owner, class, nil, session.Input{StartsAt: later}, session.StartField,
	))
	expect.OK(t)(studio.App.Schedules.UpdateSession(
		t.Context(), studio.Owner, class, nil, session.Input{EndsAt: later.Add(2 * time.Hour)}, session.EndField,
	))
	b := expect.Value(studio.App.Bookings.GetBooking(t.Context(), testkit.SelfOnly(mia), id))(t)
	test.True(t, b.StartsAt.Equal(later), test.Sprintf("booking is %s to %s on %s", b.StartsAt, b.EndsAt, b.LocalDate))
	test.True(t, b.EndsAt.Equal(later.Add(2*time.Hour)),
		test.Sprintf("booking is %s to %s on %s", b.StartsAt, b.EndsAt, b.LocalDate))
	test.EqOp(t, "2026-03-24", b.LocalDate.String(),
		test.Sprintf("booking is %s to %s on %s", b.StartsAt, b.EndsAt, b.LocalDate))
	studio.WantSound() // the quotas count other days now

	// this week is free again
	studio.MustBook(mia, studio.AddSession(testkit.Session{Starts: testkit.Evening.Add(4 * time.Hour)}))
	expect.Reason(t, fault.WeeklyLimit)(
		studio.Book(mia, studio.AddSession(testkit.Session{Starts: later.Add(24 * time.Hour)})),
	)
	test.EqOp(t, 2, studio.Count(`select sum(used) from usage where subscription_id = $1 and span = 'DAY'`, sub.ID),
		test.Sprint("used"))
}

func TestUpdateSession_RejectsMoveOntoOtherBookings(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	one, two := studio.AddSession(testkit.Session{Starts: testkit.Evening}), studio.AddSession(testkit.Session{
		Starts: testkit.Evening.Add(3 * time.Hour),
	})
	studio.MustBook(mia, one)
	id := studio.MustBook(mia, two)

	refused := expect.Reason(t, fault.Overlap)(studio.App.Schedules.UpdateSession(
		t.Context(), studio.Owner, two, nil,
		session.Input{StartsAt: testkit.Evening.Add(30 * time.Minute)}, session.StartField,
	))
	for _, private := range []string{"Mia", mia.Member.String(), id.String(), one.String()} {
		test.StrNotContains(t, fmt.Sprintf("%+v", refused), private)
	}
	test.True(t, studio.GetSession(two).StartsAt.Equal(testkit.Evening.Add(3*time.Hour)),
		test.Sprint("it was moved all the same"))
	expect.OK(t)(studio.App.Schedules.UpdateSession( // right after the other
		t.Context(), studio.Owner, two, nil, session.Input{StartsAt: testkit.Evening.Add(time.Hour)}, session.StartField,
	))
	test.EqOp(t, 2, studio.Count(`select count(*) from bookings where member_id = $1 and exclusive`, mia.Member),
		test.Sprint("bookings tolerate no overlap, want 2"))
}

// While the capacity changes and members book at the same moment, nothing is oversold, and no seat stays empty while an
// entry waits for it.
func TestUpdateSession_CapacityRacesWithBookings(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 20})
	studio.MustBook(studio.AddMember("Mia"), class)
	for i := range 6 {
		studio.MustWaitlist(studio.AddMember(fmt.Sprintf("Waiting %d", i)), class)
	}
	var all sync.WaitGroup
	for i := range 6 {
		who := studio.AddMember(fmt.Sprintf("Late %d", i))
		all.Go(func() {
			expect.OKOr(t, fault.SessionFull, fault.Contention)(studio.App.Bookings.Book(
				t.Context(), who, bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online, RefuseFull: true},
			))
		})
	}
	for _, capacity := range []int{4, 3, 6, 5} {
		all.Go(func() {
			expect.OKOr(t, fault.CapacityBelowTaken, fault.Contention)(studio.App.Schedules.UpdateSession(
				t.Context(), studio.Owner, class, nil, session.Input{Capacity: &capacity}, session.CapacityField,
			))
		})
	}
	all.Wait()
	studio.WantSound()
	got := studio.GetSession(class)
	test.False(
		t, got.Waiting > 0 && *got.Capacity > got.SeatsTaken,
		test.Sprintf("%d of %d seats are taken while %d wait", got.SeatsTaken, *got.Capacity, got.Waiting),
	)
	n := studio.Count(`select count(*) from bookings where session_id = $1 and not promoted`, class)
	test.EqOp(t, 1, n, test.Sprintf("%d pushed in front of the queue", n-1))
}

// Lowering the capacity withdraws the latest offers: the first one keeps the seats that bookings leave.
func TestUpdateSession_LowerCapacityKeepsTheFirstOffer(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(func(s *waitlist.Settings) {
		s.Mode, s.OffersInQuietHours = new(waitlist.OfferInTurn), new(true)
	})
	class := studio.AddSession(testkit.Session{Capacity: 4, Waitlist: 5})
	var booked []tenant.BookingID
	for _, name := range []string{"Ada", "Ben", "Cem", "Dan"} {
		booked = append(booked, studio.MustBook(studio.AddMember(name), class))
	}
	noa := studio.AddMember("Noa")
	studio.MustWaitlist(noa, class)
	studio.MustWaitlist(studio.AddMember("Ole"), class)
	for _, id := range booked[:2] {
		studio.Tick()
		expect.OK(t)(studio.App.Bookings.CancelBooking(t.Context(), studio.Owner, bookings.CancelRequest{
			ID: id, OverrideWindow: true,
		}))
	}
	after, _, err := studio.App.Schedules.UpdateSession(
		t.Context(), studio.Owner, class, nil, session.Input{Capacity: new(3)}, session.CapacityField,
	)
	must.NoError(t, err)
	test.EqOp(t, 3, after.SeatsTaken, test.Sprintf("%d of 3 seats are taken", after.SeatsTaken))
	test.EqOp(t, 1, studio.Count(
		`select count(*) from waitlist_offers where session_id = $1 and status = 'LIVE' and member_id = $2`, class,
		noa.Member,
	), test.Sprint("the first in line has no offer"))
}
