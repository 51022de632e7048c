package event_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

var (
	id   = tenant.MustParse[tenant.EventID]("018f5e6e-0000-7000-8000-000000000001").UUID
	noon = time.Date(2026, time.March, 16, 12, 0, 0, 500_000_000, time.UTC)
)

// all has data of each type, as it is stored, and the facts that callers see of their own events.
var all = []struct {
	data event.Data
	text string
	own  string
}{
	{event.SessionCreated{}, `{}`, ""},
	{
		event.SessionCreated{Series: tenant.SeriesID{UUID: id}, Batch: tenant.BatchID{UUID: id}},
		`{"series_id":"` + id.String() + `","batch_id":"` + id.String() + `"}`, "",
	},
	{
		event.SessionCreated{After: event.SessionFields{Capacity: event.Changed(new(8))}}, `{"after":{"capacity":8}}`, "",
	},
	{event.SessionUpdated{}, `{}`, ""},
	{
		event.SessionUpdated{
			Before: event.SessionFields{Title: event.Changed(new("Yoga")), Capacity: event.Changed[int](nil)},
			After:  event.SessionFields{Title: event.Changed(new("")), Capacity: event.Changed(new(8))},
		},
		`{"before":{"title":"Yoga","capacity":null},"after":{"title":"","capacity":8}}`, "",
	},
	{
		event.SessionUpdated{After: event.SessionFields{
			Service: event.Changed(&tenant.ServiceID{UUID: id}), Location: event.Changed(&tenant.LocationID{UUID: id}),
			Resource: event.Changed(&tenant.ResourceID{UUID: id}), Coach: event.Changed[tenant.MemberID](nil),
			Description: event.Changed(new("x")), WaitlistCapacity: event.Changed(new(0)), Start: event.Changed(&noon),
			End: event.Changed(&noon), State: event.Changed(new("DRAFT")), Blocked: event.Changed(new(false)),
			StateReason: event.Changed(new("y")), Workouts: event.Changed(&[]tenant.WorkoutID{{UUID: id}}),
		}},
		`{"after":{"service_id":"` + id.String() + `","location_id":"` + id.String() + `","resource_id":"` + id.String() +
			`","coach_id":null,"description":"x","waitlist_capacity":0,"start_time":"2026-03-16T12:00:00.5Z",` +
			`"end_time":"2026-03-16T12:00:00.5Z","state":"DRAFT","blocked":false,"state_reason":"y",` +
			`"workout_ids":["` + id.String() + `"]}}`, "",
	},
	{event.SessionPublished{}, `{}`, ""},
	{event.SessionPublished{Batch: tenant.BatchID{UUID: id}}, `{"batch_id":"` + id.String() + `"}`, ""},
	{event.SessionUnpublished{}, `{}`, ""},
	{event.SessionBlocked{}, `{}`, ""},
	{event.SessionBlocked{Reason: "flood"}, `{"reason":"flood"}`, ""},
	{event.SessionUnblocked{}, `{}`, ""},
	{event.SessionCancelled{}, `{"reason":"","notify":false}`, ""},
	{
		event.SessionDeleted{Reason: "ill", Notify: true, Batch: tenant.BatchID{UUID: id}},
		`{"reason":"ill","notify":true,"batch_id":"` + id.String() + `"}`, "",
	},
	{event.BookingHeld{}, `{}`, ""},
	{event.BookingReleased{}, `{}`, ""},
	{event.BookingExpired{}, `{}`, ""},
	{event.BookingUpdated{}, `{}`, ""},
	{event.BookingConfirmed{}, `{}`, ""},
	{
		event.BookingRescheduled{FromSession: tenant.SessionID{UUID: id}, FromStart: noon.Truncate(time.Second)},
		`{"from_session_id":"` + id.String() + `","from_start_time":"2026-03-16T12:00:00Z","notify":false}`,
		"from_session_id from_start_time",
	},
	{
		event.BookingCancelled{Refunded: true, Notify: true},
		`{"credit_refunded":true,"late":false,"reason":"","notify":true,"session_gone":false}`,
		"credit_refunded late reason",
	},
	{event.BookingAttended{}, `{}`, ""},
	{event.BookingCheckInUndone{}, `{}`, ""},
	{event.BookingNoShow{}, `{}`, ""},
	{event.BookingNoShowUndone{}, `{}`, ""},
	{event.BookingReminderDue{LeadSeconds: 1800}, `{"lead_seconds":1800}`, ""},
	{
		event.DisplaySecondScreen{Link: tenant.DisplayLinkID{UUID: id}}, `{"display_link_id":"` + id.String() + `"}`, "",
	},
	{event.WaitlistJoined{Position: 2}, `{"position":2}`, "position"},
	{
		event.WaitlistLeft{Reason: "late"}, `{"reason":"late","notify":false}`, "reason",
	},
	{
		event.WaitlistLeft{Notify: true, TellUntil: noon},
		`{"reason":"","notify":true,"tell_until":"2026-03-16T12:00:00.5Z"}`, "reason",
	},
	{event.WaitlistPromoted{}, `{}`, ""},
	{
		event.WaitlistChanged{Flagged: true, Position: 1, PositionBefore: 3},
		`{"flagged":true,"score":null,"position":1,"position_before":3}`, "position",
	},
	{
		event.WaitlistChanged{Score: new(7)}, `{"flagged":false,"score":7,"position":0,"position_before":0}`, "position",
	},
	{
		event.WaitlistStaffNote{Decision: tenant.DecisionID{UUID: id}, Move: "NOBODY_FITS", Note: "call"},
		`{"decision_id":"` + id.String() + `","move":"NOBODY_FITS","note":"call"}`, "",
	},
	{
		event.OfferCreated{Expires: noon, Try: 1},
		`{"expire_time":"2026-03-16T12:00:00.5Z","first_to_claim":false,"try":1}`,
		"expire_time first_to_claim",
	},
	{event.OfferExtended{Expires: noon}, `{"expire_time":"2026-03-16T12:00:00.5Z"}`, "expire_time"},
	{event.OfferAccepted{}, `{}`, "reason"},
	{event.OfferDeclined{}, `{}`, "reason"},
	{event.OfferExpired{}, `{}`, "reason"},
	{event.OfferWithdrawn{Cause: "SESSION_MOVED"}, `{"cause":"SESSION_MOVED"}`, "cause reason"},
	{
		event.OfferWithdrawn{Cause: "SESSION_CANCELLED", Reason: "flood"},
		`{"cause":"SESSION_CANCELLED","reason":"flood"}`, "cause reason",
	},
	{
		event.CreditsChanged{Subscription: tenant.SubscriptionID{UUID: id}, Amount: -1, Balance: 0},
		`{"subscription_id":"` + id.String() + `","amount":-1,"balance":0}`, "amount balance subscription_id",
	},
	{
		event.SubscriptionChanged{Subscription: tenant.SubscriptionID{UUID: id}},
		`{"subscription_id":"` + id.String() + `"}`, "end_time plan_id previous_end_time previous_status subscription_id",
	},
	{
		event.SubscriptionChanged{
			Subscription: tenant.SubscriptionID{UUID: id}, Plan: tenant.PlanID{UUID: id}, End: noon,
			StatusBefore: "PAUSED", EndBefore: noon,
		},
		`{"subscription_id":"` + id.String() + `","plan_id":"` + id.String() + `","end_time":"2026-03-16T12:00:00.5Z",` +
			`"previous_status":"PAUSED","previous_end_time":"2026-03-16T12:00:00.5Z"}`,
		"end_time plan_id previous_end_time previous_status subscription_id",
	},
	{event.MemberChanged{}, `{}`, "changed"},
	{event.MemberChanged{Changed: []string{"name"}}, `{"changed":["name"]}`, "changed"},
	{event.AccessChanged{Roles: []string{}}, `{"roles":[]}`, "roles"},
	{event.AccessChanged{ServiceAccount: tenant.ServiceAccountID{UUID: id}},
		`{"service_account_id":"` + id.String() + `"}`, "roles"},
	{
		event.AccessChanged{
			Roles: []string{"owner"}, Change: "TRANSFER_CONFIRMED", Role: "owner", FromMember: tenant.MemberID{UUID: id},
		},
		`{"roles":["owner"],"change":"TRANSFER_CONFIRMED","role":"owner","from_member_id":"` + id.String() + `"}`,
		"roles",
	},
	{event.CatalogChanged{Kind: "location", ID: "x"}, `{"kind":"location","id":"x"}`, ""},
	{
		event.RulesChanged{Version: 3, Level: "TENANT", Target: id},
		`{"version":3,"level":"TENANT","target_id":"` + id.String() + `"}`, "",
	},
}

// What is stored is a promise to later versions, and who may see it one to the people concerned.
func TestData_IsStoredAndSeen(t *testing.T) {
	t.Parallel()
	seen := []event.Type{event.SessionSeatsChanged{}.Type()}
	for _, tt := range all {
		seen = append(seen, tt.data.Type())
		test.EqOp(t, tt.text, string(expect.Value(json.Marshal(tt.data))(t)), test.Sprint(tt.data.Type()))
		test.Eq(t, tt.data, expect.Value(event.Decode(tt.data.Type(), []byte(tt.text)))(t))
		var own []string
		for name, whose := range namesOf(t, tt.data) {
			if whose == "own" {
				own = append(own, name)
			}
		}
		slices.Sort(own)
		test.EqOp(t, tt.own, strings.Join(own, " "), test.Sprint(tt.data.Type()))
		test.Eq(t, reflect.Zero(reflect.TypeOf(tt.data)).Interface(), any(event.Public.Of(tt.data)))
	}
	slices.Sort(seen)
	test.Eq(t, event.Types(), slices.Compact(seen))
}

// namesOf returns the names of all fields in JSON, and who sees them. None is that of a fact, which is stored beside.
func namesOf(t *testing.T, data event.Data) map[string]string {
	t.Helper()
	names := make(map[string]string)
	taken := []string{
		"status",
		"party_size",
		"external_ref",
		"payment_status",
		"credits",
		"payer_id",
		"entry_id",
		"offer_id",
	}
	for f := range reflect.TypeOf(data).Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		test.RegexMatch(t, regexp.MustCompile(`^[a-z_]+$`), name, test.Sprintf("%T.%s", data, f.Name))
		test.SliceNotContains(t, taken, name, test.Sprintf("%T.%s", data, f.Name))
		names[name] = f.Tag.Get("see")
	}
	return names
}

// What a view does not show is zero, and the data themselves stay as they are.
func TestView_HidesFields(t *testing.T) {
	t.Parallel()
	whole := event.BookingCancelled{Refunded: true, Late: true, Reason: "ill", Notify: true, SessionGone: true}
	var data event.Data = whole
	test.Eq(t, data, event.Whole.Of(data))
	test.Eq[event.Data](t, event.BookingCancelled{Refunded: true, Late: true, Reason: "ill"}, event.Own.Of(data))
	test.Eq[event.Data](t, event.BookingCancelled{}, event.Public.Of(data))
	test.Eq[event.Data](t, whole, data)
}

// Rows can be older or newer than the program, but not of a type that it does not know, or broken.
func TestDecode_AcceptsOtherFieldsOnly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		of   event.Type
		text string
		want event.Data
	}{
		{"booking.cancelled", `{}`, event.BookingCancelled{Notify: true}},
		{"booking.cancelled", `{"late": true}`, event.BookingCancelled{Late: true, Notify: true}},
		{"booking.cancelled", `{"notify": false}`, event.BookingCancelled{}},
		{"booking.rescheduled", `{}`, event.BookingRescheduled{Notify: true}},
		{"waitlist.left", `{}`, event.WaitlistLeft{Notify: true}},
		{"session.cancelled", `{}`, event.SessionCancelled{Notify: true}},
		{"session.deleted", `{}`, event.SessionDeleted{Notify: true}},
		{"booking.held", `{"seats": [1]}`, event.BookingHeld{}},
	} {
		test.Eq(t, tt.want, expect.Value(event.Decode(tt.of, []byte(tt.text)))(t), test.Sprint(tt.text))
	}
	for _, tt := range []struct {
		of         event.Type
		text, says string
	}{
		{"booking.vanished", `{}`, `no type "booking.vanished" is known`},
		{"session.seats_changed", `{"seats_open": 1}`, `no type "session.seats_changed" is known`},
		{"", `{}`, `no type "" is known`},
		{"booking.held", `null`, "the data of booking.held are no object"},
		{"booking.held", ``, "the data of booking.held are no object"},
		{"booking.held", `[]`, "the data of booking.held are no object"},
		{"booking.held", `{"a"`, "data of booking.held: unexpected end of JSON input"},
		{"waitlist.joined", `{"position": "first"}`, "data of waitlist.joined: json: cannot unmarshal string"},
		{"credits.changed", `{"subscription_id": "x"}`, "data of credits.changed: not a UUID"},
		{"offer.created", `{"expire_time": "soon"}`, "data of offer.created: "},
		{"session.updated", `{"after": {"capacity": "8"}}`, "data of session.updated: json: cannot unmarshal string"},
	} {
		test.ErrorContains(t, expect.Error(event.Decode(tt.of, []byte(tt.text))), "event: "+tt.says)
	}
}

// Who only passes on what happened goes on at a type of a newer version, but not at what is broken.
func TestDecodeKnown_PassesUnknownTypesOn(t *testing.T) {
	t.Parallel()
	unknown := expect.Value(event.DecodeKnown("booking.vanished", []byte(`{"status": "GONE"}`)))(t)
	test.Eq[event.Data](t, event.Unknown{Of: "booking.vanished"}, unknown)
	test.EqOp(t, "booking.vanished", unknown.Type())
	for _, view := range []event.View{event.Whole, event.Own, event.Public} {
		test.Eq(t, unknown, view.Of(unknown))
	}
	test.Eq[event.Data](t, event.BookingHeld{}, expect.Value(event.DecodeKnown("booking.held", []byte(`{"a": 1}`)))(t))
	test.ErrorContains(t, expect.Error(event.DecodeKnown("booking.held", []byte(`[]`))), "are no object")
}

// Every struct with a type is read from the log.
func TestTypes_ListsEveryStruct(t *testing.T) {
	t.Parallel()
	known := make(map[event.Type]bool)
	for _, file := range expect.Value(filepath.Glob("*.go"))(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, d := range expect.Value(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t).Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "Type" || f.Body == nil {
				continue
			}
			text, ok := f.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit)
			if !ok { // Unknown, which is none of them
				continue
			}
			name := event.Type(expect.Value(strconv.Unquote(text.Value))(t))
			must.False(t, known[name], must.Sprintf("two structs have the type %s", name))
			known[name] = true
		}
	}
	test.Eq(t, slices.Sorted(maps.Keys(known)), event.Types())
}
