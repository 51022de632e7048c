package waitlist_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

func TestDecide_ChecksWindowCoachAndTries(t *testing.T) {
	t.Parallel()
	day := func(from, until string) func(*waitlist.Window) {
		return func(w *waitlist.Window) { w.From, w.Until = civiltest.Date(from), civiltest.Date(until) }
	}
	times := func(from, until string) func(*waitlist.Window) {
		return func(w *waitlist.Window) { w.Earliest, w.Latest = clock(from), clock(until) }
	}
	at := func(hour, minute int) time.Time { return time.Date(2026, 3, 18, hour, minute, 0, 0, time.UTC) }
	only := func(from, until string) func(*waitlist.Window) {
		return func(w *waitlist.Window) { day("2026-03-18", "2026-03-18")(w); times(from, until)(w) }
	}
	tests := map[string]struct {
		wish   func(*waitlist.Window)
		coach  tenant.MemberID
		starts time.Time // 18:00 on 18 March if zero
		slack  *time.Duration
		want   string // "" if it fits
	}{
		"the session itself": {},
		"a window around it": {wish: func(*waitlist.Window) {}},
		"another service":    {wish: func(w *waitlist.Window) { w.Service = massage }, want: waitlist.OtherService},
		"another location":   {wish: func(w *waitlist.Window) { w.Location = porto }, want: waitlist.OtherLocation},
		"this resource":      {wish: func(w *waitlist.Window) { w.Resource = room }},
		"another resource": {
			wish: func(w *waitlist.Window) { w.Resource = id[tenant.ResourceID](2) }, want: waitlist.OtherResource,
		},
		"the first of its days":       {wish: day("2026-03-18", "2026-03-30")},
		"the last of its days":        {wish: day("2026-03-01", "2026-03-18")},
		"days that are over":          {wish: day("2026-03-01", "2026-03-17"), want: waitlist.OtherDate},
		"days to come":                {wish: day("2026-03-19", "2026-03-30"), want: waitlist.OtherDate},
		"this member of staff":        {coach: jess},
		"another member of staff":     {coach: rui, want: waitlist.OtherStaff},
		"staff, in a window":          {wish: func(*waitlist.Window) {}, coach: rui, want: waitlist.OtherStaff},
		"from the start on":           {wish: times("18:00", "20:00")},
		"until the start":             {wish: times("16:00", "18:00")},
		"an hour too early":           {wish: times("19:00", "20:00")},
		"more than an hour too early": {wish: times("19:01", "20:00"), want: waitlist.OtherTime},
		"an hour too late":            {wish: times("15:00", "17:00")},
		"more than an hour too late":  {wish: times("15:00", "16:59"), want: waitlist.OtherTime},
		"not flexible, and just early": {
			wish: times("18:01", "20:00"), slack: new(time.Duration(0)), want: waitlist.OtherTime,
		},
		"not flexible, and just late": {
			wish: times("16:00", "17:59"), slack: new(time.Duration(0)), want: waitlist.OtherTime,
		},
		"very flexible": {wish: times("06:00", "06:30"), slack: new(12 * time.Hour)},

		"over midnight, before it":      {wish: times("22:00", "02:00"), starts: at(23, 30)},
		"over midnight, after it":       {wish: times("22:00", "02:00"), starts: at(1, 30)},
		"over midnight, by day":         {wish: times("22:00", "02:00"), starts: at(12, 0), want: waitlist.OtherTime},
		"over midnight, a little early": {wish: times("22:00", "02:00"), starts: at(21, 0)},
		"over midnight, a little late":  {wish: times("22:00", "02:00"), starts: at(3, 0)},
		"over midnight, too early":      {wish: times("22:00", "02:00"), starts: at(20, 59), want: waitlist.OtherTime},
		"over midnight, too late":       {wish: times("22:00", "02:00"), starts: at(3, 1), want: waitlist.OtherTime},

		"a little before midnight, for the next day":  {wish: times("00:00", "01:00"), starts: at(23, 30)},
		"a little after midnight, for the day before": {wish: times("22:00", "23:30"), starts: at(0, 15)},
		"at the other end of the only day": {
			wish: only("00:00", "01:00"), starts: at(23, 30), want: waitlist.OtherTime,
		},
		"at the other end of the only day, as well": {
			wish: only("22:00", "23:30"), starts: at(0, 15), want: waitlist.OtherTime,
		},
		"late within the only day":  {wish: only("22:00", "22:30"), starts: at(23, 30)},
		"early within the only day": {wish: only("01:00", "02:00"), starts: at(0, 0)},
		"all day":                   {wish: only("00:00", "23:59"), starts: at(23, 59)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := one(func(c *waitlist.Candidate) {
				if c.Coach = tc.coach; tc.wish != nil {
					c.Window = wish(tc.wish)
				}
			})
			s := slot(1)
			if !tc.starts.IsZero() {
				s.StartsAt, s.Closes = tc.starts, tc.starts
			}
			r := rules(t, func(r *waitlist.Rules) {
				if tc.slack != nil {
					r.TimeFlexibility = *tc.slack
				}
			})
			if tc.want == "" {
				tc.want = waitlist.WasOffered
			}
			test.EqOp(t, tc.want, reasons(waitlist.Decide(s, q, waitlist.Round{}, waitlist.ByCancellation, r, now))[0])
		})
	}
}

// Days and times of day are the location's, in whatever zone a time is expressed.
func TestDecide_ReadsWindowsInZoneOfLocation(t *testing.T) {
	t.Parallel()
	w := wish(func(w *waitlist.Window) {
		w.From, w.Until = civiltest.Date("2026-03-19"), civiltest.Date("2026-03-19")
		w.Earliest, w.Latest = clock("07:00"), clock("07:30")
	})
	s := slot(1)
	s.Zone, s.StartsAt = "Asia/Tokyo", time.Date(2026, 3, 18, 22, 0, 0, 0, time.UTC)
	s.Closes = s.StartsAt
	r := rules(t, func(r *waitlist.Rules) { r.TimeFlexibility = 0 })
	// A member's zone only matters for quiet hours. An unknown one is UTC.
	q := one(func(c *waitlist.Candidate) { c.Window, c.Zone = w, "Nowhere/Known" })
	for _, s.StartsAt = range []time.Time{s.StartsAt, s.StartsAt.In(zone(t, "America/New_York"))} {
		test.EqOp(t, waitlist.WasOffered, reasons(
			waitlist.Decide(s, q, waitlist.Round{}, waitlist.ByCancellation, r, now),
		)[0], test.Sprint("07:00 in Tokyo"))
	}
}

func TestCandidate_CopiesEntry(t *testing.T) {
	t.Parallel()
	e := waitlist.Entry{
		ID: entry(0), Member: jess, Party: 2, Status: waitlist.Offered, Key: 7, Flagged: true, Score: new(120), Tries: 2,
		Coach: rui, Window: wish(func(*waitlist.Window) {}), MemberTier: "gold", MemberTags: []string{"vip"},
		MemberZone: "Asia/Tokyo", CreatedAt: now,
	}
	c := e.Candidate()
	test.True(
		t, c.Entry == e.ID && c.Member == e.Member && c.Party == 2 && c.Asked && c.Key == 7 && c.Flagged &&
			*c.Score == 120 && c.Tries == 2 && c.Coach == rui && c.Window == e.Window && c.Tier == "gold" &&
			c.Tags[0] == "vip" && c.Zone == "Asia/Tokyo" && c.Joined.Equal(now),
		test.Sprintf("%+v", c),
	)
	if e.Status = waitlist.Waiting; e.Candidate().Asked {
		t.Error("one that waits has an offer")
	}
}

func TestQueues_ReturnsOnePerDay(t *testing.T) {
	t.Parallel()
	w := wish(func(*waitlist.Window) {})
	all := w.Queues()
	test.True(
		t, len(all) == 3 && all[0].Date == w.From && all[2].Date == w.Until && all[1].Service == yoga &&
			all[1].Location == lisbon,
		test.Sprintf("%+v", all),
	)
}
