package rpc

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/rpctest"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Errors name bookings, waitlist entries and subscriptions only to those who may read them. The refusal is the same.
func TestErrors_NameOnlyWhatTheCallerMayRead(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	kit := s.Studio(t, testkit.NewClock(time.Now()))
	kit.Location = kit.AddLocation(catalog.Location{Name: "Pier 1"})
	kit.Service = kit.AddService(catalog.Service{Name: "Vinyasa", DefaultCapacity: new(10), DefaultWaitlistCapacity: 5})
	in := func(days int) testkit.Session {
		return testkit.Session{Starts: time.Now().AddDate(0, 0, days).Truncate(time.Hour), Capacity: 2, Waitlist: 5}
	}
	expect.OK(t)(s.App.Accounts.CreateRole(t.Context(), kit.Owner, grant.Role{
		Name: "desk", Permissions: []string{"booking.create", "booking.create_for_others"},
	}))
	mia, partner, other := kit.AddMember("Mia"), kit.AddPartner("Portal"), kit.AddPartner("Another")
	desk := kit.AddPerson("Dora", "desk")
	class, full := kit.AddSession(in(2)), kit.AddSession(in(3))
	booked := convert.IDText(kit.MustBook(mia, class))
	kit.MustBook(kit.Coach, full)
	kit.MustBook(kit.AddMember("Noa"), full)
	entry := convert.IDText(kit.MustWaitlist(mia, full))
	held := kit.MustHold(partner, kit.AddSession(in(4)), func(r *bookings.BookRequest) { r.Member = mia.Member })

	hold := func(session tenant.SessionID) proto.Message {
		return &v1.HoldBookingRequest{SessionId: convert.IDText(session), MemberId: convert.IDText(mia.Member)}
	}
	book := func(session tenant.SessionID) proto.Message {
		return &v1.BookRequest{SessionId: convert.IDText(session), MemberId: convert.IDText(mia.Member)}
	}
	confirm := &v1.ConfirmBookingRequest{BookingId: convert.IDText(held.ID)}
	move := &v1.RescheduleBookingRequest{BookingId: convert.IDText(held.ID), SessionId: convert.IDText(full)}
	for name, c := range map[string]struct {
		by           tenant.Caller
		request      proto.Message
		reason       string
		named, value string // "" hides it
	}{
		"a booking, to its member":     {mia, book(class), "ALREADY_BOOKED", "booking_id", booked},
		"a booking, to a coach":        {kit.Coach, book(class), "ALREADY_BOOKED", "booking_id", booked},
		"a booking, to who reads none": {desk, book(class), "ALREADY_BOOKED", "booking_id", ""},
		"a booking, to a partner":      {partner, hold(class), "ALREADY_BOOKED", "booking_id", ""},
		"a booking, to the partner who made it": {
			partner, hold(held.Session), "ALREADY_BOOKED", "booking_id", convert.IDText(held.ID),
		},
		"a partner's booking, to another": {other, hold(held.Session), "ALREADY_BOOKED", "booking_id", ""},
		"an entry, to its member":         {mia, book(full), "ALREADY_BOOKED", "entry_id", entry},
		"an entry, to a partner":          {partner, hold(full), "ALREADY_BOOKED", "entry_id", ""},
	} {
		want := map[string]string{}
		if c.value != "" {
			want[c.named] = c.value
		}
		got := rpctest.ErrorOf(t, expect.Error(s.call(t, s.Token(t, c.by.Subject), c.request)))
		test.EqOp(t, c.reason, got.Reason, test.Sprint(name))
		test.Eq(t, want, got.Metadata, test.Sprint(name), test.Cmp(cmpopts.EquateEmpty()))
	}

	// A partner confirms without a payment: the member's plan pays, of which the partner may know nothing.
	credits := credit.Plan{Kind: credit.Credits, Credits: 1}
	first := kit.Subscribe(mia, kit.AddPlan(credits))
	kit.Subscribe(mia, kit.AddPlan(credits))
	for _, by := range []tenant.Caller{partner, mia} {
		got := rpctest.ErrorOf(t, expect.Error(s.call(t, s.Token(t, by.Subject), confirm)))
		test.EqOp(t, "PLAN_CHOICE_REQUIRED", got.Reason)
		_, named := got.Metadata["subscription_ids"]
		test.EqOp(t, by.Subject == mia.Subject, named, test.Sprintf("%+v", got))
	}
	expect.OK(t)(s.App.Accounts.GrantCredits(t.Context(), kit.Owner, first.ID, -1, ""))
	confirm.SubscriptionId = convert.IDText(first.ID)
	got := rpctest.ErrorOf(t, expect.Error(s.call(t, s.Token(t, partner.Subject), confirm)))
	test.EqOp(t, "NO_CREDITS", got.Reason)
	test.MapNotContainsKey(t, got.Metadata, "balance")

	expect.OK(t)(s.App.Bookings.RecordPayment(t.Context(), kit.Owner, held.ID, *testkit.FiftyEuros, false))
	got = rpctest.ErrorOf(t, expect.Error(s.call(t, s.Token(t, partner.Subject), move)))
	test.EqOp(t, "ALREADY_BOOKED", got.Reason)
	test.MapNotContainsKey(t, got.Metadata, "entry_id")
}
