package bookings_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A change of policy, plan or location holds for the next booking, on a node that has not heard of it.
func TestSnapshot_ChangesApplyToTheNextBooking(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	ctx := context.Background()
	otherNode := app.New(app.Config{DB: studio.DB.DB, Now: studio.Clock.Now})
	waitlists := func(on bool) {
		t.Helper()
		edit := settings.RulesEdit{
			Target: settings.PolicyTarget{Service: studio.Service}, Edit: func(s *waitlist.Settings) { s.Enabled = &on },
		}
		expect.OK(t)(otherNode.Settings.UpdateWaitlistRules(ctx, studio.Owner, edit))
	}
	waitlists(false)
	in := studio.AddSession(testkit.Session{Capacity: 100})
	limited := studio.AddPlan(credit.Plan{Kind: credit.Unlimited, AllowOverlap: true})
	mia := studio.AddMember("Mia")
	studio.Subscribe(mia, limited)
	studio.MustBook(mia, in)
	book := func() error {
		_, err := studio.Book(studio.AddMember("Noa"), in)
		return err
	}
	must.NoError(t, book())
	for _, step := range []struct {
		name   string
		change func(on bool) error
		reason fault.Reason
	}{
		{"a policy", func(on bool) error {
			_, err := otherNode.Settings.UpdatePolicy(ctx, studio.Owner, settings.PolicyTarget{Service: studio.Service}, nil,
				func(p *catalog.PolicyLayer) {
					p.BookingClosesBefore = new(time.Duration(0))
					if on {
						p.BookingClosesBefore = new(72 * time.Hour)
					}
				})
			return err
		}, fault.SessionNotOpen},
		{"a location's channels", func(on bool) error {
			_, err := otherNode.Catalog.UpdateLocation(ctx, studio.Owner, studio.Location, nil, func(l *catalog.Location) {
				l.Channels = catalog.Channels()
				if on {
					l.Channels = []catalog.Channel{catalog.Phone}
				}
			})
			return err
		}, fault.ChannelClosed},
		{"a service's parties", func(on bool) error {
			_, err := otherNode.Catalog.UpdateService(ctx, studio.Owner, studio.Service, nil, func(s *catalog.Service) {
				s.MinParty = 1
				if on {
					s.MinParty = 2
				}
			})
			return err
		}, fault.PartySize},
		{"a tenant that takes payments", func(on bool) error {
			_, err := otherNode.Accounts.UpdateTenant(ctx, studio.Owner, nil, func(t *catalog.Tenant) {
				t.TakesPayments = on
			})
			return err
		}, fault.NoActivePlan},
	} {
		must.NoError(t, step.change(true), must.Sprint(step.name))
		err := book()
		test.EqOp(t, step.reason, fault.ReasonOf(err), test.Sprintf("after %s: %v, want", step.name, err))
		must.NoError(t, step.change(false), must.Sprint(step.name))
		test.NoError(t, book(), test.Sprintf("after %s was taken back", step.name))
	}
	full := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 1})
	studio.MustBook(studio.AddMember("Ann"), full)
	expect.Reason(t, fault.SessionFull)(studio.Book(studio.AddMember("Bea"), full))
	waitlists(true)
	studio.MustWaitlist(studio.AddMember("Cyd"), full)
	expect.OK(t)(otherNode.Catalog.UpdatePlan(ctx, studio.Owner, limited.ID, nil, func(p *credit.Plan) error {
		p.DailyLimit = new(1)
		return nil
	}))
	expect.Reason(t, fault.DailyLimit)(studio.Book(mia, studio.AddSession(testkit.Session{})))
}

// Several nodes want the last seats of one database. The queues of one know nothing of the other's.
func TestNodes_BookTheLastSeatsOnce(t *testing.T) {
	t.Parallel()
	const seats, queue, people = 7, 5, 60
	studio := testkit.New(t)
	nodes := []*app.Services{studio.App, app.New(app.Config{DB: studio.DB.DB, Now: studio.Clock.Now})}
	in := studio.AddSession(testkit.Session{Capacity: seats, Waitlist: queue})
	crowd := make([]tenant.Caller, people)
	for i := range crowd {
		crowd[i] = studio.AddMember("One of many")
	}
	var (
		mu   sync.Mutex
		done sync.WaitGroup
	)
	got := make(map[string]int)
	for i, who := range crowd {
		done.Go(func() {
			result, err := nodes[i%len(nodes)].Bookings.Book(
				context.Background(), who, bookings.BookRequest{Session: in, Party: 1, Channel: catalog.Online},
			)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				got[string(fault.ReasonOf(err))]++
			case result.Booking != nil:
				got["booked"]++
			default:
				got["waits"]++
			}
		})
	}
	done.Wait()
	test.Eq(t, map[string]int{"booked": seats, "waits": queue, "SESSION_FULL": people - seats - queue}, got)
}
