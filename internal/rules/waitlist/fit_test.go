package waitlist_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestDecide_ChecksWindowCoachAndTries(t *testing.T) {
	t.Parallel()
	day := func(from, until string) set { return set{"From": civiltest.Date(from), "Until": civiltest.Date(until)} }
	times := func(from, until string) set { return set{"Earliest": clock(from), "Latest": clock(until)} }
	at := func(hour, minute int) time.Time { return time.Date(2026, 3, 18, hour, minute, 0, 0, time.UTC) }
	only := func(from, until string) set {
		day := civiltest.Date("2026-03-18")
		return set{"From": day, "Until": day, "Earliest": clock(from), "Latest": clock(until)}
	}
	for name, tt := range map[string]struct {
		target set // nil: the entry names the session
		coach  tenant.MemberID
		starts time.Time // 18:00 on 18 March if zero
		slack  *time.Duration
		want   waitlist.VerdictReason // "" if it fits
	}{
		"the session itself": {},
		"a window around it": {target: set{}},
		"another service":    {target: set{"Service": massage}, want: waitlist.OtherService},
		"another location":   {target: set{"Location": porto}, want: waitlist.OtherLocation},
		"this resource":      {target: set{"Resource": room}},
		"another resource": {
			target: set{"Resource": id[tenant.ResourceID](2)}, want: waitlist.OtherResource,
		},
		"the first of its days":       {target: day("2026-03-18", "2026-03-30")},
		"the last of its days":        {target: day("2026-03-01", "2026-03-18")},
		"days that are over":          {target: day("2026-03-01", "2026-03-17"), want: waitlist.OtherDate},
		"days to come":                {target: day("2026-03-19", "2026-03-30"), want: waitlist.OtherDate},
		"this member of staff":        {coach: jess},
		"another member of staff":     {coach: rui, want: waitlist.OtherStaff},
		"staff, in a window":          {target: set{}, coach: rui, want: waitlist.OtherStaff},
		"from the start on":           {target: times("18:00", "20:00")},
		"until the start":             {target: times("16:00", "18:00")},
		"an hour too early":           {target: times("19:00", "20:00")},
		"more than an hour too early": {target: times("19:01", "20:00"), want: waitlist.OtherTime},
		"an hour too late":            {target: times("15:00", "17:00")},
		"more than an hour too late":  {target: times("15:00", "16:59"), want: waitlist.OtherTime},
		"not flexible, and just early": {
			target: times("18:01", "20:00"), slack: new(time.Duration(0)), want: waitlist.OtherTime,
		},
		"not flexible, and just late": {
			target: times("16:00", "17:59"), slack: new(time.Duration(0)), want: waitlist.OtherTime,
		},
		"very flexible": {target: times("06:00", "06:30"), slack: new(12 * time.Hour)},

		"over midnight, before it":      {target: times("22:00", "02:00"), starts: at(23, 30)},
		"over midnight, after it":       {target: times("22:00", "02:00"), starts: at(1, 30)},
		"over midnight, by day":         {target: times("22:00", "02:00"), starts: at(12, 0), want: waitlist.OtherTime},
		"over midnight, a little early": {target: times("22:00", "02:00"), starts: at(21, 0)},
		"over midnight, a little late":  {target: times("22:00", "02:00"), starts: at(3, 0)},
		"over midnight, too early":      {target: times("22:00", "02:00"), starts: at(20, 59), want: waitlist.OtherTime},
		"over midnight, too late":       {target: times("22:00", "02:00"), starts: at(3, 1), want: waitlist.OtherTime},

		"a little before midnight, for the next day":  {target: times("00:00", "01:00"), starts: at(23, 30)},
		"a little after midnight, for the day before": {target: times("22:00", "23:30"), starts: at(0, 15)},
		"at the other end of the only day": {
			target: only("00:00", "01:00"), starts: at(23, 30), want: waitlist.OtherTime,
		},
		"at the other end of the only day, as well": {
			target: only("22:00", "23:30"), starts: at(0, 15), want: waitlist.OtherTime,
		},
		"late within the only day":  {target: only("22:00", "22:30"), starts: at(23, 30)},
		"early within the only day": {target: only("01:00", "02:00"), starts: at(0, 0)},
		"all day":                   {target: only("00:00", "23:59"), starts: at(23, 59)},
	} {
		c := caseOf(queueOf(set{"Coach": tt.coach})...)
		if tt.target != nil {
			c.Queue[0].Window = timeWindow(tt.target)
		}
		if !tt.starts.IsZero() {
			c.Slot.StartsAt, c.Slot.Closes = tt.starts, tt.starts
		}
		r := rules(t, nil)
		if tt.slack != nil {
			r.TimeFlexibility = *tt.slack
		}
		test.EqOp(t, cmp.Or(tt.want, waitlist.WasOffered), c.Decide(r).Verdicts[0].Reason, test.Sprint(name))
	}
}

// Days and times of day are the location's, in whatever zone a time is expressed.
func TestDecide_ReadsWindowsInZoneOfLocation(t *testing.T) {
	t.Parallel()
	day := civiltest.Date("2026-03-19")
	w := timeWindow(set{"From": day, "Until": day, "Earliest": clock("07:00"), "Latest": clock("07:30")})
	// A member's zone only matters for quiet hours. An unknown one is UTC.
	c := vary.From(caseOf(queueOf(set{"Window": w, "Zone": "Nowhere/Known"})...), set{"Slot.Zone": "Asia/Tokyo"})
	at := time.Date(2026, 3, 18, 22, 0, 0, 0, time.UTC) // 07:00 in Tokyo
	for _, at := range []time.Time{at, at.In(zone("America/New_York"))} {
		c.Slot.StartsAt, c.Slot.Closes = at, at
		test.EqOp(t, waitlist.WasOffered, c.Decide(rules(t, set{"TimeFlexibility": 0})).Verdicts[0].Reason)
	}
}

func TestCandidate_CopiesEntry(t *testing.T) {
	t.Parallel()
	want := waitlist.Candidate{
		Entry: entry(0), Member: jess, Party: 2, Asked: true, Key: 7, Flagged: true, Score: new(120), Tries: 2, Coach: rui,
		Window: timeWindow(nil), Tier: "gold", Tags: []string{"vip"}, Zone: "Asia/Tokyo", Joined: now,
	}
	test.Eq(t, want, entries([]waitlist.Candidate{want})[0].Candidate())
	want.Asked = false
	test.Eq(t, want, entries([]waitlist.Candidate{want})[0].Candidate())
}
