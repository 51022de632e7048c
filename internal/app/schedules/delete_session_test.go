package schedules_test

import (
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestDeleteSession_DeletesWhatNobodyBooked(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	remove := func(id tenant.SessionID, expect *int) error {
		return w.App.Schedules.DeleteSession(t.Context(), w.Owner, id, expect, schedules.Removal{Reason: "a mistake"})
	}
	for name, tt := range map[string]struct {
		id     tenant.SessionID
		expect *int
		want   fault.Reason
	}{
		"a draft":             {w.draft, new(1), ""},
		"a published session": {w.open, nil, ""},
		"a cancelled session": {w.off, nil, ""},
		"a booked session":    {w.booked, nil, fault.ActiveBookings},
		"a full session":      {w.queued, nil, fault.ActiveBookings},
		"another version":     {w.other, new(2), fault.ETagMismatch},
		"a deleted session":   {w.gone, nil, fault.SessionNotFound},
	} {
		test.EqOp(t, tt.want, fault.ReasonOf(remove(tt.id, tt.expect)), test.Sprint(name))
		if tt.want == "" {
			expect.Reason(t, fault.SessionNotFound)(w.App.Schedules.GetSession(t.Context(), w.Owner, tt.id))
			test.EqOp(t, fault.SessionNotFound, fault.ReasonOf(remove(tt.id, nil)), test.Sprint(name))
		}
	}
	test.EqOp(t, "session.created session.deleted", w.SessionEvents(w.draft))
	test.EqOp(t, 3, w.Count(
		`select count(*) from audit_entries where action = 'session.deleted' and reason = 'a mistake'`))
	there := w.OtherTenant()
	err := w.App.Schedules.DeleteSession(t.Context(), there.Owner, w.other, nil, schedules.Removal{})
	test.EqOp(t, fault.SessionNotFound, fault.ReasonOf(err))
	w.WantSound()
}

// The series of a deleted session does not create it again.
func TestDeleteSession_StaysDeletedInItsSeries(t *testing.T) {
	t.Parallel()
	w := newTimetable(t)
	series, ids := w.CreateSeries(w.SeriesInput())
	must.NoError(t, w.App.Schedules.DeleteSession(t.Context(), w.Owner, ids[1], nil, schedules.Removal{}))
	w.EditSeries(seriesTitle(series.ID, "Other"))
	test.EqOp(t, "session.created session.deleted", w.SessionEvents(ids[1]))
	test.EqOp(t, 6, w.Count(`select count(*) from sessions where series_id = $1`, series.ID))
}
