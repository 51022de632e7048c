package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/tenant"
)

// goldenMatrix reads the matrix of permissions, by RPC and column.
func goldenMatrix(t *testing.T, text string) map[string]map[string]string {
	t.Helper()
	fields := regexp.MustCompile(`\s{2,}`)
	var titles []string
	matrix := make(map[string]map[string]string)
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := fields.Split(strings.TrimSpace(line), -1)
		if titles == nil {
			titles = columns
			continue
		}
		row := make(map[string]string)
		for i, title := range titles {
			row[title] = columns[i]
		}
		matrix[row["rpc"]] = row
	}
	return matrix
}

// emptyRequests are the mutations whose requests can be empty.
var emptyRequests = map[string]bool{
	"NotificationService/CreateCalendarFeed": true, "NotificationService/VerifySendingDomain": true,
	"MemberService/LinkMe": true,
}

// Over the network, all callers can do what the matrix says. Other calls are denied and change nothing.
func TestEveryRPC_AllowsWhatTheMatrixSays(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	w := newWorld(t, live)
	matrix := goldenMatrix(t, readFile(t, "../internal/rpc/admission/testdata/access.golden"))
	subjects := map[string]string{
		"owner": "owner", "admin": "admin", "coach": "coach", "member": "member", "partner": w.partner,
		"role without permissions": "idler", "inactive": "left", "stranger": "stranger",
	}
	tokens := make(map[string]string)
	for title, subject := range subjects {
		tokens[title] = w.token(subject)
	}
	built := w.buildAll()
	before := live.rows(t, w.ID)
	for _, p := range procedures() {
		row := matrix[p.Short()]
		must.NotNil(t, row, must.Sprint(p.Short()))
		for _, title := range slices.Sorted(maps.Keys(subjects)) {
			// An empty message is rejected for mutations, but only after the permission check.
			for _, request := range append([]proto.Message{p.NewRequest()}, built[p.Short()]...) {
				empty := proto.Size(request) == 0
				if row[title] != "-" && (!empty || emptyRequests[p.Short()]) {
					continue
				}
				got := live.try(t.Context(), tokens[title], p, request)
				denied := slices.Contains([]string{"PERMISSION_DENIED", "NOT_A_MEMBER", "MEMBER_INACTIVE"}, got.Reason)
				test.EqOp(t, (row[title] == "-"), denied, test.Sprintf("%s as %s (%q): %s", p.Short(), title, row[title], got))
				test.False(
					t, row[title] == "-" && got.Code != codes.PermissionDenied, test.Sprintf("%s as %s: %s", p.Short(), title, got),
				)
			}
		}
	}
	test.Eq(t, before, live.rows(t, w.ID), test.Sprint("something has changed"))
}

// sharedFilters are the ids in filters that all members may use.
var sharedFilters = map[protoreflect.Name]bool{"session_id": true, "location_id": true}

// For callers with access to their own data, other members' data do not exist.
func TestSelfRPCs_HideDataOfOtherMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newLive(t))
	matrix := goldenMatrix(t, readFile(t, "../internal/rpc/admission/testdata/access.golden"))
	// A partner owns what it created. Here it created nothing.
	for title, me := range map[string]string{"member": w.token(tenant.RoleMember), "partner": w.token(w.partner)} {
		t.Run(title, func(t *testing.T) {
			w.checkOwnDataOnly(t, me, func(p procedure) bool { return matrix[p.Short()][title] == "own" })
		})
	}
}

func (w *world) checkOwnDataOnly(t *testing.T, me string, own func(procedure) bool) {
	t.Helper()
	live, seen := w.live, 0
	for _, p := range procedures() {
		if !own(p) {
			continue
		}
		for _, b := range requests[p.Short()] {
			request := b(w) // about data of the owner or of another member
			if confirm, ok := request.(*v1.ConfirmBookingRequest); ok {
				confirm.Payment = nil // members may not record payments, whatever the booking
			}
			if cancel, ok := request.(*v1.CancelBookingRequest); ok {
				cancel.OverrideWindow, cancel.Notify = false, nil // nor override the window
			}
			if scope := p.Input().Fields().ByName("scope"); scope != nil {
				request.ProtoReflect().Clear(scope) // all need the permission
			}
			before := live.rows(t, w.ID)
			for _, at := range fieldRefsOf(p.Input()) {
				value, ok := at.get(request)
				if !ok || !at.isID() {
					continue
				}
				seen++
				got := live.try(t.Context(), me, p, request)
				// A filter may match nothing, and a batch may miss all.
				chosen := at[0].Name() == "filter" || strings.HasPrefix(string(p.Name()), "BatchGet")
				if chosen && sharedFilters[at.leaf().Name()] {
					continue
				}
				none := at.with(request, protoreflect.ValueOfString(text(tenant.New[tenant.SessionID](time.Now()))))
				diff := cmp.Diff(live.try(t.Context(), me, p, none).shape(), got.shape())
				test.EqOp(t, "", diff, test.Sprintf("%s of another's %s %s: %s\n%s", p.Short(), at, value, got, diff))
				test.True(t, got.Code == codes.NotFound || got.Code == codes.OK && chosen,
					test.Sprintf("%s of another's %s %s: %s\n%s", p.Short(), at, value, got, diff))
			}
			if seen > 0 && !p.IsReadOnly() && p.Short() != "MemberService/UpdateMe" &&
				p.Short() != "MemberService/RegisterDevice" {
				test.EqOp(
					t, "", cmp.Diff(before, live.rows(t, w.ID)), test.Sprintf("%s has changed what is another's:\n", p.Short()),
				)
			}
		}
	}
	test.True(t, seen >= 5, test.Sprintf("only %d ids of other members' were tried", seen))
}
