package recurrence_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/recurrence"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestParse_ReturnsCanonicalForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, canonical string }{
		{"FREQ=DAILY", "FREQ=DAILY"},
		{"RRULE:FREQ=WEEKLY;BYDAY=WE,MO", "FREQ=WEEKLY;BYDAY=MO,WE"},
		{" freq=weekly;byday=mo;count=12\n", "FREQ=WEEKLY;COUNT=12;BYDAY=MO"},
		{"FREQ=WEEKLY;INTERVAL=1;WKST=MO", "FREQ=WEEKLY"},
		{"INTERVAL=2;WKST=SU;FREQ=WEEKLY", "FREQ=WEEKLY;INTERVAL=2;WKST=SU"},
		{"FREQ=MONTHLY;BYDAY=2MO,-1FR,TU", "FREQ=MONTHLY;BYDAY=-1FR,TU,+2MO"},
		{"FREQ=MONTHLY;BYMONTHDAY=-1,+15,15", "FREQ=MONTHLY;BYMONTHDAY=-1,15"},
		{"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"},
		{"FREQ=YEARLY;BYMONTH=12,6;BYDAY=SU", "FREQ=YEARLY;BYMONTH=6,12;BYDAY=SU"},
		{"FREQ=YEARLY;BYYEARDAY=-1", "FREQ=YEARLY;BYYEARDAY=-1"},
		{"FREQ=YEARLY;BYDAY=53MO", "FREQ=YEARLY;BYDAY=+53MO"},
		{"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29"},
		{"FREQ=DAILY;BYHOUR=9,7;BYMINUTE=30,0", "FREQ=DAILY;BYHOUR=7,9;BYMINUTE=0,30"},
		{"FREQ=DAILY;COUNT=1", "FREQ=DAILY;COUNT=1"},
		{"FREQ=DAILY;COUNT=10000", "FREQ=DAILY;COUNT=10000"},
		{"FREQ=DAILY;BYHOUR=0,23;BYMINUTE=0,59", "FREQ=DAILY;BYHOUR=0,23;BYMINUTE=0,59"},
		{"FREQ=MONTHLY;BYMONTHDAY=31;BYMONTH=1,12", "FREQ=MONTHLY;BYMONTH=1,12;BYMONTHDAY=31"},
		{"FREQ=YEARLY;BYYEARDAY=366", "FREQ=YEARLY;BYYEARDAY=366"},
		{"FREQ=DAILY;UNTIL=00010101", "FREQ=DAILY;UNTIL=00010101"},
		{"FREQ=MONTHLY;BYDAY=MO;BYHOUR=7;BYMINUTE=0;BYSETPOS=1", "FREQ=MONTHLY;BYDAY=MO;BYHOUR=7;BYMINUTE=0;BYSETPOS=1"},
		{strings.Repeat(" ", 990) + "FREQ=DAILY", "FREQ=DAILY"},
		{"FREQ=DAILY;INTERVAL=1000", "FREQ=DAILY;INTERVAL=1000"},
		{"FREQ=YEARLY;BYMONTH=2", "FREQ=YEARLY;BYMONTH=2"}, // the day is that of the start
		{"FREQ=DAILY;UNTIL=20261218", "FREQ=DAILY;UNTIL=20261218"},
		{"FREQ=DAILY;UNTIL=20261218T180000", "FREQ=DAILY;UNTIL=20261218T180000"},
		{"FREQ=DAILY;UNTIL=20261218T170000Z", "FREQ=DAILY;UNTIL=20261218T170000Z"},
	} {
		rule, err := recurrence.Parse(c.text)
		test.NoError(t, err, test.Sprintf("Parse(%q) = %q, %v; want %q", c.text, rule, err, c.canonical))
		test.EqOp(t, c.canonical, rule.String(),
			test.Sprintf("Parse(%q) = %q, %v; want %q", c.text, rule, err, c.canonical))
		bounded := strings.Contains(c.canonical, "COUNT") || strings.Contains(c.canonical, "UNTIL")
		test.EqOp(t, bounded, rule.Bounded(), test.Sprintf("%q: Bounded = %t", c.text, !bounded))
	}
	test.EqOp(t, "", (recurrence.Rule{}).String(), test.Sprint("the zero Rule"))
}

func TestParse_RejectsAndNamesTheInvalidPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, text, part string }{
		{"nothing", " ", ""},
		{"no frequency", "BYDAY=MO", ""},
		{"unknown frequency", "FREQ=FORTNIGHTLY", "FREQ=FORTNIGHTLY"},
		{"every second", "FREQ=SECONDLY", "FREQ=SECONDLY"},
		{"every minute", "FREQ=MINUTELY;INTERVAL=10", "FREQ=MINUTELY"},
		{"every hour", "FREQ=HOURLY", "FREQ=HOURLY"},
		{"seconds", "FREQ=DAILY;BYSECOND=0,30", "BYSECOND=0,30"},
		{"week numbers", "FREQ=YEARLY;BYWEEKNO=20", "BYWEEKNO=20"},
		{"too many occurrences", "FREQ=DAILY;COUNT=10001", "COUNT=10001"},
		{"no occurrences", "FREQ=DAILY;COUNT=0", "COUNT=0"},
		{"signed count", "FREQ=DAILY;COUNT=+5", "COUNT=+5"},
		{"count overflows", "FREQ=DAILY;COUNT=99999999999999999999", "COUNT=99999999999999999999"},
		{"no interval", "FREQ=DAILY;INTERVAL=0", "INTERVAL=0"},
		{"negative interval", "FREQ=DAILY;INTERVAL=-1", "INTERVAL=-1"},
		{"huge interval", "FREQ=YEARLY;INTERVAL=9223372036854775807", "INTERVAL=9223372036854775807"},
		{"two ends", "FREQ=DAILY;COUNT=3;UNTIL=20261218", "COUNT=3"},
		{"no such day", "FREQ=DAILY;UNTIL=20260230", "UNTIL=20260230"},
		{"date in another form", "FREQ=DAILY;UNTIL=2026-12-18", "UNTIL=2026-12-18"},
		{"start in the rule", "FREQ=DAILY;DTSTART=20260101T180000Z", "DTSTART"},
		{"start before the rule", "DTSTART;TZID=Europe/Berlin:20260101T180000\nRRULE:FREQ=DAILY", "DTSTART"},
		{"zone in the rule", "FREQ=DAILY;TZID=Europe/Berlin", "TZID"},
		{"excluded dates after the rule", "RRULE:FREQ=DAILY\nEXDATE:20260101T180000", "EXDATE"},
		{"two rules", "FREQ=DAILY\r\nRRULE:FREQ=WEEKLY", "RRULE:FREQ=WEEKLY"},
		{"unknown part", "FREQ=DAILY;BYEASTER=0", "BYEASTER=0"},
		{"extension", "RSCALE=GREGORIAN;FREQ=DAILY", "RSCALE=GREGORIAN"},
		{"part twice", "FREQ=DAILY;COUNT=3;COUNT=4", "COUNT=4"},
		{"no value", "FREQ=", "FREQ="},
		{"no equals sign", "FREQ=DAILY;COUNT", "COUNT"},
		{"nothing around the sign", "FREQ=DAILY;=", "="},
		{"two ends of one", "FREQ=DAILY;COUNT=1;UNTIL=20261218", "COUNT=1"},
		{"year zero", "FREQ=DAILY;UNTIL=00000101", "UNTIL=00000101"},
		{"a fraction of a second", "FREQ=DAILY;UNTIL=20261218T180000.5", "UNTIL=20261218T180000.5"},
		{"month 13", "FREQ=YEARLY;BYMONTH=13", "BYMONTH=13"},
		{"day 32", "FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY=32"},
		{"day zero of the year", "FREQ=YEARLY;BYYEARDAY=0", "BYYEARDAY=0"},
		{"day 367", "FREQ=YEARLY;BYYEARDAY=367", "BYYEARDAY=367"},
		{"position zero", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=0", "BYSETPOS=0"},
		{"position 367", "FREQ=YEARLY;BYDAY=MO;BYSETPOS=367", "BYSETPOS=367"},
		{"signed hour", "FREQ=DAILY;BYHOUR=+7", "BYHOUR=+7"},
		{"signed minute", "FREQ=DAILY;BYMINUTE=-7", "BYMINUTE=-7"},
		{"Monday zero", "FREQ=MONTHLY;BYDAY=0MO", "BYDAY=0MO"},
		{"position among parts that select nothing", "FREQ=MONTHLY;INTERVAL=2;COUNT=3;WKST=SU;BYSETPOS=1", "BYSETPOS=1"},
		{"position until a day", "FREQ=MONTHLY;UNTIL=20261218;BYSETPOS=1", "BYSETPOS=1"},
		{"position among minutes", "FREQ=DAILY;BYDAY=MO;BYMINUTE=0,30;BYSETPOS=1", "BYSETPOS=1"},
		{"position among hours", "FREQ=DAILY;BYDAY=MO;BYHOUR=7,9;BYMINUTE=0;BYSETPOS=1", "BYSETPOS=1"},
		{"no name", "FREQ=DAILY;=3", "=3"},
		{"empty part", "FREQ=DAILY;;COUNT=3", ""},
		{"month zero", "FREQ=YEARLY;BYMONTH=0", "BYMONTH=0"},
		{"negative month", "FREQ=YEARLY;BYMONTH=-1", "BYMONTH=-1"},
		{"day of the month zero", "FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY=0"},
		{"two signs", "FREQ=MONTHLY;BYMONTHDAY=-+1", "BYMONTHDAY=-+1"},
		{"hour 24", "FREQ=DAILY;BYHOUR=24", "BYHOUR=24"},
		{"minute 60", "FREQ=DAILY;BYMINUTE=60", "BYMINUTE=60"},
		{"unknown weekday", "FREQ=WEEKLY;BYDAY=XX", "BYDAY=XX"},
		{"short weekday", "FREQ=WEEKLY;BYDAY=M", "BYDAY=M"},
		{"numbered week start", "FREQ=WEEKLY;WKST=1MO", "WKST=1MO"},
		{"second Monday of a week", "FREQ=WEEKLY;BYDAY=2MO", "BYDAY=2MO"},
		{"sixth Monday of a month", "FREQ=MONTHLY;BYDAY=6MO", "BYDAY=6MO"},
		{"sixth Monday of May", "FREQ=YEARLY;BYMONTH=5;BYDAY=-6MO", "BYDAY=-6MO"},
		{"fifty-fourth Monday", "FREQ=YEARLY;BYDAY=54MO", "BYDAY=54MO"},
		{"days of the month by week", "FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY=1"},
		{"days of the year by month", "FREQ=MONTHLY;BYYEARDAY=1", "BYYEARDAY=1"},
		{"position in nothing", "FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS=1"},
		{"position among times", "FREQ=DAILY;BYHOUR=7,9;BYSETPOS=1", "BYSETPOS=1"},
		{"30 February", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"},
		{"second of one", "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2", "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2"},
		{"too long", strings.Repeat(" ", 991) + "FREQ=DAILY", ""},
		{"interval of 1001", "FREQ=DAILY;INTERVAL=1001", "INTERVAL=1001"},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			rule, err := recurrence.Parse(c.text)
			must.Error(t, err, must.Sprint(rule))
			want := "RECURRENCE_INVALID @rule"
			if c.part != "" {
				want += " part=" + c.part
			}
			test.EqOp(t, want, faulttest.Text(err))
		})
	}
}

func TestParse_ReadsCanonicalFormBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule, err := recurrence.Parse(drawSpec(t).String())
		if err != nil {
			return
		}
		again := expect.Value(recurrence.Parse(rule.String()))(t)
		must.EqOp(t, rule.String(), again.String(), must.Sprintf("%q was read back as %q", rule, again))
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20261218T170000Z", "RRULE:FREQ=MONTHLY;BYDAY=-1FR,TU;BYSETPOS=-1;COUNT=3",
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;INTERVAL=4;WKST=SU", "FREQ=DAILY;BYHOUR=7,9;BYMINUTE=0,30",
		"DTSTART:20260101\nFREQ=DAILY",
	} {
		f.Add(text)
	}
	start := civiltest.Date("2026-01-31")
	f.Fuzz(func(t *testing.T, text string) {
		rule, err := recurrence.Parse(text)
		if err != nil {
			must.EqOp(t, fault.RecurrenceInvalid, fault.ReasonOf(err), must.Sprintf("%q: %v", text, err))
			return
		}
		again := expect.Value(recurrence.Parse(rule.String()))(t)
		must.EqOp(t, rule.String(), again.String(), must.Sprintf("%q was read back as %q", rule, again))
		series := recurrence.Series{Rule: rule, Date: start, Zone: time.UTC, Duration: time.Hour}
		n, last := 0, time.Time{}
		for o := range series.All() {
			must.True(t, o.Start.After(last), must.Sprintf("%q: %s comes after %s", text, o.Start, last))
			must.False(t, o.Date.Before(start), must.Sprintf("%q: %s comes after %s", text, o.Start, last))
			if last = o.Start; n == 50 {
				break
			}
			n++
		}
	})
}
