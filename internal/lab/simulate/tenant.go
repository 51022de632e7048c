package simulate

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/recurrence"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

const day = 24 * time.Hour

// zoneNames are of both hemispheres, with clocks that change on different days, by half an hour, or never.
var zoneNames = []string{
	"Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Auckland", "America/Sao_Paulo",
	"Europe/London",
}

var zones = func() map[string]*time.Location {
	all := make(map[string]*time.Location)
	for _, name := range zoneNames {
		zone, err := time.LoadLocation(name)
		if err != nil {
			zone = time.UTC // a machine without zones: time stands differently, and rules hold all the same
		}
		all[name] = zone
	}
	return all
}()

func zoneNamed(name string) *time.Location { return zones[name] }

// beginnings are days before clocks change somewhere.
var beginnings = []time.Time{
	time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC), time.Date(
		2026, 3, 26, 0, 0, 0, 0, time.UTC,
	), time.Date(2026, 4, 2, 0, 0, 0, 0, time.UTC),
	time.Date(2026, 9, 24, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), time.Date(
		2026, 10, 22, 0, 0, 0, 0, time.UTC,
	),
	time.Date(2026, 10, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC),
}

// plan is one on sale, with how many buy it.
type plan struct {
	credit.Plan
	share float64
}

// weekly is a series with what holds for its sessions.
type weekly struct {
	under  *ruling
	series session.Series
	rule   recurrence.Series
	made   time.Time // so far
}

// settleDown makes the tenant, and what it does by itself.
func (w *world) settleDown(o Options) time.Time {
	w.now = o.From
	if w.now.IsZero() {
		w.now = pick(w, beginnings)
	}
	for i := range o.Size.Locations {
		name := pick(w, zoneNames)
		at := &venue{
			id: id[tenant.LocationID](&w.tables), name: name, zone: zones[name], coach: id[tenant.MemberID](&w.tables),
		}
		w.venues = append(w.venues, at)
		for range o.Size.Services {
			w.openService(at, o.Size, i)
		}
	}
	w.plans = w.anyPlans()
	for i := range o.Size.Members {
		w.move(i)
	}
	for d := time.Duration(0); d < o.Length; d += day {
		w.later(d+w.upTo(time.Hour), w.extend)
		w.later(d+w.upTo(day), w.staffDay)
		w.later(d+3*time.Hour, w.shop)
	}
	for d := time.Duration(0); d < o.Length; d += 4 * time.Hour {
		w.later(d, func() { w.must(w.sweep()); w.must(w.compareAll()) })
	}
	for d := 7 * day; d < o.Length; d += 7 * day {
		w.later(d, w.archive)
	}
	w.post = newPost(w, o)
	w.extend()
	w.shop()
	return w.now
}

func (w *world) openService(at *venue, size Size, n int) {
	u := &ruling{
		at: at, service: id[tenant.ServiceID](&w.tables),
		duration: pick(w, []time.Duration{45 * time.Minute, time.Hour, 90 * time.Minute}),
		maxParty: 1 + w.rng.IntN(3), policy: w.anyPolicy(),
	}
	rules := w.anyRules()
	compiled, err := waitlist.Compile(rules)
	if err != nil {
		w.must(err)
		return
	}
	u.waitlist = compiled
	w.rulings = append(w.rulings, u)
	for i := range size.PerDay {
		text := pick(
			w,
			[]string{"FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "FREQ=DAILY;INTERVAL=2", "FREQ=WEEKLY;BYDAY=TU,TH,SA,SU"},
		)
		rule, err := recurrence.Parse(text)
		if err != nil {
			w.must(err)
			return
		}
		clock := civil.TimeOfDay{Hour: pick(w, []int{1, 2, 6, 7, 9, 12, 17, 18, 20, 23}), Minute: pick(w, []int{0, 15, 30})}
		var capacity *int
		if !w.chance(0.03) {
			capacity = new(1 + w.rng.IntN(size.Capacity))
		}
		s := weekly{
			under: u, made: w.now,
			rule: recurrence.Series{
				Rule: rule, Date: civil.DateOf(w.now, at.zone), Time: clock, Zone: at.zone, Duration: u.duration,
			},
			series: session.Series{ID: id[tenant.SeriesID](&w.tables), Publish: true, Details: session.Details{
				Service: u.service, Location: at.id, Coach: at.coach, Title: fmt.Sprint("Class ", n, i), Capacity: capacity,
				WaitlistCapacity: w.rng.IntN(15),
			}},
		}
		w.weeklies = append(w.weeklies, &s)
	}
}

func (w *world) anyPolicy() catalog.Rules {
	p := catalog.Defaults()
	p.Advance = pick(w, []time.Duration{2 * day, 7 * day, 30 * day})
	p.BookingCloses = pick(w, []time.Duration{0, 0, 30 * time.Minute, 2 * time.Hour})
	p.Cancellation = pick(w, []time.Duration{2 * time.Hour, 12 * time.Hour, day})
	p.AllowLateCancellation, p.AllowReschedule, p.AutoNoShow = w.chance(0.7), w.chance(0.5), w.chance(0.5)
	p.HoldTTL = pick(w, []time.Duration{2 * time.Minute, 10 * time.Minute, time.Hour})
	p.WaitlistEnabled = w.chance(0.95)
	if w.chance(0.5) {
		p.Tiers = map[string]catalog.TierPolicy{
			"gold": {Cancellation: new(time.Hour)}, "silver": {Cancellation: new(2 * day), AllowReschedule: new(true)},
		}
	}
	return p
}

func (w *world) anyRules() waitlist.Rules {
	r := waitlist.Defaults()
	r.Mode = pick(
		w, []waitlist.Mode{waitlist.AutoPromote, waitlist.OfferInTurn, waitlist.OfferInTurn, waitlist.FirstToClaim},
	)
	r.Enabled = w.chance(0.97)
	r.MaxQueueSize = 5 + w.rng.IntN(45)
	r.MinOfferWindow = time.Duration(1+w.rng.IntN(10)) * time.Minute
	r.OfferWindow = r.MinOfferWindow + time.Duration(w.rng.IntN(180))*time.Minute
	r.TimeFlexibility = pick(w, []time.Duration{0, time.Hour, 2 * time.Hour})
	r.MaxOffersPerEntry, r.MaxTriesPerSlot = w.rng.IntN(4), w.rng.IntN(6)
	r.AutoCascade, r.AllowDownFitting = w.chance(0.85), w.chance(0.85)
	r.AfterExpiry, r.AfterDecline = pick(
		w, []waitlist.After{waitlist.ReturnEntry, waitlist.CloseEntry},
	), pick(w, []waitlist.After{waitlist.ReturnEntry, waitlist.CloseEntry})
	r.ExpireStale, r.StaleAfter = w.chance(0.2), 2*day
	r.Order = pick(w, []waitlist.Order{waitlist.ByJoining, waitlist.ByPriority, waitlist.ByFormula})
	r.PriorityExpression = fewer
	r.EligibilityExpression = pick(w, []string{"", "", "", notGold, small})
	r.TierBonus = map[string]int{"gold": 50, "silver": 20}
	r.EarlyBirdPerDay = w.rng.IntN(10)
	r.OffersInQuietHours = w.chance(0.3)
	r.QuietHours = waitlist.QuietHours{
		From: civil.TimeOfDay{Hour: 20 + w.rng.IntN(3)}, Until: civil.TimeOfDay{Hour: 6 + w.rng.IntN(3)},
	}
	r.AutoPromoteCutoff = pick(w, []time.Duration{0, time.Hour, 6 * time.Hour})
	r.SMSMinScore = pick(w, []int{0, 0, 0, 110})
	r.FillAfterStart = pick(w, []time.Duration{0, 0, 15 * time.Minute, time.Hour})
	return r
}

func (w *world) anyPlans() []plan {
	return []plan{
		{
			share: 0.25,
			Plan:  credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1 + w.rng.IntN(2)), WeeklyLimit: new(3 + w.rng.IntN(4))},
		},
		{
			share: 0.25,
			Plan: credit.Plan{
				Kind: credit.Credits, Credits: 4 + w.rng.IntN(8), Period: new(7 * day), Term: new(70 * day), WeeklyLimit: new(4),
			},
		},
		{share: 0.2, Plan: credit.Plan{Kind: credit.Credits, Credits: 10, Term: new(60 * day), AllowOverlap: true}},
		{share: 0.2, Plan: credit.Plan{Kind: credit.Credits, Credits: 6, Period: new(30 * day), DailyLimit: new(2)}},
		{share: 0.1, Plan: credit.Plan{Kind: credit.Course}},
	}
}

// move brings somebody to town.
func (w *world) move(i int) {
	m := &member{
		Member: booking.Member{
			ID: id[tenant.MemberID](&w.tables), Name: fmt.Sprint("Member ", i),
			Tier: pick(w, []string{"", "", "silver", "gold"}), Active: true,
		},
		quick: w.rng.Float64(), loyal: 0.5 + w.rng.Float64()/2,
	}
	if w.chance(0.3) {
		m.zone = pick(w, zoneNames)
	}
	w.members = append(w.members, m)
	w.who[m.ID] = m
	w.model.members[m.ID] = &mMember{member: m, active: true}
}

// extend makes the sessions of series for a while ahead.
func (w *world) extend() {
	const ahead = 9 * day
	for _, s := range w.weeklies {
		until := w.now.Add(ahead)
		occurrences, err := s.rule.Expand(s.made.Add(time.Second), until, 100)
		if err != nil {
			w.must(err)
			return
		}
		for _, o := range occurrences {
			if !o.Start.After(w.now) {
				continue
			}
			at := session.Occurrence{On: o.Date, Span: civil.Span{Start: o.Start, End: o.End}}
			made, err := w.publish(s.under, s.series, at)
			if err != nil {
				w.must(err)
				return
			}
			w.attract(made)
		}
		s.made = until.Add(-time.Second)
	}
}
