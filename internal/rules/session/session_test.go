package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// noon is a Monday, two weeks before Europe's clocks go forward.
var noon = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	return expect.Value(time.LoadLocation(name))(t)
}

func wantReason(t *testing.T, err error, want fault.Reason) {
	t.Helper()
	must.EqOp(t, want, fault.ReasonOf(err), must.Sprintf("reason want %q (error: %v)", want, err))
}

func TestStateChanges_FollowTheStateMachine(t *testing.T) {
	t.Parallel()
	type transition func(session.Session) (session.Session, bool, error)
	publish := func(s session.Session) (session.Session, bool, error) { return s.Publish(noon) }
	unpublish := func(s session.Session) (session.Session, bool, error) { return s.Unpublish(noon) }
	cancel := func(s session.Session) (session.Session, bool, error) { return s.Cancel("storm", noon) }
	block := func(s session.Session) (session.Session, bool, error) { return s.Block("leak", noon) }
	unblock := func(s session.Session) (session.Session, bool, error) { return s.Unblock(noon) }

	draft := session.Session{State: catalog.Draft, Version: 3}
	published := session.Session{State: catalog.Published, Version: 3}
	cancelled := session.Session{State: catalog.Cancelled, StateReason: "ill", Version: 3}
	blocked := session.Session{State: catalog.Published, Blocked: true, StateReason: "leak", Version: 3}
	booked := session.Session{State: catalog.Published, SeatsTaken: 1, Version: 3}
	waiting := session.Session{State: catalog.Published, Waiting: 1, Version: 3}
	bookedDraft := session.Session{State: catalog.Draft, SeatsTaken: 1, Version: 3} // should not exist, but is harmless

	for name, tt := range map[string]struct {
		from   session.Session
		move   transition
		want   session.Session // without Version and UpdatedAt
		same   bool
		reason fault.Reason
	}{
		"draft to published": {
			from: draft, move: publish, want: session.Session{State: catalog.Published},
		},
		"publishing a published session": {from: published, move: publish, same: true},
		"publishing a cancelled session": {from: cancelled, move: publish, reason: fault.SessionState},
		"publishing keeps it blocked": {
			from: session.Session{State: catalog.Draft, Blocked: true}, move: publish,
			want: session.Session{State: catalog.Published, Blocked: true},
		},
		"published to draft": {
			from: published, move: unpublish, want: session.Session{State: catalog.Draft},
		},
		"unpublishing a draft":                  {from: draft, move: unpublish, same: true},
		"unpublishing a draft with bookings":    {from: bookedDraft, move: unpublish, same: true},
		"unpublishing a cancelled session":      {from: cancelled, move: unpublish, reason: fault.SessionState},
		"unpublishing with an active booking":   {from: booked, move: unpublish, reason: fault.ActiveBookings},
		"unpublishing with an entry that waits": {from: waiting, move: unpublish, reason: fault.ActiveBookings},
		"draft to cancelled": {
			from: draft, move: cancel, want: session.Session{State: catalog.Cancelled, StateReason: "storm"},
		},
		"published to cancelled": {
			from: booked, move: cancel, want: session.Session{State: catalog.Cancelled, StateReason: "storm"},
		},
		"cancelling a cancelled session": {from: cancelled, move: cancel, same: true},
		"blocking": {
			from: published, move: block,
			want: session.Session{State: catalog.Published, Blocked: true, StateReason: "leak"},
		},
		"blocking keeps bookings": {
			from: booked, move: block,
			want: session.Session{State: catalog.Published, Blocked: true, StateReason: "leak", SeatsTaken: 1},
		},
		"blocking a draft": {
			from: draft, move: block,
			want: session.Session{State: catalog.Draft, Blocked: true, StateReason: "leak"},
		},
		"blocking a blocked session": {from: blocked, move: block, same: true},
		"blocking for another reason": {
			from: session.Session{State: catalog.Published, Blocked: true, StateReason: "fire"}, move: block,
			want: session.Session{State: catalog.Published, Blocked: true, StateReason: "leak"},
		},
		"blocking a cancelled session": {from: cancelled, move: block, reason: fault.SessionState},
		"unblocking": {
			from: blocked, move: unblock, want: session.Session{State: catalog.Published},
		},
		"unblocking what is not blocked": {from: published, move: unblock, same: true},
		"unblocking a cancelled session": {from: cancelled, move: unblock, reason: fault.SessionState},
		"cancelling a blocked session for a reason": {
			from: blocked, move: cancel,
			want: session.Session{State: catalog.Cancelled, Blocked: true, StateReason: "storm"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, changed, err := tt.move(tt.from)
			wantReason(t, err, tt.reason)
			if tt.reason != "" {
				return
			}
			if tt.same {
				test.True(t, !changed && cmp.Diff(tt.from, got) == "", test.Sprintf("changed: %v, session is %+v", changed, got))
				return
			}
			tt.want.Version, tt.want.UpdatedAt = tt.from.Version+1, noon
			diff := cmp.Diff(tt.want, got)
			test.True(t, changed && diff == "", test.Sprintf("changed: %v (-want +got)\n%s", changed, diff))
		})
	}
}

func TestStateErrors_NameTheState(t *testing.T) {
	t.Parallel()
	_, _, err := session.Session{State: catalog.Cancelled}.Publish(noon)
	f := err.(*fault.Error)
	test.True(t, f.Metadata["state"] == "CANCELLED" && f.Kind == fault.FailedPrecondition, test.Sprintf("%+v", f))
	_, _, err = session.Session{State: catalog.Published, SeatsTaken: 2, Waiting: 1}.Unpublish(noon)
	if f := err.(*fault.Error); f.Metadata["seats_taken"] != "2" || f.Metadata["waiting"] != "1" {
		t.Errorf("%+v", f)
	}
}

// yoga returns a setting in which everything is active.
func yoga(t *testing.T) session.References {
	t.Helper()
	return session.References{
		Service: session.ServiceReference{
			Active: true, Name: "Vinyasa", Duration: time.Hour, Capacity: new(10), WaitlistCapacity: 5,
			Delivery: catalog.InPerson,
		},
		Location: session.LocationReference{Active: true, TimeZone: "Europe/Berlin", Zone: zone(t, "Europe/Berlin")},
		Resource: session.ResourceReference{Active: true, Location: location},
		Coach:    session.CoachReference{CanLead: true},
	}
}

var (
	service  = tenant.New[tenant.ServiceID](noon)
	location = tenant.New[tenant.LocationID](noon)
	other    = tenant.New[tenant.LocationID](noon)
	mat      = tenant.New[tenant.ResourceID](noon)
	coach    = tenant.New[tenant.MemberID](noon)
	anID     = tenant.New[tenant.SessionID](noon)
)

func TestNew_TakesDefaultsFromService(t *testing.T) {
	t.Parallel()
	// 00:30 in Berlin: the local day differs from the day in UTC.
	starts := time.Date(2026, 3, 20, 23, 30, 0, 123456789, time.UTC)
	in := session.Input{Service: service, Location: location, Title: "  ", StartsAt: starts}
	got := expect.Value(session.New(anID, in, yoga(t), noon))(t)
	truncated := starts.Truncate(time.Microsecond)
	want := session.Session{
		ID: anID,
		Details: session.Details{
			Service: service, Location: location, Title: "Vinyasa", Capacity: new(10), WaitlistCapacity: 5,
		},
		StartsAt:  truncated,
		EndsAt:    truncated.Add(time.Hour),
		TimeZone:  "Europe/Berlin",
		LocalDate: civiltest.Date("2026-03-21"),
		State:     catalog.Draft,
		Delivery:  catalog.InPerson,
		Version:   1, CreatedAt: noon, UpdatedAt: noon,
	}
	test.Eq(t, want, got)
}

func TestNew_TakesGivenValues(t *testing.T) {
	t.Parallel()
	in := session.Input{
		Service: service, Location: location, Resource: mat, Coach: coach, Title: " Slow flow ", Description: "Bring a mat.",
		StartsAt: noon.AddDate(0, 0, 1), EndsAt: noon.AddDate(0, 0, 1).Add(90 * time.Minute), Unlimited: true,
		WaitlistCapacity: new(0),
	}
	got := expect.Value(session.New(anID, in, yoga(t), noon))(t)
	want := session.Details{
		Service: service, Location: location, Resource: mat, Coach: coach, Title: "Slow flow",
		Description: "Bring a mat.",
	}
	diff := cmp.Diff(want, got.Details)
	test.True(t, diff == "" && got.EndsAt.Equal(in.EndsAt), test.Sprintf("ends %s (-want +got)\n%s", got.EndsAt, diff))
}

func TestNew_RejectsInvalidInput(t *testing.T) {
	t.Parallel()
	good := session.Input{Service: service, Location: location, StartsAt: noon.Add(time.Hour)}
	for name, tt := range map[string]struct {
		in     func(*session.Input)
		at     func(*session.References)
		reason fault.Reason
		field  string
	}{
		"no service": {
			in: func(in *session.Input) { in.Service = tenant.ServiceID{} }, reason: fault.InvalidField,
			field: "service_id",
		},
		"no location": {
			in: func(in *session.Input) { in.Location = tenant.LocationID{} }, reason: fault.InvalidField,
			field: "location_id",
		},
		"service absent or inactive": {
			at: func(at *session.References) { at.Service = session.ServiceReference{} }, reason: fault.ServiceNotFound,
			field: "service_id",
		},
		"location absent or inactive": {
			at: func(at *session.References) { at.Location.Active = false }, reason: fault.LocationNotFound,
			field: "location_id",
		},
		"resource absent or inactive": {
			in: func(in *session.Input) { in.Resource = mat },
			at: func(at *session.References) { at.Resource.Active = false }, reason: fault.ResourceNotFound,
			field: "resource_id",
		},
		"resource of another location": {
			in: func(in *session.Input) { in.Resource = mat },
			at: func(at *session.References) { at.Resource.Location = other }, reason: fault.ResourceNotFound,
			field: "resource_id",
		},
		"coach neither active nor staff": {
			in: func(in *session.Input) { in.Coach = coach },
			at: func(at *session.References) { at.Coach.CanLead = false }, reason: fault.CoachInvalid, field: "coach_id",
		},
		"no start": {
			in: func(in *session.Input) { in.StartsAt = time.Time{} }, reason: fault.InvalidField,
			field: "start_time",
		},
		"end before start": {
			in: func(in *session.Input) { in.EndsAt = in.StartsAt.Add(-time.Second) }, reason: fault.InvalidField,
			field: "end_time",
		},
		"end at start": {
			in: func(in *session.Input) { in.EndsAt = in.StartsAt }, reason: fault.InvalidField, field: "end_time",
		},
		"longer than seven days": {
			in:     func(in *session.Input) { in.EndsAt = in.StartsAt.Add(7*24*time.Hour + time.Microsecond) },
			reason: fault.InvalidField, field: "end_time",
		},
		"more than ten years ahead": {
			in: func(in *session.Input) { in.StartsAt = noon.AddDate(10, 0, 9) }, reason: fault.InvalidField,
			field: "start_time",
		},
		"more than ten years ago": {
			in: func(in *session.Input) { in.StartsAt = noon.AddDate(-10, 0, -9) }, reason: fault.InvalidField,
			field: "start_time",
		},
		"seven days are fine":              {in: func(in *session.Input) { in.EndsAt = in.StartsAt.Add(7 * 24 * time.Hour) }},
		"the past is fine, for the record": {in: func(in *session.Input) { in.StartsAt = noon.AddDate(-1, 0, 0) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, at := good, yoga(t)
			if tt.in != nil {
				tt.in(&in)
			}
			if tt.at != nil {
				tt.at(&at)
			}
			_, err := session.New(anID, in, at, noon)
			wantReason(t, err, tt.reason)
			if tt.field != "" {
				test.EqOp(t, tt.field, err.(*fault.Error).Field)
			}
		})
	}
}

func TestTexts_RejectControlCharactersAndLongTexts(t *testing.T) {
	t.Parallel()
	in := session.Input{Service: service, Location: location, StartsAt: noon.Add(time.Hour)}
	titled := func(title string) error {
		in := in
		in.Title = title
		_, err := session.New(anID, in, yoga(t), noon)
		return err
	}
	described := func(text string) error {
		in := in
		in.Description = text
		_, err := session.New(anID, in, yoga(t), noon)
		return err
	}
	cancelled := func(reason string) error {
		_, _, err := session.Session{State: catalog.Published}.Cancel(reason, noon)
		return err
	}
	blocked := func(reason string) error {
		_, _, err := session.Session{State: catalog.Published}.Block(reason, noon)
		return err
	}
	workout := func(name, body string) error { return session.Workout{Name: name, Body: body}.Validate() }
	long := func(n int) string { return strings.Repeat("ä", n) }
	for name, tt := range map[string]struct {
		err   error
		field string
	}{
		"title with a null character":  {titled("a\x00b"), "title"},
		"title of two lines":           {titled("a\nb"), "title"},
		"title that is not UTF-8":      {titled("\xff"), "title"},
		"long title":                   {titled(long(201)), "title"},
		"title as long as can be":      {titled(long(200)), ""},
		"description":                  {described("a\nb\tc"), ""},
		"description with a bell":      {described("a\ab"), "description"},
		"long description":             {described(long(4001)), "description"},
		"reason with a null character": {cancelled("\x00"), "reason"},
		"long reason":                  {blocked(long(1001)), "reason"},
		"reason":                       {blocked(long(1000)), ""},
		"workout":                      {workout("Squats", "3 × 10\n5 × 5"), ""},
		"workout without a name":       {workout(" ", ""), "name"},
		"long name of a workout":       {workout(long(201), ""), "name"},
		"workout with a bell":          {workout("Squats", "\a"), "body"},
		"long workout":                 {workout("Squats", long(20_001)), "body"},
	} {
		test.EqOp(t, tt.field, fieldOf(tt.err), test.Sprintf("%s: field want %q (%v)", name, tt.field, tt.err))
	}
}

func fieldOf(err error) string {
	if f, ok := err.(*fault.Error); ok && f.Reason == fault.InvalidField {
		return f.Field
	}
	return ""
}
