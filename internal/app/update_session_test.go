package app_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

func TestUpdateSession(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.createSession(h.sessionInput(evening), true)

	after, _, err := h.app.UpdateSession(context.Background(), h.Owner, s.ID, new(1), session.Input{Title: "Flow", Capacity: new(12)}, session.TitleField|session.CapacityField)
	if err != nil {
		t.Fatal(err)
	}
	if after.Title != "Flow" || *after.Capacity != 12 || after.Version != 2 {
		t.Errorf("%+v", after)
	}
	want := map[string]any{
		"before": map[string]any{"title": "Vinyasa", "capacity": 10.0}, "after": map[string]any{"title": "Flow", "capacity": 12.0},
	}
	if diff := cmp.Diff(want, h.lastAudit("session.updated")); diff != "" {
		t.Errorf("audit (-want +got)\n%s", diff)
	}

	// Again: nothing is left to do, and nobody is told.
	again, _, err := h.app.UpdateSession(context.Background(), h.Owner, s.ID, nil, session.Input{Title: "Flow"}, session.TitleField)
	if err != nil || again.Version != 2 || h.sessionEvents(s.ID) != "session.created session.updated" {
		t.Errorf("version %d, events %q (%v)", again.Version, h.sessionEvents(s.ID), err)
	}
	_, _, err = h.app.UpdateSession(context.Background(), h.Owner, s.ID, new(1), session.Input{Title: "Old"}, session.TitleField)
	wantReason(t, err, fault.ETagMismatch)
}

func TestBookingsAreNoEdits(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	s := h.createSession(h.sessionInput(evening), true)
	h.mustBook(h.member("Mia"), s.ID)
	if got := h.getSession(s.ID); got.Version != s.Version || got.SeatsTaken != 1 || !got.UpdatedAt.Equal(s.UpdatedAt) {
		t.Errorf("%+v", got)
	}
}

func TestUpdateSessionRefusals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	there := h.another()
	theirs := there.createSession(there.sessionInput(evening), true)
	off := h.session(slot{State: catalog.Cancelled})
	full := h.session(slot{Capacity: 2, Waitlist: 3})
	for _, name := range []string{"Mia", "Noa"} {
		h.mustBook(h.member(name), full)
	}
	for _, name := range []string{"Ole", "Pia"} {
		h.mustWait(h.member(name), full)
	}
	room := h.newResource("Studio")
	busy, other := h.sessionInput(evening), h.sessionInput(evening)
	busy.Resource, busy.Coach = room, h.Coach.Member
	h.createSession(busy, true)
	free := h.createSession(other, true)

	for name, tt := range map[string]struct {
		id     tenant.SessionID
		in     session.Input
		fields session.Fields
		reason fault.Reason
		meta   [2]string
	}{
		"no such session":           {newID[tenant.SessionID](), session.Input{}, session.TitleField, fault.SessionNotFound, [2]string{}},
		"another tenant's session":  {theirs.ID, session.Input{}, session.TitleField, fault.SessionNotFound, [2]string{}},
		"cancelled":                 {off, session.Input{Title: "x"}, session.TitleField, fault.SessionState, [2]string{"state", "CANCELLED"}},
		"capacity below taken":      {full, session.Input{Capacity: new(1)}, session.CapacityField, fault.CapacityBelowTaken, [2]string{"seats_taken", "2"}},
		"waitlist below waiting":    {full, session.Input{WaitlistCapacity: new(1)}, session.WaitlistField, fault.CapacityBelowTaken, [2]string{"waiting", "2"}},
		"the resource is taken":     {free.ID, session.Input{Resource: room}, session.ResourceField, fault.ResourceBusy, [2]string{}},
		"the staff member is taken": {free.ID, session.Input{Coach: h.Coach.Member}, session.CoachField, fault.StaffBusy, [2]string{}},
		"another tenant's service":  {free.ID, session.Input{Service: there.Service}, session.ServiceField, fault.ServiceNotFound, [2]string{}},
		"a member cannot lead":      {free.ID, session.Input{Coach: h.member("Mia").Member}, session.CoachField, fault.CoachInvalid, [2]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := h.app.UpdateSession(context.Background(), h.Owner, tt.id, nil, tt.in, tt.fields)
			wantReason(t, err, tt.reason)
			if tt.meta[0] != "" && meta(t, err, tt.meta[0]) != tt.meta[1] {
				t.Errorf("metadata %v", faultOf(err).Metadata)
			}
		})
	}
}

func TestRaisingTheCapacityPromotesFromTheWaitlist(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]session.Input{"by one": {Capacity: new(2)}, "without limit": {Unlimited: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			class := h.session(slot{Capacity: 1, Waitlist: 5})
			h.mustBook(h.member("Mia"), class)
			noa, ole := h.member("Noa"), h.member("Ole")
			h.mustWait(noa, class)
			h.mustWait(ole, class)

			after, promoted, err := h.app.UpdateSession(context.Background(), h.Owner, class, nil, in, session.CapacityField)
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
			if n := h.count(`select count(*) from bookings where member_id = $1 and promoted and status = 'CONFIRMED'`, noa.Member); n != 1 {
				t.Error("the first in the queue was not promoted")
			}
			h.wantSound()
		})
	}
}

func TestMovingASessionMovesItsBookings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	limited := h.plan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1), WeeklyLimit: new(1)})
	mia := h.member("Mia")
	sub := h.subscribe(mia, limited)
	class := h.session(slot{Starts: evening})
	id := h.mustBook(mia, class)
	_, err := h.book(mia, h.session(slot{Starts: evening.Add(2 * time.Hour)}))
	wantReason(t, err, fault.DailyLimit)

	later := evening.AddDate(0, 0, 7)
	if _, _, err := h.app.UpdateSession(ctx, h.Owner, class, nil, session.Input{StartsAt: later}, session.StartField); err != nil {
		t.Fatal(err)
	}
	b, err := h.app.GetBooking(ctx, own(mia), id)
	if err != nil || !b.StartsAt.Equal(later) || !b.EndsAt.Equal(later.Add(time.Hour)) || b.LocalDate.String() != "2026-03-24" {
		t.Errorf("booking is %s to %s on %s (%v)", b.StartsAt, b.EndsAt, b.LocalDate, err)
	}
	h.wantSound() // the quotas count other days now

	h.mustBook(mia, h.session(slot{Starts: evening.Add(4 * time.Hour)})) // this week is free again
	_, err = h.book(mia, h.session(slot{Starts: later.Add(24 * time.Hour)}))
	wantReason(t, err, fault.WeeklyLimit)
	if n := h.count(`select sum(used) from usage where subscription_id = $1 and span = 'DAY'`, sub.ID); n != 2 {
		t.Errorf("%d used", n)
	}
	h.wantSound()
}

func TestMovingASessionOntoAMembersOtherBookingIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	mia := h.member("Mia")
	h.subscribe(mia, h.plan(credit.Plan{Kind: credit.Unlimited}))
	one, two := h.session(slot{Starts: evening}), h.session(slot{Starts: evening.Add(3 * time.Hour)})
	h.mustBook(mia, one)
	id := h.mustBook(mia, two)

	_, _, err := h.app.UpdateSession(ctx, h.Owner, two, nil, session.Input{StartsAt: evening.Add(30 * time.Minute)}, session.StartField)
	wantReason(t, err, fault.Overlap)
	for _, private := range []string{"Mia", mia.Member.String(), id.String(), one.String()} {
		if strings.Contains(faultOf(err).Message, private) || strings.Contains(fmt.Sprint(faultOf(err).Metadata), private) {
			t.Errorf("the refusal tells %q", private)
		}
	}
	if !h.getSession(two).StartsAt.Equal(evening.Add(3 * time.Hour)) {
		t.Error("it was moved all the same")
	}
	if _, _, err := h.app.UpdateSession(ctx, h.Owner, two, nil, session.Input{StartsAt: evening.Add(time.Hour)}, session.StartField); err != nil {
		t.Errorf("right after the other: %v", err)
	}
	if n := h.count(`select count(*) from bookings where member_id = $1 and exclusive`, mia.Member); n != 2 {
		t.Errorf("%d bookings tolerate no overlap, want 2", n)
	}
}

// Whoever raises, lowers or books at the same moment, nothing is oversold and no seat stays empty while
// somebody waits.
func TestCapacityAgainstBookings(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	class := h.session(slot{Capacity: 1, Waitlist: 20})
	h.mustBook(h.member("Mia"), class)
	for i := range 6 {
		h.mustWait(h.member(fmt.Sprintf("Waiting %d", i)), class)
	}
	var all sync.WaitGroup
	for i := range 6 {
		who := h.member(fmt.Sprintf("Late %d", i))
		all.Go(func() {
			_, err := h.app.Book(ctx, who, app.BookRequest{Session: class, Party: 1, Channel: catalog.Online, NoWaitlist: true})
			if reason := fault.ReasonOf(err); err != nil && reason != fault.SessionFull && reason != fault.Contention {
				t.Error(err)
			}
		})
	}
	for _, capacity := range []int{4, 3, 6, 5} {
		all.Go(func() {
			_, _, err := h.app.UpdateSession(ctx, h.Owner, class, nil, session.Input{Capacity: &capacity}, session.CapacityField)
			if reason := fault.ReasonOf(err); err != nil && reason != fault.CapacityBelowTaken && reason != fault.Contention {
				t.Error(err)
			}
		})
	}
	all.Wait()
	h.wantSound()
	if got := h.getSession(class); got.Waiting > 0 && *got.Capacity > got.SeatsTaken {
		t.Errorf("%d of %d seats are taken while %d wait", got.SeatsTaken, *got.Capacity, got.Waiting)
	}
	if n := h.count(`select count(*) from bookings where session_id = $1 and not promoted`, class); n != 1 {
		t.Errorf("%d pushed in front of the queue", n-1)
	}
}

// A session that shrinks takes its youngest offers back: who was asked first keeps what is left beside its bookings.
func TestAShrinkingSessionKeepsItsFirstOffer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	_, err := h.app.UpdateRules(ctx, h.Owner, app.RulesEdit{Edit: func(s *waitlist.Settings) {
		s.Mode, s.OffersInQuietHours = new(waitlist.OfferInTurn), new(true)
	}})
	if err != nil {
		t.Fatal(err)
	}
	class := h.session(slot{Capacity: 4, Waitlist: 5})
	var booked []tenant.BookingID
	for _, name := range []string{"Ada", "Ben", "Cem", "Dan"} {
		booked = append(booked, h.mustBook(h.member(name), class))
	}
	noa := h.member("Noa")
	h.mustWait(noa, class)
	h.mustWait(h.member("Ole"), class)
	for _, id := range booked[:2] {
		h.tick()
		if _, err := h.app.CancelBooking(ctx, h.Owner, app.CancelRequest{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	after, _, err := h.app.UpdateSession(ctx, h.Owner, class, nil, session.Input{Capacity: new(3)}, session.CapacityField)
	if err != nil {
		t.Fatal(err)
	}
	if after.SeatsTaken != 3 {
		t.Errorf("%d of 3 seats are taken", after.SeatsTaken)
	}
	if n := h.count(`select count(*) from waitlist_offers where session_id = $1 and status = 'LIVE' and member_id = $2`, class, noa.Member); n != 1 {
		t.Error("the first in line has no offer")
	}
	h.wantSound()
}
