package simulate

import (
	"fmt"
	"time"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/recurrence"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

const day = 24 * time.Hour

// zoneNames are zones of both hemispheres. Their clocks change on different days, by half an hour, or never.
var zoneNames = []string{
	"Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Auckland", "America/Sao_Paulo",
	"Europe/London",
}

var zones = func() map[string]*time.Location {
	all := make(map[string]*time.Location)
	for _, name := range zoneNames {
		zone, err := time.LoadLocation(name)
		if err != nil {
			zone = time.UTC // no zone database: local times differ, but the rules still hold
		}
		all[name] = zone
	}
	return all
}()

// startDates are a few days before clocks change in one of the zones.
var startDates = []time.Time{
	time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC), time.Date(
		2026, 3, 26, 0, 0, 0, 0, time.UTC,
	), time.Date(2026, 4, 2, 0, 0, 0, 0, time.UTC),
	time.Date(2026, 9, 24, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), time.Date(
		2026, 10, 22, 0, 0, 0, 0, time.UTC,
	),
	time.Date(2026, 10, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC),
}

// sessionSeries is a recurring schedule of a service.
type sessionSeries struct {
	service      *service
	series       session.Series
	rule         recurrence.Series
	createdUntil time.Time
}

// setUp creates the tenant and schedules its recurring work.
func (w *world) setUp(o Options) time.Time {
	w.now = o.From
	if w.now.IsZero() {
		w.now = pick(w, startDates)
	}
	for i := range o.Size.Locations {
		name := pick(w, zoneNames)
		at := &location{
			id: id[tenant.LocationID](&w.tables), name: name, zone: zones[name], coach: id[tenant.MemberID](&w.tables),
		}
		w.locations = append(w.locations, at)
		for range o.Size.Services {
			w.addService(at, o.Size, i)
		}
	}
	w.plans = w.randomPlans()
	for i := range o.Size.Members {
		w.addMember(i)
	}
	for length := time.Duration(0); length < o.Length; length += day {
		w.scheduleIn(length+w.randomDuration(time.Hour), w.createSessions)
		w.scheduleIn(length+w.randomDuration(day), w.actAsStaff)
		w.scheduleIn(length+3*time.Hour, w.buyPlans)
	}
	for length := time.Duration(0); length < o.Length; length += 4 * time.Hour {
		w.scheduleIn(length, func() {
			w.mustSucceed(w.onItsOwn("sweep", w.sweep))
			w.mustSucceed(w.compareAll())
		})
	}
	for length := 7 * day; length < o.Length; length += 7 * day {
		w.scheduleIn(length, w.archive)
	}
	if !o.NoMessages {
		w.dispatcher = newDispatcher(w, o)
	}
	if o.OnSetUp != nil {
		o.OnSetUp(w.tenant())
	}
	w.createSessions()
	w.buyPlans()
	return w.now
}

func (w *world) addService(at *location, size Size, n int) {
	u := &service{
		location: at, id: id[tenant.ServiceID](&w.tables),
		duration: pick(w, []time.Duration{45 * time.Minute, time.Hour, 90 * time.Minute}),
		maxParty: 1 + w.rng.IntN(3), policy: w.randomPolicy(),
	}
	rules := w.randomRules()
	compiled, err := waitlist.Compile(rules)
	if err != nil {
		w.mustSucceed(err)
		return
	}
	u.waitlist, u.policy.WaitlistEnabled = compiled, rules.Enabled
	w.services = append(w.services, u)
	for i := range size.PerDay {
		text := pick(
			w,
			[]string{"FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "FREQ=DAILY;INTERVAL=2", "FREQ=WEEKLY;BYDAY=TU,TH,SA,SU"},
		)
		rule, err := recurrence.Parse(text)
		if err != nil {
			w.mustSucceed(err)
			return
		}
		clock := civil.TimeOfDay{Hour: pick(w, []int{1, 2, 6, 7, 9, 12, 17, 18, 20, 23}), Minute: pick(w, []int{0, 15, 30})}
		var capacity *int
		if !w.chance(0.03) {
			capacity = new(1 + w.rng.IntN(size.Capacity))
		}
		s := sessionSeries{
			service: u, createdUntil: w.now,
			rule: recurrence.Series{
				Rule: rule, Date: civil.DateOf(w.now, at.zone), Time: clock, Zone: at.zone, Duration: u.duration,
			},
			series: session.Series{ID: id[tenant.SeriesID](&w.tables), Publish: true, Details: session.Details{
				Service: u.id, Location: at.id, Coach: at.coach, Title: fmt.Sprint("Class ", n, i), Capacity: capacity,
				WaitlistCapacity: w.rng.IntN(15),
			}},
		}
		w.series = append(w.series, &s)
	}
}

// addMember adds a member with random habits.
func (w *world) addMember(i int) {
	m := &memberRow{
		Member: booking.Member{
			ID: id[tenant.MemberID](&w.tables), Name: fmt.Sprint("Member ", i),
			Tier: pick(w, []string{"", "", "silver", "gold"}), Active: true,
		},
		answersSoon: w.rng.Float64(), attends: 0.5 + w.rng.Float64()/2,
	}
	if w.chance(0.3) {
		m.zone = pick(w, zoneNames)
	}
	w.members = append(w.members, m)
	w.membersByID[m.ID] = m
	w.model.members[m.ID] = &modelMember{memberRow: m, active: true}
}

// createSessions creates the sessions of all series for the next days.
func (w *world) createSessions() {
	const ahead = 9 * day
	for _, s := range w.series {
		until := w.now.Add(ahead)
		occurrences, err := s.rule.Expand(s.createdUntil.Add(time.Second), until, 100)
		if err != nil {
			w.mustSucceed(err)
			return
		}
		for _, o := range occurrences {
			if !o.Start.After(w.now) {
				continue
			}
			at := session.Occurrence{On: o.Date, Span: civil.Span{Start: o.Start, End: o.End}}
			made, err := w.publish(s.service, s.series, at)
			if err != nil {
				w.mustSucceed(err)
				return
			}
			w.scheduleBookings(made)
			if p := s.service.policy; p.AutoNoShow && p.AutoNoShowAfterStart > 0 {
				w.schedule(o.Start.Add(p.AutoNoShowAfterStart), func() { w.mustSucceed(w.onItsOwn("sweep", w.sweep)) })
			}
		}
		s.createdUntil = until.Add(-time.Second)
	}
}
