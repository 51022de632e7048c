package rpc

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"google.golang.org/genproto/googleapis/type/date"
	"google.golang.org/genproto/googleapis/type/money"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/admission"
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
	// Roles that may call RPCs, without the further permissions.
	for name, permissions := range map[string][]string{
		"books":     {"booking.create", "booking.hold", "booking.create_for_others"},
		"holds":     {"booking.create", "booking.hold", "booking.hold_for_others"},
		"drafts":    {"session.create", "session.series", "session.publish"},
		"builds":    {"catalog.write"},
		"invites":   {"member.write"},
		"watches":   {"import.read"},
		"loads":     {"session.import"},
		"tidies":    {"session.cancel", "session.delete", "session.bulk"},
		"publishes": {"session.create", "session.series", "session.create_published"},
	} {
		expect.OK(t)(s.App.Accounts.CreateRole(t.Context(), kit.Owner, grant.Role{Name: name, Permissions: permissions}))
		subjects[name] = kit.AddPerson("Mia", name).Subject
	}
	// What is named does not exist, so a call that is allowed changes nothing.
	input := &v1.SessionInput{
		ServiceId: someSession, LocationId: someSession, StartTime: timestamppb.New(time.Now().Add(time.Hour)),
	}
	series := &v1.CreateSeriesRequest{
		Series: &v1.SeriesInput{
			ServiceId: someSession, LocationId: someSession, Rule: "FREQ=DAILY;COUNT=2",
			StartDate: &date.Date{Year: 2027, Month: 3, Day: 1}, StartTimeOfDay: &timeofday.TimeOfDay{Hours: 9},
		},
	}
	pier := &v1.LocationInput{Name: "Pier 2"}
	invite := func(whom *v1.InvitationInput) *v1.BatchCreateInvitationsRequest {
		return &v1.BatchCreateInvitationsRequest{Invitations: []*v1.InvitationInput{whom}}
	}
	all := []string{"owner", "admin", "coach", "member", "books", "holds"}
	planners := []string{"owner", "admin", "coach", "drafts", "publishes"}
	listed := map[string]bool{ // other tests try these
		"CreateLocation": true, // below
		"ImportSessions": true, "GetBenefitProvider": true, "ListBenefitProviders": true, "ListEvents": true,
		"WatchEvents":   true,
		"RecordPayment": true, "RefundPayment": true, "UpdateTenant": true,
	}
	for name, tt := range map[string]struct {
		request    proto.Message
		missing    string   // the reason of a call that is allowed
		callers    []string // roles that may call the RPC
		permission string
		without    []string // those of them that may not send this request
	}{
		"BatchCreateInvitations": {
			invite(&v1.InvitationInput{Who: &v1.InvitationInput_MemberId{MemberId: someSession}}), "MEMBER_NOT_FOUND",
			[]string{"owner", "admin", "invites"}, "", nil,
		},
		"BatchCreateInvitations with a role": {
			invite(&v1.InvitationInput{Who: &v1.InvitationInput_Person{Person: &v1.InvitedPerson{
				Name: "Zoe", Email: "zoe@example.com", Roles: []string{"nobody"},
			}}}),
			"ROLE_NOT_FOUND", []string{"owner", "admin", "invites"}, "role.assign", []string{"invites"},
		},
		"Book": {&v1.BookRequest{SessionId: someSession}, "SESSION_NOT_FOUND", all, "", nil},
		"Book for another member": {
			&v1.BookRequest{SessionId: someSession, MemberId: convert.IDText(kit.AddMember("Noa").Member)},
			"SESSION_NOT_FOUND", all, "booking.create_for_others", []string{"member", "holds"},
		},
		"Book over capacity": {
			&v1.BookRequest{SessionId: someSession, RaiseCapacity: true}, "SESSION_NOT_FOUND", all, "booking.over_capacity",
			[]string{"coach", "member", "books", "holds"},
		},
		"HoldBooking for another member": {
			&v1.HoldBookingRequest{SessionId: someSession, MemberId: convert.IDText(kit.AddMember("Zoe").Member)},
			"SESSION_NOT_FOUND", append(all, "partner"), "booking.hold_for_others", []string{"member", "books"},
		},
		"ConfirmBooking": {
			&v1.ConfirmBookingRequest{BookingId: someSession}, "BOOKING_NOT_FOUND", append(all, "partner"), "", nil,
		},
		"ConfirmBooking with a payment": {
			&v1.ConfirmBookingRequest{BookingId: someSession, Payment: &v1.PaymentFacts{
				Amount: &money.Money{CurrencyCode: "EUR", Units: 5}, Kind: v1.PaymentLineKind_PAYMENT_LINE_KIND_CAPTURE,
			}},
			"BOOKING_NOT_FOUND", append(all, "partner"), "payment.record", []string{"member", "books", "holds"},
		},
		"CancelBooking": {
			&v1.CancelBookingRequest{BookingId: someSession}, "BOOKING_NOT_FOUND", append(all, "partner"), "", nil,
		},
		"CancelBooking after the window": {
			&v1.CancelBookingRequest{BookingId: someSession, OverrideWindow: true}, "BOOKING_NOT_FOUND",
			append(all, "partner"), "booking.cancel_any", []string{"coach", "member", "books", "holds", "partner"},
		},
		"CancelBooking in silence": {
			&v1.CancelBookingRequest{BookingId: someSession, Notify: new(false)}, "BOOKING_NOT_FOUND",
			append(all, "partner"), "booking.cancel_any", []string{"coach", "member", "books", "holds", "partner"},
		},
		"CreateSession": {&v1.CreateSessionRequest{Session: input}, "SERVICE_NOT_FOUND", planners, "", nil},
		"CreateSession, published": {
			&v1.CreateSessionRequest{Session: input, Publish: true}, "SERVICE_NOT_FOUND", planners,
			"session.create_published", []string{"drafts"},
		},
		"CreateSeries": {series, "SERVICE_NOT_FOUND", []string{"owner", "admin", "drafts", "publishes"}, "", nil},
		"CreateSeries, published": {
			with(series, &v1.CreateSeriesRequest{Publish: true}), "SERVICE_NOT_FOUND",
			[]string{"owner", "admin", "drafts", "publishes"}, "session.create_published", []string{"drafts"},
		},
		"CancelSession, ended": {
			&v1.CancelSessionRequest{SessionId: someSession, IncludeEnded: true}, "SESSION_NOT_FOUND",
			[]string{"owner", "admin", "tidies"}, "session.change_ended", []string{"tidies"},
		},
		"DeleteSession, ended": {
			&v1.DeleteSessionRequest{SessionId: someSession, IncludeEnded: true}, "SESSION_NOT_FOUND",
			[]string{"owner", "admin", "tidies"}, "session.change_ended", []string{"tidies"},
		},
		"UpdateLocation": {
			&v1.UpdateLocationRequest{LocationId: someSession, Location: pier, UpdateMask: mask("name")}, "LOCATION_NOT_FOUND",
			[]string{"owner", "admin", "builds"}, "", nil,
		},
		"UpdateLocation of channels": {
			&v1.UpdateLocationRequest{LocationId: someSession, Location: pier, UpdateMask: mask("channels")},
			"LOCATION_NOT_FOUND",
			[]string{"owner", "admin", "builds"}, "policy.write", []string{"builds"},
		},
	} {
		procedure, _, _ := strings.Cut(strings.ReplaceAll(name, ",", " "), " ")
		listed[procedure] = true
		for _, role := range tt.callers {
			want := "not_found " + tt.missing
			if slices.Contains(tt.without, role) {
				want = "permission_denied PERMISSION_DENIED permission=" + tt.permission
			}
			refused(t, want, test.Sprintf("%s, as %s", name, role))(
				s.call(t, s.Token(t, subjects[role]), tt.request),
			)
		}
	}
	for role, want := range map[string]string{
		"owner":  "invalid_argument INVALID_FIELD",
		"builds": "permission_denied PERMISSION_DENIED permission=policy.write",
	} {
		refused(t, want, test.Sprint(role))(s.call(t, s.Token(t, subjects[role]), &v1.CreateLocationRequest{
			Location: &v1.LocationInput{Name: "Pier 2", TimeZone: "Europe/Atlantis", Channels: allChannels},
		}))
	}
	for _, ended := range []proto.Message{
		&v1.PreviewBulkSessionsRequest{
			Filter: &v1.SessionFilter{SessionIds: []string{someSession}}, IncludeEnded: true,
			Action: v1.BulkSessionAction_BULK_SESSION_ACTION_DELETE,
		},
		&v1.BulkDeleteSessionsRequest{Filter: &v1.SessionFilter{SessionIds: []string{someSession}}, IncludeEnded: true},
		&v1.BulkCancelSessionsRequest{Filter: &v1.SessionFilter{SessionIds: []string{someSession}}, IncludeEnded: true},
	} {
		listed[strings.TrimSuffix(string(ended.ProtoReflect().Descriptor().Name()), "Request")] = true
		refused(t, "permission_denied PERMISSION_DENIED permission=session.change_ended")(
			s.call(t, s.Token(t, subjects["tidies"]), ended))
		expect.OK(t)(s.call(t, s.Token(t, subjects["admin"]), ended))
	}
	for role, denied := range map[string]bool{"owner": false, "loads": true} {
		started := ask[*v1.ImportSessionsResponse](t, s, s.Token(t, subjects[role]), &v1.ImportSessionsRequest{
			Csv: []byte(testkit.ImportHeader + "Yoga,Pier 1,2027-03-30,18:00,,45,,,,,,,published\n"), DryRun: true,
		})
		expect.OK(t)(s.App.Imports.RunDue(t.Context(), kit.Tenant))
		report := fmt.Sprint(ask[*v1.GetImportResponse](t, s, s.Token(t, subjects["owner"]), &v1.GetImportRequest{
			ImportId: started.GetFileImport().GetId(),
		}))
		test.EqOp(t, denied, strings.Contains(report, "session.create_published"), test.Sprint(report))
	}
	// Of an import that created nothing, so that nothing is undone.
	checked := ask[*v1.ImportMembersResponse](t, s, s.Token(t, subjects["owner"]), &v1.ImportMembersRequest{
		Csv: []byte("name\nAna\n"), DryRun: true,
	})
	expect.OK(t)(s.App.Imports.RunDue(t.Context(), kit.Tenant))
	undo := &v1.UndoImportRequest{ImportId: checked.GetFileImport().GetId()}
	listed["UndoImport"] = true
	refused(t, "permission_denied PERMISSION_DENIED permission=member.import")(
		s.call(t, s.Token(t, subjects["watches"]), undo))
	refused(t, "failed_precondition IMPORT_STATE status=SUCCEEDED")(s.call(t, s.Token(t, subjects["admin"]), undo))
	test.Eq(t, procedures(t, "CallerWith", "RequirePermission", "Permitted"), slices.Sorted(maps.Keys(listed)),
		test.Sprint("the RPCs that need a further permission, and those that are tested"))
}

// procedures returns the handlers of RPCs that call one of the functions, directly or through others of their package.
func procedures(t *testing.T, functions ...string) (names []string) {
	t.Helper()
	rules := expect.Value(admission.Rules())(t)
	for _, folder := range expect.Value(filepath.Glob("*api"))(t) {
		calls := make(map[string][]string) // by function
		for _, file := range expect.Value(filepath.Glob(folder + "/*.go"))(t) {
			parsed := expect.Value(parser.ParseFile(gotoken.NewFileSet(), file, nil, 0))(t)
			for _, d := range parsed.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					ast.Inspect(f, func(n ast.Node) bool {
						if used, ok := n.(*ast.Ident); ok {
							calls[f.Name.Name] = append(calls[f.Name.Name], used.Name)
						}
						return true
					})
				}
			}
		}
		reaching := slices.Clone(functions)
		for i := 0; i < len(reaching); i++ {
			for name, called := range calls {
				if slices.Contains(called, reaching[i]) && !slices.Contains(reaching, name) {
					reaching = append(reaching, name)
				}
			}
		}
		for procedure := range rules {
			if name := path.Base(procedure); slices.Contains(reaching, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestGetBalance_SaysWhoBooksWithoutCredits(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	kit := s.Studio(t, testkit.NewClock(time.Now()))
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
		m := ask[*v1.GetBalanceResponse](t, s, s.Token(t, who.Subject), &v1.GetBalanceRequest{})
		test.EqOp(t, tt.balance, m.GetBalance(), test.Sprintf("%s: %v", name, m))
		test.EqOp(t, tt.unlimited, m.GetUnlimited(), test.Sprintf("%s: %v", name, m))
		test.SliceLen(t, len(tt.plans), m.GetSubscriptions(), test.Sprintf("%s: %v", name, m))
	}
}
