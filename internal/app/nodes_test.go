package app_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// A change of policy, plan or location holds for the next booking, on a node that has not heard of it.
func TestAChangeHoldsForTheNextBooking(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	elsewhere := app.New(app.Config{DB: h.db.DB, Now: h.clock.Now})
	waitlists := func(on bool) {
		t.Helper()
		edit := app.RulesEdit{Target: app.PolicyTarget{Service: h.Service}, Edit: func(s *waitlist.Settings) { s.Enabled = &on }}
		if _, err := elsewhere.UpdateRules(ctx, h.Owner, edit); err != nil {
			t.Fatal(err)
		}
	}
	waitlists(false)
	in := h.session(slot{Capacity: 100})
	limited := h.plan(credit.Plan{Kind: credit.Unlimited, AllowOverlap: true})
	mia := h.member("Mia")
	h.subscribe(mia, limited)
	h.mustBook(mia, in)
	book := func() error {
		_, err := h.book(h.member("Noa"), in)
		return err
	}
	if err := book(); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name   string
		change func(on bool) error
		reason fault.Reason
	}{
		{"a policy", func(on bool) error {
			_, err := elsewhere.UpdatePolicy(ctx, h.Owner, app.PolicyTarget{Service: h.Service}, nil, func(p *catalog.Policy) {
				p.BookingCloses = new(time.Duration(0))
				if on {
					p.BookingCloses = new(72 * time.Hour)
				}
			})
			return err
		}, fault.SessionNotOpen},
		{"a location's channels", func(on bool) error {
			_, err := elsewhere.UpdateLocation(ctx, h.Owner, h.Location, nil, func(l *catalog.Location) {
				l.Channels = catalog.Channels()
				if on {
					l.Channels = []catalog.Channel{catalog.Phone}
				}
			})
			return err
		}, fault.ChannelClosed},
		{"a service's parties", func(on bool) error {
			_, err := elsewhere.UpdateService(ctx, h.Owner, h.Service, nil, func(s *catalog.Service) {
				s.MinParty = 1
				if on {
					s.MinParty = 2
				}
			})
			return err
		}, fault.PartySize},
		{"a tenant that takes payments", func(on bool) error {
			_, err := elsewhere.UpdateTenant(ctx, h.Owner, nil, func(t *catalog.Tenant) {
				t.TakesPayments = on
			})
			return err
		}, fault.NoActivePlan},
	} {
		if err := step.change(true); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if err := book(); fault.ReasonOf(err) != step.reason {
			t.Errorf("after %s: %v, want %s", step.name, err, step.reason)
		}
		if err := step.change(false); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if err := book(); err != nil {
			t.Errorf("after %s was taken back: %v", step.name, err)
		}
	}
	full := h.session(slot{Capacity: 1, Waitlist: 1})
	h.mustBook(h.member("Ann"), full)
	_, err := h.book(h.member("Bea"), full)
	wantReason(t, err, fault.SessionFull)
	waitlists(true)
	h.mustWait(h.member("Cyd"), full)
	if _, err := elsewhere.UpdatePlan(ctx, h.Owner, limited.ID, nil, func(p *credit.Plan) error {
		p.DailyLimit = new(1)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	_, err = h.book(mia, h.session(slot{}))
	wantReason(t, err, fault.DailyLimit)
	h.wantSound()
}

// Several nodes want the last seats of one database. The lanes of one know nothing of the other's.
func TestTheLastSeatsOfTwoNodes(t *testing.T) {
	t.Parallel()
	const seats, queue, people = 7, 5, 60
	h := newHouse(t)
	nodes := []*app.App{h.app, app.New(app.Config{DB: h.db.DB, Now: h.clock.Now})}
	in := h.session(slot{Capacity: seats, Waitlist: queue})
	crowd := make([]tenant.Caller, people)
	for i := range crowd {
		crowd[i] = h.member("One of many")
	}
	var mu sync.Mutex
	var done sync.WaitGroup
	got := make(map[string]int)
	for i, who := range crowd {
		done.Go(func() {
			place, err := nodes[i%len(nodes)].Book(context.Background(), who, app.BookRequest{Session: in, Party: 1, Channel: catalog.Online})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				got[string(fault.ReasonOf(err))]++
			case place.Booking != nil:
				got["booked"]++
			default:
				got["waits"]++
			}
		})
	}
	done.Wait()
	want := map[string]int{"booked": seats, "waits": queue, "SESSION_FULL": people - seats - queue}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h.wantSound()
}

// Once a node has stopped nothing new begins.
func TestDrained(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	in := h.session(slot{})
	h.app.Drain()
	_, err := h.book(h.member("Mia"), in)
	wantReason(t, err, fault.Contention)
}
