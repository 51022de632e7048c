package schedules_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/recurrence"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Whatever the new rule is, each session ends up on one of its occurrences, on its own day and by the clock on the
// wall, or is called off. Europe's clocks go forward on March 29 and back on October 25.
func TestUpdateSeries_FromAnyRuleToAnyOther(t *testing.T) {
	t.Parallel()
	every := func(clock string, days ...string) (all []string) {
		for _, day := range days {
			all = append(all, day+" "+clock)
		}
		return all
	}
	through := func(first, last string) (days []string) {
		for d := civiltest.Date("2026-" + first); !d.After(civiltest.Date("2026-" + last)); d = d.AddDays(1) {
			days = append(days, d.String()[len("2026-"):])
		}
		return days
	}
	const was = "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=6" // March 17, 19, 24, 26, 31, April 2
	type row struct {
		from, to string
		scope    schedules.SeriesScope // from the third session on, where it is Following
		clock    string                // where it changes too
		open     []string              // of the edited series
		kept     int                   // of those with a booking
	}
	testkit.Each(t, map[string]row{
		"daily until a day": {
			from: was, to: "FREQ=DAILY;UNTIL=20260401", scope: schedules.All, open: every("18:00", through("03-17", "04-01")...),
			kept: 5,
		},
		"every second day, so often": {
			from: was, to: "FREQ=DAILY;INTERVAL=2;COUNT=9", scope: schedules.All,
			open: every("18:00", "03-17", "03-19", "03-21", "03-23", "03-25", "03-27", "03-29", "03-31", "04-02"), kept: 4,
		},
		"daily in the hour that is lost": {
			from: was, to: "FREQ=DAILY;COUNT=14", scope: schedules.All, clock: "02:30",
			open: slices.Concat(every("02:30", through("03-17", "03-28")...), every("03:30", "03-29"), every("02:30", "03-30")),
			kept: 4,
		},
		"monthly, so often": {
			from: was, to: "FREQ=MONTHLY;COUNT=3", scope: schedules.All, open: every("18:00", "03-17", "04-17", "05-17"),
			kept: 1,
		},
		"the last Sunday of the month": {
			from: was, to: "FREQ=MONTHLY;BYDAY=-1SU;COUNT=9", scope: schedules.All,
			open: every("18:00", "03-29", "04-26", "05-31", "06-28", "07-26", "08-30", "09-27", "10-25", "11-29"),
		},
		"monthly in the hour twice": {
			from: was, to: "FREQ=MONTHLY;BYDAY=-1SU;UNTIL=20261101", scope: schedules.All, clock: "02:30",
			open: slices.Concat(
				every("03:30", "03-29"), every("02:30", "04-26", "05-31", "06-28", "07-26", "08-30", "09-27", "10-25"),
			),
		},
		"fewer": {
			from: was, to: "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=2", scope: schedules.All, open: every("18:00", "03-17", "03-19"),
			kept: 2,
		},
		"more": {
			from: was, to: "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=8", scope: schedules.All,
			open: every("18:00", "03-17", "03-19", "03-24", "03-26", "03-31", "04-02", "04-07", "04-09"), kept: 6,
		},
		"until a day instead": {
			from: was, to: "FREQ=WEEKLY;BYDAY=TU,TH;UNTIL=20260326", scope: schedules.All,
			open: every("18:00", "03-17", "03-19", "03-24", "03-26"), kept: 4,
		},
		"twice a day": {from: was, to: "FREQ=DAILY;BYHOUR=9,18;COUNT=4", scope: schedules.All, kept: 2,
			open: []string{"03-17 18:00", "03-18 09:00", "03-18 18:00", "03-19 09:00"}},
		"once a day from twice": {
			from: "FREQ=DAILY;BYHOUR=18,20;COUNT=6", to: "FREQ=WEEKLY;COUNT=2", scope: schedules.All,
			open: every("18:00", "03-17", "03-24"), kept: 1,
		},
		"monthly to daily": {
			from: "FREQ=MONTHLY;BYDAY=3TU,-1SU;COUNT=2", to: "FREQ=DAILY;COUNT=2", scope: schedules.All,
			open: every("18:00", "03-17", "03-18"), kept: 1,
		},
		"what follows daily": {
			from: was, to: "FREQ=DAILY;COUNT=3", scope: schedules.Following, open: every("18:00", "03-24", "03-25", "03-26"),
			kept: 4,
		},
		"what follows once a month": {
			from: was, to: "FREQ=MONTHLY;COUNT=2", scope: schedules.Following, open: every("18:00", "03-24", "04-24"), kept: 3,
		},
		"what follows, on Sundays": {
			from: was, to: "FREQ=MONTHLY;BYDAY=-1SU;COUNT=2", scope: schedules.Following, clock: "03:00",
			open: every("03:00", "03-29", "04-26"), kept: 2,
		},
	}, func(studio *testkit.Studio, tt row) {
		mia := studio.AddMember("Mia")
		sub := studio.Subscribe(mia, studio.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 6}))
		in := studio.SeriesInput()
		in.Rule = tt.from
		s, ids := studio.CreateSeries(in)
		for _, id := range ids {
			studio.MustBook(mia, id)
		}
		edit := schedules.SeriesEdit{
			Series: s.ID, Scope: tt.scope, Expect: new(1), Pattern: session.Pattern{Rule: tt.to},
			PatternFields: session.RuleField,
		}
		if tt.scope == schedules.Following {
			edit.Session = ids[2]
		}
		if tt.clock != "" {
			edit.Time = civiltest.TimeOfDay(tt.clock)
			edit.PatternFields |= session.TimeOfDayField
		}
		done := studio.EditSeries(edit)
		open := slices.DeleteFunc(
			starts(studio, done.Series.ID), func(s string) bool { return strings.Contains(s, "cancelled") },
		)
		test.Eq(studio.T, tt.open, open, test.Sprint("sessions"))
		rule := expect.Value(recurrence.Parse(tt.to))(studio.T)
		test.EqOp(studio.T, rule.String(), done.Series.Rule, test.Sprintf("rule %s, want %s", done.Series.Rule, rule))
		test.False(studio.T, done.Series.OpenEnded, test.Sprintf("rule %s, want %s", done.Series.Rule, rule))
		confirmed := studio.Count(`select count(*) from bookings where status = 'CONFIRMED'`)
		test.EqOp(studio.T, tt.kept, confirmed,
			test.Sprintf(
				"%d bookings, balance %d, %d called off; want %d bookings",
				confirmed, studio.Balance(sub), len(done.Cancelled), tt.kept,
			))
		test.EqOp(studio.T, 6-tt.kept, studio.Balance(sub),
			test.Sprintf(
				"%d bookings, balance %d, %d called off; want %d bookings",
				confirmed, studio.Balance(sub), len(done.Cancelled), tt.kept,
			))
		test.SliceLen(studio.T, len(ids)-tt.kept, done.Cancelled,
			test.Sprintf(
				"%d bookings, balance %d, %d called off; want %d bookings",
				confirmed, studio.Balance(sub), len(done.Cancelled), tt.kept,
			))
		test.EqOp(studio.T, 0, studio.Count(
			`select count(*) from bookings b join sessions s on s.id = b.session_id where b.starts_at <> s.starts_at
					or b.ends_at <> s.ends_at`,
		), test.Sprint("bookings stayed behind"))
		studio.WantSound()

		edit.Expect, edit.Series, edit.Scope, edit.Session = nil, done.Series.ID, schedules.All, tenant.SessionID{}
		again := studio.EditSeries(edit)
		test.EqOp(studio.T, 0, len(again.Updated)+len(again.Created)+len(again.Cancelled),
			test.Sprintf("the same rule again: %+v", again))
		test.EqOp(studio.T, done.Series.Version, again.Series.Version, test.Sprintf("the same rule again: %+v", again))
	})
}

func TestUpdateSeries_SetsAndRemovesTheEnd(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	in := studio.SeriesInput()
	in.Rule = "FREQ=WEEKLY;BYDAY=TU"
	s, ids := studio.CreateSeries(in)
	rule := func(text string) schedules.SeriesEditResult {
		t.Helper()
		return studio.EditSeries(schedules.SeriesEdit{
			Series: s.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: text}, PatternFields: session.RuleField,
		})
	}
	ended := rule("FREQ=WEEKLY;UNTIL=20260331;BYDAY=TU")
	test.False(t, ended.Series.OpenEnded, test.Sprintf("%+v, %d called off", ended.Series, len(ended.Cancelled)))
	test.EqOp(t, "2026-03-31", ended.Series.MaterializedUntil.String(),
		test.Sprintf("%+v, %d called off", ended.Series, len(ended.Cancelled)))
	test.SliceLen(t, len(ids)-3, ended.Cancelled,
		test.Sprintf("%+v, %d called off", ended.Series, len(ended.Cancelled)))
	studio.Clock.Set(testkit.Noon.AddDate(0, 2, 0))
	test.EqOp(t, 0, expect.Value(studio.App.Schedules.ExtendSeries(context.Background(), studio.Tenant))(t),
		test.Sprint("more sessions of what has ended"))
	on := rule("FREQ=WEEKLY;BYDAY=TU")
	test.True(t, on.Series.OpenEnded,
		test.Sprintf("%+v, %d edited, %d called off", on.Series, len(on.Updated), len(on.Cancelled)))
	test.EqOp(t, "2027-05-16", on.Series.MaterializedUntil.String(),
		test.Sprintf("%+v, %d edited, %d called off", on.Series, len(on.Updated), len(on.Cancelled)))
	test.EqOp(t, 0, len(on.Updated)+len(on.Cancelled),
		test.Sprintf("%+v, %d edited, %d called off", on.Series, len(on.Updated), len(on.Cancelled)))
	// From now on, until a year from now, and nothing of what has passed.
	if n := studio.Count(
		`select count(*) from sessions where state <> 'CANCELLED' and starts_at between $1 and $2`, studio.Clock.Now(),
		studio.Clock.Now().AddDate(1, 0, 0),
	); n != len(on.Created) || n != 52 {
		t.Errorf("%d sessions to come, %d made", n, len(on.Created))
	}
	over := rule("FREQ=WEEKLY;UNTIL=20260512;BYDAY=TU") // the last Tuesday
	test.False(t, over.Series.OpenEnded, test.Sprintf("%+v, %d called off", over.Series, len(over.Cancelled)))
	must.SliceLen(t, 52, over.Cancelled, must.Sprintf("%+v, %d called off", over.Series, len(over.Cancelled)))
	test.EqOp(t, 0, len(over.Updated)+len(over.Created),
		test.Sprintf("%+v, %d called off", over.Series, len(over.Cancelled)))
	expect.Reason(t, fault.RecurrenceInvalid)(
		studio.App.Schedules.UpdateSeries(context.Background(), studio.Owner, schedules.SeriesEdit{
			Series: s.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: "FREQ=DAILY;UNTIL=20260301"},
			PatternFields: session.RuleField,
		}),
	) // before its first day
}
