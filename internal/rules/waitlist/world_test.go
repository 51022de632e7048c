package waitlist_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// now is a Monday at noon in Lisbon, where the local time is UTC in winter.
var now = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

// The slot of most tests starts two days later at 18:00.
var (
	yoga    = id[tenant.ServiceID](1)
	massage = id[tenant.ServiceID](2)
	lisbon  = id[tenant.LocationID](1)
	porto   = id[tenant.LocationID](2)
	room    = id[tenant.ResourceID](1)
	jess    = id[tenant.MemberID](901)
	rui     = id[tenant.MemberID](902)
	starts  = time.Date(2026, 3, 18, 18, 0, 0, 0, time.UTC)
)

func id[I ~struct{ tenant.UUID }](n uint64) I {
	var u tenant.UUID
	binary.BigEndian.PutUint64(u[8:], n)
	u[6], u[8] = 0x70, 0x80
	return I{u}
}

func slot(seats int) waitlist.Slot {
	return waitlist.Slot{
		Session: id[tenant.SessionID](1), Service: yoga, Location: lisbon, Resource: room, Coach: jess,
		StartsAt: starts, EndsAt: starts.Add(time.Hour), Closes: starts, Zone: "Europe/Lisbon", Seats: new(seats),
		ServiceName: "Vinyasa", LocationName: "Chiado",
	}
}

// queue returns n entries for a session, for one seat each, that joined one hour apart.
func queue(n int) []waitlist.Candidate {
	all := make([]waitlist.Candidate, n)
	for i := range all {
		joined := now.Add(time.Duration(i-n) * time.Hour)
		all[i] = waitlist.Candidate{
			Entry: entry(i), Member: id[tenant.MemberID](uint64(i + 1)), Party: 1, Joined: joined,
			Key: waitlist.NextKey(joined, 0),
		}
	}
	return all
}

func entry(i int) tenant.EntryID { return id[tenant.EntryID](uint64(i + 1)) }

type set = vary.Fields

// queueOf returns a queue of entries with some fields of each.
func queueOf(differ ...set) []waitlist.Candidate {
	all := queue(len(differ))
	for i := range all {
		all[i] = vary.From(all[i], differ[i])
	}
	return all
}

// parties returns a queue of parties.
func parties(sizes ...int) []waitlist.Candidate {
	all := queue(len(sizes))
	for i, size := range sizes {
		all[i].Party = size
	}
	return all
}

// some returns the ids of entries.
func some(of ...int) []tenant.EntryID {
	var all []tenant.EntryID
	for _, i := range of {
		all = append(all, entry(i))
	}
	return all
}

// caseOf is about one open seat, which a cancellation freed.
func caseOf(queue ...waitlist.Candidate) waitlist.Case {
	return waitlist.Case{Slot: slot(1), Queue: queue, Trigger: waitlist.ByCancellation, Now: now}
}

// target returns a window that includes the default slot, but for some fields.
func timeWindow(differ set) *waitlist.Window {
	return new(vary.From(waitlist.Window{
		Service: yoga, Location: lisbon,
		From: civiltest.Date("2026-03-17"), Until: civiltest.Date("2026-03-19"),
		Earliest: clock("17:00"), Latest: clock("19:00"),
	}, differ))
}

func clock(text string) civil.TimeOfDay { return civiltest.TimeOfDay(text) }

var auto, first = set{"Mode": waitlist.AutoPromote}, set{"Mode": waitlist.FirstToClaim}

// with returns rules with more that differs.
func with(rules, more set) set {
	all := maps.Clone(rules)
	maps.Copy(all, more)
	return all
}

// rules returns the default rules with offers in turn at any time of day, but for some fields.
func rules(t testing.TB, differ set) *waitlist.CompiledRules {
	t.Helper()
	r := vary.From(waitlist.Defaults(), set{"Mode": waitlist.OfferInTurn, "OffersInQuietHours": true})
	return expect.Value(waitlist.Compile(vary.From(r, differ)))(t)
}

func zone(name string) *time.Location {
	found, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return found
}

// world is a random case with random rules.
type world struct {
	waitlist.Case
	rules *waitlist.CompiledRules
	// letsIn is the eligibility expression in Go.
	letsIn func(waitlist.Candidate) bool
}

var eligibility = map[string]func(waitlist.Candidate) bool{
	"":                                       func(waitlist.Candidate) bool { return true },
	`member.tier != "gold"`:                  func(c waitlist.Candidate) bool { return c.Tier != "gold" },
	`"vip" in member.tags`:                   func(c waitlist.Candidate) bool { return len(c.Tags) > 0 },
	`entry.party_size < 3 || slot.seats > 3`: nil, // needs the slot
}

func anyRules(t *rapid.T) waitlist.Rules {
	minutes := func(least, most int, name string) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(t, name)) * time.Minute
	}
	number := func(most int, name string) int { return rapid.IntRange(0, most).Draw(t, name) }
	yes := func(name string) bool { return rapid.Bool().Draw(t, name) }
	least := minutes(1, 60, "least window")
	return vary.From(waitlist.Defaults(), set{
		"Mode": rapid.SampledFrom([]waitlist.Mode{
			waitlist.AutoPromote, waitlist.OfferInTurn, waitlist.FirstToClaim,
		}).Draw(t, "mode"),
		"Enabled": number(20, "enabled") > 0, "MinOfferWindow": least, "OfferWindow": least + minutes(0, 600, "window"),
		"TimeFlexibility": minutes(0, 180, "flexibility"), "MaxOffersPerEntry": number(3, "offers"),
		"MaxTriesPerSlot": number(4, "tries"), "AutoCascade": yes("cascade"), "AllowDownFitting": yes("down-fitting"),
		"Order": rapid.SampledFrom([]waitlist.Order{
			waitlist.ByJoining, waitlist.ByPriority, waitlist.ByFormula,
		}).Draw(t, "order"),
		"TierBonuses": map[string]int{"gold": 50, "silver": 20}, "EarlyBirdPointsPerDay": number(10, "per day"),
		"PriorityExpression": rapid.SampledFrom([]string{
			"", "100 - entry.party_size", "entry.waiting_hours / 2.0",
		}).Draw(t, "formula"),
		"EligibilityExpression": rapid.SampledFrom([]string{
			"", "", `member.tier != "gold"`, `"vip" in member.tags`, `entry.party_size < 3 || slot.seats > 3`,
		}).Draw(t, "rule"),
		"OffersInQuietHours": yes("by night"), "AutoPromoteCutoff": minutes(0, 300, "cutoff"),
		"PromotionGrace": minutes(0, 300, "grace"), "PromoteAfterCancellationWindow": yes("late"),
	})
}

func anyWorld(t *rapid.T) world {
	r := anyRules(t)
	at := starts.Add(-time.Duration(rapid.IntRange(-10, 60*48).Draw(t, "minutes before the start")) * time.Minute)
	s := slot(rapid.IntRange(0, 8).Draw(t, "seats"))
	s.Zone = rapid.SampledFrom([]string{"Europe/Lisbon", "America/New_York", "Asia/Tokyo"}).Draw(t, "zone")
	if rapid.IntRange(0, 9).Draw(t, "no limit") == 0 {
		s.Seats = nil
	}
	w := world{rules: expect.Value(waitlist.Compile(r))(t), Case: waitlist.Case{Slot: s, Now: at}}
	w.Trigger = rapid.SampledFrom([]waitlist.Trigger{
		waitlist.ByCancellation, waitlist.ByNoShow, waitlist.ByDecline, waitlist.ByExpiry,
	}).Draw(t, "trigger")
	w.Round.Freed = rapid.IntRange(0, 3).Draw(t, "freed")
	for i := range rapid.IntRange(0, 25).Draw(t, "entries") {
		w.Queue = append(w.Queue, anyCandidate(t, i, w.Case))
		if rapid.IntRange(0, 7).Draw(t, "tried") == 0 {
			w.Round.AddOffer(waitlist.Entry{ID: entry(i), Member: w.Queue[i].Member})
		}
		switch rapid.IntRange(0, 15).Draw(t, "gave up") {
		case 0:
			w.Round.GaveUp = append(w.Round.GaveUp, w.Queue[i].Member)
		case 1:
			w.Round.Declined = append(w.Round.Declined, w.Queue[i].Member)
		}
	}
	w.letsIn = eligibility[r.EligibilityExpression]
	if w.letsIn == nil {
		w.letsIn = func(c waitlist.Candidate) bool { return c.Party < 3 || s.Seats != nil && *s.Seats > 3 }
	}
	return w
}

func anyCandidate(t *rapid.T, i int, in waitlist.Case) waitlist.Candidate {
	sometimes := func(name string) bool { return rapid.IntRange(0, 5).Draw(t, name) == 0 }
	day := civil.DateOf(in.Slot.StartsAt, time.UTC).AddDays(rapid.IntRange(-2, 1).Draw(t, "from"))
	c := waitlist.Candidate{
		Entry: entry(i), Member: id[tenant.MemberID](rapid.Uint64Range(1, 100).Draw(t, "member")),
		Joined: in.Now.Add(-time.Duration(rapid.IntRange(0, 60*24*20).Draw(t, "minutes ago")) * time.Minute),
		Party:  rapid.IntRange(1, 4).Draw(t, "party"), Key: rapid.Int64Range(1, 40).Draw(t, "key"),
		Tier:    rapid.SampledFrom([]string{"", "silver", "gold"}).Draw(t, "tier"),
		Tags:    rapid.SampledFrom([][]string{nil, {"vip"}}).Draw(t, "tags"),
		Zone:    rapid.SampledFrom([]string{"", "Asia/Kolkata", "America/Los_Angeles"}).Draw(t, "home"),
		Coach:   rapid.SampledFrom([]tenant.MemberID{{}, {}, jess, rui}).Draw(t, "coach"),
		Flagged: sometimes("flagged"), Asked: sometimes("asked"), Tries: rapid.IntRange(0, 3).Draw(t, "had"),
		Window: &waitlist.Window{
			Service:  rapid.SampledFrom([]tenant.ServiceID{yoga, yoga, yoga, massage}).Draw(t, "service"),
			Location: rapid.SampledFrom([]tenant.LocationID{lisbon, lisbon, lisbon, porto}).Draw(t, "location"),
			From:     day, Until: day.AddDays(rapid.IntRange(0, 4).Draw(t, "days")),
			Earliest: anyClock(t, "earliest"), Latest: anyClock(t, "latest"),
		},
	}
	if sometimes("staff's score") {
		c.Score = new(rapid.IntRange(90, 160).Draw(t, "score"))
	}
	c.Busy, c.Promoted = sometimes("busy"), sometimes("promoted that day")
	c.CancellationWindow = time.Duration(rapid.IntRange(0, 24).Draw(t, "cancellation window")) * time.Hour
	if sometimes("refused") {
		c.Refusal = waitlist.VerdictReason(fault.NoCredits)
	}
	if rapid.Bool().Draw(t, "for the session") {
		c.Window = nil
	}
	return c
}

func anyClock(t *rapid.T, name string) civil.TimeOfDay {
	return civil.TimeOfDay{Hour: rapid.IntRange(0, 23).Draw(t, name), Minute: 15 * rapid.IntRange(0, 3).Draw(t, name)}
}

func ExampleExplain() {
	rules, err := waitlist.Compile(waitlist.Defaults())
	if err != nil {
		panic(err)
	}
	d := waitlist.Decide(slot(2), queue(3), waitlist.Round{}, waitlist.ByCancellation, rules, now)
	names := func(m tenant.MemberID) string {
		return map[tenant.MemberID]string{id[tenant.MemberID](1): "Ana", id[tenant.MemberID](2): "Bea"}[m]
	}
	for _, sentence := range waitlist.Explain(d, waitlist.ByCancellation, slot(2), now, names) {
		fmt.Println(sentence)
	}
	// Output:
	// On Monday 16 March 2026 at 12:00 a booking was cancelled, and 2 seats were open.
	// 3 entries were on the waitlist.
	// Offered to: Ana (1 seat, until Monday 16 March 2026 at 12:30) and Bea (1 seat, until Monday 16 March 2026 at 12:30).
	// Not chosen: 1 because all open seats went to earlier entries.
}
