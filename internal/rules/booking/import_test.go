package booking_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func parseImport(t testing.TB, lines ...string) *booking.Import {
	t.Helper()
	return expect.Value(booking.ParseImport([]byte(strings.Join(lines, "\n") + "\n")))(t)
}

func TestParseImport_MatchesColumnsInThreeLanguages(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"Client,Email,Class,Site,Date,Start time,Spots,Paid with credit,Status": "name email service location date start " +
			"seats credits_paid status",
		"Kunde;E-Mail;Kurs;Standort;Datum;Uhrzeit;Plätze;Mit Guthaben bezahlt;Gast": "name email service " +
			"location date start seats credits_paid guest",
		"Client;Courriel;Cours;Lieu;Jour;Heure;Nombre de places;Payé par crédit;Formule": "name email service " +
			"location date start seats credits_paid plan",
	} {
		var got []string
		for _, m := range parseImport(t, header).Columns {
			got = append(got, m.Field)
		}
		test.EqOp(t, want, strings.Join(got, " "), test.Sprint(header))
	}
}

func TestParseImport_ReadsRows(t *testing.T) {
	t.Parallel()
	const header = "service,date,start,seats,credits paid,status,guest,plan,email"
	for row, want := range map[string]string{
		"Yin,2026-12-31,18:00,,,,,,a@b.c":                   "2026-12-31 18:00 1 0",
		"Yin,31.12.2026,6:30 PM,2,yes,Booked,,,a@b.c":       "2026-12-31 18:30 2 2",
		"Yin,,2026-12-31 18:00,2,2,bestätigt,,Ten,a@b.c":    "2026-12-31 18:00 2 2",
		"Yin,2026-12-31,2026-12-31T18:00:00,,nein,,,,a@b.c": "2026-12-31 18:00 1 0",
		"Yin,2026-12-31,18:00,,,,Gil,,":                     "2026-12-31 18:00 1 0",
		"Yin,2026-12-30,2026-12-31 18:00,,,,,,a@b.c":        "start: It has another day than date.",
		"Yin,,18:00,,,,,,a@b.c":                             "date: Give the day, here or in start.",
		"Yin,2026-12-31,25:00,,,,,,a@b.c":                   `start: "25:00" is not a time of day in the form 18:00.`,
		"Yin,2026-12-31,18:00,0,,,,,a@b.c":                  `seats: "0" is not a number of seats from 1 to 1000.`,
		"Yin,2026-12-31,18:00,3,2,,,,a@b.c": `credits_paid: "2" is neither yes or no, ` +
			`nor 0 or a credit for each of the seats.`,
		"Yin,2026-12-31,18:00,,,Cancelled,,,a@b.c": `status: "Cancelled" is not a status of a booking that goes on: ` +
			`only confirmed or booked ones are imported.`,
		"Yin,2026-12-31,18:00,,yes,,Gil,,": "credits_paid: A guest has no plan that paid.",
		"Yin,2026-12-31,18:00,,,,,,":       "email: Say whose the row is: by email, phone or name.",
	} {
		r := parseImport(t, header, row).Rows[0]
		got := fmt.Sprint(r.Date, " ", r.Start, " ", r.Seats, " ", r.Paid)
		if len(r.Problems) > 0 {
			got = r.Problems[0].Column + ": " + r.Problems[0].Message
		}
		test.EqOp(t, want, got, test.Sprint(row))
	}
}

// A session is found by its local start at its location, also when two locations have it at the same local time, and
// on the day on which clocks change.
func TestFindSession_FindsTheOneOfTheRow(t *testing.T) {
	t.Parallel()
	zones := []string{"Europe/Berlin", "Europe/Berlin", "Europe/Lisbon"}
	var sites []booking.Site
	for i, name := range []string{"Pier", "Hall", "Cais"} {
		sites = append(sites, booking.Site{
			ID: tenant.New[tenant.LocationID](now), Name: name, Zone: expect.Value(time.LoadLocation(zones[i]))(t),
		})
	}
	at := make(map[time.Time][]*booking.ImportSlot)
	add := func(site int, service, resource, start string) {
		starts := expect.Value(time.ParseInLocation("2006-01-02 15:04", start, sites[site].Zone))(t).UTC()
		at[starts] = append(at[starts], &booking.ImportSlot{
			Slot: booking.Slot{
				ID: tenant.New[tenant.SessionID](now), Location: sites[site].ID, StartsAt: starts, Title: service + resource,
			},
			ServiceName: service, ResourceName: resource,
		})
	}
	add(0, "Yin", "", "2027-03-28 18:00") // clocks change on that day
	add(2, "Yin", "", "2027-03-28 17:00") // the same instant
	add(0, "Flow", "A", "2027-03-29 18:00")
	add(0, "Flow", "B", "2027-03-29 18:00")
	add(1, "Padel", "", "2027-03-29 18:00")
	for row, want := range map[string]string{
		"YIN,,,2027-03-28,18:00":       "Yin",
		"Yin,Pier,,2027-03-28,18:00":   "Yin",
		"Yin,,,2027-03-28,17:00":       "Yin",
		"Yin,Cais,,2027-03-28,18:00":   "start: No session of this service starts then.",
		"Yin,Cais,,2027-03-28,17:00":   "Yin",
		"Yin,,,2027-03-29,18:00":       "start: No session of this service starts then.",
		"Yin,Dock,,2027-03-28,18:00":   `location: There is no active location "Dock".`,
		"Flow,,,2027-03-29,18:00":      "start: Several sessions of this service start then: give location and resource.",
		"Flow,pier,b,2027-03-29,18:00": "FlowB",
		"Padel,,,2027-03-29,18:00":     "Padel",
	} {
		r := &parseImport(t, "service,location,resource,date,start,email", row+",a@b.c").Rows[0]
		found := r.FindSession(sites, at)
		var got string
		if found != nil {
			got = found.Title
		} else {
			got = r.Problems[0].Column + ": " + r.Problems[0].Message
		}
		test.EqOp(t, want, got, test.Sprint(row))
	}
	for row, where := range map[string][]booking.Site{
		"Yin,,,2027-03-28,18:00":     nil, // a tenant that has nothing yet
		"Yin,Pier,,2027-03-28,18:00": nil,
		// Samoa had no such day.
		"Yin,,,2011-12-30,18:00": {{Name: "Apia", Zone: expect.Value(time.LoadLocation("Pacific/Apia"))(t)}},
	} {
		r := &parseImport(t, "service,location,resource,date,start,email", row+",a@b.c").Rows[0]
		test.Nil(t, r.FindSession(where, at))
		want := "There is no active location yet, so there are no sessions."
		if len(where) > 0 {
			want = "No location has this day: its clocks skip it."
		}
		must.SliceLen(t, 1, r.Problems)
		test.EqOp(t, want, r.Problems[0].Message, test.Sprint(row))
	}
}

func TestTake_RefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	ana, bo := tenant.New[tenant.MemberID](now), tenant.New[tenant.MemberID](now)
	slot := func(edit func(*booking.Slot)) *booking.Slot {
		s := &booking.Slot{
			ID: tenant.New[tenant.SessionID](now), StartsAt: now.Add(time.Hour), EndsAt: now.Add(2 * time.Hour),
			Capacity: new(2), State: catalog.Published,
		}
		edit(s)
		return s
	}
	ten := credit.Plan{ID: tenant.New[tenant.PlanID](now), Name: "Ten", Kind: credit.Credits, Credits: 10}
	sub := func(of tenant.MemberID, plan credit.Plan) credit.Subscription {
		return credit.Subscription{
			ID: tenant.New[tenant.SubscriptionID](now), Member: of, Plan: plan, Status: credit.Active, Balance: 3, Lines: 1,
		}
	}
	open := func(*booking.Slot) {}
	one := booking.ImportRow{Member: ana, Seats: 1}
	paid := booking.ImportRow{Member: ana, Seats: 1, Paid: 1}
	draft := func(s *booking.Slot) { s.State = catalog.Draft }
	blocked := func(s *booking.Slot) { s.Blocked = true }
	long := credit.Plan{Name: "Long", Kind: credit.Course}
	for name, c := range map[string]struct {
		slot *booking.Slot
		row  booking.ImportRow
		subs []credit.Subscription
		want string
	}{
		"a seat": {slot(open), booking.ImportRow{Member: ana, Seats: 2}, nil, "0 credits"},
		"a credit": {
			slot(open), booking.ImportRow{Member: ana, Seats: 2, Paid: 2},
			[]credit.Subscription{sub(ana, ten), sub(bo, ten)}, "2 credits 2 GRANT +2 = 5 3 BOOKING -2 = 3",
		},
		"draft":   {slot(draft), one, nil, "SESSION_NOT_OPEN"},
		"blocked": {slot(blocked), one, nil, "SESSION_NOT_OPEN"},
		"begun":   {slot(func(s *booking.Slot) { s.StartsAt = now }), one, nil, "SESSION_NOT_OPEN"},
		"full": {
			slot(func(s *booking.Slot) { s.SeatsTaken = 1 }), booking.ImportRow{Member: ana, Seats: 2}, nil,
			"SESSION_FULL",
		},
		"booked":  {slot(open), booking.ImportRow{Member: bo, Seats: 1}, nil, "ALREADY_BOOKED"},
		"a guest": {slot(open), booking.ImportRow{Guest: "GIL", Seats: 1}, nil, "ALREADY_BOOKED"},
		"no plan": {slot(open), paid, []credit.Subscription{sub(bo, ten)}, "SUBSCRIPTION_NOT_FOUND"},
		"several": {slot(open), paid, []credit.Subscription{sub(ana, ten), sub(ana, ten)}, "SUBSCRIPTION_NOT_FOUND"},
		"course": {
			slot(open), booking.ImportRow{Member: ana, Seats: 1, Plan: "Long"}, []credit.Subscription{sub(ana, long)},
			"SUBSCRIPTION_NOT_FOUND",
		},
		"overlap": {
			slot(func(s *booking.Slot) { s.StartsAt = now.Add(30 * time.Minute) }),
			booking.ImportRow{Member: ana, Seats: 1, Plan: "ten"}, []credit.Subscription{sub(ana, ten)}, "OVERLAP",
		},
	} {
		facts := booking.NewImportFacts(
			[]booking.Place{{Session: c.slot.ID, Member: bo}, {Session: c.slot.ID, Guest: "gil"}}, c.subs, now)
		busy := slot(func(s *booking.Slot) { s.EndsAt = now.Add(40 * time.Minute); s.StartsAt = now.Add(time.Minute) })
		facts.Busy[ana] = append(facts.Busy[ana], civil.Span{Start: busy.StartsAt, End: busy.EndsAt})
		before := c.slot.SeatsTaken
		result, ok := facts.Take(&c.row, c.slot, tenant.New[tenant.BookingID](now), "adam", now)
		got := fmt.Sprint(result.Credits, " credits")
		for _, l := range result.Ledger {
			got += fmt.Sprintf(" %d %s %+d = %d", l.Number, l.Kind, l.Amount, l.Balance)
		}
		if !ok {
			got = string(c.row.Problems[0].Reason)
			test.EqOp(t, before, c.slot.SeatsTaken, test.Sprint(name))
		}
		test.EqOp(t, c.want, got, test.Sprint(name))
	}
}

// However the rows are, no session gets a seat too many, no balance changes, and the sums are equal.
func TestTake_KeepsCapacityAndBalances(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		slots := make([]*booking.Slot, 3)
		before := make(map[tenant.SessionID]int)
		for i := range slots {
			slots[i] = &booking.Slot{
				ID: tenant.New[tenant.SessionID](now), StartsAt: now.Add(time.Hour), EndsAt: now.Add(2 * time.Hour),
				Capacity: new(rapid.IntRange(0, 6).Draw(t, "capacity")), State: catalog.Published,
			}
			slots[i].SeatsTaken = rapid.IntRange(0, *slots[i].Capacity).Draw(t, "taken")
			before[slots[i].ID] = slots[i].SeatsTaken
		}
		plan := credit.Plan{Name: "Ten", Kind: credit.Credits, Credits: 10, AllowOverlap: true}
		members := make([]tenant.MemberID, 5)
		var subs []credit.Subscription
		for i := range members {
			members[i] = tenant.New[tenant.MemberID](now)
			subs = append(subs, credit.Subscription{
				ID: tenant.New[tenant.SubscriptionID](now), Member: members[i], Plan: plan, Status: credit.Active, Balance: i,
			})
		}
		facts := booking.NewImportFacts(nil, subs, now)
		var rows []booking.ImportRow
		var of []booking.Slot
		for range rapid.IntRange(0, 20).Draw(t, "rows") {
			row := booking.ImportRow{
				Member: rapid.SampledFrom(members).Draw(t, "member"), Seats: rapid.IntRange(1, 3).Draw(t, "seats"),
			}
			if rapid.Bool().Draw(t, "paid") {
				row.Paid = row.Seats
			}
			slot := rapid.SampledFrom(slots).Draw(t, "slot")
			result, ok := facts.Take(&row, slot, tenant.New[tenant.BookingID](now), "adam", now)
			must.EqOp(t, ok, len(row.Problems) == 0)
			if !ok {
				continue
			}
			must.EqOp(t, row.Paid, result.Credits)
			rows, of = append(rows, row), append(of, *slot)
		}
		after := make(map[tenant.SessionID]int)
		for _, s := range slots {
			must.LessEq(t, *s.Capacity, s.SeatsTaken)
			after[s.ID] = s.SeatsTaken
		}
		for i, id := range members {
			must.EqOp(t, i, facts.Subscriptions[id][0].Balance)
		}
		file, total, err := booking.CheckImported(rows, of, before, after)
		must.NoError(t, err)
		must.EqOp(t, file, total)
		if len(rows) > 0 {
			after[of[0].ID]++
			_, _, err = booking.CheckImported(rows, of, before, after)
			must.EqOp(t, fault.ImportMismatch, fault.ReasonOf(err))
		}
	})
}
