package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// A change of policy, plan or location holds for the next booking, on a node that has not heard of it.
func TestSnapshot_ChangesApplyToTheNextBooking(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	elsewhere := app.New(app.Config{DB: h.DB.DB, Now: h.Clock.Now})
	waitlists := func(on bool) {
		t.Helper()
		edit := settings.RulesEdit{
			Target: settings.PolicyTarget{Service: h.Service}, Edit: func(s *waitlist.Settings) { s.Enabled = &on },
		}
		if _, err := elsewhere.Settings.UpdateRules(ctx, h.Owner, edit); err != nil {
			t.Fatal(err)
		}
	}
	waitlists(false)
	in := h.AddSession(testkit.Session{Capacity: 100})
	limited := h.AddPlan(credit.Plan{Kind: credit.Unlimited, AllowOverlap: true})
	mia := h.AddMember("Mia")
	h.Subscribe(mia, limited)
	h.MustBook(mia, in)
	book := func() error {
		_, err := h.Book(h.AddMember("Noa"), in)
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
			_, err := elsewhere.Settings.UpdatePolicy(ctx, h.Owner, settings.PolicyTarget{Service: h.Service}, nil,
				func(p *catalog.Policy) {
					p.BookingCloses = new(time.Duration(0))
					if on {
						p.BookingCloses = new(72 * time.Hour)
					}
				})
			return err
		}, fault.SessionNotOpen},
		{"a location's channels", func(on bool) error {
			_, err := elsewhere.Catalog.UpdateLocation(ctx, h.Owner, h.Location, nil, func(l *catalog.Location) {
				l.Channels = catalog.Channels()
				if on {
					l.Channels = []catalog.Channel{catalog.Phone}
				}
			})
			return err
		}, fault.ChannelClosed},
		{"a service's parties", func(on bool) error {
			_, err := elsewhere.Catalog.UpdateService(ctx, h.Owner, h.Service, nil, func(s *catalog.Service) {
				s.MinParty = 1
				if on {
					s.MinParty = 2
				}
			})
			return err
		}, fault.PartySize},
		{"a tenant that takes payments", func(on bool) error {
			_, err := elsewhere.Accounts.UpdateTenant(ctx, h.Owner, nil, func(t *catalog.Tenant) {
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
	full := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
	h.MustBook(h.AddMember("Ann"), full)
	_, err := h.Book(h.AddMember("Bea"), full)
	testkit.WantReason(t, err, fault.SessionFull)
	waitlists(true)
	h.MustWaitlist(h.AddMember("Cyd"), full)
	if _, err := elsewhere.Catalog.UpdatePlan(ctx, h.Owner, limited.ID, nil, func(p *credit.Plan) error {
		p.DailyLimit = new(1)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	_, err = h.Book(mia, h.AddSession(testkit.Session{}))
	testkit.WantReason(t, err, fault.DailyLimit)
	h.WantSound()
}

// Several nodes want the last seats of one database. The lanes of one know nothing of the other's.
func TestNodes_BookTheLastSeatsOnce(t *testing.T) {
	t.Parallel()
	const seats, queue, people = 7, 5, 60
	h := testkit.New(t)
	nodes := []*app.Services{h.App, app.New(app.Config{DB: h.DB.DB, Now: h.Clock.Now})}
	in := h.AddSession(testkit.Session{Capacity: seats, Waitlist: queue})
	crowd := make([]tenant.Caller, people)
	for i := range crowd {
		crowd[i] = h.AddMember("One of many")
	}
	var mu sync.Mutex
	var done sync.WaitGroup
	got := make(map[string]int)
	for i, who := range crowd {
		done.Go(func() {
			place, err := nodes[i%len(nodes)].Bookings.Book(
				context.Background(), who, bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Online},
			)
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
	h.WantSound()
}

// Once a node has stopped nothing new begins.
func TestDrain_RefusesNewOperations(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	in := h.AddSession(testkit.Session{})
	h.App.Engine.Drain()
	_, err := h.Book(h.AddMember("Mia"), in)
	testkit.WantReason(t, err, fault.Contention)
}
