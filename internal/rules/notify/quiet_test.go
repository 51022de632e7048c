package notify

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func zone(t must.T, name string) *time.Location {
	t.Helper()
	return expect.Value(time.LoadLocation(name))(t)
}

func hours(text string) QuietHours {
	return QuietHours{civiltest.TimeOfDay(text[:5]), civiltest.TimeOfDay(text[6:])}
}

func TestUntil_FollowsLocalTimeAcrossClockChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, quiet, zone, now, until string // until: "" is not quiet
	}{
		{"late in the evening", "21:00-08:00", "Europe/Berlin", "2026-01-10T22:00:00Z", "2026-01-11T07:00:00Z"},
		{"the first minute", "21:00-08:00", "Europe/Berlin", "2026-01-10T20:00:00Z", "2026-01-11T07:00:00Z"},
		{"the minute before", "21:00-08:00", "Europe/Berlin", "2026-01-10T19:59:59Z", ""},
		{"the last second", "21:00-08:00", "Europe/Berlin", "2026-01-11T06:59:59Z", "2026-01-11T07:00:00Z"},
		{"the end", "21:00-08:00", "Europe/Berlin", "2026-01-11T07:00:00Z", ""},
		{"an afternoon nap", "13:00-15:00", "Europe/Berlin", "2026-01-11T12:30:00Z", "2026-01-11T14:00:00Z"},
		{"none", "00:00-00:00", "Europe/Berlin", "2026-01-11T12:30:00Z", ""},
		{"a night that is an hour short", "21:00-08:00", "Europe/Berlin", "2026-03-28T21:00:00Z", "2026-03-29T06:00:00Z"},
		{"a night that is an hour long", "21:00-08:00", "Europe/Berlin", "2026-10-24T20:00:00Z", "2026-10-25T07:00:00Z"},
		{"an end that clocks skip", "23:00-02:30", "Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z"},
		// 02:30 comes twice. After the first, the clock goes back to 02:00, which is quiet again.
		{"an end that comes twice", "23:00-02:30", "Europe/Berlin", "2026-10-24T23:30:00Z", "2026-10-25T00:30:00Z"},
		{"quiet once more after it", "23:00-02:30", "Europe/Berlin", "2026-10-25T01:10:00Z", "2026-10-25T01:30:00Z"},
		{"half an hour's change", "22:00-07:00", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", "2026-04-04T20:30:00Z"},
		{"a day that was skipped", "22:00-07:00", "Pacific/Apia", "2011-12-30T09:00:00Z", "2011-12-30T17:00:00Z"},
	} {
		until, quiet := hours(c.quiet).Until(expect.Value(time.Parse(time.RFC3339, c.now))(t), zone(t, c.zone))
		got := ""
		if quiet {
			got = until.UTC().Format(time.RFC3339)
		}
		test.EqOp(t, c.until, got, test.Sprintf("%s: until", c.what))
	}
}

// In every zone and on every day, the end is the first instant after now with a local time outside the quiet hours.
func TestUntil_ReturnsTheFirstMinuteThatIsNotQuiet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		where := zone(t, rapid.SampledFrom([]string{
			"Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Chatham",
			"Africa/Cairo", "America/Santiago", "Pacific/Apia", "Antarctica/Troll", "UTC",
		}).Draw(t, "zone"))
		minute := rapid.IntRange(0, 24*60-1)
		clock := func(name string) civil.TimeOfDay {
			m := minute.Draw(t, name)
			return civil.TimeOfDay{Hour: m / 60, Minute: m % 60}
		}
		q := QuietHours{clock("start"), clock("end")}
		minutes := time.Duration(rapid.IntRange(0, 365*24*60).Draw(t, "now")) * time.Minute
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(minutes)
		until, quiet := q.Until(now, where)
		must.EqOp(t, q.contains(civil.TimeOf(now, where)), quiet)
		if !quiet {
			return
		}
		must.False(t, q.contains(civil.TimeOf(until, where)),
			must.Sprintf("ends at %v, which is quiet", until.In(where)))
		must.True(t, until.After(now), must.Sprintf("ends at %v, which is quiet", until.In(where)))
		for at := now; at.Before(until); at = at.Add(time.Minute) {
			must.True(
				t, q.contains(civil.TimeOf(at, where)),
				must.Sprintf("ends at %v, but %v is not quiet", until.In(where), at.In(where)),
			)
		}
	})
}

// Now can be any second. Quiet hours with clock changes end at the first second that is not quiet.
func TestUntil_EndsAtTheFirstSecondThatIsNotQuiet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zones := []string{"Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll"}
		where := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		change := time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)
		if where.String() == "Australia/Lord_Howe" {
			change = time.Date(2026, 10, 3, 15, 30, 0, 0, time.UTC)
		}
		now := change.Add(-time.Duration(rapid.IntRange(1, 7200).Draw(t, "before")) * time.Second)
		q := hours(rapid.SampledFrom([]string{
			"22:00-02:30", "00:00-02:01", "22:00-02:59", "22:00-01:15", "01:59-02:00",
		}).Draw(t, "quiet"))
		until, quiet := q.Until(now, where)
		if !quiet {
			return
		}
		for at := now; at.Before(until); at = at.Add(time.Second) {
			must.True(t, q.contains(civil.TimeOf(at, where)))
		}
		must.False(t, q.contains(civil.TimeOf(until, where)))
	})
}
