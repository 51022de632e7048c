package rpc

import (
	"testing"

	"github.com/shoenig/test"
	"google.golang.org/genproto/googleapis/type/timeofday"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// waitlistTest is a studio with a client of its WaitlistService.
type waitlistTest struct {
	*studio
	berthv1connect.WaitlistServiceClient
}

func newWaitlistTest(t *testing.T) *waitlistTest {
	t.Helper()
	s := newStudio(t)
	return &waitlistTest{s, berthv1connect.NewWaitlistServiceClient(s.Client, s.URL)}
}

func (w *waitlistTest) join(t *testing.T, role string, request *v1.JoinWaitlistRequest) *v1.WaitlistEntry {
	t.Helper()
	response := expect.Value(w.JoinWaitlist(t.Context(), as(w.Token(t, role), request)))(t)
	test.EqOp(t, "WAITLISTED", response.Header().Get("X-Booking-Status"), test.Sprint("X-Booking-Status"))
	return response.Msg.GetEntry()
}

// A time window without a last date and times covers the whole first date. Staff find the entry by each field that it
// names.
func TestJoinWaitlist_AcceptsTimeWindow(t *testing.T) {
	t.Parallel()
	s := newWaitlistTest(t)
	expect.OK(t)(s.DB.Owner.Exec(t.Context(), `update services set max_party = 2`))
	window := &v1.WaitlistWindow{
		ServiceId: s.service, LocationId: s.location, ResourceId: s.room, FirstDate: dateMessage(2026, 3, 25),
	}
	request := func(changes *v1.WaitlistWindow) *v1.JoinWaitlistRequest {
		return &v1.JoinWaitlistRequest{
			Target:    &v1.JoinWaitlistRequest_Window{Window: with(window, changes)},
			PartySize: new(int32(2)), CoachId: convert.IDText(s.Members["coach"]),
		}
	}
	entry := s.join(t, "member", request(&v1.WaitlistWindow{}))
	whole := with(window, &v1.WaitlistWindow{
		LastDate: window.GetFirstDate(), EarliestStart: &timeofday.TimeOfDay{},
		LatestStart: &timeofday.TimeOfDay{Hours: 23, Minutes: 59, Seconds: 59},
	})
	want := &v1.WaitlistEntry{
		Id: entry.GetId(), MemberId: convert.IDText(s.Members["member"]), MemberName: "Member", PartySize: 2,
		Target:  &v1.WaitlistEntry_Window{Window: whole},
		CoachId: convert.IDText(s.Members["coach"]),
		Status:  v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_WAITING, Position: new(int32(1)),
		CreateTime: timestamppb.New(monday), CurrentScore: new(int32(100)), ScoreParts: &v1.WaitlistScoreParts{Base: 100},
		Mode: v1.WaitlistMode_WAITLIST_MODE_OFFER,
	}
	test.Eq(t, want, entry, test.Cmp(protocmp.Transform()))

	for name, tt := range map[string]struct {
		filter *v1.WaitlistEntryFilter
		found  bool
	}{
		"nothing named":    {nil, true},
		"the resource":     {&v1.WaitlistEntryFilter{ResourceId: s.room}, true},
		"another resource": {&v1.WaitlistEntryFilter{ResourceId: someSession}, false},
		"the service": {
			&v1.WaitlistEntryFilter{
				ServiceId: s.service, LocationId: s.location, MemberId: convert.IDText(s.Members["member"]),
			}, true,
		},
		"another member": {&v1.WaitlistEntryFilter{MemberId: convert.IDText(s.Members["admin"])}, false},
		"those that ended": {
			&v1.WaitlistEntryFilter{
				Statuses: []v1.WaitlistEntryStatus{v1.WaitlistEntryStatus_WAITLIST_ENTRY_STATUS_EXPIRED},
			}, false,
		},
	} {
		response := expect.Value(
			s.ListWaitlistEntries(t.Context(), as(s.Token(t, "coach"), &v1.ListWaitlistEntriesRequest{
				Scope: v1.ListScope_LIST_SCOPE_ALL, Filter: tt.filter,
			})),
		)(t)
		test.EqOp(t, tt.found, (len(response.Msg.GetEntries()) == 1), test.Sprintf("%s: %v", name, response))
	}
	for field, change := range map[string]*v1.WaitlistWindow{
		"window.first_date":     {FirstDate: dateMessage(2026, 2, 30)},
		"window.last_date":      {LastDate: dateMessage(2026, 4, 31)},
		"window.earliest_start": {EarliestStart: &timeofday.TimeOfDay{Hours: 24}},
		"window.latest_start":   {LatestStart: &timeofday.TimeOfDay{Minutes: 60}},
	} {
		refused(t, "invalid_argument INVALID_FIELD "+field)(
			s.JoinWaitlist(t.Context(), as(s.Token(t, "admin"), request(change))),
		)
	}
	expect.OK(t)(s.LeaveWaitlist(t.Context(), as(s.Token(t, "member"), &v1.LeaveWaitlistRequest{EntryId: entry.GetId()})))
	test.SliceEmpty(t, expect.Value(
		s.ListWaitlistEntries(
			t.Context(),
			as(s.Token(t, "coach"), &v1.ListWaitlistEntriesRequest{Scope: v1.ListScope_LIST_SCOPE_ALL}),
		),
	)(
		t,
	).Msg.GetEntries(), test.Sprint("those that ended are not listed unless asked for"))
}

// The list has the caller's own entries, whatever the caller may read, unless all are asked for.
func TestListWaitlistEntries_ListsOwnUnlessAllAreAskedFor(t *testing.T) {
	t.Parallel()
	s := newWaitlistTest(t)
	window := &v1.JoinWaitlistRequest_Window{Window: &v1.WaitlistWindow{
		ServiceId: s.service, LocationId: s.location, FirstDate: dateMessage(2026, 3, 25),
	}}
	own := s.join(t, "coach", &v1.JoinWaitlistRequest{Target: window}).GetId()
	other := s.join(t, "member", &v1.JoinWaitlistRequest{Target: window}).GetId()
	list := func(scope v1.ListScope, member string) []string {
		response := expect.Value(s.ListWaitlistEntries(t.Context(), as(s.Token(t, "coach"), &v1.ListWaitlistEntriesRequest{
			Scope: scope, Filter: &v1.WaitlistEntryFilter{MemberId: member},
		})))(t)
		var ids []string
		for _, e := range response.Msg.GetEntries() {
			ids = append(ids, e.GetId())
		}
		return ids
	}
	test.Eq(t, []string{own}, list(v1.ListScope_LIST_SCOPE_UNSPECIFIED, ""))
	test.Eq(t, []string{own}, list(v1.ListScope_LIST_SCOPE_OWN, ""))
	test.Eq(t, []string{own, other}, list(v1.ListScope_LIST_SCOPE_ALL, ""))
	member := convert.IDText(s.Members["member"])
	test.Eq(t, []string{other}, list(v1.ListScope_LIST_SCOPE_ALL, member))
	test.SliceEmpty(t, list(v1.ListScope_LIST_SCOPE_OWN, member), test.Sprint("the coach has none of the member's"))
	refused(t, "permission_denied PERMISSION_DENIED")(s.ListWaitlistEntries(t.Context(), as(
		s.Token(t, "member"), &v1.ListWaitlistEntriesRequest{Scope: v1.ListScope_LIST_SCOPE_ALL},
	)))
}

// Members read their own entries and offers, and those with the permission read all.
func TestGetWaitlistEntry_IsForItsMemberAndStaff(t *testing.T) {
	t.Parallel()
	s := newWaitlistTest(t)
	window := &v1.JoinWaitlistRequest_Window{Window: &v1.WaitlistWindow{
		ServiceId: s.service, LocationId: s.location, FirstDate: dateMessage(2026, 3, 25),
	}}
	entry := s.join(t, "member", &v1.JoinWaitlistRequest{Target: window})
	others := s.join(t, "coach", &v1.JoinWaitlistRequest{Target: window})
	request := &v1.GetWaitlistEntryRequest{EntryId: entry.GetId()}
	for _, role := range []string{"member", "coach"} {
		got := expect.Value(s.GetWaitlistEntry(t.Context(), as(s.Token(t, role), request)))(t).Msg.GetEntry()
		test.Eq(t, entry, got, test.Cmp(protocmp.Transform()), test.Sprint(role))
	}
	refused(t, "not_found WAITLIST_ENTRY_NOT_FOUND")(s.GetWaitlistEntry(
		t.Context(), as(s.Token(t, "member"), &v1.GetWaitlistEntryRequest{EntryId: others.GetId()}),
	))
	refused(t, "not_found WAITLIST_OFFER_NOT_FOUND")(s.GetWaitlistOffer(
		t.Context(), as(s.Token(t, "member"), &v1.GetWaitlistOfferRequest{OfferId: entry.GetId()}),
	))
}
