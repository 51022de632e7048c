package schedules_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestUpdateSession_EditsFieldsAndRecordsThem(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	s := h.CreateSession(h.SessionInput(testkit.Evening), true)

	after, _, err := h.App.Schedules.UpdateSession(
		context.Background(), h.Owner, s.ID, new(1), session.Input{Title: "Flow", Capacity: new(12)},
		session.TitleField|session.CapacityField,
	)
	if err != nil {
		t.Fatal(err)
	}
	if after.Title != "Flow" || *after.Capacity != 12 || after.Version != 2 {
		t.Errorf("%+v", after)
	}
	want := map[string]any{
		"before": map[string]any{"title": "Vinyasa", "capacity": 10.0},
		"after":  map[string]any{"title": "Flow", "capacity": 12.0},
	}
	if diff := cmp.Diff(want, h.LastAudit("session.updated")); diff != "" {
		t.Errorf("audit (-want +got)\n%s", diff)
	}

	// Again: nothing is left to do, and nobody is told.
	again, _, err := h.App.Schedules.UpdateSession(
		context.Background(), h.Owner, s.ID, nil, session.Input{Title: "Flow"}, session.TitleField,
	)
	if err != nil || again.Version != 2 || h.SessionEvents(s.ID) != "session.created session.updated" {
		t.Errorf("version %d, events %q (%v)", again.Version, h.SessionEvents(s.ID), err)
	}
	_, _, err = h.App.Schedules.UpdateSession(
		context.Background(), h.Owner, s.ID, new(1), session.Input{Title: "Old"}, session.TitleField,
	)
	testkit.WantReason(t, err, fault.ETagMismatch)
}

func TestUpdateSession_BookingsDoNotChangeTheEtag(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	s := h.CreateSession(h.SessionInput(testkit.Evening), true)
	h.MustBook(h.AddMember("Mia"), s.ID)
	if got := h.GetSession(s.ID); got.Version != s.Version || got.SeatsTaken != 1 || !got.UpdatedAt.Equal(s.UpdatedAt) {
		t.Errorf("%+v", got)
	}
}

func TestUpdateSession_ReturnsEachReason(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	there := h.OtherTenant()
	theirs := there.CreateSession(there.SessionInput(testkit.Evening), true)
	off := h.AddSession(testkit.Session{State: catalog.Cancelled})
	full := h.AddSession(testkit.Session{Capacity: 2, Waitlist: 3})
	for _, name := range []string{"Mia", "Noa"} {
		h.MustBook(h.AddMember(name), full)
	}
	for _, name := range []string{"Ole", "Pia"} {
		h.MustWaitlist(h.AddMember(name), full)
	}
	room := h.AddResource(catalog.Resource{Name: "Studio"})
	busy, other := h.SessionInput(testkit.Evening), h.SessionInput(testkit.Evening)
	busy.Resource, busy.Coach = room, h.Coach.Member
	h.CreateSession(busy, true)
	free := h.CreateSession(other, true)

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
			free.ID, session.Input{Coach: h.Coach.Member}, session.CoachField, fault.StaffBusy, [2]string{},
		},
		"another tenant's service": {
			free.ID, session.Input{Service: there.Service}, session.ServiceField, fault.ServiceNotFound, [2]string{},
		},
		"a member cannot lead": {
			free.ID, session.Input{Coach: h.AddMember("Mia").Member}, session.CoachField, fault.CoachInvalid, [2]string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := h.App.Schedules.UpdateSession(context.Background(), h.Owner, tt.id, nil, tt.in, tt.fields)
			testkit.WantReason(t, err, tt.reason)
			if tt.meta[0] != "" && testkit.Meta(t, err, tt.meta[0]) != tt.meta[1] {
				t.Errorf("metadata %v", testkit.FaultOf(err).Metadata)
			}
		})
	}
}

func TestUpdateSession_RaisedCapacityPromotes(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]session.Input{"by one": {Capacity: new(2)}, "without limit": {Unlimited: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 5})
			h.MustBook(h.AddMember("Mia"), class)
			noa, ole := h.AddMember("Noa"), h.AddMember("Ole")
			h.MustWaitlist(noa, class)
			h.MustWaitlist(ole, class)

			after, promoted, err := h.App.Schedules.UpdateSession(
				context.Background(), h.Owner, class, nil, in, session.CapacityField,
			)
			if err != nil {
				t.Fatal(err)
			}
			want := 1
			if in.Unlimited {
				want = 2
			}
			if promoted != want || after.SeatsTaken != 1+want || after.Waiting != 2-want {
				t.Errorf("promoted %d, %d taken, %d waiting", promoted, after.SeatsTaken, after.Waiting)
			}
			if n := h.Count(
				`select count(*) from bookings where member_id = $1 and promoted and status = 'CONFIRMED'`, noa.Member,
			); n != 1 {
				t.Error("the first in the queue was not promoted")
			}
			h.WantSound()
		})
	}
}

func TestUpdateSession_MovesBookings(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	limited := h.AddPlan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1), WeeklyLimit: new(1)})
	mia := h.AddMember("Mia")
	sub := h.Subscribe(mia, limited)
	class := h.AddSession(testkit.Session{Starts: testkit.Evening})
	id := h.MustBook(mia, class)
	_, err := h.Book(mia, h.AddSession(testkit.Session{Starts: testkit.Evening.Add(2 * time.Hour)}))
	testkit.WantReason(t, err, fault.DailyLimit)

	later := testkit.Evening.AddDate(0, 0, 7)
	if _, _, err := h.App.Schedules.UpdateSession(
		ctx, h.Owner, class, nil, session.Input{StartsAt: later}, session.StartField,
	); err != nil {
		t.Fatal(err)
	}
	b, err := h.App.Bookings.GetBooking(ctx, testkit.SelfOnly(mia), id)
	if err != nil || !b.StartsAt.Equal(later) || !b.EndsAt.Equal(later.Add(time.Hour)) ||
		b.LocalDate.String() != "2026-03-24" {
		t.Errorf("booking is %s to %s on %s (%v)", b.StartsAt, b.EndsAt, b.LocalDate, err)
	}
	h.WantSound() // the quotas count other days now

	h.MustBook(mia, h.AddSession(testkit.Session{Starts: testkit.Evening.Add(4 * time.Hour)})) // this week is free again
	_, err = h.Book(mia, h.AddSession(testkit.Session{Starts: later.Add(24 * time.Hour)}))
	testkit.WantReason(t, err, fault.WeeklyLimit)
	if n := h.Count(`select sum(used) from usage where subscription_id = $1 and span = 'DAY'`, sub.ID); n != 2 {
		t.Errorf("%d used", n)
	}
	h.WantSound()
}

func TestUpdateSession_RejectsMoveOntoOtherBookings(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	mia := h.AddMember("Mia")
	h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	one, two := h.AddSession(testkit.Session{Starts: testkit.Evening}), h.AddSession(testkit.Session{
		Starts: testkit.Evening.Add(3 * time.Hour),
	})
	h.MustBook(mia, one)
	id := h.MustBook(mia, two)

	_, _, err := h.App.Schedules.UpdateSession(
		ctx, h.Owner, two, nil, session.Input{StartsAt: testkit.Evening.Add(30 * time.Minute)}, session.StartField,
	)
	testkit.WantReason(t, err, fault.Overlap)
	for _, private := range []string{"Mia", mia.Member.String(), id.String(), one.String()} {
		if strings.Contains(testkit.FaultOf(err).Message, private) ||
			strings.Contains(fmt.Sprint(testkit.FaultOf(err).Metadata), private) {
			t.Errorf("the refusal tells %q", private)
		}
	}
	if !h.GetSession(two).StartsAt.Equal(testkit.Evening.Add(3 * time.Hour)) {
		t.Error("it was moved all the same")
	}
	if _, _, err := h.App.Schedules.UpdateSession(
		ctx, h.Owner, two, nil, session.Input{StartsAt: testkit.Evening.Add(time.Hour)}, session.StartField,
	); err != nil {
		t.Errorf("right after the other: %v", err)
	}
	if n := h.Count(`select count(*) from bookings where member_id = $1 and exclusive`, mia.Member); n != 2 {
		t.Errorf("%d bookings tolerate no overlap, want 2", n)
	}
}

// Whoever raises, lowers or books at the same moment, nothing is oversold and no seat stays empty while
// somebody waits.
func TestUpdateSession_CapacityRacesWithBookings(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 20})
	h.MustBook(h.AddMember("Mia"), class)
	for i := range 6 {
		h.MustWaitlist(h.AddMember(fmt.Sprintf("Waiting %d", i)), class)
	}
	var all sync.WaitGroup
	for i := range 6 {
		who := h.AddMember(fmt.Sprintf("Late %d", i))
		all.Go(func() {
			_, err := h.App.Bookings.Book(
				ctx, who, bookings.BookRequest{Session: class, Party: 1, Channel: catalog.Online, NoWaitlist: true},
			)
			if reason := fault.ReasonOf(err); err != nil && reason != fault.SessionFull && reason != fault.Contention {
				t.Error(err)
			}
		})
	}
	for _, capacity := range []int{4, 3, 6, 5} {
		all.Go(func() {
			_, _, err := h.App.Schedules.UpdateSession(
				ctx, h.Owner, class, nil, session.Input{Capacity: &capacity}, session.CapacityField,
			)
			if reason := fault.ReasonOf(err); err != nil && reason != fault.CapacityBelowTaken && reason != fault.Contention {
				t.Error(err)
			}
		})
	}
	all.Wait()
	h.WantSound()
	if got := h.GetSession(class); got.Waiting > 0 && *got.Capacity > got.SeatsTaken {
		t.Errorf("%d of %d seats are taken while %d wait", got.SeatsTaken, *got.Capacity, got.Waiting)
	}
	if n := h.Count(`select count(*) from bookings where session_id = $1 and not promoted`, class); n != 1 {
		t.Errorf("%d pushed in front of the queue", n-1)
	}
}

// A session that shrinks takes its youngest offers back: who was asked first keeps what is left beside its bookings.
func TestUpdateSession_LowerCapacityKeepsTheFirstOffer(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	_, err := h.App.Settings.UpdateRules(ctx, h.Owner, settings.RulesEdit{Edit: func(s *waitlist.Settings) {
		s.Mode, s.OffersInQuietHours = new(waitlist.OfferInTurn), new(true)
	}})
	if err != nil {
		t.Fatal(err)
	}
	class := h.AddSession(testkit.Session{Capacity: 4, Waitlist: 5})
	var booked []tenant.BookingID
	for _, name := range []string{"Ada", "Ben", "Cem", "Dan"} {
		booked = append(booked, h.MustBook(h.AddMember(name), class))
	}
	noa := h.AddMember("Noa")
	h.MustWaitlist(noa, class)
	h.MustWaitlist(h.AddMember("Ole"), class)
	for _, id := range booked[:2] {
		h.Tick()
		if _, err := h.App.Bookings.CancelBooking(ctx, h.Owner, bookings.CancelRequest{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	after, _, err := h.App.Schedules.UpdateSession(
		ctx, h.Owner, class, nil, session.Input{Capacity: new(3)}, session.CapacityField,
	)
	if err != nil {
		t.Fatal(err)
	}
	if after.SeatsTaken != 3 {
		t.Errorf("%d of 3 seats are taken", after.SeatsTaken)
	}
	if n := h.Count(
		`select count(*) from waitlist_offers where session_id = $1 and status = 'LIVE' and member_id = $2`, class,
		noa.Member,
	); n != 1 {
		t.Error("the first in line has no offer")
	}
	h.WantSound()
}
