package schedules_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

func TestUpdateSeries_DetachesEditedSession(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(h *testkit.Studio, s session.Series, id tenant.SessionID) error{
		"by the series": func(h *testkit.Studio, s session.Series, id tenant.SessionID) error {
			done, err := h.App.Schedules.UpdateSeries(context.Background(), h.Owner, schedules.SeriesEdit{
				Series: s.ID, Scope: schedules.One, Session: id, Template: session.Input{Title: "Special"},
				Fields:        session.TitleField,
				Pattern:       session.Pattern{Time: civil.MustParseTimeOfDay("20:00"), Duration: 90 * time.Minute},
				PatternFields: session.TimeOfDayField | session.DurationField,
			})
			if err == nil && (!slices.Equal(done.Updated, []tenant.SessionID{id}) || done.Series.Version != s.Version) {
				h.T.Errorf("%+v", done)
			}
			return err
		},
		"by itself": func(h *testkit.Studio, _ session.Series, id tenant.SessionID) error {
			at := time.Date(2026, 3, 31, 18, 0, 0, 0, time.UTC)
			_, _, err := h.App.Schedules.UpdateSession(context.Background(), h.Owner, id, nil,
				session.Input{
					Title: "Special", StartsAt: at, EndsAt: at.Add(90 * time.Minute),
				}, session.TitleField|session.StartField|session.EndField)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			s, ids := h.CreateSeries(h.SeriesInput())
			if err := edit(h, s, ids[4]); err != nil {
				t.Fatal(err)
			}
			special := h.GetSession(ids[4])
			if special.Title != "Special" || special.Series != s.ID || special.EndsAt.Sub(special.StartsAt) != 90*time.Minute {
				t.Errorf("%+v", special)
			}
			want := []string{"03-17 18:00", "03-19 18:00", "03-24 18:00", "03-26 18:00", "03-31 20:00", "04-02 18:00"}
			wantStarts(h, s.ID, want...)

			// The series decides about the others from now on.
			done := h.EditSeries(schedules.SeriesEdit{
				Series: s.ID, Scope: schedules.All, Pattern: clockOf("17:00"), PatternFields: session.TimeOfDayField,
			})
			if len(done.Updated) != 5 || len(done.Created)+len(done.Cancelled) != 0 {
				t.Errorf("%+v", done)
			}
			wantStarts(h, s.ID, "03-17 17:00", "03-19 17:00", "03-24 17:00", "03-26 17:00", "03-31 20:00", "04-02 17:00")
		})
	}
}

func TestUpdateSeries_KeepsBookings(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Unlimited, DailyLimit: new(1)}))
	s, ids := h.CreateSeries(h.SeriesInput())
	var booked []tenant.BookingID
	for _, id := range ids {
		booked = append(booked, h.MustBook(mia, id))
	}
	done := h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Expect: new(1), Template: session.Input{Title: "Flow", Coach: h.Coach.Member},
		Fields:        session.TitleField | session.CoachField,
		Pattern:       session.Pattern{Time: civil.MustParseTimeOfDay("23:30"), Duration: 2 * time.Hour},
		PatternFields: session.TimeOfDayField | session.DurationField,
	})
	if len(done.Updated) != 6 || len(done.Created)+len(done.Cancelled) != 0 || done.Series.ID != s.ID ||
		done.Series.Version != 2 {
		t.Errorf("%+v", done)
	}
	wantStarts(h, s.ID, "03-17 23:30", "03-19 23:30", "03-24 23:30", "03-26 23:30", "03-31 23:30", "04-02 23:30")
	for i, id := range booked {
		b, err := h.App.Bookings.GetBooking(context.Background(), testkit.SelfOnly(mia), id)
		at := h.GetSession(ids[i])
		if err != nil || b.Status != booking.Confirmed || !b.StartsAt.Equal(at.StartsAt) ||
			!b.EndsAt.Equal(at.StartsAt.Add(2*time.Hour)) || at.Title != "Flow" || at.Coach != h.Coach.Member {
			t.Errorf("booking %+v of %+v (%v)", b, at, err)
		}
	}
	if n := h.Count(`select count(*) from bookings where exclusive`); n != 6 {
		t.Errorf("%d bookings tolerate no overlap", n)
	}
	h.WantSound()

	_, err := h.App.Schedules.UpdateSeries(
		context.Background(), h.Owner,
		schedules.SeriesEdit{
			Series: s.ID, Scope: schedules.All, Expect: new(1), Template: session.Input{Title: "Old"},
			Fields: session.TitleField,
		},
	)
	testkit.WantReason(t, err, fault.ETagMismatch)
	again := h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Template: session.Input{Title: "Flow"}, Fields: session.TitleField,
	})
	if again.Series.Version != 2 || len(again.Updated) != 0 {
		t.Errorf("again: %+v", again)
	}
}

func TestUpdateSeries_NewRuleAddsAndRemovesSessions(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	sub := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 6}))
	in := h.SeriesInput()
	in.Template.Capacity = new(1)
	s, ids := h.CreateSeries(in)
	tuesday, thursday := h.MustBook(mia, ids[2]), h.MustBook(mia, ids[3])
	h.MustWaitlist(noa, ids[3])

	done := h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TU,FR;COUNT=6"},
		PatternFields: session.RuleField,
	})
	wantStarts(h, s.ID, "03-17 18:00", "03-19 18:00 cancelled", "03-20 18:00", "03-24 18:00", "03-26 18:00 cancelled",
		"03-27 18:00",
		"03-31 18:00", "04-02 18:00 cancelled", "04-03 18:00")
	if len(done.Updated) != 0 || len(done.Created) != 3 ||
		!slices.Equal(done.Cancelled, []tenant.SessionID{ids[1], ids[3], ids[5]}) {
		t.Errorf("%+v", done)
	}
	if h.BookingStatus(tuesday) != "CONFIRMED" || h.BookingStatus(thursday) != "CANCELLED" || h.Balance(sub) != 5 {
		t.Errorf("%s, %s, balance %d", h.BookingStatus(tuesday), h.BookingStatus(thursday), h.Balance(sub))
	}
	if n := h.Count(`select count(*) from waitlist_entries where status = 'CANCELLED'`); n != 1 {
		t.Error("who waited still waits")
	}
	h.WantSound()

	// Back again: what was dropped is made anew, since nobody called those days off on purpose.
	done = h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=6"},
		PatternFields: session.RuleField,
	})
	if len(done.Created) != 3 || len(done.Cancelled) != 3 {
		t.Errorf("back again: %+v", done)
	}
	open := slices.DeleteFunc(starts(h, s.ID), func(s string) bool { return strings.Contains(s, "cancelled") })
	if diff := cmp.Diff(
		[]string{"03-17 18:00", "03-19 18:00", "03-24 18:00", "03-26 18:00", "03-31 18:00", "04-02 18:00"}, open,
	); diff != "" {
		t.Errorf("back again (-want +got)\n%s", diff)
	}
}

func TestUpdateSeries_CancelsAndRefundsExcludedDays(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	sub := h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 6}))
	s, ids := h.CreateSeries(h.SeriesInput())
	h.MustBook(mia, ids[1])
	done := h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All,
		Pattern:       session.Pattern{Excluded: []civil.Date{civil.MustParseDate("2026-03-19")}},
		PatternFields: session.ExcludedField,
	})
	if !slices.Equal(done.Cancelled, []tenant.SessionID{ids[1]}) || len(done.Updated)+len(done.Created) != 0 ||
		h.Balance(sub) != 6 {
		t.Errorf("%+v, balance %d", done, h.Balance(sub))
	}
}

func TestUpdateSeries_KeepsStartedAndCancelledSessions(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	s, ids := h.CreateSeries(h.SeriesInput())
	h.Clock.Set(time.Date(2026, 3, 24, 17, 30, 0, 0, time.UTC)) // the third has begun
	if _, err := h.App.Schedules.CancelSession(ctx, h.Owner, ids[3], "ill", true); err != nil {
		t.Fatal(err)
	}
	if _, err := h.App.Schedules.BulkDelete(
		ctx, h.Owner, schedules.BulkRequest{Filter: session.Filter{Sessions: []tenant.SessionID{ids[4]}}},
	); err != nil {
		t.Fatal(err)
	}
	done := h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Template: session.Input{Title: "Flow"}, Fields: session.TitleField,
		Pattern: clockOf("19:30"), PatternFields: session.TimeOfDayField,
	})
	if !slices.Equal(done.Updated, []tenant.SessionID{ids[5]}) || len(done.Created)+len(done.Cancelled) != 0 {
		t.Errorf("%+v", done)
	}
	wantStarts(
		h, s.ID, "03-17 18:00", "03-19 18:00", "03-24 18:00", "03-26 18:00 cancelled", "03-31 18:00 deleted", "04-02 19:30",
	)
	if got := h.GetSession(ids[2]); got.Title != "Vinyasa" || got.Version != 1 {
		t.Errorf("what has begun was edited: %+v", got)
	}
}

func TestUpdateSeries_FollowingSplitsTheSeries(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	mia := h.AddMember("Mia")
	in := h.SeriesInput()
	in.Excluded = []civil.Date{civil.MustParseDate("2026-03-19"), civil.MustParseDate("2026-04-02")}
	s, ids := h.CreateSeries(in) // 17, 24, 26, 31
	booked := h.MustBook(mia, ids[3])

	done := h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.Following, Session: ids[2], Template: session.Input{Capacity: new(20)},
		Fields:  session.CapacityField,
		Pattern: clockOf("19:00"), PatternFields: session.TimeOfDayField,
	})
	tail := done.Series
	if tail.ID == s.ID || tail.Version != 1 || *tail.Capacity != 20 || tail.Date.String() != "2026-03-26" ||
		len(done.Updated) != 2 || len(done.Created)+len(done.Cancelled) != 0 {
		t.Errorf("%+v", done)
	}
	wantStarts(h, s.ID, "03-17 18:00", "03-24 18:00")
	wantStarts(h, tail.ID, "03-26 19:00", "03-31 19:00")
	if got := h.GetSession(ids[3]); got.Series != tail.ID || *got.Capacity != 20 ||
		h.BookingStatus(booked) != "CONFIRMED" {
		t.Errorf("%+v", got)
	}
	head, err := h.App.Schedules.GetSeries(context.Background(), h.Owner, s.ID)
	if err != nil || head.Version != 2 || len(head.Excluded) != 1 || len(tail.Excluded) != 1 ||
		head.MaterializedUntil.String() != "2026-03-25" {
		t.Errorf("head %+v (%v)", head, err)
	}

	// The parts are series of their own: neither edit reaches the other, and none makes what is there already.
	done = h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Pattern: clockOf("17:00"), PatternFields: session.TimeOfDayField,
	})
	if len(done.Updated) != 2 || len(done.Created)+len(done.Cancelled) != 0 {
		t.Errorf("the head: %+v", done)
	}
	done = h.EditSeries(schedules.SeriesEdit{
		Series: tail.ID, Scope: schedules.All, Pattern: session.Pattern{Excluded: []civil.Date{}},
		PatternFields: session.ExcludedField,
	})
	if len(done.Updated) != 0 || len(done.Created) != 1 || len(done.Cancelled) != 0 {
		t.Errorf("the tail: %+v", done)
	}
	wantStarts(h, s.ID, "03-17 17:00", "03-24 17:00")
	wantStarts(h, tail.ID, "03-26 19:00", "03-31 19:00", "04-02 19:00")
}

func TestUpdateSeries_FollowingFromTheFirstEditsAll(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	s, ids := h.CreateSeries(h.SeriesInput())
	done := h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.Following, Session: ids[0], Pattern: clockOf("19:00"),
		PatternFields: session.TimeOfDayField,
	})
	if done.Series.ID != s.ID || len(done.Updated) != 6 || h.Count(`select count(*) from series`) != 1 {
		t.Errorf("%+v", done)
	}
	same := h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.Following, Session: ids[3], Pattern: clockOf("19:00"),
		PatternFields: session.TimeOfDayField,
	})
	if same.Series.ID != s.ID || h.Count(`select count(*) from series`) != 1 {
		t.Errorf("an edit that changes nothing split the series: %+v", same)
	}
}

func TestUpdateSeries_SplitsByDay(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	in := h.SeriesInput()
	in.Rule = "FREQ=DAILY;BYHOUR=8,9,10;COUNT=6"
	in.Time = civil.MustParseTimeOfDay("08:00")
	in.Template.Resource = h.AddResource(catalog.Resource{Name: "Tee 1"})
	s, ids := h.CreateSeries(in)
	done := h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.Following, Session: ids[4],
		Pattern: session.Pattern{Rule: "FREQ=DAILY;BYHOUR=9,10,11;COUNT=3"}, PatternFields: session.RuleField,
	})
	wantStarts(h, s.ID, "03-17 08:00", "03-17 09:00", "03-17 10:00")
	// each took the next one's place, on the same tee
	wantStarts(h, done.Series.ID, "03-18 09:00", "03-18 10:00", "03-18 11:00")
	if diff := cmp.Diff(ids[3:], done.Updated); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestUpdateSeries_ConflictRejectsTheWholeEdit(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	in := h.SeriesInput()
	in.Template.Resource, in.Template.Capacity = h.AddResource(catalog.Resource{Name: "Studio"}), new(2)
	s, ids := h.CreateSeries(in)
	other := h.SessionInput(time.Date(2026, 3, 31, 17, 30, 0, 0, time.UTC)) // half past seven, that day
	other.Resource = in.Template.Resource
	h.CreateSession(other, true)
	mia := h.AddMember("Mia")
	h.Subscribe(mia, h.AddPlan(credit.Plan{Kind: credit.Unlimited}))
	h.MustBook(mia, ids[5])
	// nine o'clock, that day
	h.MustBook(mia, h.AddSession(testkit.Session{Starts: time.Date(2026, 4, 2, 19, 0, 0, 0, time.UTC)}))
	h.MustBook(h.AddMember("Noa"), ids[5])
	before := starts(h, s.ID)

	for name, tt := range map[string]struct {
		edit   schedules.SeriesEdit
		reason fault.Reason
	}{
		"the resource is taken on one day": {
			schedules.SeriesEdit{Scope: schedules.All, Pattern: clockOf("19:00"), PatternFields: session.TimeOfDayField},
			fault.ResourceBusy,
		},
		"for what follows": {
			schedules.SeriesEdit{
				Scope: schedules.Following, Session: ids[1], Pattern: clockOf("19:00"), PatternFields: session.TimeOfDayField,
			},
			fault.ResourceBusy,
		},
		"capacity below what one has taken": {
			schedules.SeriesEdit{Scope: schedules.All, Template: session.Input{Capacity: new(1)}, Fields: session.CapacityField},
			fault.CapacityBelowTaken,
		},
		"somebody's bookings would overlap": {
			schedules.SeriesEdit{Scope: schedules.All, Pattern: clockOf("21:00"), PatternFields: session.TimeOfDayField},
			fault.Overlap,
		},
		"no such rule": {
			schedules.SeriesEdit{Scope: schedules.All, Pattern: session.Pattern{Rule: "x"}, PatternFields: session.RuleField},
			fault.RecurrenceInvalid,
		},
		"no such coach": {
			schedules.SeriesEdit{Scope: schedules.All, Template: session.Input{Coach: mia.Member}, Fields: session.CoachField},
			fault.CoachInvalid,
		},
		"a session of another series": {
			schedules.SeriesEdit{
				Scope: schedules.Following, Session: h.AddSession(testkit.Session{}), Pattern: clockOf("19:00"),
				PatternFields: session.TimeOfDayField,
			},
			fault.SessionNotFound,
		},
		"no session": {
			schedules.SeriesEdit{Scope: schedules.One, Template: session.Input{Title: "x"}, Fields: session.TitleField},
			fault.SessionNotFound,
		},
		"one session has no rule": {
			schedules.SeriesEdit{
				Scope: schedules.One, Session: ids[0], Pattern: session.Pattern{Rule: "FREQ=DAILY"},
				PatternFields: session.RuleField,
			},
			fault.InvalidField,
		},
		"one session excludes no days": {
			schedules.SeriesEdit{Scope: schedules.One, Session: ids[0], PatternFields: session.ExcludedField},
			fault.InvalidField,
		},
		"one session, the resource is taken": {
			schedules.SeriesEdit{
				Scope: schedules.One, Session: ids[4], Pattern: clockOf("19:00"), PatternFields: session.TimeOfDayField,
			},
			fault.ResourceBusy,
		},
		"no such series": {
			schedules.SeriesEdit{
				Series: testkit.NewID[tenant.SeriesID](), Scope: schedules.All, Template: session.Input{Title: "x"},
				Fields: session.TitleField,
			},
			fault.SeriesNotFound,
		},
	} {
		if tt.edit.Series.IsZero() {
			tt.edit.Series = s.ID
		}
		_, err := h.App.Schedules.UpdateSeries(ctx, h.Owner, tt.edit)
		if got := fault.ReasonOf(err); got != tt.reason {
			t.Errorf("%s: reason %q, want %q (%v)", name, got, tt.reason, err)
		}
		if tt.reason == fault.CapacityBelowTaken && testkit.FaultOf(err).Metadata["session_id"] != ids[5].String() {
			t.Errorf("%s: %v", name, testkit.FaultOf(err).Metadata)
		}
	}
	if diff := cmp.Diff(before, starts(h, s.ID)); diff != "" || h.Count(`select count(*) from series`) != 1 ||
		h.Count(`select max(version) from series`) != 1 {
		t.Errorf("a refused edit left traces (-before +after)\n%s", diff)
	}
	_, err := h.App.Schedules.UpdateSeries(
		ctx, h.OtherTenant().Owner,
		schedules.SeriesEdit{
			Series: s.ID, Scope: schedules.All, Template: session.Input{Title: "x"}, Fields: session.TitleField,
		},
	)
	testkit.WantReason(t, err, fault.SeriesNotFound)
	h.WantSound()
}

func TestUpdateSeries_RaisedCapacityPromotes(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	in := h.SeriesInput()
	in.Template.Capacity = new(1)
	s, ids := h.CreateSeries(in)
	mia, noa := h.AddMember("Mia"), h.AddMember("Noa")
	for _, id := range ids[:3] {
		h.MustBook(mia, id)
		h.MustWaitlist(noa, id)
	}
	h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Template: session.Input{Capacity: new(2)}, Fields: session.CapacityField,
	})
	if n := h.Count(
		`select count(*) from bookings where member_id = $1 and status = 'CONFIRMED' and promoted`, noa.Member,
	); n != 3 {
		t.Errorf("%d promoted, want 3", n)
	}
	h.WantSound()
}

// A year of which half has passed: an edit of all neither shortens nor doubles what is to come.
func TestUpdateSeries_WithoutAnEndKeepsItsLastDay(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	in := h.SeriesInput()
	in.Rule = "FREQ=WEEKLY;COUNT=100"
	s, ids := h.CreateSeries(in)
	done := h.EditSeries(schedules.SeriesEdit{
		Series: s.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: "FREQ=WEEKLY"}, PatternFields: session.RuleField,
	})
	if len(done.Cancelled) != 0 || len(done.Created) != 0 || !done.Series.OpenEnded {
		t.Errorf("%d cancelled, %d created", len(done.Cancelled), len(done.Created))
	}
	if n := h.Count(`select count(*) from sessions where series_id = $1 and state <> 'CANCELLED'`, s.ID); n != len(ids) {
		t.Errorf("%d sessions, want %d", n, len(ids))
	}
}

// People book, one of the staff edits all, another what follows: nothing is lost or doubled.
func TestUpdateSeries_ConcurrentEditsConflict(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	s, ids := h.CreateSeries(h.SeriesInput())
	var all sync.WaitGroup
	try := func(do func() error) {
		all.Go(func() {
			err := do()
			if reason := fault.ReasonOf(err); err != nil && reason != fault.Contention && reason != fault.SessionNotFound &&
				reason != fault.RecurrenceInvalid {
				t.Error(err)
			}
		})
	}
	for i, id := range ids {
		who := h.AddMember(fmt.Sprintf("Member %d", i))
		try(func() error { _, err := h.Book(who, id); return err })
	}
	for _, clock := range []string{"17:00", "19:00", "20:00"} {
		try(func() error {
			_, err := h.App.Schedules.UpdateSeries(
				ctx, h.Owner,
				schedules.SeriesEdit{
					Series: s.ID, Scope: schedules.All, Pattern: clockOf(clock), PatternFields: session.TimeOfDayField,
				},
			)
			return err
		})
		try(func() error {
			_, err := h.App.Schedules.UpdateSeries(
				ctx, h.Owner,
				schedules.SeriesEdit{
					Series: s.ID, Scope: schedules.Following, Session: ids[3], Pattern: clockOf(clock),
					PatternFields: session.TimeOfDayField,
				},
			)
			return err
		})
	}
	all.Wait()
	if n := h.Count(`select count(*) from sessions where state = 'PUBLISHED'`); n != 6 {
		t.Errorf("%d sessions, want 6", n)
	}
	if n := h.Count(`select count(distinct local_date) from sessions`); n != 6 {
		t.Errorf("sessions on %d days, want 6", n)
	}
	if n := h.Count(
		`select count(*) from bookings b join sessions s on s.id = b.session_id where b.starts_at <> s.starts_at
			or b.ends_at <> s.ends_at`,
	); n != 0 {
		t.Errorf("%d bookings stayed behind", n)
	}
	h.WantSound()
}
