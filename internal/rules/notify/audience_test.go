package notify

import (
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/tenant"
)

func TestConcerns_PicksThePeopleOfAnEvent(t *testing.T) {
	t.Parallel()
	var (
		mia     = tenant.New[tenant.MemberID](monday)
		ben     = tenant.New[tenant.MemberID](monday)
		booking = tenant.New[tenant.BookingID](monday)
		session = tenant.New[tenant.SessionID](monday)
		entry   = tenant.New[tenant.EntryID](monday)
		payer   = tenant.New[tenant.SubscriptionID](monday).UUID
		change  = Details{Access: &AccessChange{Kind: RoleGiven}}
	)
	for name, tt := range map[string]struct {
		event      Event
		audience   Audience
		one, other Person // whom it concerns, and whom it does not
	}{
		"a booking": {
			Event{Data: event.BookingConfirmed{}, Booking: booking, Entry: entry, Payer: payer}, OfBooking,
			Person{Booking: booking}, Person{Entry: entry},
		},
		"an entry": {
			Event{Data: event.WaitlistLeft{}, Entry: entry}, OfEntry, Person{Entry: entry}, Person{Payer: payer},
		},
		"a subscription": {
			Event{Data: event.SubscriptionChanged{}, Payer: payer}, OfPayer, Person{Payer: payer}, Person{},
		},
		"a session that moved": {
			Event{Data: event.SessionUpdated{}, Session: session, Moved: true}, OfSession, Person{Session: session},
			Person{},
		},
		"another change of a session": {
			Event{Data: event.SessionUpdated{}, Session: session}, Nobody, Person{}, Person{Session: session},
		},
		"credits of a booking": {
			Event{Data: event.CreditsChanged{}, Booking: booking, Payer: payer}, OfPayer, Person{Payer: payer},
			Person{Booking: booking},
		},
		"a note":          {Event{Data: event.WaitlistStaffNote{}, Entry: entry}, OfStaff, Person{Member: mia}, Person{}},
		"a second screen": {Event{Data: event.DisplaySecondScreen{}}, OfStaff, Person{Member: mia}, Person{}},
		"a change of roles": {
			Event{Data: event.AccessChanged{}, Member: mia, Actor: ben, Details: change}, OfAccess, Person{Member: ben},
			Person{Member: tenant.New[tenant.MemberID](monday)},
		},
		"a change of roles, to an owner": {
			Event{Data: event.AccessChanged{}, Member: mia, Details: change}, OfAccess, Person{Owner: true},
			Person{Member: ben},
		},
		"roles of no power": {
			Event{Data: event.AccessChanged{}, Member: mia}, Nobody, Person{}, Person{Member: mia},
		},
		"nobody's": {Event{Data: event.CatalogChanged{}}, Nobody, Person{}, Person{}},
	} {
		test.EqOp(t, tt.audience, tt.event.Audience(), test.Sprint(name))
		test.EqOp(t, tt.audience != Nobody, tt.event.Concerns(tt.one), test.Sprint(name))
		test.EqOp(t, tt.audience == OfStaff, tt.event.Concerns(tt.other), test.Sprint(name))
	}
}

// The message says who did it, also if someone else's name comes first.
func TestPlan_NamesWhomAChangeOfAccessConcerns(t *testing.T) {
	t.Parallel()
	mia, ben := tenant.New[tenant.MemberID](monday), tenant.New[tenant.MemberID](monday)
	stored := AccessChange{Kind: RoleGiven, Role: "admin"}
	e := Event{
		ID: tenant.New[tenant.EventID](monday), Data: event.AccessChanged{}, Member: mia, Actor: ben, At: monday,
		Details: Details{Access: &stored},
	}
	notices := Plan(e, []Person{{Member: ben, Name: "Ben"}, {Member: mia, Name: "Mia"}}, DefaultSettings(), monday)
	test.Len(t, 4, notices)
	for _, n := range notices {
		test.Eq(t, AccessChange{Kind: RoleGiven, Role: "admin", Name: "Mia", By: "Ben"}, *n.Details.Access)
	}
	test.EqOp(t, "", stored.Name)
}
