package waitlist_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/shoenig/test"
	"pgregory.net/rapid"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestOfferUntil_ShrinksWindowAndSkipsQuietHours(t *testing.T) {
	t.Parallel()
	const lisbon, newYork, lordHowe = "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe"
	const layout = "2006-01-02 15:04"
	day := waitlist.QuietHours{From: clock("12:00"), Until: clock("14:00")}
	noon, longNoon := set{"QuietHours": day}, set{"QuietHours": day, "OfferWindow": 6 * time.Hour}
	for name, tt := range map[string]struct {
		rules             set
		zone, now, closes string
		want              string // the end, or why there is no offer
	}{
		"half an hour by default": {nil, lisbon, "2026-03-16 12:00", "2026-03-18 18:00", "2026-03-16 12:30"},
		"as long as the rules say": {
			set{"OfferWindow": time.Hour}, lisbon, "2026-03-16 12:00", "2026-03-18 18:00", "2026-03-16 13:00",
		},
		"a quarter of what is left":          {nil, lisbon, "2026-03-16 12:00", "2026-03-16 13:00", "2026-03-16 12:15"},
		"two hours before it is not shorter": {nil, lisbon, "2026-03-16 12:00", "2026-03-16 14:00", "2026-03-16 12:30"},
		"five minutes at least":              {nil, lisbon, "2026-03-16 12:00", "2026-03-16 12:12", "2026-03-16 12:05"},
		"five minutes are left":              {nil, lisbon, "2026-03-16 12:00", "2026-03-16 12:05", "2026-03-16 12:05"},
		"four minutes are left":              {nil, lisbon, "2026-03-16 12:00", "2026-03-16 12:04", string(waitlist.NoTime)},
		"it has closed":                      {nil, lisbon, "2026-03-16 12:00", "2026-03-16 12:00", string(waitlist.NoTime)},
		"a least window above the window": {
			set{"MinOfferWindow": time.Hour}, lisbon, "2026-03-16 12:00", "2026-03-18 18:00", "2026-03-16 12:30",
		},
		"a window without a least one": {
			set{"MinOfferWindow": 0}, lisbon, "2026-03-16 12:00", "2026-03-16 12:04", "2026-03-16 12:01",
		},
		"it has closed, without a least window": {
			set{"MinOfferWindow": 0}, lisbon, "2026-03-16 12:00", "2026-03-16 12:00", string(waitlist.NoTime),
		},
		"without a least window, closed by night": {
			set{"MinOfferWindow": 0}, lisbon, "2026-03-16 22:00", "2026-03-16 23:00", string(waitlist.InQuietHours),
		},
		"it pauses by night":             {nil, lisbon, "2026-03-16 21:50", "2026-03-18 18:00", "2026-03-17 07:20"},
		"it ends as the night begins":    {nil, lisbon, "2026-03-16 21:30", "2026-03-18 18:00", "2026-03-16 22:00"},
		"made by night it begins by day": {nil, lisbon, "2026-03-16 23:00", "2026-03-18 18:00", "2026-03-17 07:30"},
		"made after midnight":            {nil, lisbon, "2026-03-17 03:00", "2026-03-18 18:00", "2026-03-17 07:30"},
		"over two nights": {
			set{"OfferWindow": 20 * time.Hour}, lisbon, "2026-03-16 21:00", "2026-03-28 18:00", "2026-03-18 11:00",
		},
		"it never outlives the slot": {nil, lisbon, "2026-03-16 21:50", "2026-03-17 07:10", "2026-03-17 07:10"},
		"it cannot wait for the morning": {
			nil, lisbon, "2026-03-16 23:00", "2026-03-17 07:04", string(waitlist.InQuietHours),
		},
		"it can wait just so":           {nil, lisbon, "2026-03-16 23:00", "2026-03-17 07:05", "2026-03-17 07:05"},
		"enough of the evening is left": {nil, lisbon, "2026-03-16 21:55", "2026-03-16 23:30", "2026-03-16 23:30"},
		"it does not pause where rules say so": {
			set{"OffersInQuietHours": true}, lisbon, "2026-03-16 23:00", "2026-03-18 18:00", "2026-03-16 23:30",
		},
		"no quiet hours": {
			set{"QuietHours": nil}, lisbon, "2026-03-16 23:00", "2026-03-18 18:00", "2026-03-16 23:30",
		},
		"quiet at noon":                        {noon, lisbon, "2026-03-16 11:50", "2026-03-18 18:00", "2026-03-16 14:20"},
		"the night in which clocks go forward": {nil, newYork, "2026-03-07 21:50", "2026-03-09 18:00", "2026-03-08 07:20"},
		"the night in which clocks go back":    {nil, newYork, "2026-10-31 21:50", "2026-11-02 18:00", "2026-11-01 07:20"},
		"clocks go forward by half an hour": {
			nil, lordHowe, "2026-10-03 21:50", "2026-10-05 18:00", "2026-10-04 07:20",
		},
		"clocks go back by half an hour": {
			nil, lordHowe, "2026-04-04 21:50", "2026-04-06 18:00", "2026-04-05 07:20",
		},
		"awake while clocks go forward": {
			longNoon, newYork, "2026-03-08 00:00", "2026-03-18 18:00", "2026-03-08 07:00",
		},
		"awake while clocks go back": {
			longNoon, newYork, "2026-11-01 00:00", "2026-11-18 18:00", "2026-11-01 05:00",
		},
	} {
		r := vary.From(
			waitlist.Defaults(), set{"QuietHours": waitlist.QuietHours{From: clock("22:00"), Until: clock("07:00")}},
		)
		where := zone(tt.zone)
		at := func(text string) time.Time { return expect.Value(time.ParseInLocation(layout, text, where))(t).UTC() }
		until, reason := vary.From(r, tt.rules).OfferUntil(at(tt.now), at(tt.closes), where)
		test.EqOp(t, tt.want, cmp.Or(string(reason), until.In(where).Format(layout)), test.Sprint(name))
	}
}

// If clocks show an hour twice, quiet hours that end in it end the first time.
func TestQuiet_EndsInFirstOfRepeatedHours(t *testing.T) {
	t.Parallel()
	berlin := zone("Europe/Berlin")
	r := waitlist.Defaults()
	r.QuietHours = waitlist.QuietHours{From: clock("22:00"), Until: clock("02:30")}
	first := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC) // 02:30 in summer time
	for after, quiet := range map[time.Duration]bool{
		-time.Second: true, 0: false, 45 * time.Minute: false, 20 * time.Hour: false, 21 * time.Hour: true,
	} {
		test.EqOp(t, quiet, r.QuietHours.Quiet(first.Add(after), berlin), test.Sprint(after))
	}
	again := first.Add(45 * time.Minute) // clocks show 02:15 again
	until, _ := r.OfferUntil(again, again.Add(48*time.Hour), berlin)
	test.EqOp(t, again.Add(30*time.Minute), until)
}

var restless = []string{
	"UTC", "Europe/Berlin", "Europe/Lisbon", "America/New_York", "America/St_Johns", "America/Santiago", "America/Havana",
	"Africa/Casablanca", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia",
}

func TestOfferUntil_MatchesMinuteByMinuteCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		where := zone(rapid.SampledFrom(restless).Draw(t, "zone"))
		minutes := func(least, most int, name string) time.Duration {
			return time.Duration(rapid.IntRange(least, most).Draw(t, name)) * time.Minute
		}
		least := minutes(1, 120, "least")
		r := vary.From(waitlist.Defaults(), set{
			"MinOfferWindow": least, "OfferWindow": least + minutes(0, 48*60, "more"),
			"QuietHours":         waitlist.QuietHours{From: anyClock(t, "from"), Until: anyClock(t, "until")},
			"OffersInQuietHours": rapid.IntRange(0, 4).Draw(t, "by night") == 0,
		})
		// A year has both clock changes of every zone.
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(minutes(0, 365*24*60, "now"))
		left := minutes(0, 5*24*60, "left")
		closes := at.Add(left)

		awake := func(until time.Time) (length time.Duration) {
			for m := at; m.Before(until); m = m.Add(time.Minute) {
				if r.OffersInQuietHours || !r.QuietHours.Quiet(m, where) {
					length += time.Minute
				}
			}
			return length
		}
		until, reason := r.OfferUntil(at, closes, where)
		full, length := min(r.OfferWindow, max(left/4, least)), awake(until)
		var holds bool
		switch reason {
		case waitlist.NoTime:
			holds = left < least
		case waitlist.InQuietHours:
			holds = awake(closes) < least
		default: // a quarter of an odd number of minutes ends between two minutes
			holds = length >= least && (until.Equal(closes) && length < full+time.Minute ||
				until.Before(closes) && (length-full).Abs() < time.Minute &&
					(r.OffersInQuietHours || !r.QuietHours.Quiet(until.Add(-time.Second), where)))
		}
		must.True(
			t, holds, must.Sprintf("until %s (%s), %s awake, and the rules say %s", until.In(where), reason, length, full),
		)
	})
}

// Quiet hours follow the local clock, except for the hours around a clock change.
func TestQuiet_FollowsLocalClock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		where := zone(rapid.SampledFrom(restless).Draw(t, "zone"))
		q := waitlist.QuietHours{From: anyClock(t, "from"), Until: anyClock(t, "until")}
		at := now.Add(time.Duration(rapid.IntRange(0, 365*24*60).Draw(t, "minutes")) * time.Minute)
		_, before := at.Add(-3 * time.Hour).In(where).Zone()
		_, after := at.Add(3 * time.Hour).In(where).Zone()
		if before != after {
			return
		}
		shows := civil.TimeOf(at, where)
		from, until := !shows.Before(q.From), shows.Before(q.Until)
		want := from && until
		if q.Until.Before(q.From) {
			want = from || until
		}
		must.EqOp(t, want, q.Quiet(at, where), must.Sprintf("quiet from %s until %s, at %s", q.From, q.Until, shows))
	})
}
