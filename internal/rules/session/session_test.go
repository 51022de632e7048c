package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// noon is a Monday, two weeks before Europe's clocks go forward.
var noon = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func wantReason(t *testing.T, err error, want fault.Reason) {
	t.Helper()
	if got := fault.ReasonOf(err); got != want {
		t.Fatalf("reason %q, want %q (error: %v)", got, want, err)
	}
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
				if changed || cmp.Diff(tt.from, got) != "" {
					t.Errorf("changed: %v, session is %+v", changed, got)
				}
				return
			}
			tt.want.Version, tt.want.UpdatedAt = tt.from.Version+1, noon
			if diff := cmp.Diff(tt.want, got); !changed || diff != "" {
				t.Errorf("changed: %v (-want +got)\n%s", changed, diff)
			}
		})
	}
}

func TestStateErrors_NameTheState(t *testing.T) {
	t.Parallel()
	_, _, err := session.Session{State: catalog.Cancelled}.Publish(noon)
	if f := err.(*fault.Error); f.Metadata["state"] != "CANCELLED" || f.Kind != fault.FailedPrecondition {
		t.Errorf("%+v", f)
	}
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
	got, err := session.New(anID, in, yoga(t), noon)
	if err != nil {
		t.Fatal(err)
	}
	truncated := starts.Truncate(time.Microsecond)
	want := session.Session{
		ID: anID,
		Details: session.Details{
			Service: service, Location: location, Title: "Vinyasa", Capacity: new(10), WaitlistCapacity: 5,
		},
		StartsAt:  truncated,
		EndsAt:    truncated.Add(time.Hour),
		TimeZone:  "Europe/Berlin",
		LocalDate: civil.MustParseDate("2026-03-21"),
		State:     catalog.Draft,
		Delivery:  catalog.InPerson,
		Version:   1, CreatedAt: noon, UpdatedAt: noon,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNew_TakesGivenValues(t *testing.T) {
	t.Parallel()
	in := session.Input{
		Service: service, Location: location, Resource: mat, Coach: coach, Title: " Slow flow ", Description: "Bring a mat.",
		StartsAt: noon.AddDate(0, 0, 1), EndsAt: noon.AddDate(0, 0, 1).Add(90 * time.Minute), Unlimited: true,
		WaitlistCapacity: new(0),
	}
	got, err := session.New(anID, in, yoga(t), noon)
	if err != nil {
		t.Fatal(err)
	}
	want := session.Details{
		Service: service, Location: location, Resource: mat, Coach: coach, Title: "Slow flow",
		Description: "Bring a mat.",
	}
	if diff := cmp.Diff(want, got.Details); diff != "" || got.EndsAt != in.EndsAt {
		t.Errorf("ends %s (-want +got)\n%s", got.EndsAt, diff)
	}
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
			in: func(in *session.Input) { in.StartsAt = noon.AddDate(10, 1, 0) }, reason: fault.InvalidField,
			field: "start_time",
		},
		"more than ten years ago": {
			in: func(in *session.Input) { in.StartsAt = noon.AddDate(-10, -1, 0) }, reason: fault.InvalidField,
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
			if tt.field != "" && err.(*fault.Error).Field != tt.field {
				t.Errorf("field %q, want %q", err.(*fault.Error).Field, tt.field)
			}
		})
	}
}

func TestEdit_ChangesOnlyNamedFields(t *testing.T) {
	t.Parallel()
	before, err := session.New(anID, session.Input{
		Service: service, Location: location, Resource: mat, Coach: coach, StartsAt: noon.Add(24 * time.Hour),
	}, yoga(t), noon)
	if err != nil {
		t.Fatal(err)
	}
	before.SeatsTaken, before.Waiting = 4, 2
	later := noon.Add(time.Minute)

	for name, tt := range map[string]struct {
		in     session.Input
		fields session.Fields
		at     func(*session.References)
		want   func(*session.Session)
		reason fault.Reason
	}{
		"nothing named":  {in: session.Input{Title: "Other"}},
		"the same again": {in: session.Input{Title: "Vinyasa"}, fields: session.TitleField},
		"title": {
			in: session.Input{Title: "Flow"}, fields: session.TitleField,
			want: func(s *session.Session) { s.Title = "Flow" },
		},
		"title removed": {fields: session.TitleField},
		"a start alone moves the end too": {
			in: session.Input{StartsAt: before.StartsAt.Add(time.Hour)}, fields: session.StartField,
			want: func(s *session.Session) {
				s.StartsAt, s.EndsAt = s.StartsAt.Add(time.Hour), s.EndsAt.Add(time.Hour)
			},
		},
		"an end alone": {
			in: session.Input{EndsAt: before.EndsAt.Add(time.Hour)}, fields: session.EndField,
			want: func(s *session.Session) { s.EndsAt = s.EndsAt.Add(time.Hour) },
		},
		"the end by default": {fields: session.EndField},
		"another local day": {
			in: session.Input{StartsAt: before.StartsAt.Add(11 * time.Hour)}, fields: session.StartField,
			want: func(s *session.Session) {
				s.StartsAt, s.EndsAt = s.StartsAt.Add(11*time.Hour), s.EndsAt.Add(11*time.Hour)
				s.LocalDate = s.LocalDate.AddDays(1)
			},
		},
		"another location moves the day": {
			in: session.Input{Location: other}, fields: session.LocationField | session.ResourceField,
			at: func(at *session.References) {
				at.Location.TimeZone, at.Location.Zone = "Pacific/Auckland", zone(t, "Pacific/Auckland")
			},
			want: func(s *session.Session) {
				s.Location, s.Resource, s.TimeZone = other, tenant.ResourceID{}, "Pacific/Auckland"
				s.LocalDate = s.LocalDate.AddDays(1)
			},
		},
		"another location without its resource": {
			in: session.Input{Location: other}, fields: session.LocationField, reason: fault.ResourceNotFound,
		},
		"capacity raised": {
			in: session.Input{Capacity: new(20)}, fields: session.CapacityField,
			want: func(s *session.Session) { s.Capacity = new(20) },
		},
		"capacity lowered to what is taken": {
			in: session.Input{Capacity: new(4)}, fields: session.CapacityField,
			want: func(s *session.Session) { s.Capacity = new(4) },
		},
		"capacity below what is taken": {
			in: session.Input{Capacity: new(3)}, fields: session.CapacityField, reason: fault.CapacityBelowTaken,
		},
		"unlimited": {
			in: session.Input{Unlimited: true}, fields: session.CapacityField,
			want: func(s *session.Session) { s.Capacity = nil },
		},
		"capacity by default": {fields: session.CapacityField},
		"waitlist for those who wait": {
			in: session.Input{WaitlistCapacity: new(2)}, fields: session.WaitlistField,
			want: func(s *session.Session) { s.WaitlistCapacity = 2 },
		},
		"waitlist below those who wait": {
			in: session.Input{WaitlistCapacity: new(1)}, fields: session.WaitlistField,
			reason: fault.CapacityBelowTaken,
		},
		"references that were deactivated do not block other edits": {
			in: session.Input{Title: "Flow"}, fields: session.TitleField,
			at: func(at *session.References) {
				at.Service.Active, at.Location.Active, at.Resource.Active, at.Coach.CanLead = false, false, false, false
			},
			want: func(s *session.Session) { s.Title = "Flow" },
		},
		"coach removed":   {fields: session.CoachField, want: func(s *session.Session) { s.Coach = tenant.MemberID{} }},
		"start removed":   {fields: session.StartField, reason: fault.InvalidField},
		"service removed": {fields: session.ServiceField, reason: fault.InvalidField},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := yoga(t)
			if tt.at != nil {
				tt.at(&at)
			}
			got, err := before.Edit(tt.in, tt.fields, at, later)
			wantReason(t, err, tt.reason)
			want := before
			if tt.want != nil {
				tt.want(&want)
				want.Version, want.UpdatedAt = 2, later
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestEdit_RejectsCancelledSession(t *testing.T) {
	t.Parallel()
	_, err := session.Session{State: catalog.Cancelled}.Edit(session.Input{Title: "x"}, session.TitleField, yoga(t), noon)
	wantReason(t, err, fault.SessionState)
}

func TestCapacityRaised_ReportsHigherCapacity(t *testing.T) {
	t.Parallel()
	with := func(capacity *int) session.Session {
		return session.Session{Details: session.Details{Capacity: capacity}}
	}
	for _, tt := range []struct {
		before, after *int
		want          bool
	}{
		{new(1), new(2), true}, {new(2), new(1), false}, {new(1), new(1), false}, {new(1), nil, true},
		{nil, nil, false}, {nil, new(9), false},
	} {
		if got := with(tt.after).CapacityRaised(with(tt.before)); got != tt.want {
			t.Errorf("%v to %v: %v", tt.before, tt.after, got)
		}
	}
}

func TestFilter_RestrictsStates(t *testing.T) {
	t.Parallel()
	all := []catalog.SessionState{catalog.Draft, catalog.Published, catalog.Cancelled}
	for name, tt := range map[string]struct {
		got  session.Filter
		want []catalog.SessionState
	}{
		"bulk publish forces drafts": {
			session.Filter{States: all}.Drafts(),
			[]catalog.SessionState{catalog.Draft},
		},
		"bulk publish forces drafts, whatever named": {
			session.Filter{States: []catalog.SessionState{catalog.Cancelled}}.Drafts(),
			[]catalog.SessionState{catalog.Draft},
		},
		"bulk publish forces drafts, none named": {session.Filter{}.Drafts(), []catalog.SessionState{catalog.Draft}},
		"staff see what they ask for":            {session.Filter{}.Visible(true), nil},
		"members see no drafts": {
			session.Filter{}.Visible(false),
			[]catalog.SessionState{catalog.Published, catalog.Cancelled},
		},
		"members see no drafts, all named": {
			session.Filter{States: all}.Visible(false),
			[]catalog.SessionState{catalog.Published, catalog.Cancelled},
		},
		"members see nothing that is only drafts": {
			session.Filter{States: []catalog.SessionState{catalog.Draft}}.Visible(false),
			[]catalog.SessionState{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.got.States); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestCheckBulkSize_RejectsTooManySessionsOrPlaces(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		all   []session.Session
		limit string
	}{
		"none":              {nil, ""},
		"most sessions":     {make([]session.Session, session.MaxBulk), ""},
		"too many sessions": {make([]session.Session, session.MaxBulk+1), "2000"},
		"most places":       {[]session.Session{{SeatsTaken: 6000, Waiting: 1000}, {SeatsTaken: 3000}}, ""},
		"too many places":   {[]session.Session{{SeatsTaken: 6000, Waiting: 1000}, {SeatsTaken: 3001}}, "10000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := session.CheckBulkSize(tt.all)
			if tt.limit == "" && err != nil {
				t.Error(err)
			}
			if tt.limit != "" && err.(*fault.Error).Metadata["limit"] != tt.limit {
				t.Error(err)
			}
		})
	}
}

func TestClashes_FindsOverlapsOfResourceAndCoach(t *testing.T) {
	t.Parallel()
	bike := tenant.New[tenant.ResourceID](noon)
	at := func(hour int, resource tenant.ResourceID, coach tenant.MemberID) session.Session {
		s := session.Session{
			StartsAt: noon.Add(time.Duration(hour) * time.Hour),
			EndsAt:   noon.Add(time.Duration(hour+2) * time.Hour),
		}
		s.Resource, s.Coach = resource, coach
		return s
	}
	none, noCoach := tenant.ResourceID{}, tenant.MemberID{}
	span := func(hour int) civil.Span { return at(hour, none, noCoach).Span() }
	for name, tt := range map[string]struct {
		sessions []session.Session
		busy     []session.BusySpan
		want     []session.Clash
	}{
		"nothing in common": {
			sessions: []session.Session{
				at(0, mat, noCoach), at(0, bike, noCoach), at(0, none, coach), at(0, none, noCoach),
			},
		},
		"one after another": {
			sessions: []session.Session{at(0, mat, coach), at(2, mat, coach)},
			busy:     []session.BusySpan{{mat, coach, span(4)}, {mat, coach, span(-2)}},
		},
		"the same resource": {
			sessions: []session.Session{at(0, mat, noCoach), at(1, mat, noCoach)},
			want:     []session.Clash{{Session: 1, With: 0, Span: span(0)}},
		},
		"later in the file": {
			sessions: []session.Session{at(1, mat, noCoach), at(0, mat, noCoach)},
			want:     []session.Clash{{Session: 1, With: 0, Span: span(1)}},
		},
		"the same staff member": {
			sessions: []session.Session{at(0, mat, coach), at(1, bike, coach)},
			want:     []session.Clash{{Session: 1, With: 0, Span: span(0), Coach: true}},
		},
		"taken already": {
			sessions: []session.Session{at(0, mat, noCoach)}, busy: []session.BusySpan{{mat, noCoach, span(1)}},
			want: []session.Clash{{Session: 0, With: -1, Span: span(1)}},
		},
		"taken already, by staff": {
			sessions: []session.Session{at(0, none, coach)}, busy: []session.BusySpan{{bike, coach, span(1)}},
			want: []session.Clash{{Session: 0, With: -1, Span: span(1), Coach: true}},
		},
		"both, one told each": {
			sessions: []session.Session{at(0, mat, coach), at(1, mat, coach)},
			want: []session.Clash{
				{Session: 1, With: 0, Span: span(0)}, {Session: 1, With: 0, Span: span(0), Coach: true},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, session.Clashes(tt.sessions, tt.busy)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
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
		"workout with a bell":          {workout("Squats", "\a"), "body"},
		"long workout":                 {workout("Squats", long(20_001)), "body"},
	} {
		if got := fieldOf(tt.err); got != tt.field {
			t.Errorf("%s: field %q, want %q (%v)", name, got, tt.field, tt.err)
		}
	}
}

func fieldOf(err error) string {
	if f, ok := err.(*fault.Error); ok && f.Reason == fault.InvalidField {
		return f.Field
	}
	return ""
}

func TestSetWorkouts_KeepsInlineAndDeletedWorkouts(t *testing.T) {
	t.Parallel()
	workoutID := func() tenant.WorkoutID { return tenant.New[tenant.WorkoutID](noon) }
	warm, strength, mine, theirs, old := workoutID(), workoutID(), workoutID(), workoutID(), workoutID()
	known := []session.Workout{
		{ID: warm, DeletedAt: noon}, {ID: strength}, {ID: mine, Inline: true}, {ID: theirs, Inline: true},
		{ID: old, DeletedAt: noon},
	}
	s := session.Session{Workouts: []tenant.WorkoutID{mine, warm}, Version: 1}
	for name, tt := range map[string]struct {
		ids    []tenant.WorkoutID
		same   bool
		reason fault.Reason
	}{
		"others":        {ids: []tenant.WorkoutID{strength, warm}},
		"another order": {ids: []tenant.WorkoutID{warm, mine}},
		"none":          {},
		"the same":      {ids: []tenant.WorkoutID{mine, warm}, same: true},
		"absent, or of another tenant": {
			ids: []tenant.WorkoutID{tenant.New[tenant.WorkoutID](noon)}, reason: fault.WorkoutNotFound,
		},
		"written for another session": {ids: []tenant.WorkoutID{theirs}, reason: fault.WorkoutNotFound},
		"deleted, and not had before": {ids: []tenant.WorkoutID{mine, warm, old}, reason: fault.WorkoutNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, changed, err := s.SetWorkouts(tt.ids, known, noon)
			wantReason(t, err, tt.reason)
			if err == nil && (changed == tt.same || !cmp.Equal(got.Workouts, tt.ids) && len(tt.ids) > 0) {
				t.Errorf("changed: %v, %v", changed, got.Workouts)
			}
		})
	}
}

func TestWorkoutDelete_RejectsInlineAndChangesOnlyOnce(t *testing.T) {
	t.Parallel()
	w := session.Workout{Name: "Squats", Version: 3, UpdatedAt: noon}
	gone, changed, err := w.Delete(noon.Add(time.Hour))
	want := session.Workout{Name: "Squats", Version: 4, UpdatedAt: noon, DeletedAt: noon.Add(time.Hour)}
	if diff := cmp.Diff(want, gone); err != nil || !changed || !gone.Deleted() || diff != "" {
		t.Errorf("changed: %v, %v (-want +got)\n%s", changed, err, diff)
	}
	again, changed, err := gone.Delete(noon.Add(2 * time.Hour))
	if err != nil || changed || !again.DeletedAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("again: %v, %+v, %v", changed, again, err)
	}
	_, _, err = session.Workout{Name: "Finisher", Inline: true}.Delete(noon)
	if wantReason(t, err, fault.InvalidField); fieldOf(err) != "workout_id" {
		t.Error(err)
	}
}

func TestAddWorkout_RejectsMoreThanMaxWorkouts(t *testing.T) {
	t.Parallel()
	s := session.Session{Workouts: make([]tenant.WorkoutID, session.MaxWorkouts)}
	_, err := s.AddWorkout(session.Workout{}, noon)
	wantReason(t, err, fault.InvalidField)
}
