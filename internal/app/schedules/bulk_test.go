package schedules_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// timetable is a week with a bit of everything.
type timetable struct {
	*testkit.Studio
	draft, other, open, booked, queued, off, gone tenant.SessionID
	sub                                           credit.Subscription
}

func newTimetable(t *testing.T) timetable {
	t.Helper()
	w := timetable{Studio: testkit.New(t)}
	at := func(hours int) time.Time { return testkit.Evening.Add(time.Duration(hours) * time.Hour) }
	w.draft, w.other = w.AddSession(testkit.Session{
		Starts: at(0), State: catalog.Draft,
	}), w.AddSession(testkit.Session{Starts: at(1), State: catalog.Draft})
	w.open = w.AddSession(testkit.Session{Starts: at(2)})
	w.booked = w.AddSession(testkit.Session{Starts: at(3)})
	w.queued = w.AddSession(testkit.Session{Starts: at(4), Capacity: 1, Waitlist: 3})
	w.off = w.AddSession(testkit.Session{Starts: at(5), State: catalog.Cancelled})
	w.gone = w.AddSession(testkit.Session{Starts: at(6)})
	w.DeleteSession(w.gone)
	mia, noa := w.AddMember("Mia"), w.AddMember("Noa")
	w.sub = w.Subscribe(mia, w.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 9}))
	w.MustBook(mia, w.booked)
	w.MustBook(noa, w.booked)
	w.MustBook(mia, w.queued)
	w.MustWaitlist(noa, w.queued)
	return w
}

func TestPreviewBulk_CountsSessionsAndBookings(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	w.OtherTenant().AddSession(testkit.Session{Starts: testkit.Evening})
	for name, tt := range map[string]struct {
		action   session.BulkAction
		ask      schedules.BulkRequest
		want     schedules.Preview
		samples  []tenant.SessionID
		bookings []int
	}{
		"include_booked=false leaves booked sessions out of the match and the samples, and still counts them": {
			session.BulkDelete,
			schedules.BulkRequest{Filter: testkit.WeekFilter()}, schedules.Preview{Matched: 4, Booked: 2},
			[]tenant.SessionID{w.draft, w.other, w.open, w.off}, []int{0, 0, 0, 0},
		},
		"include_booked=true takes them all": {
			session.BulkDelete,
			schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true},
			schedules.Preview{Matched: 6, Booked: 2, Bookings: 3},
			[]tenant.SessionID{w.draft, w.other, w.open, w.booked, w.queued, w.off}, []int{0, 0, 0, 2, 1, 0},
		},
		"drafts alone can be published": {
			session.BulkPublish, schedules.BulkRequest{Filter: testkit.WeekFilter()}, schedules.Preview{Matched: 2},
			[]tenant.SessionID{w.draft, w.other}, []int{0, 0},
		},
		"what is cancelled cannot be cancelled": {
			session.BulkCancel, schedules.BulkRequest{Filter: testkit.WeekFilter()}, schedules.Preview{Matched: 3, Booked: 2},
			[]tenant.SessionID{w.draft, w.other, w.open}, []int{0, 0, 0},
		},
		"named ones": {
			session.BulkDelete, schedules.BulkRequest{
				Filter: session.Filter{Sessions: []tenant.SessionID{w.booked, w.draft, w.gone}}, IncludeBooked: true,
			}, schedules.Preview{Matched: 2, Booked: 1, Bookings: 2},
			[]tenant.SessionID{w.draft, w.booked}, []int{0, 2},
		},
		"nothing": {
			session.BulkDelete, schedules.BulkRequest{Filter: session.Filter{Sessions: []tenant.SessionID{w.gone}}},
			schedules.Preview{}, nil, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := w.App.Schedules.PreviewBulkSessions(context.Background(), w.Owner, tt.action, tt.ask)
			must.NoError(t, err)
			var (
				ids      []tenant.SessionID
				bookings []int
			)
			for _, s := range got.Samples {
				ids, bookings = append(ids, s.ID), append(bookings, s.Bookings)
			}
			got.Samples = nil
			test.Eq(t, tt.want, got)
			test.Eq(t, tt.samples, ids, test.Sprint("samples"))
			test.Eq(t, tt.bookings, bookings, test.Sprint("bookings"))
		})
	}
}

func TestPreviewBulk_ListsTwenty(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	fill(studio, 50, 5*time.Minute, catalog.Published)
	got, _, err := studio.App.Schedules.PreviewBulkSessions(
		context.Background(), studio.Owner, session.BulkCancel, schedules.BulkRequest{Filter: testkit.WeekFilter()},
	)
	must.NoError(t, err)
	test.EqOp(t, 50, got.Matched, test.Sprintf("matched %d, %d samples", got.Matched, len(got.Samples)))
	must.SliceLen(t, 20, got.Samples, must.Sprintf("matched %d, %d samples", got.Matched, len(got.Samples)))
	inOrder := slices.IsSortedFunc(got.Samples, func(a, b scheduledb.Sample) int { return a.StartsAt.Compare(b.StartsAt) })
	test.True(t, inOrder, test.Sprintf("%+v", got.Samples))
}

// batch reads the one audit entry of a bulk operation.
func batch(studio *testkit.Studio, id tenant.BatchID) (action, reason string, changes map[string]any) {
	studio.T.Helper()
	n := studio.Count(
		`select count(*) from audit_entries where tenant_id = $1 and batch_id = $2`, studio.Tenant, id,
	)
	must.EqOp(studio.T, 1, n, must.Sprintf("%d audit entries for one batch", n))
	var text []byte
	err := studio.DB.Owner.QueryRow(
		context.Background(), `select action, reason, changes from audit_entries where batch_id = $1`, id,
	).Scan(&action, &reason, &text)
	if err == nil {
		err = json.Unmarshal(text, &changes)
	}
	must.NoError(studio.T, err)
	return action, reason, changes
}

func TestBulkPublish_SelectsDraftsOnly(t *testing.T) {
	t.Parallel()
	for name, states := range map[string][]catalog.SessionState{
		"none named": nil,
		"all named":  {catalog.Draft, catalog.Published, catalog.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTimetable(t)
			filter := testkit.WeekFilter()
			filter.States = states
			done := expect.Value(w.App.Schedules.BulkPublishSessions(
				context.Background(), w.Owner, schedules.BulkRequest{Filter: filter}))(t)
			must.EqOp(t, 2, done.Sessions, must.Sprintf("%+v", done))
			test.EqOp(t, catalog.Published, w.GetSession(w.draft).State)
			test.EqOp(t, catalog.Cancelled, w.GetSession(w.off).State)
			action, _, changes := batch(w.Studio, done.Batch)
			states := changes["filter"].(map[string]any)["states"]
			diff := cmp.Diff([]any{w.draft.String(), w.other.String()}, changes["ids"])
			test.EqOp(t, "session.bulk_published", action,
				test.Sprintf("%s of %v (-want +got)\n%s", action, states, diff))
			test.EqOp(t, "", diff, test.Sprintf("%s of %v (-want +got)\n%s", action, states, diff))
			test.True(t, cmp.Equal(states, []any{"DRAFT"}),
				test.Sprintf("%s of %v (-want +got)\n%s", action, states, diff))
			test.EqOp(t, "session.created session.published", w.SessionEvents(w.draft), test.Sprint("events"))
			again := expect.Value(w.App.Schedules.BulkPublishSessions(
				context.Background(), w.Owner, schedules.BulkRequest{Filter: filter}))(t)
			test.EqOp(t, 0, again.Sessions, test.Sprintf("again: %+v", again))
		})
	}
}

func TestBulkDelete_WritesOneAuditEntry(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	done := expect.Value(w.App.Schedules.BulkDeleteSessions(
		t.Context(), w.Owner,
		schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true, Reason: "closed for repairs", Notify: true},
	))(t)
	test.EqOp(t, 6, done.Sessions)
	test.EqOp(t, 3, done.Bookings)
	test.EqOp(t, 1, done.Entries)
	test.EqOp(t, 2, done.Credits)
	test.EqOp(t, 6, w.Count(
		`select count(*) from sessions where tenant_id = $1 and deleted_at = $2 and batch_id = $3`, w.Tenant, testkit.Noon,
		done.Batch,
	), test.Sprint("rows are marked"))
	test.SliceEmpty(t, listSessions(w.Studio, w.Owner, testkit.WeekQuery()), test.Sprint("still listed"))
	expect.Reason(t, fault.SessionNotFound)(w.App.Schedules.GetSession(t.Context(), w.Owner, w.booked))
	n := w.Count(`select count(*) from bookings where status <> 'CANCELLED'`)
	test.EqOp(t, 0, n, test.Sprintf("%d bookings stand, balance %d", n, w.Balance(w.sub)))
	test.EqOp(t, 9, w.Balance(w.sub), test.Sprintf("%d bookings stand, balance %d", n, w.Balance(w.sub)))
	action, reason, changes := batch(w.Studio, done.Batch)
	ids := []any{}
	for _, id := range []tenant.SessionID{w.draft, w.other, w.open, w.booked, w.queued, w.off} {
		ids = append(ids, id.String())
	}
	want := map[string]any{
		"filter": map[string]any{"starts_from": "2026-03-16T00:00:00Z", "starts_until": "2026-03-23T00:00:00Z"}, "ids": ids,
		"include_booked": true, "include_ended": false, "notify": true,
		"bookings_cancelled": 3.0, "entries_cancelled": 1.0, "credits_refunded": 2.0,
	}
	diff := cmp.Diff(want, changes)
	test.EqOp(t, "", diff, test.Sprintf("%s, %q (-want +got)\n%s", action, reason, diff))
	test.EqOp(t, "session.bulk_deleted", action, test.Sprintf("%s, %q (-want +got)\n%s", action, reason, diff))
	test.EqOp(t, "closed for repairs", reason, test.Sprintf("%s, %q (-want +got)\n%s", action, reason, diff))
	w.WantSound()
	again := expect.Value(w.App.Schedules.BulkDeleteSessions(
		t.Context(), w.Owner, schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true},
	))(t)
	test.EqOp(t, 0, again.Sessions, test.Sprintf("again: %+v", again))
	test.EqOp(t, 0, again.Bookings, test.Sprintf("again: %+v", again))
}

func TestBulkDelete_WithoutNotification(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	done := expect.Value(w.App.Schedules.BulkDeleteSessions(
		context.Background(), w.Owner,
		schedules.BulkRequest{Filter: session.Filter{Sessions: []tenant.SessionID{w.booked}}, IncludeBooked: true},
	))(t)
	must.EqOp(t, 1, done.Sessions)
	must.EqOp(t, 2, done.Bookings)
	_, _, changes := batch(w.Studio, done.Batch)
	test.EqOp(t, false, changes["notify"], test.Sprintf("audit %v", changes))
	test.EqOp(t, 3, w.Count(
		`select count(*) from events where session_id = $1 and type in ('session.deleted', 'booking.cancelled')
			and data->>'notify' = 'false'`,
		w.booked,
	), test.Sprint("events say that no one is notified, want 3"))
}

func TestBulkDelete_SkipsBookedSessionsUnlessIncluded(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	done := expect.Value(w.App.Schedules.BulkDeleteSessions(
		context.Background(), w.Owner, schedules.BulkRequest{Filter: testkit.WeekFilter()},
	))(t)
	must.EqOp(t, 4, done.Sessions)
	must.EqOp(t, 0, done.Bookings)
	test.Eq(t, []tenant.SessionID{w.booked, w.queued}, offeredIDs(listSessions(w.Studio, w.Owner, testkit.WeekQuery())))
}

func TestBulkCancel_EqualsCancelSession(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	done := expect.Value(w.App.Schedules.BulkCancelSessions(
		context.Background(), w.Owner,
		schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true, Reason: "storm", Notify: true},
	))(t)
	must.EqOp(t, 5, done.Sessions)
	must.EqOp(t, 3, done.Bookings)
	must.EqOp(t, 1, done.Entries)
	must.EqOp(t, 2, done.Credits)
	for _, id := range []tenant.SessionID{w.draft, w.booked, w.queued} {
		s := w.GetSession(id)
		test.EqOp(t, catalog.Cancelled, s.State)
		test.EqOp(t, "storm", s.StateReason)
		test.EqOp(t, 0, s.SeatsTaken)
	}
	test.EqOp(t, "", w.GetSession(w.off).StateReason, test.Sprint("what was cancelled before was touched"))
	test.EqOp(t, 5, w.Count(
		`select count(*) from events where type = 'session.cancelled' and data->>'batch_id' = $1`, done.Batch.String(),
	), test.Sprint("events"))
	w.WantSound()
	again := expect.Value(w.App.Schedules.BulkCancelSessions(
		context.Background(), w.Owner, schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true},
	))(t)
	test.EqOp(t, 0, again.Sessions, test.Sprintf("again: %+v", again))
}

func TestBulk_SelectsNothingOfOtherTenants(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	there := w.OtherTenant()
	ask := schedules.BulkRequest{
		Filter: session.Filter{Sessions: []tenant.SessionID{w.draft, w.booked}}, IncludeBooked: true,
	}
	for name, operate := range map[string]func() (schedules.BulkResult, error){
		"publish": func() (schedules.BulkResult, error) {
			return w.App.Schedules.BulkPublishSessions(
				t.Context(), there.Owner, ask,
			)
		},
		"delete": func() (schedules.BulkResult, error) {
			return w.App.Schedules.BulkDeleteSessions(t.Context(), there.Owner, ask)
		},
		"cancel": func() (schedules.BulkResult, error) {
			return w.App.Schedules.BulkCancelSessions(t.Context(), there.Owner, ask)
		},
	} {
		done := expect.Value(operate())(t)
		test.EqOp(t, 0, done.Sessions, test.Sprintf("%s: %+v", name, done))
		test.EqOp(t, 0, done.Bookings, test.Sprintf("%s: %+v", name, done))
	}
	found, _, err := w.App.Schedules.PreviewBulkSessions(t.Context(), there.Owner, session.BulkDelete, ask)
	must.NoError(t, err)
	test.EqOp(t, 0, found.Matched, test.Sprintf("preview: %+v", found))
	test.EqOp(t, 0, found.Booked, test.Sprintf("preview: %+v", found))
	test.EqOp(t, catalog.Draft, w.GetSession(w.draft).State, test.Sprint("the draft is none any more"))
}

// With the token of a preview, a bulk operation changes what the preview showed, or nothing.
func TestBulk_RejectsTheTokenOfAnotherMatch(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w timetable){
		"nothing changed": nil,
		"another session matches": func(w timetable) {
			w.AddSession(testkit.Session{Starts: testkit.Evening.Add(9 * time.Hour)})
		},
		"one matches no longer": func(w timetable) { w.DeleteSession(w.open) },
		"one was edited": func(w timetable) {
			_, _, err := w.App.Schedules.UpdateSession(context.Background(), w.Owner, w.open, nil,
				session.Input{Title: "Other"}, session.TitleField)
			must.NoError(w.T, err)
		},
		"one was booked":     func(w timetable) { w.MustBook(w.AddMember("Ida"), w.open) },
		"one was waited for": func(w timetable) { w.MustWaitlist(w.AddMember("Ida"), w.queued) },
		"a booking was cancelled": func(w timetable) {
			expect.OK(w.T)(w.App.Schedules.CancelSession(
				context.Background(), w.Owner, w.booked, schedules.Removal{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTimetable(t)
			ask := schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true}
			_, token, err := w.App.Schedules.PreviewBulkSessions(t.Context(), w.Owner, session.BulkCancel, ask)
			must.NoError(t, err)
			ask.Token = token
			if change == nil {
				done := expect.Value(w.App.Schedules.BulkCancelSessions(t.Context(), w.Owner, ask))(t)
				test.EqOp(t, 5, done.Sessions)
				return
			}
			change(w)
			before := w.Count(`select count(*) from sessions where state = 'CANCELLED'`)
			got := expect.Reason(t, fault.ETagMismatch)(w.App.Schedules.BulkCancelSessions(t.Context(), w.Owner, ask))
			test.EqOp(t, "token", got.Field)
			test.EqOp(t, before, w.Count(`select count(*) from sessions where state = 'CANCELLED'`))
			ask.Token = ""
			expect.OK(t)(w.App.Schedules.BulkCancelSessions(t.Context(), w.Owner, ask))
		})
	}
}

func TestBulk_RejectsTheTokenOfAnotherAction(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	ask := schedules.BulkRequest{Filter: session.Filter{Sessions: []tenant.SessionID{w.open}}}
	_, token, err := w.App.Schedules.PreviewBulkSessions(t.Context(), w.Owner, session.BulkCancel, ask)
	must.NoError(t, err)
	ask.Token = token
	expect.Reason(t, fault.ETagMismatch)(w.App.Schedules.BulkDeleteSessions(t.Context(), w.Owner, ask))
	expect.OK(t)(w.App.Schedules.BulkCancelSessions(t.Context(), w.Owner, ask))
}

func TestBulk_LimitsSessions(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	fill(studio, session.MaxBulk+1, time.Minute, catalog.Draft)
	filter := testkit.WeekFilter()
	ask := schedules.BulkRequest{Filter: filter}
	large := expect.Reason(t, fault.BulkTooLarge)(studio.App.Schedules.BulkPublishSessions(t.Context(), studio.Owner, ask))
	test.EqOp(t, "2000", large.Metadata["limit"])
	test.EqOp(t, "sessions", large.Metadata["of"])
	found, token, err := studio.App.Schedules.PreviewBulkSessions(t.Context(), studio.Owner, session.BulkPublish, ask)
	must.NoError(t, err)
	test.EqOp(t, session.MaxBulk+1, found.Matched)
	test.EqOp(t, "", token)
	filter.Until = testkit.Noon.Add((session.MaxBulk + 1) * time.Minute)
	ask.Filter = filter
	done := expect.Value(studio.App.Schedules.BulkPublishSessions(context.Background(), studio.Owner, ask))(t)
	test.EqOp(t, session.MaxBulk, done.Sessions, test.Sprintf("%d published", done.Sessions))
	deleted := expect.Value(studio.App.Schedules.BulkDeleteSessions(
		context.Background(), studio.Owner, schedules.BulkRequest{Filter: filter},
	))(t)
	test.EqOp(t, session.MaxBulk, deleted.Sessions, test.Sprintf("%d deleted", deleted.Sessions))
}

// The owner's week: drafts, workouts, all on sale at once, and then members see it and book.
func TestSchedule_WeekFromDraftsToBookings(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	mia := studio.AddMember("Mia")
	var ids []tenant.SessionID
	for day := range 5 {
		ids = append(ids, studio.CreateSession(studio.SessionInput(testkit.Evening.AddDate(0, 0, day)), false).ID)
	}
	expect.OK(t)(studio.App.Schedules.SetWorkouts(
		t.Context(), studio.Coach, ids[0], nil, []tenant.WorkoutID{workout(studio, "Squats")},
	))
	test.SliceEmpty(t, listSessions(studio, mia, testkit.WeekQuery()), test.Sprint("members see drafts"))
	done := expect.Value(studio.App.Schedules.BulkPublishSessions(
		t.Context(), studio.Owner, schedules.BulkRequest{Filter: testkit.WeekFilter()}))(t)
	must.EqOp(t, 5, done.Sessions, must.Sprintf("%+v", done))
	test.Eq(t, ids, offeredIDs(listSessions(studio, mia, testkit.WeekQuery())), test.Sprint("members see"))
	studio.MustBook(mia, ids[0])
	got := listSessions(studio, mia, testkit.WeekQuery())[0]
	test.EqOp(t, booking.Booked, got.Eligibility.Status)
	test.EqOp(t, 1, got.SeatsTaken)
	test.SliceLen(t, 1, got.Workouts)
}
