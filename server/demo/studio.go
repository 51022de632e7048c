package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// The studio's month: the number of simulated past weeks, and of weeks on sale.
const (
	pastWeeks   = 2
	futureWeeks = 4
	studioSize  = 300
)

// studio is a yoga and strength studio: 40 classes a week at three locations in three time zones.
func studio(ctx context.Context, b *builder) error {
	opening := monday(b.now).AddDays(-7 * (pastWeeks + 1))
	b.clock = opening.On(time.UTC)

	b.progress("demo studio: locations, services, plans")
	staff, err := b.createTenant(ctx, accounts.NewTenant{
		Name: "Harbour Yoga & Strength", TimeZone: "Europe/Berlin", Locale: "en", Currency: "EUR", TakesPayments: true,
		Brand: brand.Brand{Accent: "#7a3e65"},
	})
	if err != nil {
		return err
	}
	if err := b.setRules(
		ctx, tenant.ServiceID{}, func(s *waitlist.Settings) { s.Mode = new(waitlist.AutoPromote) },
	); err != nil {
		return err
	}
	locations, services, err := b.studioCatalog(ctx)
	if err != nil {
		return err
	}
	for i, name := range []string{"Cora", "Dario", "Elif", "Finn", "Greta", "Hugo"} {
		coach, err := b.addMember(ctx, fmt.Sprintf("demo-coach-%d", i+2), name+" Coach", tenant.RoleCoach)
		if err != nil {
			return err
		}
		staff.coaches = append(staff.coaches, coach.Member)
	}
	if err := b.timetable(ctx, locations, services, staff.coaches, opening.AddDays(7)); err != nil {
		return err
	}
	members, err := b.importMembers(ctx, studioSize-1)
	if err != nil {
		return err
	}
	members = append(staff.members, members...)
	if err := b.sellPlans(ctx, members); err != nil {
		return err
	}
	return b.simulate(ctx, members)
}

func monday(t time.Time) civil.Date { return civil.DateOf(t, time.UTC).WeekStart() }

func (b *builder) studioCatalog(ctx context.Context) ([]catalog.Location, []catalog.Service, error) {
	var locations []catalog.Location
	for _, l := range []catalog.Location{
		{
			Name: "Harbour", TimeZone: "Europe/Berlin", Address: "Pier 1",
			Point: &catalog.Point{Latitude: 53.5436, Longitude: 9.9667},
		},
		{
			Name: "Riverside", TimeZone: "Europe/Lisbon", Address: "Quay 7",
			Point: &catalog.Point{Latitude: 38.7040, Longitude: -9.1610},
		},
		{
			Name: "Uptown", TimeZone: "America/New_York", Address: "Block 9",
			Point: &catalog.Point{Latitude: 40.7870, Longitude: -73.9754},
		},
	} {
		l.Active, l.Channels = true, catalog.Channels()
		made, err := b.app.Catalog.CreateLocation(ctx, b.owner, l)
		if err != nil {
			return nil, nil, err
		}
		locations = append(locations, made)
	}
	var services []catalog.Service
	for _, s := range []catalog.Service{
		{Name: "Vinyasa", Category: "Yoga", Duration: time.Hour, DefaultCapacity: new(14), Color: "#2f9e44"},
		{Name: "Yin", Category: "Yoga", Duration: 75 * time.Minute, DefaultCapacity: new(12), Color: "#1971c2"},
		{Name: "Barbell Basics", Category: "Strength", Duration: time.Hour, DefaultCapacity: new(8), Color: "#e03131"},
		{Name: "Conditioning", Category: "Strength", Duration: 45 * time.Minute, DefaultCapacity: new(16), Color: "#f08c00"},
		{Name: "Morning Flow Online", Category: "Yoga", Duration: 45 * time.Minute, Delivery: catalog.Feed, Color: "#9c36b5"},
	} {
		s.Active, s.MinParty, s.MaxParty, s.DefaultWaitlistCapacity = true, 1, 2, 6
		if s.Delivery == "" {
			s.Delivery = catalog.InPerson
		}
		made, err := b.app.Catalog.CreateService(ctx, b.owner, s)
		if err != nil {
			return nil, nil, err
		}
		services = append(services, made)
	}
	_, err := b.app.Settings.UpdatePolicy(ctx, b.owner, settings.PolicyTarget{}, nil, func(p *catalog.PolicyLayer) {
		p.AdvanceWindow = new(14 * 24 * time.Hour)
		p.CancellationWindow = new(12 * time.Hour)
		p.TierCancellations = &map[string]catalog.TierPolicy{"gold": {CancellationWindow: new(4 * time.Hour)}}
	})
	return locations, services, err
}

// timetable creates 40 weekly classes, 16, 14 and 10 at the three locations, each as a series.
func (b *builder) timetable(
	ctx context.Context, locations []catalog.Location, services []catalog.Service, coaches []tenant.MemberID,
	from civil.Date,
) error {
	hours := []int{7, 9, 12, 17, 18, 20}
	days := []string{"MO", "TU", "WE", "TH", "FR", "SA", "SU"}
	made := 0
	for at, count := range []int{16, 14, 10} {
		for n := range count {
			// Each location has its own coaches, so that no coach is needed at two locations at once.
			coach := coaches[at*2+n%2]
			service := services[(n+at)%len(services)]
			_, sessions, err := b.app.Schedules.CreateSeries(ctx, b.owner, schedules.SeriesInput{
				Publish:  true,
				Template: session.Input{Service: service.ID, Location: locations[at].ID, Coach: coach},
				Pattern: session.Pattern{
					Rule: fmt.Sprintf("FREQ=WEEKLY;BYDAY=%s;COUNT=%d", days[n%7], pastWeeks+futureWeeks),
					Date: from, Time: civil.TimeOfDay{Hour: hours[n/7*2+n%2]},
				},
			})
			if err != nil {
				return err
			}
			made += len(sessions)
		}
	}
	b.progress(fmt.Sprintf("demo studio: %d classes", made))
	return nil
}

// importMembers imports members from a file, like a studio that moves to Berth.
func (b *builder) importMembers(ctx context.Context, count int) ([]tenant.Caller, error) {
	first := strings.Fields(
		"Alma Bruno Clara David Edda Felix Gwen Henri Iris Jonas Kaya Levi Maren Nils Orla Pablo Quinn Rosa Samir Tilda " +
			"Uma Viktor Wanda Xenia Yara",
	)
	last := strings.Fields("Ash Birch Cedar Elm Fern Hazel Ivy Juniper Laurel Maple Oak Rowan")
	tiers := []string{"", "", "", "silver", "gold"}
	var file strings.Builder
	file.WriteString("name,email,subject,tier\n")
	for i := range count {
		name := first[i%len(first)] + " " + last[i/len(first)%len(last)]
		fmt.Fprintf(&file, "%s,member-%03d@example.com,demo-member-%03d,%s\n", name, i+1, i+1, tiers[i%len(tiers)])
	}
	parsed, err := member.ParseImport([]byte(file.String()))
	if err != nil {
		return nil, err
	}
	imported, err := b.app.Accounts.ImportMembers(ctx, b.owner, parsed, false, nil)
	if err != nil {
		return nil, err
	}
	if len(imported.Members) != count {
		return nil, fmt.Errorf("%d of %d members were imported", len(imported.Members), count)
	}
	var callers []tenant.Caller
	search := member.Search{Role: tenant.RoleMember, Limit: 200}
	for len(callers) < count {
		page, err := b.app.Accounts.ListMembers(ctx, b.owner, search)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			return nil, errors.New("members are missing")
		}
		for _, m := range page {
			if strings.HasPrefix(m.Subject, "demo-member-") {
				callers = append(callers, tenant.Caller{
					Tenant: b.id, Subject: m.Subject, Member: m.ID, Roles: []string{tenant.RoleMember},
				})
			}
		}
		end := page[len(page)-1]
		search.After = &member.Cursor{Name: end.Name, ID: end.ID}
	}
	b.progress(fmt.Sprintf("demo studio: %d members", count+1))
	return callers, nil
}

// sellPlans gives most members one plan and a few two, and makes some subscriptions paused or in debt.
func (b *builder) sellPlans(ctx context.Context, members []tenant.Caller) error {
	var plans []credit.Plan
	for _, p := range []credit.Plan{
		{Name: "Unlimited", Kind: credit.Unlimited, DailyLimit: new(2), Price: credit.Money{Currency: "EUR", Units: 119}},
		{
			Name: "Eight a month", Kind: credit.Credits, Credits: 8, Period: new(30 * 24 * time.Hour), WeeklyLimit: new(3),
			Price: credit.Money{Currency: "EUR", Units: 79},
		},
		{
			Name: "Ten-class pack", Kind: credit.Credits, Credits: 10, Term: new(180 * 24 * time.Hour), AllowOverlap: true,
			Price: credit.Money{Currency: "EUR", Units: 140},
		},
		{Name: "Foundations course", Kind: credit.Course, Price: credit.Money{Currency: "EUR", Units: 95}},
	} {
		p.Active = true
		made, err := b.app.Catalog.CreatePlan(ctx, b.owner, p)
		if err != nil {
			return err
		}
		plans = append(plans, made)
	}
	for i, m := range members {
		s, err := b.app.Accounts.CreateSubscription(
			ctx, b.owner, accounts.NewSubscription{Member: m.Member, Plan: plans[i%3].ID},
		)
		if err != nil {
			return err
		}
		switch {
		case i%50 == 49:
			_, err = b.app.Accounts.SetSubscriptionStatus(ctx, b.owner, s.ID, credit.Debt, "The last invoice is open.")
		case i%50 == 37:
			_, err = b.app.Accounts.SetSubscriptionStatus(ctx, b.owner, s.ID, credit.Paused, "On holiday.")
		case i%20 == 13:
			_, err = b.app.Accounts.CreateSubscription(
				ctx, b.owner, accounts.NewSubscription{Member: m.Member, Plan: plans[3].ID},
			)
		}
		if err != nil {
			return err
		}
		b.reportProgress("demo studio: plans sold", i+1, len(members))
	}
	return nil
}

// simulate simulates the days up to now: people book the days ahead, a few cancel, most come.
func (b *builder) simulate(ctx context.Context, members []tenant.Caller) error {
	schedule, err := b.schedule(ctx, b.clock, b.now.Add(7*24*time.Hour))
	if err != nil {
		return err
	}
	days := int(b.now.Sub(b.clock)/(24*time.Hour)) + 1
	booked := 0
	for day := range days {
		if b.clock = b.clock.Add(24 * time.Hour); b.clock.After(b.now) {
			b.clock = b.now
		}
		for _, s := range schedule {
			ahead := s.StartsAt.Sub(b.clock)
			if ahead < 2*time.Hour || ahead > 6*24*time.Hour {
				continue
			}
			for range b.random.IntN(5) {
				who := members[b.random.IntN(len(members))]
				result, err := b.app.Bookings.Book(ctx, who, bookings.BookRequest{Session: s.ID, Party: 1, Channel: catalog.Online})
				if err == nil {
					booked++
					err = b.maybeCancel(ctx, who, result)
				}
				if !isExpected(err) {
					return err
				}
			}
		}
		if err := b.recordAttendance(ctx, schedule); err != nil {
			return err
		}
		if err := b.sweep(ctx); err != nil {
			return err
		}
		if day%7 == 6 || day == days-1 {
			b.progress(fmt.Sprintf("demo studio: day %d of %d, %d bookings", day+1, days, booked))
		}
	}
	return nil
}

// isExpected reports whether an error is normal for a studio: a class is full, a pack is used up, or a daily limit is
// reached.
func isExpected(err error) bool {
	var refusal *fault.Error
	return err == nil || errors.As(err, &refusal) && refusal.Kind != fault.Internal
}

// maybeCancel cancels one place in twelve.
func (b *builder) maybeCancel(ctx context.Context, caller tenant.Caller, result seats.Result) error {
	if result.Booking == nil || b.random.IntN(12) > 0 {
		return nil
	}
	caller.SelfOnly = true
	_, err := b.app.Bookings.CancelBooking(
		ctx, caller, bookings.CancelRequest{ID: result.Booking.ID, Reason: "Something came up.", Notify: true},
	)
	return err
}

// recordAttendance records attendance of the classes that ended within the last day.
func (b *builder) recordAttendance(ctx context.Context, schedule []session.Session) error {
	for _, s := range schedule {
		if s.EndsAt.After(b.clock) || b.clock.Sub(s.EndsAt) >= 24*time.Hour {
			continue
		}
		roster, err := b.app.Bookings.GetSessionRoster(ctx, b.owner, s.ID)
		if err != nil {
			return err
		}
		for _, booked := range roster.Bookings {
			if booked.Status != booking.Confirmed {
				continue // recorded the day before
			}
			if b.random.IntN(10) == 0 {
				_, err = b.app.Bookings.MarkNoShow(ctx, b.owner, booked.ID)
			} else {
				_, err = b.app.Bookings.CheckIn(ctx, b.owner, booked.ID)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// schedule reads all sessions that start in a period.
func (b *builder) schedule(ctx context.Context, from, until time.Time) ([]session.Session, error) {
	var all []session.Session
	query := schedules.SessionQuery{Filter: session.Filter{From: from, Until: until}, Limit: 500}
	for {
		page, err := b.app.Schedules.ListSessions(ctx, b.owner, query)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			all = append(all, s.Session)
		}
		if len(page) < query.Limit {
			return all, nil
		}
		query.AfterStart, query.AfterID = page[len(page)-1].StartsAt, page[len(page)-1].ID
	}
}

// findSessionAndOffer finds a session that the demo member can book, with time left to cancel, and an offer that they
// can accept.
func (b *builder) findSessionAndOffer(ctx context.Context, t *Tenant) error {
	caller := tenant.Caller{Tenant: t.ID, Subject: t.Subjects[tenant.RoleMember], Roles: []string{tenant.RoleMember}}
	b.clock = b.now
	holder, err := b.access.Holder(ctx, t.ID, caller.Subject)
	if err != nil {
		return err
	}
	caller.Member = holder.Member
	if t.Offer, err = b.liveOffer(ctx, caller); err != nil {
		return err
	}
	page, err := b.app.Schedules.ListSessions(ctx, caller, schedules.SessionQuery{
		Filter: session.Filter{From: b.now.Add(36 * time.Hour), Until: b.now.Add(14 * 24 * time.Hour)}, Limit: 500,
	})
	for _, s := range page {
		if s.Eligibility != nil && s.Eligibility.Status == booking.Eligible {
			t.Session = s.ID
			break
		}
	}
	return err
}
