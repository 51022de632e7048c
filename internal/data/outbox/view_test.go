package outbox_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/data/outbox"
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
	const (
		whole, none = "whole", ""
		// In order, so that they can be compared.
		forMembers = "amount= balance= changed= credit_refunded= expire_time= first_to_claim= from_session_id= " +
			"from_start_time= late= position= reason= roles= seats= status= subscription_id="
	)
	for _, tt := range []struct {
		what      outbox.Type
		data      string // keys and their values
		of        tenant.MemberID
		createdBy string
		actor     string
		draft     bool
		caller    tenant.Caller
		may       string
		want      string // the actor and the keys of the data
	}{
		{outbox.BookingHeld, "note=x", mia, "", mia1, false, staff, "booking.read member.read", whole},
		{outbox.BookingHeld, "note=x", mia, "", mia1, false, staff, "booking.read", "- note"},
		{outbox.BookingHeld, "note=x", mia, "", other1, false, staff, "booking.read", whole},
		{outbox.BookingHeld, "note=x", mia, "", "system", false, staff, "booking.read", whole},
		{outbox.BookingHeld, "note=x", mia, "", mia1, false, staff, "member.read session.read waitlist.read", none},
		{outbox.BookingHeld, "note=x", mia, "", mia1, false, member, "booking.read member.read", mia1 + " "},
		{outbox.BookingHeld, "position=1", mia, "", other1, false, member, "", "- position"},
		{
			outbox.BookingHeld, "notify=x " + forMembers, mia, "", other1, false, member, "",
			"- " + strings.ReplaceAll(forMembers, "=", ""),
		},
		{outbox.BookingHeld, "position=1", mia, "", "system", false, member, "", "system position"},
		{outbox.BookingHeld, "position=1", other, "", other1, false, member, "booking.read member.read", none},
		{outbox.BookingHeld, "position=1", other, "sa:1", "sa:1", false, partner, "", "sa:1 position"},
		{outbox.BookingHeld, "position=1", other, "sa:2", "sa:1", false, partner, "", none},
		{outbox.BookingHeld, "position=1", tenant.MemberID{}, "", "", false, partner, "", none},
		{outbox.BookingHeld, "position=1", other, mia1, "", false, member, "", none},
		{outbox.WaitlistJoined, "note=x", mia, "", other1, false, staff, "waitlist.read", whole},
		{outbox.WaitlistJoined, "note=x", mia, "", other1, false, staff, "booking.read", none},
		{outbox.WaitlistPromoted, "note=x", mia, "", other1, false, staff, "booking.read", whole},
		{outbox.OfferCreated, "note=x", mia, "", other1, false, staff, "waitlist.read", whole},
		{outbox.CreditsChanged, "note=x", mia, "", other1, false, staff, "credit.read", whole},
		{outbox.SubscriptionChanged, "note=x", mia, "", other1, false, staff, "credit.read", whole},
		{outbox.MemberChanged, "note=x", mia, "", other1, false, staff, "member.read", whole},
		{outbox.RulesChanged, "note=x", mia, "", other1, false, staff, "waitlist.read_rules", whole},
		{outbox.RolesChanged, "note=x", mia, "", other1, false, staff, "member.read", whole},
		{outbox.RolesChanged, "note=x", mia, "", other1, false, staff, "role.read account.manage", none},
		{outbox.RolesChanged, "service_account_id=x", tenant.MemberID{}, "", other1, false, staff, "account.manage", whole},
		{outbox.RolesChanged, "service_account_id=x", tenant.MemberID{}, "", other1, false, staff, "role.read", none},
		{outbox.RolesChanged, "note=x", tenant.MemberID{}, "", other1, false, staff, "role.read", whole},
		{outbox.RolesChanged, "note=x", tenant.MemberID{}, "", other1, false, staff, "account.manage", none},
		{outbox.CatalogChanged, "kind=tenant", mia, "", other1, false, staff, "tenant.read", whole},
		{outbox.CatalogChanged, "kind=location", mia, "", other1, false, staff, "catalog.read", whole},
		{outbox.CatalogChanged, "kind=resource", mia, "", other1, false, staff, "catalog.read", whole},
		{outbox.CatalogChanged, "kind=service", mia, "", other1, false, staff, "catalog.read", whole},
		{outbox.CatalogChanged, "kind=item", mia, "", other1, false, staff, "catalog.read", whole},
		{outbox.CatalogChanged, "kind=benefit_provider", mia, "", other1, false, staff, "catalog.read", whole},
		{outbox.CatalogChanged, "kind=workout", mia, "", other1, false, staff, "workout.read", whole},
		{outbox.CatalogChanged, "kind=policy", mia, "", other1, false, staff, "policy.read", whole},
		{outbox.CatalogChanged, "kind=plan", mia, "", other1, false, staff, "plan.read", whole},
		{outbox.CatalogChanged, "kind=plan", mia, "", other1, false, staff, "tenant.read catalog.read policy.read", none},
		// What happened to a session is for everyone who may read the schedule. Events of drafts are for staff only, but
		// that a session became a draft is for everyone.
		{outbox.SessionUpdated, "note=x", tenant.MemberID{}, "", other1, false, staff, "session.read", whole},
		{outbox.SessionUpdated, "note=x", tenant.MemberID{}, "", other1, false, staff, "booking.read member.read", none},
		{outbox.SessionUpdated, "note=x", tenant.MemberID{}, "", other1, false, member, "session.read", "- "},
		{outbox.SessionUpdated, "note=x", tenant.MemberID{}, "", other1, true, member, "session.read", none},
		{outbox.SessionUpdated, "note=x", tenant.MemberID{}, "", other1, true, partner, "session.read", none},
		{outbox.SessionUpdated, "note=x", tenant.MemberID{}, "", other1, true, staff, "session.read", whole},
		{outbox.SessionUnpublished, "note=x", tenant.MemberID{}, "", other1, true, member, "session.read", "- "},
		{outbox.SessionSeatsChanged, "seats_open=1", tenant.MemberID{}, "", other1, false, member, "session.read", whole},
		{outbox.SessionSeatsChanged, "seats_open=1", tenant.MemberID{}, "", other1, false, member, "", none},
	} {
		data := make(map[string]any)
		for pair := range strings.FieldsSeq(tt.data) {
			key, value, _ := strings.Cut(pair, "=")
			data[key] = value
		}
		r := &outbox.Record{Event: outbox.Event{Type: tt.what, Member: tt.of, Actor: tt.actor, Data: maps.Clone(data)}}
		r.CreatedBy, r.To.Draft = tt.createdBy, tt.draft
		reader := outbox.Reader{Caller: tt.caller, May: make(map[string]bool)}
		for permission := range strings.FieldsSeq(tt.may) {
			reader.May[permission] = true
		}
		for range 2 { // the second reader shares what was made for the first
			got := none
			for _, seen := range reader.See(outbox.Filter{}, []*outbox.Record{r}) {
				got = cmp.Or(seen.Actor, "-") + " " + strings.Join(slices.Sorted(maps.Keys(seen.Data)), " ")
				if seen == r {
					got = whole
				}
			}
			test.EqOp(t, tt.want, got, test.Sprintf("%s, %q to %v with %s", tt.what, tt.data, tt.caller.Roles, tt.may))
		}
		test.EqOp(t, tt.actor, r.Actor)
		test.Eq(t, data, r.Data)
	}
	all := outbox.Reader{Caller: staff, May: make(map[string]bool)}
	for _, permission := range outbox.ReadPermissions {
		test.False(t, all.ReadsAll(), test.Sprint("without ", permission))
		all.May[permission] = true
	}
	test.True(t, all.ReadsAll())
	for _, caller := range []tenant.Caller{member, partner, {Roles: staff.Roles, SelfOnly: true}} {
		test.False(t, outbox.Reader{Caller: caller, May: all.May}.ReadsAll())
	}
}

// All fields of a filter must match.
func TestFilter_SelectsRecords(t *testing.T) {
	t.Parallel()
	session, from := tenant.New[tenant.SessionID](noon), tenant.New[tenant.SessionID](noon)
	booking := tenant.New[tenant.BookingID](noon)
	member, location := tenant.New[tenant.MemberID](noon), tenant.New[tenant.LocationID](noon)
	r := &outbox.Record{
		Event:       outbox.Event{Type: outbox.BookingHeld, Session: session, Booking: booking, Member: member},
		FromSession: from, Context: outbox.Context{To: outbox.SessionContext{Location: location}},
	}
	test.True(t, outbox.Filter{}.IsZero())
	test.True(t, outbox.Filter{}.Matches(r))
	for want, filters := range map[bool][]outbox.Filter{
		true: {
			{Types: []outbox.Type{outbox.OfferCreated, outbox.BookingHeld}}, {Session: session}, {Session: from},
			{Booking: booking}, {Member: member}, {Location: location},
			{Types: []outbox.Type{outbox.BookingHeld}, Session: from, Booking: booking, Member: member, Location: location},
		},
		false: {
			{Types: []outbox.Type{outbox.OfferCreated}}, {Session: tenant.New[tenant.SessionID](noon)},
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
		{"a reminder", vary.Fields{"Type": outbox.BookingReminderDue}, map[tenant.SessionID]int{}},
	} {
		r := &outbox.Record{Event: event("moved"), FromSession: from, Context: outbox.Context{
			To: outbox.SessionContext{SeatsOpen: new(1)}, From: outbox.SessionContext{SeatsOpen: new(3)},
		}}
		r.Type, r.Session = outbox.BookingRescheduled, to
		r = vary.From(r, c.differ)
		got := make(map[tenant.SessionID]int)
		ids := []string{r.ID.String()}
		for _, s := range r.SeatsChanged() {
			got[s.Session], _ = s.Data[outbox.SeatsOpenKey].(int)
			ids = append(ids, s.ID.String())
			test.Eq(t, []any{outbox.SessionSeatsChanged, r.At, r.Cursor}, []any{s.Type, s.At, s.Cursor})
			test.EqOp(t, ids[0][:14], s.ID.String()[:14], test.Sprint("the time of the record"))
			test.EqOp(t, "8", s.ID.String()[14:15], test.Sprint("the version of the id"))
			test.StrContains(t, "89ab", s.ID.String()[19:20], test.Sprint("the variant of the id"))
		}
		test.Eq(t, c.want, got, test.Sprint(c.name))
		test.EqOp(t, len(ids), len(slices.Compact(slices.Sorted(slices.Values(ids)))), test.Sprint("an id is not unique"))
		test.Eq(t, r.SeatsChanged(), r.SeatsChanged(), test.Sprint("readers do not share them"))
	}
}
