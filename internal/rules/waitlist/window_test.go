package waitlist_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"pgregory.net/rapid"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestOfferUntil_ShrinksWindowAndSkipsQuietHours(t *testing.T) {
	t.Parallel()
	lisbon, newYork, lordHowe := zone(t, "Europe/Lisbon"), zone(t, "America/New_York"), zone(t, "Australia/Lord_Howe")
	at := func(in *time.Location, text string) time.Time {
		return expect.Value(time.ParseInLocation("2006-01-02 15:04", text, in))(t)
	}
	never := func(r *waitlist.Rules) { r.OffersInQuietHours = true }
	long := func(window time.Duration) func(*waitlist.Rules) {
		return func(r *waitlist.Rules) { r.OfferWindow = window }
	}
	tests := map[string]struct {
		rules       func(*waitlist.Rules)
		zone        *time.Location
		now, closes string
		until       string // or "" and a reason
		reason      string
	}{
		"half an hour by default": {
			zone: lisbon, now: "2026-03-16 12:00", closes: "2026-03-18 18:00", until: "2026-03-16 12:30",
		},
		"as long as the rules say": {
			long(time.Hour), lisbon, "2026-03-16 12:00", "2026-03-18 18:00", "2026-03-16 13:00", "",
		},
		"a quarter of what is left": {
			zone: lisbon, now: "2026-03-16 12:00", closes: "2026-03-16 13:00", until: "2026-03-16 12:15",
		},
		"two hours before it is not shorter": {
			zone: lisbon, now: "2026-03-16 12:00", closes: "2026-03-16 14:00", until: "2026-03-16 12:30",
		},
		"five minutes at least": {
			zone: lisbon, now: "2026-03-16 12:00", closes: "2026-03-16 12:12", until: "2026-03-16 12:05",
		},
		"five minutes are left": {
			zone: lisbon, now: "2026-03-16 12:00", closes: "2026-03-16 12:05", until: "2026-03-16 12:05",
		},
		"four minutes are left": {
			zone: lisbon, now: "2026-03-16 12:00", closes: "2026-03-16 12:04", reason: waitlist.NoTime,
		},
		"it has closed": {
			zone: lisbon, now: "2026-03-16 12:00", closes: "2026-03-16 12:00", reason: waitlist.NoTime,
		},
		"a least window above the window": {
			func(r *waitlist.Rules) { r.MinOfferWindow = time.Hour }, lisbon, "2026-03-16 12:00", "2026-03-18 18:00",
			"2026-03-16 12:30", "",
		},
		"a window without a least one": {
			func(r *waitlist.Rules) { r.MinOfferWindow = 0 }, lisbon, "2026-03-16 12:00", "2026-03-16 12:04", "2026-03-16 12:01",
			"",
		},

		"it has closed, without a least window": {
			func(r *waitlist.Rules) { r.MinOfferWindow = 0 }, lisbon, "2026-03-16 12:00", "2026-03-16 12:00", "",
			waitlist.NoTime,
		},
		"without a least window, closed by night": {
			func(r *waitlist.Rules) { r.MinOfferWindow = 0 }, lisbon, "2026-03-16 22:00", "2026-03-16 23:00", "",
			waitlist.InQuietHours,
		},

		"it pauses by night": {
			zone: lisbon, now: "2026-03-16 21:50", closes: "2026-03-18 18:00", until: "2026-03-17 07:20",
		},
		"it ends as the night begins": {
			zone: lisbon, now: "2026-03-16 21:30", closes: "2026-03-18 18:00", until: "2026-03-16 22:00",
		},
		"made by night it begins by day": {
			zone: lisbon, now: "2026-03-16 23:00", closes: "2026-03-18 18:00", until: "2026-03-17 07:30",
		},
		"made after midnight": {
			zone: lisbon, now: "2026-03-17 03:00", closes: "2026-03-18 18:00", until: "2026-03-17 07:30",
		},
		"over two nights": {
			long(20 * time.Hour), lisbon, "2026-03-16 21:00", "2026-03-28 18:00", "2026-03-18 11:00", "",
		},
		"it never outlives the slot": {
			zone: lisbon, now: "2026-03-16 21:50", closes: "2026-03-17 07:10", until: "2026-03-17 07:10",
		},
		"it cannot wait for the morning": {
			zone: lisbon, now: "2026-03-16 23:00", closes: "2026-03-17 07:04", reason: waitlist.InQuietHours,
		},
		"it can wait just so": {
			zone: lisbon, now: "2026-03-16 23:00", closes: "2026-03-17 07:05", until: "2026-03-17 07:05",
		},
		"enough of the evening is left": {
			zone: lisbon, now: "2026-03-16 21:55", closes: "2026-03-16 23:30", until: "2026-03-16 23:30",
		},
		"it does not pause where rules say so": {
			never, lisbon, "2026-03-16 23:00", "2026-03-18 18:00", "2026-03-16 23:30", "",
		},
		"no quiet hours": {
			func(r *waitlist.Rules) { r.QuietHours = waitlist.QuietHours{} }, lisbon, "2026-03-16 23:00", "2026-03-18 18:00",
			"2026-03-16 23:30", "",
		},
		"quiet at noon": {func(r *waitlist.Rules) {
			r.QuietHours = waitlist.QuietHours{From: clock("12:00"), Until: clock("14:00")}
		}, lisbon,
			"2026-03-16 11:50", "2026-03-18 18:00", "2026-03-16 14:20", ""},

		"the night in which clocks go forward": {
			zone: newYork, now: "2026-03-07 21:50", closes: "2026-03-09 18:00", until: "2026-03-08 07:20",
		},
		"the night in which clocks go back": {
			zone: newYork, now: "2026-10-31 21:50", closes: "2026-11-02 18:00", until: "2026-11-01 07:20",
		},
		"clocks go forward by half an hour": {
			zone: lordHowe, now: "2026-10-03 21:50", closes: "2026-10-05 18:00", until: "2026-10-04 07:20",
		},
		"clocks go back by half an hour": {
			zone: lordHowe, now: "2026-04-04 21:50", closes: "2026-04-06 18:00", until: "2026-04-05 07:20",
		},
		"awake while clocks go forward": {func(r *waitlist.Rules) {
			long(6 * time.Hour)(r)
			r.QuietHours = waitlist.QuietHours{From: clock("12:00"), Until: clock("14:00")}
		}, newYork,
			"2026-03-08 00:00", "2026-03-18 18:00", "2026-03-08 07:00", ""},
		"awake while clocks go back": {func(r *waitlist.Rules) {
			long(6 * time.Hour)(r)
			r.QuietHours = waitlist.QuietHours{From: clock("12:00"), Until: clock("14:00")}
		}, newYork,
			"2026-11-01 00:00", "2026-11-18 18:00", "2026-11-01 05:00", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := waitlist.Defaults()
			r.QuietHours = waitlist.QuietHours{From: clock("22:00"), Until: clock("07:00")}
			if tt.rules != nil {
				tt.rules(&r)
			}
			until, reason := r.OfferUntil(at(tt.zone, tt.now).UTC(), at(tt.zone, tt.closes).UTC(), tt.zone)
			test.True(
				t, reason == tt.reason && (tt.until == "" || until.Equal(at(tt.zone, tt.until))),
				test.Sprintf("until %s (%s), want %s (%s)", until.In(tt.zone), reason, tt.until, tt.reason),
			)
		})
	}
}

// If clocks show an hour twice, quiet hours that end in it end the first time.
func TestQuiet_EndsInFirstOfRepeatedHours(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	q := waitlist.QuietHours{From: clock("22:00"), Until: clock("02:30")}
	r := waitlist.Defaults()
	r.QuietHours = q
	first := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC) // 02:30 in summer time
	for _, tt := range []struct {
		at    time.Time
		quiet bool
	}{
		{first.Add(-time.Second), true}, {first, false}, {first.Add(45 * time.Minute), false},
		{first.Add(20 * time.Hour), false}, {first.Add(21 * time.Hour), true},
	} {
		test.EqOp(t, tt.quiet, q.Quiet(tt.at, berlin), test.Sprintf("quiet at %s", tt.at.In(berlin)))
	}
	again := first.Add(45 * time.Minute) // clocks show 02:15 again
	until, reason := r.OfferUntil(again, again.Add(48*time.Hour), berlin)
	test.True(t, until.Equal(again.Add(30*time.Minute)), test.Sprintf("until %s %s", until.In(berlin), reason))
}

var restless = []string{
	"UTC", "Europe/Berlin", "Europe/Lisbon", "America/New_York", "America/St_Johns", "America/Santiago", "America/Havana",
	"Africa/Casablanca", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia",
}

func TestOfferUntil_MatchesMinuteByMinuteCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		where := expect.Value(time.LoadLocation(rapid.SampledFrom(restless).Draw(t, "zone")))(t)
		minutes := func(least, most int, name string) time.Duration {
			return time.Duration(rapid.IntRange(least, most).Draw(t, name)) * time.Minute
		}
		r := waitlist.Defaults()
		r.MinOfferWindow = minutes(1, 120, "least")
		r.OfferWindow = r.MinOfferWindow + minutes(0, 48*60, "more")
		r.QuietHours = waitlist.QuietHours{From: anyClock(t, "from"), Until: anyClock(t, "until")}
		r.OffersInQuietHours = rapid.IntRange(0, 4).Draw(t, "by night") == 0
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
		switch reason {
		case waitlist.NoTime:
			must.True(t, left < r.MinOfferWindow, must.Sprintf("no time, and %s is left", left))
			return
		case waitlist.InQuietHours:
			must.True(t, awake(closes) < r.MinOfferWindow, must.Sprintf("it is night, and there are %s awake", awake(closes)))
			return
		}
		// A quarter of an odd number of minutes ends between two minutes.
		full := min(r.OfferWindow, max(left/4, r.MinOfferWindow))
		switch length := awake(until); {
		case until.After(closes):
			t.Fatalf("it outlives the slot by %s", until.Sub(closes))
		case length < r.MinOfferWindow:
			t.Fatalf("it stands for %s", length)
		case !until.Equal(closes) && (length-full).Abs() >= time.Minute:
			t.Fatalf("it stands for %s, and the rules say %s", length, full)
		case until.Equal(closes) && length >= full+time.Minute:
			t.Fatalf("it stands for %s, which is more than %s", length, full)
		case !r.OffersInQuietHours && !until.Equal(closes) && r.QuietHours.Quiet(until.Add(-time.Second), where):
			t.Fatalf("it ends by night, at %s", until.In(where))
		}
	})
}

// Quiet hours follow the local clock, except for the hours around a clock change.
func TestQuiet_FollowsLocalClock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		where := expect.Value(time.LoadLocation(rapid.SampledFrom(restless).Draw(t, "zone")))(t)
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
