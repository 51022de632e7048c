package schedules_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
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
	there := w.OtherTenant()
	there.AddSession(testkit.Session{Starts: testkit.Evening})
	for name, tt := range map[string]struct {
		ask      schedules.BulkRequest
		want     schedules.Preview
		samples  []tenant.SessionID
		bookings []int
	}{
		"include_booked=false leaves booked sessions out of the match and the samples, and still counts them": {
			schedules.BulkRequest{Filter: testkit.WeekFilter()}, schedules.Preview{Matched: 4, Booked: 2},
			[]tenant.SessionID{w.draft, w.other, w.open, w.off}, []int{0, 0, 0, 0},
		},
		"include_booked=true takes them all": {
			schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true},
			schedules.Preview{Matched: 6, Booked: 2, Bookings: 3},
			[]tenant.SessionID{w.draft, w.other, w.open, w.booked, w.queued, w.off}, []int{0, 0, 0, 2, 1, 0},
		},
		"named ones": {
			schedules.BulkRequest{
				Filter: session.Filter{Sessions: []tenant.SessionID{w.booked, w.draft, w.gone}}, IncludeBooked: true,
			}, schedules.Preview{Matched: 2, Booked: 1, Bookings: 2},
			[]tenant.SessionID{w.draft, w.booked}, []int{0, 2},
		},
		"nothing": {
			schedules.BulkRequest{Filter: session.Filter{Sessions: []tenant.SessionID{w.gone}}}, schedules.Preview{}, nil, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := w.App.Schedules.PreviewBulk(context.Background(), w.Owner, tt.ask)
			if err != nil {
				t.Fatal(err)
			}
			var ids []tenant.SessionID
			var bookings []int
			for _, s := range got.Samples {
				ids, bookings = append(ids, s.ID), append(bookings, s.Bookings)
			}
			got.Samples = nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.samples, ids); diff != "" {
				t.Errorf("samples (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.bookings, bookings); diff != "" {
				t.Errorf("bookings (-want +got)\n%s", diff)
			}
		})
	}
}

func TestPreviewBulk_ListsTwenty(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	fill(h, 50, 5*time.Minute, catalog.Published)
	got, err := h.App.Schedules.PreviewBulk(
		context.Background(), h.Owner, schedules.BulkRequest{Filter: testkit.WeekFilter()},
	)
	if err != nil || got.Matched != 50 || len(got.Samples) != 20 ||
		!slices.IsSortedFunc(got.Samples, func(a, b scheduledb.Sample) int { return a.StartsAt.Compare(b.StartsAt) }) {
		t.Errorf("matched %d, %d samples (%v)", got.Matched, len(got.Samples), err)
	}
}

// batch reads the one audit entry of a bulk operation.
func batch(h *testkit.Studio, id tenant.BatchID) (action, reason string, changes map[string]any) {
	h.T.Helper()
	if n := h.Count(`select count(*) from audit_entries where tenant_id = $1 and batch_id = $2`, h.Tenant, id); n != 1 {
		h.T.Fatalf("%d audit entries for one batch", n)
	}
	var text []byte
	err := h.DB.Owner.QueryRow(
		context.Background(), `select action, reason, changes from audit_entries where batch_id = $1`, id,
	).Scan(&action, &reason, &text)
	if err == nil {
		err = json.Unmarshal(text, &changes)
	}
	if err != nil {
		h.T.Fatal(err)
	}
	return action, reason, changes
}

func TestBulkPublish_SelectsDraftsOnly(t *testing.T) {
	t.Parallel()
	for name, states := range map[string][]catalog.SessionState{
		"none named": nil, "cancelled named": {catalog.Cancelled},
		"all named": {catalog.Draft, catalog.Published, catalog.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTimetable(t)
			filter := testkit.WeekFilter()
			filter.States = states
			done, err := w.App.Schedules.BulkPublish(context.Background(), w.Owner, filter)
			if err != nil || done.Sessions != 2 {
				t.Fatalf("%+v (%v)", done, err)
			}
			if w.GetSession(w.draft).State != catalog.Published || w.GetSession(w.off).State != catalog.Cancelled {
				t.Errorf("%s, %s", w.GetSession(w.draft).State, w.GetSession(w.off).State)
			}
			action, _, changes := batch(w.Studio, done.Batch)
			states := changes["filter"].(map[string]any)["states"]
			if diff := cmp.Diff([]any{w.draft.String(), w.other.String()}, changes["ids"]); action != "session.bulk_published" ||
				diff != "" || !cmp.Equal(states, []any{"DRAFT"}) {
				t.Errorf("%s of %v (-want +got)\n%s", action, states, diff)
			}
			if got := w.SessionEvents(w.draft); got != "session.created session.published" {
				t.Errorf("events %q", got)
			}
			again, err := w.App.Schedules.BulkPublish(context.Background(), w.Owner, filter)
			if err != nil || again.Sessions != 0 {
				t.Errorf("again: %+v (%v)", again, err)
			}
		})
	}
}

func TestBulkDelete_WritesOneAuditEntry(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	ctx := context.Background()
	done, err := w.App.Schedules.BulkDelete(
		ctx, w.Owner,
		schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true, Reason: "closed for repairs", Notify: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	if done.Sessions != 6 || done.Bookings != 3 || done.Entries != 1 || done.Credits != 2 {
		t.Errorf("%+v", done)
	}
	if n := w.Count(
		`select count(*) from sessions where tenant_id = $1 and deleted_at = $2 and batch_id = $3`, w.Tenant, testkit.Noon,
		done.Batch,
	); n != 6 {
		t.Errorf("%d rows are marked", n)
	}
	if all := listSessions(w.Studio, w.Owner, testkit.WeekQuery()); len(all) != 0 {
		t.Errorf("%d are still listed", len(all))
	}
	_, err = w.App.Schedules.GetSession(ctx, w.Owner, w.booked)
	testkit.WantReason(t, err, fault.SessionNotFound)
	if n := w.Count(`select count(*) from bookings where status <> 'CANCELLED'`); n != 0 || w.Balance(w.sub) != 9 {
		t.Errorf("%d bookings stand, balance %d", n, w.Balance(w.sub))
	}
	action, reason, changes := batch(w.Studio, done.Batch)
	ids := []any{}
	for _, id := range []tenant.SessionID{w.draft, w.other, w.open, w.booked, w.queued, w.off} {
		ids = append(ids, id.String())
	}
	want := map[string]any{
		"filter": map[string]any{"starts_from": "2026-03-16T00:00:00Z", "starts_until": "2026-03-23T00:00:00Z"}, "ids": ids,
		"include_booked": true, "notify": true,
		"bookings_cancelled": 3.0, "entries_cancelled": 1.0, "credits_refunded": 2.0,
	}
	if diff := cmp.Diff(want, changes); diff != "" || action != "session.bulk_deleted" || reason != "closed for repairs" {
		t.Errorf("%s, %q (-want +got)\n%s", action, reason, diff)
	}
	w.WantSound()
	again, err := w.App.Schedules.BulkDelete(
		ctx, w.Owner, schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true},
	)
	if err != nil || again.Sessions != 0 || again.Bookings != 0 {
		t.Errorf("again: %+v (%v)", again, err)
	}
}

func TestBulkDelete_WithoutNotification(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	done, err := w.App.Schedules.BulkDelete(
		context.Background(), w.Owner,
		schedules.BulkRequest{Filter: session.Filter{Sessions: []tenant.SessionID{w.booked}}, IncludeBooked: true},
	)
	if err != nil || done.Sessions != 1 || done.Bookings != 2 {
		t.Fatalf("%+v (%v)", done, err)
	}
	if _, _, changes := batch(w.Studio, done.Batch); changes["notify"] != false {
		t.Errorf("audit %v", changes)
	}
	if n := w.Count(
		`select count(*) from events where session_id = $1 and type in ('session.deleted', 'booking.cancelled')
			and data->>'notify' = 'false'`,
		w.booked,
	); n != 3 {
		t.Errorf("%d events say that nobody is told, want 3", n)
	}
}

func TestBulkDelete_SkipsBookedSessionsUnlessIncluded(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	done, err := w.App.Schedules.BulkDelete(
		context.Background(), w.Owner, schedules.BulkRequest{Filter: testkit.WeekFilter()},
	)
	if err != nil || done.Sessions != 4 || done.Bookings != 0 {
		t.Fatalf("%+v (%v)", done, err)
	}
	if diff := cmp.Diff(
		[]tenant.SessionID{w.booked, w.queued}, offeredIDs(listSessions(w.Studio, w.Owner, testkit.WeekQuery())),
	); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBulkCancel_EqualsCancelSession(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	done, err := w.App.Schedules.BulkCancel(
		context.Background(), w.Owner,
		schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true, Reason: "storm", Notify: true},
	)
	if err != nil || done.Sessions != 5 || done.Bookings != 3 || done.Entries != 1 || done.Credits != 2 {
		t.Fatalf("%+v (%v)", done, err)
	}
	for _, id := range []tenant.SessionID{w.draft, w.booked, w.queued} {
		if s := w.GetSession(id); s.State != catalog.Cancelled || s.StateReason != "storm" || s.SeatsTaken != 0 {
			t.Errorf("%+v", s)
		}
	}
	if s := w.GetSession(w.off); s.StateReason != "" {
		t.Errorf("what was cancelled before was touched: %+v", s)
	}
	if n := w.Count(
		`select count(*) from events where type = 'session.cancelled' and data->>'batch_id' = $1`, done.Batch.String(),
	); n != 5 {
		t.Errorf("%d events", n)
	}
	w.WantSound()
	again, err := w.App.Schedules.BulkCancel(
		context.Background(), w.Owner, schedules.BulkRequest{Filter: testkit.WeekFilter(), IncludeBooked: true},
	)
	if err != nil || again.Sessions != 0 {
		t.Errorf("again: %+v (%v)", again, err)
	}
}

func TestBulk_SelectsNothingOfOtherTenants(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	there := w.OtherTenant()
	ctx := context.Background()
	ask := schedules.BulkRequest{
		Filter: session.Filter{Sessions: []tenant.SessionID{w.draft, w.booked}}, IncludeBooked: true,
	}
	for name, operate := range map[string]func() (schedules.BulkResult, error){
		"publish": func() (schedules.BulkResult, error) { return w.App.Schedules.BulkPublish(ctx, there.Owner, ask.Filter) },
		"delete":  func() (schedules.BulkResult, error) { return w.App.Schedules.BulkDelete(ctx, there.Owner, ask) },
		"cancel":  func() (schedules.BulkResult, error) { return w.App.Schedules.BulkCancel(ctx, there.Owner, ask) },
	} {
		if done, err := operate(); err != nil || done.Sessions != 0 || done.Bookings != 0 {
			t.Errorf("%s: %+v (%v)", name, done, err)
		}
	}
	if found, err := w.App.Schedules.PreviewBulk(ctx, there.Owner, ask); err != nil || found.Matched != 0 ||
		found.Booked != 0 {
		t.Errorf("preview: %+v (%v)", found, err)
	}
	if w.GetSession(w.draft).State != catalog.Draft {
		t.Error("the draft is none any more")
	}
}

func TestBulk_LimitsSessions(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	fill(h, session.MaxBulk+1, time.Minute, catalog.Draft)
	filter := testkit.WeekFilter()
	_, err := h.App.Schedules.BulkPublish(context.Background(), h.Owner, filter)
	testkit.WantReason(t, err, fault.InvalidField)
	if testkit.Meta(t, err, "limit") != "2000" || testkit.FaultOf(err).Field != "filter" {
		t.Errorf("%+v", testkit.FaultOf(err))
	}
	filter.Until = testkit.Noon.Add((session.MaxBulk + 1) * time.Minute)
	done, err := h.App.Schedules.BulkPublish(context.Background(), h.Owner, filter)
	if err != nil || done.Sessions != session.MaxBulk {
		t.Errorf("%d published (%v)", done.Sessions, err)
	}
	deleted, err := h.App.Schedules.BulkDelete(context.Background(), h.Owner, schedules.BulkRequest{Filter: filter})
	if err != nil || deleted.Sessions != session.MaxBulk {
		t.Errorf("%d deleted (%v)", deleted.Sessions, err)
	}
}

// The owner's week: drafts, workouts, all on sale at once, and then members see it and book.
func TestSchedule_WeekFromDraftsToBookings(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	ctx := context.Background()
	mia := h.AddMember("Mia")
	var ids []tenant.SessionID
	for day := range 5 {
		ids = append(ids, h.CreateSession(h.SessionInput(testkit.Evening.AddDate(0, 0, day)), false).ID)
	}
	if _, err := h.App.Schedules.SetWorkouts(
		ctx, h.Coach, ids[0], nil, []tenant.WorkoutID{workout(h, "Squats")},
	); err != nil {
		t.Fatal(err)
	}
	if all := listSessions(h, mia, testkit.WeekQuery()); len(all) != 0 {
		t.Errorf("members see %d drafts", len(all))
	}
	if done, err := h.App.Schedules.BulkPublish(ctx, h.Owner, testkit.WeekFilter()); err != nil || done.Sessions != 5 {
		t.Fatalf("%+v (%v)", done, err)
	}
	if diff := cmp.Diff(ids, offeredIDs(listSessions(h, mia, testkit.WeekQuery()))); diff != "" {
		t.Errorf("members see (-want +got)\n%s", diff)
	}
	h.MustBook(mia, ids[0])
	if got := listSessions(h, mia, testkit.WeekQuery())[0]; got.Eligibility.Status != booking.Booked ||
		got.SeatsTaken != 1 || len(got.Workouts) != 1 {
		t.Errorf("%+v", got)
	}
}
