package bookings

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// The hash is stored with the booking: an external reference that is sent again, to the next release too, has to match.
func TestBookRequest_HashNeverChanges(t *testing.T) {
	t.Parallel()
	id := tenant.UUID{0: 1, 15: 2}
	r := BookRequest{
		Session: tenant.SessionID{UUID: id}, Member: tenant.MemberID{UUID: id}, Party: 3,
		Subscription: tenant.SubscriptionID{UUID: id}, Channel: catalog.Online, ExternalRef: "ref", Note: "note",
		RefuseFull: true, Hold: true, Guest: true,
		Contact: booking.Contact{Name: "Ada", Phone: "+15550100", Email: "a@b.example"},
		Items:   []booking.ItemChoice{{Item: tenant.ItemID{UUID: id}, Quantity: 2}}, GuestTier: "gold",
	}
	for name, tt := range map[string]struct {
		request BookRequest
		want    string
	}{
		"all fields": {r, "6c005fcde4cb127d14092b425eacfe54f4873868d97a5ea37b582f37669fefcd"},
		"no fields":  {BookRequest{}, "54e17651ac213e83af56c63e39ea3fa7cb298eeb639d73ede93fd132b75da90f"},
	} {
		test.EqOp(t, tt.want, hex.EncodeToString(tt.request.hash()), test.Sprint(name))
	}
}

// A booking shares its session with others. Of its member, and of its external reference, it is the only one.
func TestBookRequest_LocksItsMemberAndReference(t *testing.T) {
	t.Parallel()
	session, mia := tenant.UUID{1}, tenant.UUID{2}
	r, ref := BookRequest{Session: tenant.SessionID{UUID: session}}, engine.NameKey("ref", "order-1")
	for name, tt := range map[string]struct {
		differ vary.Fields
		want   []engine.Key
	}{
		"a member":               {vary.Fields{"Member": tenant.MemberID{UUID: mia}}, []engine.Key{mia}},
		"a guest":                {vary.Fields{"Guest": true}, nil},
		"a guest with reference": {vary.Fields{"Guest": true, "ExternalRef": "order-1"}, []engine.Key{ref}},
	} {
		asked := vary.From(r, tt.differ)
		test.Eq(t, engine.Locks{Together: []engine.Key{session}, Single: tt.want}, asked.locks(), test.Sprint(name))
	}
}

// Without the permission, members act for themselves only, and partners for no one.
func TestBookRequest_ForOthersNeedsPermission(t *testing.T) {
	t.Parallel()
	mia, eve := tenant.MemberID{UUID: tenant.UUID{15: 1}}, tenant.MemberID{UUID: tenant.UUID{15: 2}}
	contact := booking.Contact{Name: "Ada"}
	for name, tt := range map[string]struct {
		request BookRequest
		self    tenant.MemberID // for whom a member without the permission books; zero: they may not
		staff   tenant.MemberID // for whom a member with the permission books; zero with guest: for a guest
		partner bool            // a service account with the permission may ask for it
	}{
		"no one named":         {BookRequest{}, mia, mia, false},
		"themselves":           {BookRequest{Member: mia}, mia, mia, true},
		"another member":       {BookRequest{Member: eve}, tenant.MemberID{}, eve, true},
		"hold: no one named":   {BookRequest{Hold: true}, mia, mia, false},
		"hold: themselves":     {BookRequest{Hold: true, Member: mia}, mia, mia, true},
		"hold: another member": {BookRequest{Hold: true, Member: eve}, tenant.MemberID{}, eve, true},
		"hold: a contact":      {BookRequest{Hold: true, Contact: contact}, mia, tenant.MemberID{}, true},
		"hold: with a contact": {BookRequest{Hold: true, Member: mia, Contact: contact}, mia, mia, true},
		"a contact of no hold": {BookRequest{Contact: contact}, mia, mia, false},
		"hold: a guest's tier": {BookRequest{Hold: true, Contact: contact, GuestTier: "gold"}, mia, tenant.MemberID{}, true},
	} {
		missing := booking.CreateForOthers
		if tt.request.Hold {
			missing = booking.HoldForOthers
		}
		r := tt.request
		err := r.complete(tenant.Caller{Member: mia, SelfOnly: true})
		switch {
		case tt.self.IsZero():
			wantMissing(t, name+", as a member", err, missing)
		case r.GuestTier != "":
			test.EqOp(t, fault.InvalidField, fault.ReasonOf(err), test.Sprintf("%s, as a member: %v", name, err))
		case err != nil || r.Member != tt.self || r.Guest:
			t.Errorf("%s, as a member: %+v, %v", name, r, err)
		}

		r = tt.request
		guest := r.Hold && tt.staff.IsZero()
		err = r.complete(tenant.Caller{Member: mia})
		test.NoError(t, err, test.Sprintf("%s, as staff: %+v, %v", name, r, err))
		test.EqOp(t, tt.staff, r.Member, test.Sprintf("%s, as staff: %+v, %v", name, r, err))
		test.EqOp(t, guest, r.Guest, test.Sprintf("%s, as staff: %+v, %v", name, r, err))

		r = tt.request
		err = r.complete(tenant.Caller{Subject: "sa:1", SelfOnly: true})
		switch {
		case tt.partner:
			wantMissing(t, name+", as an account", err, missing)
		case fault.ReasonOf(err) != fault.InvalidField:
			t.Errorf("%s, as an account: %v", name, err)
		}
		r = tt.request
		err = r.complete(tenant.Caller{Subject: "sa:1"})
		test.EqOp(t, (err == nil), tt.partner, test.Sprintf("%s, as an account with the permission: %v", name, err))
	}
}

func wantMissing(t *testing.T, what string, err error, permission string) {
	t.Helper()
	var f *fault.Error
	test.True(t, errors.As(err, &f), test.Sprintf("%s: %v, want that %s is missing", what, err, permission))
	test.EqOp(t, fault.PermissionDeniedReason, f.Reason,
		test.Sprintf("%s: %v, want that %s is missing", what, err, permission))
	test.EqOp(t, permission, f.Metadata["permission"],
		test.Sprintf("%s: %v, want that %s is missing", what, err, permission))
}
