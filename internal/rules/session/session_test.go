package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// noon is a Monday, two weeks before Europe's clocks go forward.
var noon = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

type set = vary.Fields

func zone(name string) *time.Location {
	found, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return found
}

func TestStateChanges_FollowTheStateMachine(t *testing.T) {
	t.Parallel()
	const publish, unpublish, cancel, block, unblock = "publish", "unpublish", "cancel", "block", "unblock"
	const cancelled = "SESSION_STATE state=CANCELLED"
	draft := session.Session{State: catalog.Draft, Version: 3}
	published := vary.From(draft, set{"State": catalog.Published})
	gone := session.Session{State: catalog.Cancelled, StateReason: "ill", Version: 3}
	blocked := vary.From(published, set{"Blocked": true, "StateReason": "leak"})
	booked := vary.From(published, set{"SeatsTaken": 1})
	for name, tt := range map[string]struct {
		from session.Session
		move string
		want set // nil: nothing changes
		err  string
	}{
		"draft to published":             {draft, publish, set{"State": catalog.Published}, ""},
		"publishing a published session": {published, publish, nil, ""},
		"publishing a cancelled session": {gone, publish, nil, cancelled},
		"publishing keeps it blocked": {
			vary.From(blocked, set{"State": catalog.Draft}), publish, set{"State": catalog.Published}, "",
		},
		"published to draft":   {published, unpublish, set{"State": catalog.Draft}, ""},
		"unpublishing a draft": {draft, unpublish, nil, ""},
		"unpublishing a draft with bookings": { // it is harmless
			vary.From(draft, set{"SeatsTaken": 1}), unpublish, nil, "",
		},
		"unpublishing a cancelled session":    {gone, unpublish, nil, cancelled},
		"unpublishing with an active booking": {booked, unpublish, nil, "ACTIVE_BOOKINGS seats_taken=1 waiting=0"},
		"unpublishing with an entry that waits": {
			vary.From(published, set{"Waiting": 2}), unpublish, nil, "ACTIVE_BOOKINGS seats_taken=0 waiting=2",
		},
		"draft to cancelled": {draft, cancel, set{"State": catalog.Cancelled, "StateReason": "storm"}, ""},
		"published to cancelled": {
			vary.From(booked, set{"Waiting": 2}), cancel,
			set{"State": catalog.Cancelled, "StateReason": "storm", "SeatsTaken": 0, "Waiting": 0}, "",
		},
		"cancelling a cancelled session": {gone, cancel, nil, ""},
		"blocking":                       {published, block, set{"Blocked": true, "StateReason": "leak"}, ""},
		"blocking keeps bookings":        {booked, block, set{"Blocked": true, "StateReason": "leak"}, ""},
		"blocking a draft":               {draft, block, set{"Blocked": true, "StateReason": "leak"}, ""},
		"blocking a blocked session":     {blocked, block, nil, ""},
		"blocking for another reason": {
			vary.From(blocked, set{"StateReason": "fire"}), block, set{"StateReason": "leak"}, "",
		},
		"blocking a cancelled session":   {gone, block, nil, cancelled},
		"unblocking":                     {blocked, unblock, set{"Blocked": false, "StateReason": ""}, ""},
		"unblocking what is not blocked": {published, unblock, nil, ""},
		"unblocking a cancelled session": {gone, unblock, nil, cancelled},
		"cancelling a blocked session":   {blocked, cancel, set{"State": catalog.Cancelled, "StateReason": "storm"}, ""},
	} {
		want := tt.from
		if tt.want != nil {
			want = vary.From(vary.From(tt.from, tt.want), set{"Version": 4, "UpdatedAt": noon})
		}
		check := func(got session.Session, changed bool, err error) {
			test.EqOp(t, tt.err, faulttest.Text(err), test.Sprint(name))
			test.Eq(t, want, got, test.Sprint(name))
			test.EqOp(t, tt.want != nil, changed, test.Sprint(name))
		}
		switch tt.move {
		case publish:
			check(tt.from.Publish(noon))
		case unpublish:
			check(tt.from.Unpublish(noon))
		case cancel:
			check(tt.from.Cancel("storm", noon))
		case block:
			check(tt.from.Block("leak", noon))
		case unblock:
			check(tt.from.Unblock(noon))
		}
	}
}

// yoga returns a setting in which everything is active.
func yoga() session.References {
	return session.References{
		Service: session.ServiceReference{
			Active: true, Name: "Vinyasa", Duration: time.Hour, Capacity: new(10), WaitlistCapacity: 5,
			Delivery: catalog.InPerson,
		},
		Location: session.LocationReference{Active: true, TimeZone: "Europe/Berlin", Zone: zone("Europe/Berlin")},
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
	got := expect.Value(session.New(anID, in, yoga(), noon))(t)
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
	got := expect.Value(session.New(anID, in, yoga(), noon))(t)
	test.Eq(t, session.Details{
		Service: service, Location: location, Resource: mat, Coach: coach, Title: "Slow flow",
		Description: "Bring a mat.",
	}, got.Details)
	test.EqOp(t, in.EndsAt, got.EndsAt)
}

func TestNew_RejectsInvalidInput(t *testing.T) {
	t.Parallel()
	const week = 7 * 24 * time.Hour
	start := noon.Add(time.Hour)
	for name, tt := range map[string]struct {
		in, at set
		want   string
	}{
		"no service":                  {set{"Service": nil}, nil, "INVALID_FIELD @service_id"},
		"no location":                 {set{"Location": nil}, nil, "INVALID_FIELD @location_id"},
		"service absent or inactive":  {nil, set{"Service": nil}, "SERVICE_NOT_FOUND @service_id"},
		"location absent or inactive": {nil, set{"Location.Active": false}, "LOCATION_NOT_FOUND @location_id"},
		"resource absent or inactive": {
			set{"Resource": mat}, set{"Resource.Active": false}, "RESOURCE_NOT_FOUND @resource_id",
		},
		"resource of another location": {
			set{"Resource": mat}, set{"Resource.Location": other}, "RESOURCE_NOT_FOUND @resource_id",
		},
		"coach neither active nor staff": {set{"Coach": coach}, set{"Coach.CanLead": false}, "COACH_INVALID @coach_id"},
		"no start":                       {set{"StartsAt": nil}, nil, "INVALID_FIELD @start_time"},
		"end before start":               {set{"EndsAt": start.Add(-time.Second)}, nil, "INVALID_FIELD @end_time"},
		"end at start":                   {set{"EndsAt": start}, nil, "INVALID_FIELD @end_time"},
		"longer than seven days": {
			set{"EndsAt": start.Add(week + time.Microsecond)}, nil, "INVALID_FIELD @end_time",
		},
		"more than ten years ahead": {
			set{"StartsAt": noon.Add(session.MaxStartDistance + 1000)}, nil, "INVALID_FIELD @start_time",
		},
		"more than ten years ago": {
			set{"StartsAt": noon.Add(-session.MaxStartDistance - 1000)}, nil, "INVALID_FIELD @start_time",
		},
		"ten years ahead are fine":         {set{"StartsAt": noon.Add(session.MaxStartDistance)}, nil, ""},
		"ten years ago are fine":           {set{"StartsAt": noon.Add(-session.MaxStartDistance)}, nil, ""},
		"seven days are fine":              {set{"EndsAt": start.Add(week)}, nil, ""},
		"the past is fine, for the record": {set{"StartsAt": noon.AddDate(-1, 0, 0)}, nil, ""},
		"null":                             {set{"Title": "a\x00b"}, nil, "INVALID_FIELD @title"},
		"two lines":                        {set{"Title": "a\nb"}, nil, "INVALID_FIELD @title"},
		"not UTF-8":                        {set{"Title": "\xff"}, nil, "INVALID_FIELD @title"},
		"long title":                       {set{"Title": strings.Repeat("ä", 201)}, nil, "INVALID_FIELD @title"},
		"longest title":                    {set{"Title": strings.Repeat("ä", 200)}, nil, ""},
		"a text of two lines":              {set{"Description": "a\nb\tc\rd"}, nil, ""},
		"a text with a bell":               {set{"Description": "a\ab"}, nil, "INVALID_FIELD @description"},
		"long text": {
			set{"Description": strings.Repeat("ä", 4001)}, nil, "INVALID_FIELD @description",
		},
		"longest text": {set{"Description": strings.Repeat("ä", 4000)}, nil, ""},
	} {
		in := vary.From(session.Input{Service: service, Location: location, StartsAt: start}, tt.in)
		expect.Fault(t, tt.want, name)(session.New(anID, in, vary.From(yoga(), tt.at), noon))
	}
	for reason, want := range map[string]string{
		"a\tb": "", "\x00": "INVALID_FIELD @reason", strings.Repeat("ä", 1000): "",
		strings.Repeat("ä", 1001): "INVALID_FIELD @reason",
	} {
		_, _, cancel := session.Session{State: catalog.Published}.Cancel(reason, noon)
		_, _, block := session.Session{State: catalog.Published}.Block(reason, noon)
		test.EqOp(t, want, faulttest.Text(cancel), test.Sprint(reason))
		test.EqOp(t, want, faulttest.Text(block), test.Sprint(reason))
		test.EqOp(t, want, faulttest.Text(session.CheckReason(reason)), test.Sprint(reason))
	}
	for field, all := range map[string][]set{
		"":      {{"Body": "3 × 10\n5 × 5"}, {"Name": strings.Repeat("ä", 200), "Body": strings.Repeat("ä", 20_000)}},
		"@name": {{"Name": " "}, {"Name": strings.Repeat("ä", 201)}, {"Name": "\x00"}},
		"@body": {{"Body": "\a"}, {"Body": strings.Repeat("ä", 20_001)}},
	} {
		for _, fields := range all {
			_, err := vary.From(session.Workout{Name: "Squats"}, fields).Normalize()
			test.StrHasSuffix(t, field, faulttest.Text(err), test.Sprint(fields))
			test.EqOp(t, field == "", err == nil, test.Sprint(fields))
		}
	}
}

// Titles and names are stored without what cannot be seen at their ends, and composed.
func TestTitles_AreStoredInTheirNormalForm(t *testing.T) {
	t.Parallel()
	const written, stored = " \u200bZoe\u0308’s class \u00a0", "Zoë’s class"
	in := session.Input{Service: service, Location: location, StartsAt: noon.Add(time.Hour), Title: written}
	made := expect.Value(session.New(anID, in, yoga(), noon))(t)
	test.EqOp(t, stored, made.Title)
	edited := expect.Value(made.Details.Edit(session.Input{Title: "\u2060Old" + stored}, session.TitleField, yoga()))(t)
	test.EqOp(t, "Old"+stored, edited.Title)
	test.EqOp(t, stored, expect.Value(session.Workout{Name: written}.Normalize())(t).Name)
	blank := expect.Value(made.Details.Edit(session.Input{Title: " \u200b"}, session.TitleField, yoga()))(t)
	test.EqOp(t, yoga().Service.Name, blank.Title)
}
