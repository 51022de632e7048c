package rpc

import (
	"slices"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Some requests need a permission beyond that of their RPC. This is the part of the matrix that the contract's options
// do not show: for each such request, the roles that may send it. All others are denied, with the permission's name.
func TestPermissions_BeyondThatOfTheRPC(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	kit := s.Studio(t, testkit.NewClock(time.Now()))
	subjects := map[string]string{
		"owner": "owner", "admin": "admin", "coach": "coach", "member": "member", "partner": kit.AddPartner("Portal").Subject,
	}
	// Roles that have only one of the two permissions.
	for name, permission := range map[string]string{
		"books": "booking.create_for_others", "holds": "booking.hold_for_others",
	} {
		_, err := s.App.Accounts.CreateRole(t.Context(), kit.Owner, grant.Role{
			Name: name, Permissions: []string{"booking.create", "booking.hold", permission},
		})
		kit.NoError(err)
		subjects[name] = kit.AddPerson("Mia", name).Subject
	}
	client := berthv1connect.NewBookingServiceClient(s.Client, s.URL)
	book := func(r *v1.BookRequest) func(string) error {
		r.SessionId = someSession // does not exist, so a call that is allowed changes nothing
		return func(token string) error { _, err := client.Book(t.Context(), as(token, r)); return err }
	}
	hold := func(r *v1.HoldBookingRequest) func(string) error {
		r.SessionId = someSession
		return func(token string) error { _, err := client.HoldBooking(t.Context(), as(token, r)); return err }
	}
	for name, tt := range map[string]struct {
		call       func(token string) error
		permission string
		without    []string // roles that may call the RPC, but not send this request
	}{
		"Book": {book(&v1.BookRequest{}), "", nil},
		"Book for another member": {
			book(&v1.BookRequest{MemberId: convert.IDText(kit.AddMember("Noa").Member)}),
			"booking.create_for_others", []string{"member", "holds"},
		},
		"HoldBooking for another member": {
			hold(&v1.HoldBookingRequest{MemberId: convert.IDText(kit.AddMember("Zoe").Member)}),
			"booking.hold_for_others", []string{"member", "books"},
		},
	} {
		for role, subject := range subjects {
			if role == "partner" && name != "HoldBooking for another member" {
				continue // may not call the RPC at all
			}
			got := apiErrorOf(t, tt.call(s.Token(t, subject)))
			want := apiError{Code: connect.CodeNotFound, Reason: "SESSION_NOT_FOUND", Metadata: got.Metadata}
			if slices.Contains(tt.without, role) {
				want = apiError{
					connect.CodePermissionDenied, "PERMISSION_DENIED", map[string]string{"permission": tt.permission},
				}
			}
			test.Eq(t, want, got, test.Sprintf("%s, as %s", name, role))
		}
	}
}

func TestGetBalance_SaysWhoBooksWithoutCredits(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	kit := s.Studio(t, testkit.NewClock(time.Now()))
	client := berthv1connect.NewCreditServiceClient(s.Client, s.URL)
	for name, tt := range map[string]struct {
		plans     []credit.Plan
		balance   int32
		unlimited bool
	}{
		"nothing": {},
		"credits": {[]credit.Plan{{Kind: credit.Credits, Credits: 3}}, 3, false},
		"both":    {[]credit.Plan{{Kind: credit.Credits, Credits: 3}, {Kind: credit.Unlimited}}, 3, true},
	} {
		who := kit.AddMember(name)
		for _, p := range tt.plans {
			kit.Subscribe(who, kit.AddPlan(p))
		}
		response := expect.Value(client.GetBalance(t.Context(), as(s.Token(t, who.Subject), &v1.GetBalanceRequest{})))(t)
		m := response.Msg
		test.True(
			t, m.GetBalance() == tt.balance && m.GetUnlimited() == tt.unlimited && len(m.GetSubscriptions()) == len(tt.plans),
			test.Sprintf("%s: %v", name, m),
		)
	}
}
