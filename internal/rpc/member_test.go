package rpc

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/shoenig/test"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// memberTest is a test server with a client of its MemberService.
type memberTest struct {
	*testServer
	berthv1connect.MemberServiceClient
}

func newMemberTest(t *testing.T) *memberTest {
	t.Helper()
	s := newTestServer(t)
	return &memberTest{s, berthv1connect.NewMemberServiceClient(s.Client, s.URL)}
}

func mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// fullMember returns a member with every field that clients can set.
func fullMember() *v1.MemberInput {
	return &v1.MemberInput{
		Subject: "ana", Name: "Ana", Email: "ana@example.com", Phone: "+351912345678", Tier: "gold", Tags: []string{"b", "a"},
		Locale: "pt-PT", TimeZone: "Europe/Lisbon", Notes: "Left\nknee.",
	}
}

func (mt *memberTest) create(t *testing.T, m *v1.MemberInput) *v1.Member {
	t.Helper()
	return ask[*v1.CreateMemberResponse](t, mt, mt.Token(t, "coach"), &v1.CreateMemberRequest{Member: m}).GetMember()
}

var serverFields = protocmp.IgnoreFields(&v1.Member{}, "id", "create_time", "update_time")

// memberOf returns an active member with the values of an input.
func memberOf(in *v1.MemberInput, etag string) *v1.Member {
	m := &v1.Member{Roles: []string{"member"}, Status: v1.MemberStatus_MEMBER_STATUS_ACTIVE, Etag: etag}
	setFields(m, in, "subject", "name", "email", "phone", "tier", "tags", "locale", "time_zone", "notes")
	return m
}

func TestMember_RoundTripsEveryField(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	created := s.create(t, fullMember())
	test.Eq(t, memberOf(fullMember(), "v1"), created, test.Cmp(protocmp.Transform(), serverFields),
		test.Sprint("(-want +created)"))
	test.NotEqOp(t, "", created.GetId())
	test.False(t, created.GetCreateTime().AsTime().IsZero(), test.Sprintf("%v", created))
	read := expect.Value(
		s.GetMember(t.Context(), as(s.Token(t, "coach"), &v1.GetMemberRequest{MemberId: created.GetId()})),
	)(t)
	test.Eq(t, created, read.Msg.GetMember(), test.Cmp(protocmp.Transform()), test.Sprint("(-created +read)"))
}

// Each path of the mask changes only its field, and clears it if the request does not set it.
func TestUpdateMember_AppliesMask(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	for path, to := range map[string]*v1.MemberInput{
		"name":      {Name: "Ann"},
		"email":     {Email: "ann@example.com"},
		"phone":     {Phone: "+351912345679"},
		"tier":      {Tier: "silver"},
		"tags":      {Tags: []string{"c"}},
		"locale":    {Locale: "de"},
		"time_zone": {TimeZone: "Europe/Berlin"},
		"notes":     {Notes: "None."},
	} {
		full := fullMember()
		full.Subject, full.Email = "subject of "+path, path+"@example.com"
		created := s.create(t, full)
		sent := &v1.MemberInput{Subject: "other", Name: "Other", Tier: "other"}
		setFields(sent, to, path)
		response := expect.Value(s.UpdateMember(t.Context(), as(s.Token(t, "coach"), &v1.UpdateMemberRequest{
			MemberId: created.GetId(), Member: sent, UpdateMask: mask(path), Etag: created.GetEtag(),
		})))(t)
		want := proto.CloneOf(created)
		setFields(want, to, path)
		want.Etag = "v2"
		test.Eq(t, want, response.Msg.GetMember(), test.Cmp(protocmp.Transform(), serverFields), test.Sprint(path))
	}

	created := s.create(t, &v1.MemberInput{Name: "Ben", Email: "ben@example.com", Tags: []string{"x"}, Notes: "y"})
	response := expect.Value(s.UpdateMember(t.Context(), as(s.Token(t, "coach"), &v1.UpdateMemberRequest{
		MemberId:   created.GetId(),
		Member:     &v1.MemberInput{Subject: "ben"},
		UpdateMask: mask("subject", "email", "phone", "tier", "tags", "locale", "time_zone", "notes"),
	})))(t)
	want := memberOf(&v1.MemberInput{Name: "Ben", Subject: "ben"}, "v2")
	test.Eq(t, want, response.Msg.GetMember(), test.Cmp(protocmp.Transform(), serverFields))
}

func TestDeactivateMember_AnswersTheSameAgain(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	coach, ana := s.Token(t, "coach"), s.create(t, fullMember())
	want := memberOf(fullMember(), "v2")
	want.Status = v1.MemberStatus_MEMBER_STATUS_INACTIVE
	for range 2 {
		got := ask[*v1.DeactivateMemberResponse](t, s, coach, &v1.DeactivateMemberRequest{MemberId: ana.GetId()})
		test.Eq(t, want, got.GetMember(), test.Cmp(protocmp.Transform(), serverFields))
	}
	want.Status, want.Etag = v1.MemberStatus_MEMBER_STATUS_ACTIVE, "v3"
	for range 2 {
		got := ask[*v1.ReactivateMemberResponse](t, s, coach, &v1.ReactivateMemberRequest{MemberId: ana.GetId()})
		test.Eq(t, want, got.GetMember(), test.Cmp(protocmp.Transform(), serverFields))
	}
}

// Members see their own devices, and staff who read members see all.
func TestDevices_ShowToTheirOwnersAndToStaff(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	member, coach := s.Token(t, "member"), s.Token(t, "coach")
	register := func(token string, kind v1.DeviceKind) *v1.Device {
		return ask[*v1.RegisterDeviceResponse](
			t, s, token, &v1.RegisterDeviceRequest{Kind: kind, Token: "token of " + kind.String()},
		).GetDevice()
	}
	phone := register(member, v1.DeviceKind_DEVICE_KIND_IOS)
	browser := register(member, v1.DeviceKind_DEVICE_KIND_WEB)
	other := register(coach, v1.DeviceKind_DEVICE_KIND_ANDROID)
	test.EqOp(t, convert.IDText(s.Members["member"]), phone.GetMemberId())

	list := func(token string, request *v1.ListDevicesRequest) []*v1.Device {
		var all []*v1.Device
		for request.PageSize = 1; ; {
			page := ask[*v1.ListDevicesResponse](t, s, token, request)
			all = append(all, page.GetDevices()...)
			if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
				return all
			}
		}
	}
	const all = v1.ListScope_LIST_SCOPE_ALL
	of := func(scope v1.ListScope, who string, kinds ...v1.DeviceKind) *v1.ListDevicesRequest {
		return &v1.ListDevicesRequest{Scope: scope, Filter: &v1.DeviceFilter{
			MemberId: convert.IDText(s.Members[who]), Kinds: kinds,
		}}
	}
	for name, c := range map[string]struct {
		token   string
		request *v1.ListDevicesRequest
		want    []*v1.Device
	}{
		"one's own":            {member, &v1.ListDevicesRequest{}, []*v1.Device{browser, phone}},
		"one's own, by id":     {member, of(0, "member"), []*v1.Device{browser, phone}},
		"another's":            {member, of(0, "coach"), nil},
		"a coach's own":        {coach, &v1.ListDevicesRequest{}, []*v1.Device{other}},
		"a member's, not all":  {coach, of(0, "member"), nil},
		"everyone's":           {coach, &v1.ListDevicesRequest{Scope: all}, []*v1.Device{other, browser, phone}},
		"a member's":           {coach, of(all, "member"), []*v1.Device{browser, phone}},
		"a member's of a kind": {coach, of(all, "member", phone.GetKind()), []*v1.Device{phone}},
	} {
		test.Eq(t, c.want, list(c.token, c.request), test.Cmp(protocmp.Transform()), test.Sprint(name))
	}
	refused(t, "PERMISSION_DENIED")(s.call(t, member, &v1.ListDevicesRequest{Scope: all}))

	for name, token := range map[string]string{"the owner": member, "staff": coach} {
		got := ask[*v1.GetDeviceResponse](t, s, token, &v1.GetDeviceRequest{DeviceId: phone.GetId()}).GetDevice()
		test.Eq(t, phone, got, test.Cmp(protocmp.Transform()), test.Sprint(name))
	}
	refused(t, "DEVICE_NOT_FOUND")(s.call(t, member, &v1.GetDeviceRequest{DeviceId: other.GetId()}))
	refused(t, "DEVICE_NOT_FOUND")(s.call(
		t, coach, &v1.GetDeviceRequest{DeviceId: convert.IDText(s.Members["coach"])},
	))
}

func TestMemberRPCs_RejectInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	ana := s.create(t, fullMember()).GetId()
	absent := convert.IDText(tenant.New[tenant.MemberID](time.Now()))
	owner := convert.IDText(s.Members["owner"])
	create := func(changes *v1.MemberInput) proto.Message {
		return &v1.CreateMemberRequest{Member: with(&v1.MemberInput{Name: "Ben"}, changes)}
	}
	update := func(id string, m *v1.MemberInput, path string) *v1.UpdateMemberRequest {
		return &v1.UpdateMemberRequest{MemberId: id, Member: m, UpdateMask: mask(path)}
	}
	outdated := func(etag string) proto.Message {
		request := update(ana, &v1.MemberInput{Name: "B"}, "name")
		request.Etag = etag
		return request
	}
	for name, c := range map[string]struct {
		request proto.Message
		want    string
	}{
		"no name":        {&v1.CreateMemberRequest{Member: &v1.MemberInput{}}, "INVALID_FIELD member"},
		"blank name":     {create(&v1.MemberInput{Name: " "}), "INVALID_FIELD member.name"},
		"null in a name": {create(&v1.MemberInput{Name: "A\x00"}), "INVALID_FIELD member.name"},
		"huge name": {
			create(&v1.MemberInput{Name: strings.Repeat("x", 200_000)}), "INVALID_FIELD member.name",
		},
		"email":         {create(&v1.MemberInput{Email: "ben"}), "INVALID_FIELD member.email"},
		"phone":         {create(&v1.MemberInput{Phone: "+1234"}), "INVALID_FIELD member.phone"},
		"phone, spaced": {create(&v1.MemberInput{Phone: "+351 912"}), "INVALID_FIELD member.phone"},
		"zone": {
			create(&v1.MemberInput{TimeZone: "Europe/Atlantis"}), "INVALID_FIELD member.time_zone",
		},
		"zone, path":        {create(&v1.MemberInput{TimeZone: "../etc"}), "INVALID_FIELD member.time_zone"},
		"locale":            {create(&v1.MemberInput{Locale: "xx-QQ"}), "INVALID_FIELD member.locale"},
		"account's subject": {create(&v1.MemberInput{Subject: "sa:" + absent}), "INVALID_FIELD member.subject"},
		"long subject": {
			create(&v1.MemberInput{Subject: strings.Repeat("é", 128)}), "INVALID_FIELD member.subject",
		},
		"tags twice":    {create(&v1.MemberInput{Tags: []string{"a", "a"}}), "INVALID_FIELD member.tags"},
		"email taken":   {create(&v1.MemberInput{Email: "ANA@example.com"}), "ALREADY_EXISTS member.email"},
		"subject taken": {create(&v1.MemberInput{Subject: "ana"}), "ALREADY_EXISTS member.subject"},
		"roles in the mask": {
			update(ana, &v1.MemberInput{}, "roles"), "INVALID_FIELD update_mask",
		},
		"status in the mask": {update(ana, &v1.MemberInput{}, "status"), "INVALID_FIELD update_mask"},
		"no mask": {
			&v1.UpdateMemberRequest{MemberId: ana, Member: &v1.MemberInput{}}, "INVALID_FIELD update_mask",
		},
		"name cleared": {update(ana, &v1.MemberInput{}, "name"), "INVALID_FIELD"},
		"subject changed": {
			update(ana, &v1.MemberInput{Subject: "b"}, "subject"), "INVALID_FIELD member.subject",
		},
		"absent":          {update(absent, &v1.MemberInput{Name: "B"}, "name"), "MEMBER_NOT_FOUND"},
		"no id":           {update("1", &v1.MemberInput{Name: "B"}, "name"), "INVALID_FIELD member_id"},
		"old etag":        {outdated("v7"), "ETAG_MISMATCH"},
		"no etag of ours": {outdated("W/\"1\""), "ETAG_MISMATCH"},
		"coach edits owner": {
			update(owner, &v1.MemberInput{Name: "B"}, "name"), "PERMISSION_DENIED",
		},
		"coach ousts owner": {
			&v1.DeactivateMemberRequest{MemberId: owner}, "PERMISSION_DENIED",
		},
		"deactivate nobody":  {&v1.DeactivateMemberRequest{MemberId: absent}, "MEMBER_NOT_FOUND"},
		"reactivate nobody":  {&v1.ReactivateMemberRequest{MemberId: absent}, "MEMBER_NOT_FOUND"},
		"unregister nothing": {&v1.UnregisterDeviceRequest{DeviceId: absent}, "DEVICE_NOT_FOUND"},
		"device of no kind":  {&v1.RegisterDeviceRequest{Token: "x"}, "INVALID_FIELD kind"},
	} {
		refused(t, c.want, test.Sprint(name))(s.call(t, s.Token(t, "coach"), c.request))
	}
	refused(t, "LAST_OWNER")(s.call(t, s.Token(t, "owner"), &v1.DeactivateMemberRequest{MemberId: owner}))
	for name, c := range map[string]struct{ role, csv, want string }{
		"nothing":       {"owner", "", "INVALID_FIELD csv"},
		"no CSV":        {"owner", "PK\x03\x04", "IMPORT_INVALID csv"},
		"too many rows": {"owner", "name\n" + strings.Repeat("A\n", 50_001), "IMPORT_INVALID csv"},
		"too much":      {"owner", "name\n" + strings.Repeat("A", 3_000_000), "INVALID_FIELD csv"},
		"by a coach":    {"coach", "name\nA\n", "PERMISSION_DENIED"},
	} {
		refused(t, c.want, test.Sprint("import: ", name))(
			s.ImportMembers(t.Context(), as(s.Token(t, c.role), &v1.ImportMembersRequest{Csv: []byte(c.csv)})),
		)
	}
}

// The largest file that the contract allows fits into a request in every encoding.
func TestImportMembers_AcceptsLargestFile(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	var file strings.Builder
	file.WriteString("name,notes\n")
	rows := int32(0)
	for ; file.Len() < 2_990_000; rows++ {
		fmt.Fprintf(&file, "M,%s\n", strings.Repeat("x", 3900))
	}
	for _, name := range []string{"connect", "connect+json", "grpc"} {
		client := berthv1connect.NewMemberServiceClient(protocols[name].Client, s.URL, protocols[name].Options)
		started := expect.Value(client.ImportMembers(t.Context(), as(s.Token(t, "admin"),
			&v1.ImportMembersRequest{Csv: []byte(file.String()), DryRun: true})))(t).Msg.GetFileImport()
		test.EqOp(t, v1.ImportKind_IMPORT_KIND_MEMBERS, started.GetKind(), test.Sprint(name))
		test.EqOp(t, v1.ImportStatus_IMPORT_STATUS_PENDING, started.GetStatus(), test.Sprint(name))
		test.EqOp(t, rows, started.GetRowsTotal(), test.Sprint(name))
	}
}

// A search by GET, with special characters in its URL, finds the same as by POST.
func TestListMembers_SearchesByGET(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	s.create(t, &v1.MemberInput{Name: "50% & more?"})
	client := berthv1connect.NewMemberServiceClient(http.DefaultClient, s.URL, connect.WithHTTPGet())
	response := expect.Value(
		client.ListMembers(t.Context(), as(s.Token(t, "coach"), &v1.ListMembersRequest{
			Filter: &v1.MemberFilter{Query: "% & M"},
		})),
	)(t)
	test.EqOp(t, 1, len(response.Msg.GetMembers()), test.Sprintf("%v", response))
}
