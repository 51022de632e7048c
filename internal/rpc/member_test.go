package rpc

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/rpctest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
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
func fullMember() *v1.Member {
	return &v1.Member{
		Subject: "ana", Name: "Ana", Email: "ana@example.com", Phone: "+351912345678", Tier: "gold", Tags: []string{"b", "a"},
		Locale: "pt-PT", TimeZone: "Europe/Lisbon", Notes: "Left\nknee.",
	}
}

func (mt *memberTest) create(t *testing.T, m *v1.Member) *v1.Member {
	t.Helper()
	return ask[*v1.CreateMemberResponse](t, mt, mt.Token(t, "coach"), &v1.CreateMemberRequest{Member: m}).GetMember()
}

var serverFields = protocmp.IgnoreFields(&v1.Member{}, "id", "create_time", "update_time")

func TestMember_RoundTripsEveryField(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	sent := fullMember()
	sent.Id, sent.Roles, sent.Status = convert.IDText(
		tenant.New[tenant.MemberID](time.Now()),
	), []string{"owner"}, v1.MemberStatus_MEMBER_STATUS_INACTIVE
	created := s.create(t, sent)
	want := fullMember()
	want.Roles, want.Status, want.Etag = []string{"member"}, v1.MemberStatus_MEMBER_STATUS_ACTIVE, "v1"
	test.Eq(t, want, created, test.Cmp(protocmp.Transform(), serverFields), test.Sprint("(-want +created)"))
	test.NotEqOp(t, "", created.GetId())
	test.NotEqOp(t, sent.GetId(), created.GetId())
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
	for path, to := range map[string]*v1.Member{
		"name":      {Name: "Ann"},
		"email":     {Email: "ann@example.com"},
		"phone":     {Phone: "+351912345679"},
		"tier":      {Tier: "silver"},
		"tags":      {Tags: []string{"c"}},
		"status":    {Status: v1.MemberStatus_MEMBER_STATUS_INACTIVE},
		"locale":    {Locale: "de"},
		"time_zone": {TimeZone: "Europe/Berlin"},
		"notes":     {Notes: "None."},
	} {
		created := fullMember()
		created.Subject, created.Email = "subject of "+path, path+"@example.com"
		created = s.create(t, created)
		sent := &v1.Member{
			Id: created.GetId(), Etag: created.GetEtag(), Subject: "other", Name: "Other", Tier: "other",
			Status: v1.MemberStatus_MEMBER_STATUS_ACTIVE,
		}
		setFields(sent, to, path)
		response := expect.Value(s.UpdateMember(
			t.Context(), as(s.Token(t, "coach"), &v1.UpdateMemberRequest{Member: sent, UpdateMask: mask(path)}),
		))(t)
		want := proto.CloneOf(created)
		setFields(want, to, path)
		want.Etag = "v2"
		test.Eq(t, want, response.Msg.GetMember(), test.Cmp(protocmp.Transform(), serverFields), test.Sprint(path))
	}

	created := s.create(t, &v1.Member{Name: "Ben", Email: "ben@example.com", Tags: []string{"x"}, Notes: "y"})
	response := expect.Value(s.UpdateMember(t.Context(), as(s.Token(t, "coach"), &v1.UpdateMemberRequest{
		Member:     &v1.Member{Id: created.GetId(), Subject: "ben"},
		UpdateMask: mask("subject", "email", "phone", "tier", "tags", "locale", "time_zone", "notes"),
	})))(t)
	want := &v1.Member{
		Name: "Ben", Subject: "ben", Roles: []string{"member"}, Status: v1.MemberStatus_MEMBER_STATUS_ACTIVE, Etag: "v2",
	}
	test.Eq(t, want, response.Msg.GetMember(), test.Cmp(protocmp.Transform(), serverFields))
}

func TestMemberRPCs_RejectInvalidRequests(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	ana := s.create(t, fullMember()).GetId()
	absent := convert.IDText(tenant.New[tenant.MemberID](time.Now()))
	owner := convert.IDText(s.Members["owner"])
	create := func(changes *v1.Member) proto.Message {
		return &v1.CreateMemberRequest{Member: with(&v1.Member{Name: "Ben"}, changes)}
	}
	update := func(m *v1.Member, path string) proto.Message {
		return &v1.UpdateMemberRequest{Member: m, UpdateMask: mask(path)}
	}
	for name, c := range map[string]struct {
		request proto.Message
		want    string
	}{
		"no name":        {&v1.CreateMemberRequest{Member: &v1.Member{}}, "INVALID_FIELD member"},
		"blank name":     {create(&v1.Member{Name: " "}), "INVALID_FIELD member.name"},
		"null in a name": {create(&v1.Member{Name: "A\x00"}), "INVALID_FIELD member.name"},
		"huge name": {
			create(&v1.Member{Name: strings.Repeat("x", 200_000)}), "INVALID_FIELD member.name",
		},
		"email":         {create(&v1.Member{Email: "ben"}), "INVALID_FIELD member.email"},
		"phone":         {create(&v1.Member{Phone: "+1234"}), "INVALID_FIELD member.phone"},
		"phone, spaced": {create(&v1.Member{Phone: "+351 912"}), "INVALID_FIELD member.phone"},
		"zone": {
			create(&v1.Member{TimeZone: "Europe/Atlantis"}), "INVALID_FIELD member.time_zone",
		},
		"zone, path":        {create(&v1.Member{TimeZone: "../etc"}), "INVALID_FIELD member.time_zone"},
		"locale":            {create(&v1.Member{Locale: "xx-QQ"}), "INVALID_FIELD member.locale"},
		"account's subject": {create(&v1.Member{Subject: "sa:" + absent}), "INVALID_FIELD member.subject"},
		"long subject": {
			create(&v1.Member{Subject: strings.Repeat("é", 128)}), "INVALID_FIELD member.subject",
		},
		"tags twice":    {create(&v1.Member{Tags: []string{"a", "a"}}), "INVALID_FIELD member.tags"},
		"email taken":   {create(&v1.Member{Email: "ANA@example.com"}), "ALREADY_EXISTS member.email"},
		"subject taken": {create(&v1.Member{Subject: "ana"}), "ALREADY_EXISTS member.subject"},
		"roles in the mask": {
			update(&v1.Member{Id: ana, Roles: []string{"owner"}}, "roles"), "INVALID_FIELD update_mask",
		},
		"no mask":      {&v1.UpdateMemberRequest{Member: &v1.Member{Id: ana}}, "INVALID_FIELD update_mask"},
		"name cleared": {update(&v1.Member{Id: ana}, "name"), "INVALID_FIELD"},
		"subject changed": {
			update(&v1.Member{Id: ana, Subject: "b"}, "subject"), "INVALID_FIELD member.subject",
		},
		"absent":          {update(&v1.Member{Id: absent, Name: "B"}, "name"), "MEMBER_NOT_FOUND"},
		"no id":           {update(&v1.Member{Id: "1", Name: "B"}, "name"), "INVALID_FIELD member.id"},
		"old etag":        {update(&v1.Member{Id: ana, Name: "B", Etag: "v7"}, "name"), "ETAG_MISMATCH"},
		"no etag of ours": {update(&v1.Member{Id: ana, Name: "B", Etag: "W/\"1\""}, "name"), "ETAG_MISMATCH"},
		"coach edits owner": {
			update(&v1.Member{Id: owner, Name: "B"}, "name"), "PERMISSION_DENIED",
		},
		"coach ousts owner": {
			update(&v1.Member{Id: owner, Status: v1.MemberStatus_MEMBER_STATUS_INACTIVE}, "status"),
			"PERMISSION_DENIED",
		},
		"unregister nothing": {&v1.UnregisterDeviceRequest{DeviceId: absent}, "DEVICE_NOT_FOUND"},
		"device of no kind":  {&v1.RegisterDeviceRequest{Token: "x"}, "INVALID_FIELD kind"},
	} {
		refused(t, c.want, test.Sprint(name))(s.call(t, s.Token(t, "coach"), c.request))
	}
	refused(t, "LAST_OWNER")(s.call(
		t, s.Token(t, "owner"), update(&v1.Member{Id: owner, Status: v1.MemberStatus_MEMBER_STATUS_INACTIVE}, "status"),
	))
	for name, c := range map[string]struct{ role, csv, want string }{
		"nothing":       {"owner", "", "INVALID_FIELD csv"},
		"no CSV":        {"owner", "PK\x03\x04", "IMPORT_INVALID csv"},
		"too many rows": {"owner", "name\n" + strings.Repeat("A\n", 50_001), "IMPORT_INVALID csv"},
		"too much":      {"owner", "name\n" + strings.Repeat("A", 3_000_000), "INVALID_FIELD csv"},
		"by a coach":    {"coach", "name\nA\n", "PERMISSION_DENIED"},
	} {
		refused(t, c.want, test.Sprint("import: ", name))(
			s.readImport(t, s.MemberServiceClient, c.role, &v1.ImportMembersRequest{Csv: []byte(c.csv)}),
		)
	}
}

// An address that the issuer of the token has verified is the member's, without a code.
func TestMe_TakesVerifiedEmailOfToken(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	sign := func(verified bool) string {
		return rpctest.Issue(t, s.issuer, token.Claims{
			Subject: "member", Email: "Mia@example.com", Verified: verified, Tenants: []tenant.TenantID{s.Tenant},
		}, time.Hour)
	}
	update := func(email string, verified bool) *v1.UpdateMeResponse {
		return expect.Value(s.UpdateMe(t.Context(), as(sign(verified), &v1.UpdateMeRequest{
			Member: &v1.Member{Email: email}, UpdateMask: mask("email"),
		})))(t).Msg
	}
	got := update("mia@example.com", false)
	test.EqOp(t, "", got.GetMember().GetEmail())
	test.SliceLen(t, 1, got.GetPendingContacts())
	got = update("mia@example.com", true)
	test.EqOp(t, "mia@example.com", got.GetMember().GetEmail())
	test.True(t, got.GetMember().GetEmailConfirmed(), test.Sprint(got))
	test.SliceEmpty(t, got.GetPendingContacts())
	got = update("other@example.com", true)
	test.EqOp(t, "mia@example.com", got.GetMember().GetEmail())
	test.SliceLen(t, 1, got.GetPendingContacts())
	expect.OK(t)(s.DB.Owner.Exec(t.Context(), `update members set confirmed_email = ''`))
	for _, verified := range []bool{true, false} {
		test.EqOp(t, verified, expect.Value(
			s.GetMe(t.Context(), as(sign(verified), new(v1.GetMeRequest))),
		)(t).Msg.GetMember().GetEmailConfirmed(), test.Sprint("by the token alone"))
	}
}

// readImport imports a file and reads the stream to its end.
func (mt *memberTest) readImport(
	t *testing.T, client berthv1connect.MemberServiceClient, role string, request *v1.ImportMembersRequest,
) ([]*v1.ImportMembersResponse, error) {
	t.Helper()
	stream, err := client.ImportMembers(t.Context(), as(mt.Token(t, role), request))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var all []*v1.ImportMembersResponse
	for stream.Receive() {
		all = append(all, proto.CloneOf(stream.Msg()))
	}
	return all, stream.Err()
}

func TestImportMembers_StreamsProgress(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	for _, name := range []string{"connect", "connect+json", "grpc", "grpc-web"} {
		client := berthv1connect.NewMemberServiceClient(protocols[name].Client, s.URL, protocols[name].Options)
		var file strings.Builder
		file.WriteString("name;email\n")
		for i := range 1500 {
			fmt.Fprintf(&file, "M%d;m%d@%s.example.com\n", i, i, strings.ReplaceAll(name, "+", "-"))
		}
		good := file.String()
		events, err := s.readImport(
			t, client, "owner",
			&v1.ImportMembersRequest{Csv: []byte(good + "M;m0@" + strings.ReplaceAll(name, "+", "-") + ".example.com\n")},
		)
		want := []*v1.ImportMembersResponse{
			{
				Event: &v1.ImportMembersResponse_Progress{
					Progress: &v1.MemberImportProgress{RowsTotal: 1501, RowsRead: 1000, RowsOk: 1000},
				},
			},
			{Event: &v1.ImportMembersResponse_Progress{Progress: &v1.MemberImportProgress{
				RowsTotal: 1501, RowsRead: 1501, RowsOk: 1500, RowsWrong: 1,
				Problems: []*v1.MemberImportProblem{{Row: 1502, Column: "email", Message: "Row 2 has the same email."}},
			}}},
			{Event: &v1.ImportMembersResponse_Report{Report: &v1.MemberImportReport{RowsTotal: 1501, RowsWrong: 1}}},
		}
		diff := cmp.Diff(want, events, protocmp.Transform())
		test.EqOp(t, "", diff, test.Sprintf("%s: %v (-want +got):\n%s", name, err, diff))
		test.NoError(t, err, test.Sprintf("%s: %v (-want +got):\n%s", name, err, diff))
		for _, dry := range []bool{true, false} {
			events = expect.Value(s.readImport(t, client, "owner", &v1.ImportMembersRequest{Csv: []byte(good), DryRun: dry}))(t)
			must.EqOp(t, 3, len(events), must.Sprintf("%s: %v", name, events))
			report := events[2].GetReport()
			test.EqOp(t, dry, (report.GetImported() == 0), test.Sprintf("%s, dry %v: %v", name, dry, report))
			test.EqOp(t, dry, (report.GetBatchId() == ""), test.Sprintf("%s, dry %v: %v", name, dry, report))
			test.EqOp(t, 0, report.GetRowsWrong(), test.Sprintf("%s, dry %v: %v", name, dry, report))
		}
	}
}

// The largest file that the contract allows fits into a request in every encoding.
func TestImportMembers_AcceptsLargestFile(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	var file strings.Builder
	file.WriteString("name,notes\n")
	for file.Len() < 2_990_000 {
		fmt.Fprintf(&file, "M,%s\n", strings.Repeat("x", 3900))
	}
	for _, name := range []string{"connect", "connect+json", "grpc"} {
		client := berthv1connect.NewMemberServiceClient(protocols[name].Client, s.URL, protocols[name].Options)
		events := expect.Value(
			s.readImport(t, client, "admin", &v1.ImportMembersRequest{Csv: []byte(file.String()), DryRun: true}),
		)(t)
		test.EqOp(t, 0, events[len(events)-1].GetReport().GetRowsWrong(), test.Sprintf("%s", name))
	}
}

// A search by GET, with special characters in its URL, finds the same as by POST.
func TestListMembers_SearchesByGET(t *testing.T) {
	t.Parallel()
	s := newMemberTest(t)
	s.create(t, &v1.Member{Name: "50% & more?"})
	client := berthv1connect.NewMemberServiceClient(http.DefaultClient, s.URL, connect.WithHTTPGet())
	response := expect.Value(
		client.ListMembers(t.Context(), as(s.Token(t, "coach"), &v1.ListMembersRequest{Query: "% & M"})),
	)(t)
	test.EqOp(t, 1, len(response.Msg.GetMembers()), test.Sprintf("%v", response))
}
