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
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// house is a tenant of the campaign.
type house struct {
	app      *app.App
	now      func() time.Time
	id       tenant.TenantID
	owner    tenant.Caller
	location tenant.LocationID
	// The services, by how their sessions are run.
	promotes, offers, claims, brief, hasty tenant.ServiceID
	open, pack                             tenant.PlanID
	crowd                                  []person
}

// person is a member, numbered from 1 in all histories.
type person struct {
	number  int
	in      tenant.TenantID
	subject string
	payer   string // the subscription, where it pays with credits
}

const (
	crowdSize = 9
	// credits are what a subscription begins with.
	credits = 4
	// ahead is when the sessions start: late enough for all that is free of charge.
	ahead = 72 * time.Hour
	day   = 24 * time.Hour
)

func newHouse(ctx context.Context, a *app.App, now func() time.Time, zone string) (*house, error) {
	h := &house{app: a, now: now}
	made, err := a.Accounts.CreateTenant(ctx, accounts.NewTenant{
		Name: "Campaign", TimeZone: zone, Locale: "en", Currency: "EUR", TakesPayments: true, Owner: &accounts.FirstOwner{Subject: ownerSubject, Name: "Owner"},
	})
	if err != nil {
		return nil, err
	}
	h.id = made.ID
	found, err := a.Accounts.ListMembers(ctx, tenant.System(h.id), member.Search{Limit: 1})
	if err != nil {
		return nil, err
	}
	h.owner = tenant.Caller{Tenant: h.id, Subject: ownerSubject, Member: found[0].ID, Roles: []string{tenant.RoleOwner}}
	place, err := a.Catalog.CreateLocation(ctx, h.owner, catalog.Location{Name: "Hall", TimeZone: zone, Channels: catalog.Channels(), Active: true})
	if err != nil {
		return nil, err
	}
	h.location = place.ID
	// Every message is sent at once, whatever the hour, and however many there are.
	if _, err := a.Messages.UpdateNotificationSettings(ctx, h.owner, nil, func(s *notify.Settings) {
		s.Quiet, s.PerDay = notify.QuietHours{}, map[notify.Channel]int{notify.SMS: 100_000, notify.Push: 100_000, notify.Email: 100_000}
	}); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		into *tenant.ServiceID
		mode waitlist.Mode
		last time.Duration // of holds and offers
	}{{&h.promotes, waitlist.AutoPromote, day}, {&h.offers, waitlist.OfferInTurn, day}, {&h.claims, waitlist.FirstToClaim, day}, {&h.brief, waitlist.AutoPromote, time.Minute}, {&h.hasty, waitlist.OfferInTurn, time.Minute}} {
		if *s.into, err = h.service(ctx, s.mode, s.last); err != nil {
			return nil, err
		}
	}
	for _, p := range []struct {
		into *tenant.PlanID
		plan credit.Plan
	}{
		{&h.open, credit.Plan{Name: "Open", Kind: credit.Unlimited, AllowOverlap: true, Active: true, DailyLimit: new(100_000)}},
		{&h.pack, credit.Plan{Name: "Pack", Kind: credit.Credits, Credits: credits, AllowOverlap: true, Active: true}},
	} {
		plan, err := a.Catalog.CreatePlan(ctx, h.owner, p.plan)
		if err != nil {
			return nil, err
		}
		*p.into = plan.ID
	}
	for range crowdSize {
		who, err := h.person(ctx, h.open)
		if err != nil {
			return nil, err
		}
		who.payer = "" // nothing is counted
		h.crowd = append(h.crowd, who)
	}
	return h, nil
}

const ownerSubject = "owner"

// self is the owner.
func (h *house) self() person { return person{in: h.id, subject: ownerSubject} }

// service makes one whose waitlist never stops by itself.
func (h *house) service(ctx context.Context, mode waitlist.Mode, last time.Duration) (tenant.ServiceID, error) {
	made, err := h.app.Catalog.CreateService(ctx, h.owner, catalog.Service{
		Name: fmt.Sprint(mode, " ", last), Duration: time.Hour, MinParty: 1, MaxParty: 2, Delivery: catalog.InPerson, Active: true,
	})
	if err != nil {
		return made.ID, err
	}
	target := settings.PolicyTarget{Service: made.ID}
	if _, err = h.app.Settings.UpdatePolicy(ctx, h.owner, target, nil, func(p *catalog.Policy) { p.HoldTTL = &last }); err != nil {
		return made.ID, err
	}
	_, err = h.app.Settings.UpdateRules(ctx, h.owner, settings.RulesEdit{Target: target, Edit: func(s *waitlist.Settings) {
		s.Enabled, s.Mode, s.MaxQueueSize, s.OfferWindow, s.MinOfferWindow = new(true), &mode, new(10_000), &last, &last
		s.MaxTriesPerSlot, s.MaxOffersPerEntry = new(0), new(0)
		s.AfterDecline, s.AfterExpiry = new(waitlist.CloseEntry), new(waitlist.CloseEntry)
		s.OffersInQuietHours, s.AutoPromoteCutoff = new(true), new(time.Duration(0))
	}})
	return made.ID, err
}

// people numbers them.
var people atomic.Int64

func (h *house) person(ctx context.Context, plan tenant.PlanID) (person, error) {
	p := person{number: int(people.Add(1)), in: h.id}
	p.subject = "member-" + strconv.Itoa(p.number)
	made, err := h.app.Accounts.CreateMember(ctx, h.owner, member.Member{Subject: p.subject, Name: p.subject, Email: p.subject + "@example.com"})
	if err != nil {
		return p, err
	}
	s, err := h.app.Accounts.Subscribe(ctx, h.owner, accounts.SubscribeRequest{
		Member: made.ID, Plan: plan, Starts: h.now().Add(-time.Hour), // for clocks that are slow, too
	})
	p.payer = s.ID.String()
	return p, err
}

// round is a few sessions and subscriptions that everybody is busy with for a while. Short histories are quick to judge.
type round struct {
	house   *house
	arenas  []*arena
	halls   [][]*arena // those between which bookings move are judged together
	payers  []person   // with credits
	ledgers []history.Ledger
	used    atomic.Int64
}

// perRound is how many operations a round is used for.
const perRound = 300

// arena is a session with what is known of the places in it.
type arena struct {
	history.Session
	roomy bool   // it is for those who pay with credits
	other *arena // where its bookings move to; nil: they stay

	mu    sync.Mutex
	spots []*spot
}

// spot is a place as callers know it.
type spot struct {
	who     person
	number  int
	party   int
	booking string
	entry   string
	offer   string
	held    bool
	moved   bool
	gone    bool
}

func (h *house) newRound(ctx context.Context, random *rand.Rand) (*round, error) {
	r := &round{house: h}
	for i, of := range []struct {
		service         tenant.ServiceID
		capacity, queue int
		roomy, twin     bool // a twin swaps bookings with the one before it
	}{
		{service: h.promotes, capacity: 1 + random.IntN(3), queue: 1 + random.IntN(4)},
		{service: h.promotes, capacity: 2 + random.IntN(4), queue: 2 + random.IntN(4), twin: true},
		{service: h.offers, capacity: 1 + random.IntN(2), queue: 2 + random.IntN(4)},
		{service: h.offers, capacity: 2 + random.IntN(3), queue: 2 + random.IntN(4), twin: true},
		{service: h.claims, capacity: 1 + random.IntN(3), queue: 2 + random.IntN(4)},
		{service: h.brief, capacity: 2 + random.IntN(2), queue: 1 + random.IntN(4)},
		{service: h.hasty, capacity: 1 + random.IntN(3), queue: 2 + random.IntN(4)},
		{service: h.promotes, capacity: 60, roomy: true},
		{service: h.promotes, capacity: 60, roomy: true, twin: true},
	} {
		made, err := h.app.Schedules.CreateSession(ctx, h.owner, session.Input{
			Service: of.service, Location: h.location, StartsAt: h.now().Add(ahead + time.Duration(i)*time.Hour).Truncate(time.Minute),
			Title: fmt.Sprint("Session ", i), Capacity: &of.capacity, WaitlistCapacity: &of.queue,
		}, true)
		if err != nil {
			return nil, err
		}
		a := &arena{roomy: of.roomy, Session: history.Session{
			ID: made.ID.String(), Capacity: of.capacity, Queue: of.queue,
			Offers: of.service == h.offers || of.service == h.hasty, Claims: of.service == h.claims,
			Brief: of.service == h.brief || of.service == h.hasty,
		}}
		r.arenas = append(r.arenas, a)
		if !of.twin {
			r.halls = append(r.halls, []*arena{a})
			continue
		}
		last := &r.halls[len(r.halls)-1]
		a.other = (*last)[0]
		a.other.other = a
		*last = append(*last, a)
	}
	for range 3 {
		who, err := h.person(ctx, h.pack)
		if err != nil {
			return nil, err
		}
		r.payers = append(r.payers, who)
		r.ledgers = append(r.ledgers, history.Ledger{ID: who.payer, Opened: credits})
	}
	return r, nil
}

// some gives one of the places, or nil.
func (a *arena) some(random *rand.Rand) *spot {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.spots) == 0 {
		return nil
	}
	s := a.spots[random.IntN(len(a.spots))]
	if s.gone && random.IntN(10) > 0 { // now and then somebody gives up what is given up
		return nil
	}
	return s
}

func (a *arena) learn(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}
