package outbox_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// What a caller sees of an event follows from its permissions, and from whether it concerns the caller. An actor is
// shown to who may read members, and members see of what concerns them only what is for them.
func TestReader_SeesWhatItMay(t *testing.T) {
	t.Parallel()
	mia, other := tenant.New[tenant.MemberID](noon), tenant.New[tenant.MemberID](noon)
	staff := tenant.Caller{Roles: []string{tenant.RoleCoach}, Member: other}
	member := tenant.Caller{Roles: []string{tenant.RoleMember}, Member: mia, SelfOnly: true}
	partner := tenant.Caller{Roles: []string{tenant.RolePartner}, Subject: "sa:1"}
	other1, mia1 := other.String(), mia.String()
	account := tenant.New[tenant.ServiceAccountID](noon)
	const whole, none = "whole", ""
	everything := strings.Join(outbox.ReadPermissions, " ")
	cancelled := event.BookingCancelled{Late: true, Reason: "ill", Notify: true, SessionGone: true}
	blocked := event.SessionBlocked{Reason: "flood"}
	for _, tt := range []struct {
		data      event.Data
		of        tenant.MemberID
		createdBy string
		actor     string
		draft     bool
		caller    tenant.Caller
		may       string
		want      string // the actor and the view; "whole" is the record itself
	}{
		{cancelled, mia, "", mia1, false, staff, "booking.read member.read", whole},
		{cancelled, mia, "", mia1, false, staff, "booking.read", "- whole"},
		{cancelled, mia, "", other1, false, staff, "booking.read", whole},
		{cancelled, mia, "", "system", false, staff, "booking.read", whole},
		{cancelled, mia, "", mia1, false, staff, "member.read session.read waitlist.read", none},
		{cancelled, mia, "", mia1, false, member, "booking.read member.read", mia1 + " own"},
		{cancelled, mia, "", other1, false, member, "", "- own"},
		{cancelled, mia, "", "system", false, member, "", "system own"},
		{cancelled, other, "", other1, false, member, "booking.read member.read", none},
		{cancelled, other, "sa:1", "sa:1", false, partner, "", "sa:1 own"},
		{cancelled, other, "sa:2", "sa:1", false, partner, "", none},
		{cancelled, tenant.MemberID{}, "", "", false, partner, "", none},
		{cancelled, other, mia1, "", false, member, "", none},
		{event.WaitlistJoined{}, mia, "", other1, false, staff, "waitlist.read", whole},
		{event.WaitlistJoined{}, mia, "", other1, false, staff, "booking.read", none},
		{event.WaitlistPromoted{}, mia, "", other1, false, staff, "booking.read", whole},
		{event.WaitlistPromoted{}, mia, "", other1, false, staff, "booking.read waitlist.read", whole},
		{event.OfferCreated{}, mia, "", other1, false, staff, "waitlist.read", whole},
		{event.Unknown{Of: "booking.vanished"}, mia, "", other1, false, staff, "booking.read", whole},
		{event.Unknown{Of: "booking.vanished"}, mia, "", other1, false, staff, "waitlist.read", none},
		{event.Unknown{Of: "booking.vanished"}, mia, "", other1, false, member, "", "- own"},
		{event.Unknown{Of: "session.vanished"}, tenant.MemberID{}, "", other1, false, member, "session.read", "- public"},
		{event.Unknown{Of: "tide.low"}, mia, "", other1, false, staff, "booking.read", none},
		{event.Unknown{Of: "tide.low"}, mia, "", other1, false, staff, everything, whole},
		{event.CreditsChanged{}, mia, "", other1, false, staff, "credit.read", whole},
		{event.SubscriptionChanged{}, mia, "", other1, false, staff, "credit.read", whole},
		{event.MemberChanged{}, mia, "", other1, false, staff, "member.read", whole},
		{event.RulesChanged{}, mia, "", other1, false, staff, "waitlist.read_rules", whole},
		{event.DisplaySecondScreen{}, tenant.MemberID{}, "", "system", false, staff, "checkin.display", whole},
		{event.DisplaySecondScreen{}, tenant.MemberID{}, "", "system", false, staff, "session.read booking.read", none},
		{event.DisplaySecondScreen{}, tenant.MemberID{}, "", "system", false, member, "session.read", none},
		{event.AccessChanged{}, mia, "", other1, false, staff, "member.read", whole},
		{event.AccessChanged{}, mia, "", other1, false, staff, "role.read account.manage", none},
		{event.AccessChanged{ServiceAccount: account}, tenant.MemberID{}, "", other1, false, staff, "account.manage", whole},
		{event.AccessChanged{ServiceAccount: account}, tenant.MemberID{}, "", other1, false, staff, "role.read", none},
		{event.AccessChanged{}, tenant.MemberID{}, "", other1, false, staff, "role.read", whole},
		{event.AccessChanged{}, tenant.MemberID{}, "", other1, false, staff, "account.manage", none},
		{event.CatalogChanged{Kind: "tenant"}, mia, "", other1, false, staff, "tenant.read", whole},
		{event.CatalogChanged{Kind: "location"}, mia, "", other1, false, staff, "catalog.read", whole},
		{event.CatalogChanged{Kind: "resource"}, mia, "", other1, false, staff, "catalog.read", whole},
		{event.CatalogChanged{Kind: "service"}, mia, "", other1, false, staff, "catalog.read", whole},
		{event.CatalogChanged{Kind: "item"}, mia, "", other1, false, staff, "catalog.read", whole},
		{event.CatalogChanged{Kind: "benefit_provider"}, mia, "", other1, false, staff, "catalog.read", whole},
		{event.CatalogChanged{Kind: "workout"}, mia, "", other1, false, staff, "workout.read", whole},
		{event.CatalogChanged{Kind: "policy"}, mia, "", other1, false, staff, "policy.read", whole},
		{event.CatalogChanged{Kind: "plan"}, mia, "", other1, false, staff, "plan.read", whole},
		{event.CatalogChanged{Kind: "plan"}, mia, "", other1, false, staff, "tenant.read catalog.read policy.read", none},
		// What happened to a session is for everyone who may read the schedule. Events of drafts are for staff only, but
		// that a session became a draft is for everyone.
		{blocked, tenant.MemberID{}, "", other1, false, staff, "session.read", whole},
		{blocked, tenant.MemberID{}, "", other1, false, staff, "booking.read member.read", none},
		{blocked, tenant.MemberID{}, "", other1, false, member, "session.read", "- public"},
		{blocked, tenant.MemberID{}, "", other1, true, member, "session.read", none},
		{blocked, tenant.MemberID{}, "", other1, true, partner, "session.read", none},
		{blocked, tenant.MemberID{}, "", other1, true, staff, "session.read", none},
		{blocked, tenant.MemberID{}, "", other1, true, staff, "session.read session.read_drafts", whole},
		{event.SessionUnpublished{}, tenant.MemberID{}, "", other1, true, member, "session.read", "- public"},
		{event.SessionSeatsChanged{}, tenant.MemberID{}, "", other1, false, member, "session.read", whole},
		{event.SessionSeatsChanged{}, tenant.MemberID{}, "", other1, false, member, "", none},
	} {
		r := &outbox.Record{Event: outbox.Event{Member: tt.of, Actor: tt.actor, Data: tt.data}}
		r.CreatedBy, r.To.Draft = tt.createdBy, tt.draft
		reader := outbox.Reader{Caller: tt.caller, May: make(map[string]bool)}
		for permission := range strings.FieldsSeq(tt.may) {
			reader.May[permission] = true
		}
		for range 2 { // the second reader shares what was made for the first
			got := none
			for _, seen := range reader.See(outbox.Filter{}, []*outbox.Record{r}) {
				view := map[event.View]string{event.Whole: whole, event.Own: "own", event.Public: "public"}[seen.View]
				if got = whole; seen != r {
					got = cmp.Or(seen.Actor, "-") + " " + view
				}
				test.Eq(t, seen.View.Of(tt.data), seen.Data)
			}
			test.EqOp(t, tt.want, got, test.Sprintf("%#v to %v with %s", tt.data, tt.caller.Roles, tt.may))
		}
		test.EqOp(t, tt.actor, r.Actor)
		test.Eq(t, tt.data, r.Data)
	}
	all := outbox.Reader{Caller: staff, May: make(map[string]bool)}
	for _, permission := range outbox.ReadPermissions {
		test.False(t, all.ReadsAll(), test.Sprint("without ", permission))
		all.May[permission] = true
	}
	test.True(t, all.ReadsAll())
	for _, caller := range []tenant.Caller{member, {Roles: staff.Roles, SelfOnly: true}} {
		test.False(t, outbox.Reader{Caller: caller, May: all.May}.ReadsAll())
	}
}

// What a promotion says about the payment is for who may read bookings.
func TestSee_HidesThePaymentOfAPromotion(t *testing.T) {
	t.Parallel()
	staff := tenant.Caller{Roles: []string{tenant.RoleCoach}}
	promoted := &outbox.Record{Event: outbox.Event{
		Data:  event.WaitlistPromoted{},
		Facts: event.Facts{Status: "CONFIRMED", Party: 2, Payment: event.Payment{Status: "UNPAID", Credits: -2}},
	}}
	for may, want := range map[string]event.Facts{
		"waitlist.read": {Status: "CONFIRMED", Party: 2}, "booking.read": promoted.Facts,
	} {
		reader := outbox.Reader{Caller: staff, May: map[string]bool{may: true, "member.read": true}}
		seen := reader.See(outbox.Filter{}, []*outbox.Record{promoted})
		must.Len(t, 1, seen, must.Sprint(may))
		test.Eq(t, want, seen[0].Facts, test.Sprint(may))
	}
}

// All fields of a filter must match.
func TestFilter_SelectsRecords(t *testing.T) {
	t.Parallel()
	session, from := tenant.New[tenant.SessionID](noon), tenant.New[tenant.SessionID](noon)
	booking := tenant.New[tenant.BookingID](noon)
	member, location := tenant.New[tenant.MemberID](noon), tenant.New[tenant.LocationID](noon)
	held, offered := event.BookingHeld{}.Type(), event.OfferCreated{}.Type()
	r := &outbox.Record{
		Event:       outbox.Event{Data: event.BookingHeld{}, Session: session, Booking: booking, Member: member},
		FromSession: from, Context: outbox.Context{To: outbox.SessionContext{Location: location}},
	}
	test.True(t, outbox.Filter{}.IsZero())
	test.True(t, outbox.Filter{}.Matches(r))
	for want, filters := range map[bool][]outbox.Filter{
		true: {
			{Types: []event.Type{offered, held}}, {Session: session}, {Session: from},
			{Booking: booking}, {Member: member}, {Location: location},
			{Types: []event.Type{held}, Session: from, Booking: booking, Member: member, Location: location},
		},
		false: {
			{Types: []event.Type{offered}}, {Session: tenant.New[tenant.SessionID](noon)},
			{Booking: tenant.New[tenant.BookingID](noon)}, {Member: tenant.New[tenant.MemberID](noon)},
			{Location: tenant.New[tenant.LocationID](noon)}, {Session: session, Booking: tenant.New[tenant.BookingID](noon)},
		},
	} {
		for i, f := range filters {
			test.EqOp(t, want, f.Matches(r), test.Sprint(want, " ", i))
			test.False(t, f.IsZero(), test.Sprint(want, " ", i))
		}
	}
}

// What changes seats tells about both sessions of a move, except drafts and sessions without a limit.
func TestRecord_SeatsChanged(t *testing.T) {
	t.Parallel()
	to, from := tenant.New[tenant.SessionID](noon), tenant.New[tenant.SessionID](noon)
	for _, c := range []struct {
		name   string
		differ vary.Fields
		want   map[tenant.SessionID]int
	}{
		{"moved", nil, map[tenant.SessionID]int{to: 1, from: 3}},
		{"from a draft", vary.Fields{"From.Draft": true}, map[tenant.SessionID]int{to: 1}},
		{"to an unlimited session", vary.Fields{"To.SeatsOpen": nil}, map[tenant.SessionID]int{from: 3}},
		{"a reminder", vary.Fields{"Data": event.BookingReminderDue{}}, map[tenant.SessionID]int{}},
	} {
		r := &outbox.Record{Event: named("moved"), FromSession: from, Context: outbox.Context{
			To: outbox.SessionContext{SeatsOpen: new(1)}, From: outbox.SessionContext{SeatsOpen: new(3)},
		}}
		r.Data, r.Session = event.BookingRescheduled{}, to
		r = vary.From(r, c.differ)
		got := make(map[tenant.SessionID]int)
		ids := []string{r.ID.String()}
		for _, s := range r.SeatsChanged() {
			got[s.Session] = s.Data.(event.SessionSeatsChanged).SeatsOpen
			ids = append(ids, s.ID.String())
			test.EqOp(t, r.At, s.At)
			test.EqOp(t, r.Cursor, s.Cursor)
			test.EqOp(t, ids[0][:14], s.ID.String()[:14], test.Sprint("the time of the record"))
			test.EqOp(t, "8", s.ID.String()[14:15], test.Sprint("the version of the id"))
			test.StrContains(t, "89ab", s.ID.String()[19:20], test.Sprint("the variant of the id"))
		}
		test.Eq(t, c.want, got, test.Sprint(c.name))
		test.EqOp(t, len(ids), len(slices.Compact(slices.Sorted(slices.Values(ids)))), test.Sprint("an id is not unique"))
		test.Eq(t, r.SeatsChanged(), r.SeatsChanged(), test.Sprint("readers do not share them"))
	}
}
