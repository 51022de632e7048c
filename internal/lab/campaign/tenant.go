package campaign

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/lab/history"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// testTenant is a tenant of the campaign.
type testTenant struct {
	app      *app.Services
	now      func() time.Time
	id       tenant.TenantID
	owner    tenant.Caller
	location tenant.LocationID
	// The services. Each has another waitlist mode or other expiry times.
	rounds int // so far

	promotes, offers, claims, briefHolds, briefOffers, claimsOfHolds tenant.ServiceID
	open, pack                                                       tenant.PlanID
	members                                                          []person
}

// person is a member. Numbers start at 1 and are unique over all histories.
type person struct {
	number  int
	in      tenant.TenantID
	subject string
	payer   string // the subscription, if it pays with credits
}

const (
	memberCount = 9
	// credits is the initial balance of a subscription.
	credits = 4
	// ahead is the time until the sessions start. It is after the cancellation window.
	ahead = 72 * time.Hour
	day   = 24 * time.Hour
	// carts is the stock of each round's item. Some bookings find none left.
	carts = 4
)

// newTenant creates a tenant with its services, plans and members, and with these quiet hours.
func newTenant(
	ctx context.Context, a *app.Services, now func() time.Time, zone string, quiet notify.QuietHours,
) (*testTenant, error) {
	t := &testTenant{app: a, now: now}
	made, err := a.Accounts.CreateTenant(ctx, accounts.NewTenant{
		Name: "Campaign", TimeZone: zone, Locale: "en", Currency: "EUR", TakesPayments: true, Owner: &accounts.FirstOwner{
			Subject: ownerSubject, Name: "Owner",
		},
	})
	if err != nil {
		return nil, err
	}
	t.id = made.ID
	found, err := a.Accounts.ListMembers(ctx, tenant.System(t.id), member.Search{Limit: 1})
	if err != nil {
		return nil, err
	}
	t.owner = tenant.Caller{
		Tenant: t.id, Subject: ownerSubject, Member: found[0].ID, Roles: []string{tenant.RoleOwner},
		May: grant.PermissionsOf(tenant.RoleOwner),
	}
	place, err := a.Catalog.CreateLocation(
		ctx, t.owner, catalog.Location{Name: "Hall", TimeZone: zone, Channels: catalog.Channels(), Active: true},
	)
	if err != nil {
		return nil, err
	}
	t.location = place.ID
	// Outside of the quiet hours, every message is sent immediately and without a cap.
	if _, err := a.Messages.UpdateNotificationSettings(ctx, t.owner, nil, func(s *notify.Settings) {
		s.QuietHours, s.PerDay = quiet, map[delivery.Channel]int{
			delivery.SMS: 100_000, delivery.Push: 100_000, delivery.Email: 100_000,
		}
	}); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		into *tenant.ServiceID
		mode waitlist.Mode
		// How long holds and offers last.
		hold, offer time.Duration
	}{
		{&t.promotes, waitlist.AutoPromote, day, day}, {&t.offers, waitlist.OfferInTurn, day, day},
		{&t.claims, waitlist.FirstToClaim, day, day}, {&t.claimsOfHolds, waitlist.FirstToClaim, time.Minute, day},
		{&t.briefHolds, waitlist.AutoPromote, time.Minute, time.Minute},
		{&t.briefOffers, waitlist.OfferInTurn, time.Minute, time.Minute},
	} {
		if *s.into, err = t.service(ctx, s.mode, s.hold, s.offer); err != nil {
			return nil, err
		}
	}
	for _, p := range []struct {
		into *tenant.PlanID
		plan credit.Plan
	}{
		{&t.open, credit.Plan{
			Name: "Open", Kind: credit.Unlimited, AllowOverlap: true, Active: true, DailyLimit: new(100_000),
		}},
		{&t.pack, credit.Plan{Name: "Pack", Kind: credit.Credits, Credits: credits, AllowOverlap: true, Active: true}},
	} {
		plan, err := a.Catalog.CreatePlan(ctx, t.owner, p.plan)
		if err != nil {
			return nil, err
		}
		*p.into = plan.ID
	}
	for range memberCount {
		person, err := t.person(ctx, t.open)
		if err != nil {
			return nil, err
		}
		person.payer = "" // an unlimited plan has no ledger
		t.members = append(t.members, person)
	}
	return t, nil
}

const ownerSubject = "owner"

// ownerPerson returns the owner.
func (t *testTenant) ownerPerson() person { return person{in: t.id, subject: ownerSubject} }

// service creates a service whose waitlist has no limits on offers.
func (t *testTenant) service(
	ctx context.Context, mode waitlist.Mode, hold, offer time.Duration,
) (tenant.ServiceID, error) {
	made, err := t.app.Catalog.CreateService(ctx, t.owner, catalog.Service{
		Name: fmt.Sprint(mode, " ", hold, " ", offer), Duration: time.Hour, MinParty: 1, MaxParty: 2,
		Delivery: catalog.InPerson, Active: true,
	})
	if err != nil {
		return made.ID, err
	}
	target := settings.PolicyTarget{Service: made.ID}
	setTTL := func(p *catalog.PolicyLayer) { p.HoldTTL, p.AdvanceWindow = &hold, new(365*day) }
	if _, err = t.app.Settings.UpdatePolicy(ctx, t.owner, target, nil, setTTL); err != nil {
		return made.ID, err
	}
	edit := func(s *waitlist.Settings) {
		s.Enabled, s.Mode, s.MaxQueueSize, s.OfferWindow, s.MinOfferWindow = new(true), &mode, new(10_000), &offer, &offer
		s.MaxTriesPerSlot, s.MaxOffersPerEntry = new(0), new(0)
		s.AfterDecline, s.AfterExpiry = new(waitlist.CloseEntry), new(waitlist.CloseEntry)
		s.OffersInQuietHours, s.AutoPromoteCutoff = new(true), new(time.Duration(0))
		// Entries are promoted at any time of day, however late.
		s.QuietHours, s.PromotionGrace = new(waitlist.QuietHours{}), new(time.Duration(0))
		s.PromoteAfterCancellationWindow = new(true)
	}
	_, err = t.app.Settings.UpdateWaitlistRules(ctx, t.owner, settings.RulesEdit{Target: target, Edit: edit})
	return made.ID, err
}

// lastPerson is the number of the last person.
var lastPerson atomic.Int64

func (t *testTenant) person(ctx context.Context, plan tenant.PlanID) (person, error) {
	p := person{number: int(lastPerson.Add(1)), in: t.id}
	p.subject = "member-" + strconv.Itoa(p.number)
	made, err := t.app.Accounts.CreateMember(ctx, t.owner, member.Member{
		Subject: p.subject, Name: p.subject, Email: p.subject + "@example.com",
		Phone: fmt.Sprintf("+49151%08d", 10_000_000+p.number), // mails are sent at any hour: text messages wait
	})
	if err != nil {
		return p, err
	}
	s, err := t.app.Accounts.CreateSubscription(ctx, t.owner, accounts.NewSubscription{
		Member: made.ID, Plan: plan, Starts: t.now().Add(-time.Hour), // before the time of slow clocks
	})
	p.payer = s.ID.String()
	return p, err
}

// round is a few sessions and subscriptions that all callers use for a while. Short histories are fast to check.
type round struct {
	tenant  *testTenant
	targets []*target
	groups  [][]*target // targets between which bookings move are checked together
	payers  []person    // with credits
	ledgers []history.Ledger
	used    atomic.Int64
}

// perRound is the number of operations of a round.
const perRound = 300

// target is a session with its known places.
type target struct {
	history.Session
	large bool   // for members who pay with credits
	cart  string // the item that is booked with it; "": none
	start time.Time
	other *target // the session that its bookings move to; nil: none

	mu     sync.Mutex
	places []*place
}

// place is a booking or waitlist entry as callers know it.
type place struct {
	person  person
	number  int
	party   int
	booking string
	entry   string
	offer   string
	held    bool
	moved   bool
	ended   bool
}

func (t *testTenant) newRound(ctx context.Context, random *rand.Rand) (*round, error) {
	cart, err := t.app.Catalog.CreateItem(ctx, t.owner, booking.Item{
		Location: t.location, Name: fmt.Sprint("Cart ", random.Uint64()), Kind: "cart", Stock: carts, Active: true,
		Price: credit.Money{Currency: "EUR", Units: 20},
	})
	if err != nil {
		return nil, err
	}
	r := &round{tenant: t}
	t.rounds++
	for i, of := range []struct {
		service         tenant.ServiceID
		capacity, queue int
		large, twin     bool // bookings move between a twin and the session before it
		carts           bool
	}{
		{service: t.promotes, capacity: 1 + random.IntN(3), queue: 1 + random.IntN(4)},
		{service: t.promotes, capacity: 2 + random.IntN(4), queue: 2 + random.IntN(4), twin: true},
		{service: t.offers, capacity: 1 + random.IntN(2), queue: 2 + random.IntN(4)},
		{service: t.offers, capacity: 2 + random.IntN(3), queue: 2 + random.IntN(4), twin: true},
		{service: t.claims, capacity: 1 + random.IntN(3), queue: 2 + random.IntN(4)},
		{service: t.briefHolds, capacity: 2 + random.IntN(2), queue: 1 + random.IntN(4)},
		{service: t.briefOffers, capacity: 1 + random.IntN(3), queue: 2 + random.IntN(4)},
		{service: t.claimsOfHolds, capacity: 1, queue: 2 + random.IntN(4)},
		{service: t.claimsOfHolds, capacity: 1, queue: 2 + random.IntN(4)},
		{service: t.promotes, capacity: 60, carts: true},
		{service: t.promotes, capacity: 60, carts: true},
		{service: t.promotes, capacity: 60, large: true},
		{service: t.promotes, capacity: 60, large: true, twin: true},
	} {
		// Each session of the latest rounds has a day of its own: who is booked then, or was promoted that day, gets an
		// offer instead.
		start := t.now().Add(ahead + time.Duration(t.rounds%25*13+i)*day).Truncate(time.Minute)
		made, err := t.app.Schedules.CreateSession(ctx, t.owner, session.Input{
			Service: of.service, Location: t.location, StartsAt: start,
			Title: fmt.Sprint("Session ", i), Capacity: &of.capacity, WaitlistCapacity: &of.queue,
		}, true)
		if err != nil {
			return nil, err
		}
		a := &target{large: of.large, start: start, Session: history.Session{
			ID: made.ID.String(), Capacity: of.capacity, Queue: of.queue,
			Offers: of.service == t.offers || of.service == t.briefOffers,
			Claims: of.service == t.claims || of.service == t.claimsOfHolds,
			Brief:  of.service == t.briefHolds || of.service == t.briefOffers || of.service == t.claimsOfHolds,
		}}
		if of.carts {
			a.cart = cart.ID.String()
		}
		r.targets = append(r.targets, a)
		if !of.twin {
			r.groups = append(r.groups, []*target{a})
			continue
		}
		last := &r.groups[len(r.groups)-1]
		a.other = (*last)[0]
		a.other.other = a
		*last = append(*last, a)
	}
	for range 3 {
		person, err := t.person(ctx, t.pack)
		if err != nil {
			return nil, err
		}
		r.payers = append(r.payers, person)
		r.ledgers = append(r.ledgers, history.Ledger{ID: person.payer, Opened: credits})
	}
	return r, nil
}

// randomPlace returns one of the places, or nil.
func (t *target) randomPlace(random *rand.Rand) *place {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.places) == 0 {
		return nil
	}
	s := t.places[random.IntN(len(t.places))]
	if s.ended && random.IntN(10) > 0 { // sometimes a caller cancels again
		return nil
	}
	return s
}

func (t *target) locked(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}
