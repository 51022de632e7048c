package rpc

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/tenant"
)

// desk is a server with its member service and a token for whoever calls.
type desk struct {
	*testServer
	berthv1connect.MemberServiceClient
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	s := newTestServer(t)
	return &desk{s, berthv1connect.NewMemberServiceClient(s.Client, s.URL)}
}

func mask(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }

// full is a member with every field that one can send.
func full() *v1.Member {
	return &v1.Member{
		Subject: "ana", Name: "Ana", Email: "ana@example.com", Phone: "+351912345678", Tier: "gold", Tags: []string{"b", "a"},
		Locale: "pt-PT", TimeZone: "Europe/Lisbon", Notes: "Left\nknee.",
	}
}

func (d *desk) create(t *testing.T, m *v1.Member) *v1.Member {
	t.Helper()
	answer, err := d.CreateMember(t.Context(), as(d.Token(t, "coach"), &v1.CreateMemberRequest{Member: m}))
	if err != nil {
		t.Fatal(err)
	}
	return answer.Msg.GetMember()
}

var served = protocmp.IgnoreFields(&v1.Member{}, "id", "create_time", "update_time")

func TestMembersTravelWhole(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sent := full()
	sent.Id, sent.Roles, sent.Status = convert.IDText(
		tenant.New[tenant.MemberID](time.Now()),
	), []string{"owner"}, v1.MemberStatus_MEMBER_STATUS_INACTIVE
	made := d.create(t, sent)
	want := full()
	want.Roles, want.Status, want.Etag = []string{"member"}, v1.MemberStatus_MEMBER_STATUS_ACTIVE, "v1"
	if diff := cmp.Diff(want, made, protocmp.Transform(), served); diff != "" {
		t.Errorf("(-want +made):\n%s", diff)
	}
	if made.GetId() == "" || made.GetId() == sent.GetId() || made.GetCreateTime().AsTime().IsZero() {
		t.Errorf("%v", made)
	}
	read, err := d.GetMember(t.Context(), as(d.Token(t, "coach"), &v1.GetMemberRequest{MemberId: made.GetId()}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made, read.Msg.GetMember(), protocmp.Transform()); diff != "" {
		t.Errorf("(-made +read):\n%s", diff)
	}
}

// Each path of the mask changes the field of its name and no other, and clears it where nothing is sent.
func TestUpdatesFollowTheirMask(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for path, set := range map[string]func(*v1.Member){
		"name":      func(m *v1.Member) { m.Name = "Ann" },
		"email":     func(m *v1.Member) { m.Email = "ann@example.com" },
		"phone":     func(m *v1.Member) { m.Phone = "+351912345679" },
		"tier":      func(m *v1.Member) { m.Tier = "silver" },
		"tags":      func(m *v1.Member) { m.Tags = []string{"c"} },
		"status":    func(m *v1.Member) { m.Status = v1.MemberStatus_MEMBER_STATUS_INACTIVE },
		"locale":    func(m *v1.Member) { m.Locale = "de" },
		"time_zone": func(m *v1.Member) { m.TimeZone = "Europe/Berlin" },
		"notes":     func(m *v1.Member) { m.Notes = "None." },
	} {
		made := full()
		made.Subject, made.Email = "subject of "+path, path+"@example.com"
		made = d.create(t, made)
		sent := &v1.Member{
			Id: made.GetId(), Etag: made.GetEtag(), Subject: "other", Name: "Other", Tier: "other",
			Status: v1.MemberStatus_MEMBER_STATUS_ACTIVE,
		}
		set(sent)
		answer, err := d.UpdateMember(
			t.Context(), as(d.Token(t, "coach"), &v1.UpdateMemberRequest{Member: sent, UpdateMask: mask(path)}),
		)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		want := proto.CloneOf(made)
		set(want)
		want.Etag = "v2"
		if diff := cmp.Diff(want, answer.Msg.GetMember(), protocmp.Transform(), served); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}

	made := d.create(t, &v1.Member{Name: "Ben", Email: "ben@example.com", Tags: []string{"x"}, Notes: "y"})
	answer, err := d.UpdateMember(t.Context(), as(d.Token(t, "coach"), &v1.UpdateMemberRequest{
		Member:     &v1.Member{Id: made.GetId(), Subject: "ben"},
		UpdateMask: mask("subject", "email", "phone", "tier", "tags", "locale", "time_zone", "notes"),
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := &v1.Member{
		Name: "Ben", Subject: "ben", Roles: []string{"member"}, Status: v1.MemberStatus_MEMBER_STATUS_ACTIVE, Etag: "v2",
	}
	if diff := cmp.Diff(want, answer.Msg.GetMember(), protocmp.Transform(), served); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMemberRequestsThatCannotWork(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	made := d.create(t, full())
	absent := convert.IDText(tenant.New[tenant.MemberID](time.Now()))
	create := func(edit func(*v1.Member)) func(token string) error {
		return func(token string) error {
			m := &v1.Member{Name: "Ben"}
			edit(m)
			_, err := d.CreateMember(t.Context(), as(token, &v1.CreateMemberRequest{Member: m}))
			return err
		}
	}
	update := func(m *v1.Member, paths ...string) func(token string) error {
		return func(token string) error {
			_, err := d.UpdateMember(t.Context(), as(token, &v1.UpdateMemberRequest{Member: m, UpdateMask: mask(paths...)}))
			return err
		}
	}
	for name, c := range map[string]struct {
		call   func(token string) error
		reason string
		field  string
	}{
		"no name":        {create(func(m *v1.Member) { m.Name = "" }), "INVALID_FIELD", "member"},
		"blank name":     {create(func(m *v1.Member) { m.Name = " " }), "INVALID_FIELD", "member.name"},
		"null in a name": {create(func(m *v1.Member) { m.Name = "A\x00" }), "INVALID_FIELD", "member.name"},
		"huge name": {
			create(func(m *v1.Member) { m.Name = strings.Repeat("x", 1<<20) }), "INVALID_FIELD", "member.name",
		},
		"email":         {create(func(m *v1.Member) { m.Email = "ben" }), "INVALID_FIELD", "member.email"},
		"phone":         {create(func(m *v1.Member) { m.Phone = "+1234" }), "INVALID_FIELD", "member.phone"},
		"phone, spaced": {create(func(m *v1.Member) { m.Phone = "+351 912" }), "INVALID_FIELD", "member.phone"},
		"zone": {
			create(func(m *v1.Member) { m.TimeZone = "Europe/Atlantis" }), "INVALID_FIELD", "member.time_zone",
		},
		"zone, path":        {create(func(m *v1.Member) { m.TimeZone = "../etc" }), "INVALID_FIELD", "member.time_zone"},
		"locale":            {create(func(m *v1.Member) { m.Locale = "xx-QQ" }), "INVALID_FIELD", "member.locale"},
		"account's subject": {create(func(m *v1.Member) { m.Subject = "sa:" + absent }), "INVALID_FIELD", "member.subject"},
		"long subject": {
			create(func(m *v1.Member) { m.Subject = strings.Repeat("é", 128) }), "INVALID_FIELD", "member.subject",
		},
		"tags twice":    {create(func(m *v1.Member) { m.Tags = []string{"a", "a"} }), "INVALID_FIELD", "member.tags"},
		"email taken":   {create(func(m *v1.Member) { m.Email = "ANA@example.com" }), "ALREADY_EXISTS", "member.email"},
		"subject taken": {create(func(m *v1.Member) { m.Subject = "ana" }), "ALREADY_EXISTS", "member.subject"},
		"roles in the mask": {
			update(&v1.Member{Id: made.GetId(), Roles: []string{"owner"}}, "roles"), "INVALID_FIELD", "update_mask",
		},
		"no mask": {func(token string) error {
			_, err := d.UpdateMember(t.Context(), as(token, &v1.UpdateMemberRequest{Member: &v1.Member{Id: made.GetId()}}))
			return err
		}, "INVALID_FIELD", "update_mask"},
		"name cleared": {update(&v1.Member{Id: made.GetId()}, "name"), "INVALID_FIELD", ""},
		"subject changed": {
			update(&v1.Member{Id: made.GetId(), Subject: "b"}, "subject"), "INVALID_FIELD", "member.subject",
		},
		"absent":          {update(&v1.Member{Id: absent, Name: "B"}, "name"), "MEMBER_NOT_FOUND", ""},
		"no id":           {update(&v1.Member{Id: "1", Name: "B"}, "name"), "INVALID_FIELD", "member.id"},
		"old etag":        {update(&v1.Member{Id: made.GetId(), Name: "B", Etag: "v7"}, "name"), "ETAG_MISMATCH", ""},
		"no etag of ours": {update(&v1.Member{Id: made.GetId(), Name: "B", Etag: "W/\"1\""}, "name"), "ETAG_MISMATCH", ""},
		"coach edits owner": {
			update(&v1.Member{Id: convert.IDText(d.Members["owner"]), Name: "B"}, "name"), "PERMISSION_DENIED", "",
		},
		"coach ousts owner": {
			update(&v1.Member{Id: convert.IDText(d.Members["owner"]), Status: v1.MemberStatus_MEMBER_STATUS_INACTIVE}, "status"),
			"PERMISSION_DENIED", "",
		},
		"unregister nothing": {func(token string) error {
			_, err := d.UnregisterDevice(t.Context(), as(token, &v1.UnregisterDeviceRequest{DeviceId: absent}))
			return err
		}, "DEVICE_NOT_FOUND", ""},
		"device of no kind": {func(token string) error {
			_, err := d.RegisterDevice(t.Context(), as(token, &v1.RegisterDeviceRequest{Token: "x"}))
			return err
		}, "INVALID_FIELD", "kind"},
		"nothing to import": {func(string) error { return d.importError(t, "owner", "") }, "INVALID_FIELD", "csv"},
		"no CSV":            {func(string) error { return d.importError(t, "owner", "PK\x03\x04") }, "IMPORT_INVALID", "csv"},
		"too many rows": {
			func(string) error { return d.importError(t, "owner", "name\n"+strings.Repeat("A\n", 50_001)) }, "IMPORT_INVALID",
			"csv",
		},
		"too much": {
			func(string) error { return d.importError(t, "owner", "name\n"+strings.Repeat("A", 3_000_000)) }, "INVALID_FIELD",
			"csv",
		},
		"coach imports": {func(string) error { return d.importError(t, "coach", "name\nA\n") }, "PERMISSION_DENIED", ""},
		"last owner leaves": {func(string) error {
			return update(
				&v1.Member{Id: convert.IDText(d.Members["owner"]), Status: v1.MemberStatus_MEMBER_STATUS_INACTIVE}, "status",
			)(d.Token(t, "admin"))
		}, "LAST_OWNER", ""},
	} {
		err := c.call(d.Token(t, "coach"))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		got := tell(t, err)
		if got.Reason != c.reason || (c.field != "" && got.Metadata["field"] != c.field) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestListMembersByPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	token := d.Token(t, "coach")
	// The longest name there can be, in the longest form that a page token gives it.
	for i := range 3 {
		d.create(t, &v1.Member{Name: strings.Repeat("<", 199) + fmt.Sprint(i)})
	}
	list := func(request *v1.ListMembersRequest) (*v1.ListMembersResponse, error) {
		answer, err := d.ListMembers(t.Context(), as(token, request))
		if err != nil {
			return nil, err
		}
		return answer.Msg, nil
	}
	var names []string
	request := &v1.ListMembersRequest{PageSize: 1}
	for {
		page, err := list(request)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page.GetMembers() {
			names = append(names, strings.TrimLeft(m.GetName(), "<"))
		}
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			break
		}
	}
	if got := strings.Join(names, " "); got != "0 1 2 Admin Coach Member Owner" {
		t.Errorf("%s", got)
	}
	first, err := list(&v1.ListMembersRequest{PageSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, request := range map[string]*v1.ListMembersRequest{
		"another query":  {PageSize: 1, PageToken: first.GetNextPageToken(), Query: "a"},
		"another role":   {PageSize: 1, PageToken: first.GetNextPageToken(), Role: "coach"},
		"garbage":        {PageToken: "garbage"},
		"empty position": {PageToken: "AAAAAAAAAAA"},
	} {
		_, err := list(request)
		if got := tell(t, err); got.Reason != "INVALID_FIELD" || got.Metadata["field"] != "page_token" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// A position that was made up shows nothing that the query does not, and breaks nothing.
	raw, err := base64.RawURLEncoding.DecodeString(first.GetNextPageToken())
	if err != nil {
		t.Fatal(err)
	}
	forged := base64.RawURLEncoding.EncodeToString(
		append(raw[:convert.QuerySize:convert.QuerySize], `{"Name":"\u0000"}`...),
	)
	_, err = list(&v1.ListMembersRequest{PageSize: 1, PageToken: forged})
	if got := tell(t, err); got.Reason != "INVALID_FIELD" || got.Metadata["field"] != "page_token" {
		t.Errorf("%+v", got)
	}
	found, err := list(&v1.ListMembersRequest{Role: "coach", Status: v1.MemberStatus_MEMBER_STATUS_ACTIVE})
	if err != nil || len(found.GetMembers()) != 1 || found.GetMembers()[0].GetName() != "Coach" {
		t.Errorf("%v, %v", found, err)
	}
	_, err = list(&v1.ListMembersRequest{Query: "\x00"})
	if got := tell(t, err); got.Reason != "INVALID_FIELD" || got.Metadata["field"] != "query" {
		t.Errorf("%+v", got)
	}
}

func TestMeOverTheWire(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	token := d.Token(t, "member")
	if _, err := d.DB.Owner.Exec(t.Context(), `update members set notes = 'secret' where subject = 'member'`); err != nil {
		t.Fatal(err)
	}
	device, err := d.RegisterDevice(
		t.Context(), as(token, &v1.RegisterDeviceRequest{Kind: v1.DeviceKind_DEVICE_KIND_IOS, Token: "push"}),
	)
	if err != nil {
		t.Fatal(err)
	}
	after, err := d.UpdateMe(t.Context(), as(token, &v1.UpdateMeRequest{
		Member: &v1.Member{
			Id: convert.IDText(d.Members["owner"]), Name: "Mia", Notes: "x", Tier: "gold", Phone: "+351912345678", Etag: "v1",
		},
		UpdateMask: mask("name", "phone"),
	}))
	if err != nil {
		t.Fatal(err)
	}
	me, err := d.GetMe(t.Context(), as(token, &v1.GetMeRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	want := &v1.Member{
		Subject: "member", Name: "Mia", Phone: "+351912345678", Roles: []string{"member"},
		Status: v1.MemberStatus_MEMBER_STATUS_ACTIVE, Etag: "v2",
	}
	for _, got := range []*v1.Member{after.Msg.GetMember(), me.Msg.GetMember()} {
		if diff := cmp.Diff(want, got, protocmp.Transform(), served); diff != "" ||
			got.GetId() != convert.IDText(d.Members["member"]) {
			t.Errorf("%s (-want +got):\n%s", got.GetId(), diff)
		}
	}
	if diff := cmp.Diff([]*v1.Device{device.Msg.GetDevice()}, me.Msg.GetDevices(), protocmp.Transform()); diff != "" ||
		!slices.Contains(me.Msg.GetPermissions(), "booking.create") {
		t.Errorf("permissions %v, devices (-want +got):\n%s", me.Msg.GetPermissions(), diff)
	}
	for _, path := range []string{"subject", "status", "tier", "tags", "notes", "roles", "id"} {
		_, err := d.UpdateMe(t.Context(), as(token, &v1.UpdateMeRequest{Member: full(), UpdateMask: mask(path)}))
		if got := tell(t, err); got.Reason != "INVALID_FIELD" {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if _, err := d.UnregisterDevice(
		t.Context(), as(token, &v1.UnregisterDeviceRequest{DeviceId: device.Msg.GetDevice().GetId()}),
	); err != nil {
		t.Error(err)
	}
	_, err = d.GetMe(t.Context(), as(d.Token(t, "stranger"), &v1.GetMeRequest{}))
	if got := tell(t, err); got.Reason != "PERMISSION_DENIED" {
		t.Errorf("%+v", got)
	}
}

// whole reads an import's stream to its end.
func (d *desk) whole(
	t *testing.T, client berthv1connect.MemberServiceClient, who string, request *v1.ImportMembersRequest,
) ([]*v1.ImportMembersResponse, error) {
	t.Helper()
	stream, err := client.ImportMembers(t.Context(), as(d.Token(t, who), request))
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

func (d *desk) importError(t *testing.T, who, csv string) error {
	t.Helper()
	_, err := d.whole(t, d.MemberServiceClient, who, &v1.ImportMembersRequest{Csv: []byte(csv)})
	return err
}

func TestImportsTellTheirProgress(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, name := range []string{"connect", "connect+json", "grpc", "grpc-web"} {
		client := berthv1connect.NewMemberServiceClient(protocols[name].client, d.URL, protocols[name].options)
		var file strings.Builder
		file.WriteString("name;email\n")
		for i := range 1500 {
			fmt.Fprintf(&file, "M%d;m%d@%s.example.com\n", i, i, strings.ReplaceAll(name, "+", "-"))
		}
		good := file.String()
		events, err := d.whole(
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
		if diff := cmp.Diff(want, events, protocmp.Transform()); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		for _, dry := range []bool{true, false} {
			events, err = d.whole(t, client, "owner", &v1.ImportMembersRequest{Csv: []byte(good), DryRun: dry})
			if err != nil || len(events) != 3 {
				t.Fatalf("%s: %v, %v", name, events, err)
			}
			report := events[2].GetReport()
			if (report.GetImported() == 0) != dry || (report.GetBatchId() == "") != dry || report.GetRowsWrong() != 0 {
				t.Errorf("%s, dry %v: %v", name, dry, report)
			}
		}
	}
}

// The largest file that the contract takes fits into a request in every encoding.
func TestTheLargestImportFits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var file strings.Builder
	file.WriteString("name,notes\n")
	for file.Len() < 2_990_000 {
		fmt.Fprintf(&file, "M,%s\n", strings.Repeat("x", 3900))
	}
	for _, name := range []string{"connect", "connect+json", "grpc"} {
		client := berthv1connect.NewMemberServiceClient(protocols[name].client, d.URL, protocols[name].options)
		events, err := d.whole(t, client, "admin", &v1.ImportMembersRequest{Csv: []byte(file.String()), DryRun: true})
		if err != nil || events[len(events)-1].GetReport().GetRowsWrong() != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Two tenants have a member of one subject: a token for one says nothing of the other.
func TestMembersOfTwoTenants(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other := d.NewTenant(t, "Elsewhere")
	made := d.create(t, full())
	elsewhere := d.Token(t, "owner", other)
	for name, call := range map[string]func(id string) error{
		"GetMember": func(id string) error {
			_, err := d.GetMember(t.Context(), as(elsewhere, &v1.GetMemberRequest{MemberId: id}))
			return err
		},
		"UpdateMember": func(id string) error {
			_, err := d.UpdateMember(
				t.Context(),
				as(elsewhere, &v1.UpdateMemberRequest{Member: &v1.Member{Id: id, Name: "B"}, UpdateMask: mask("name")}),
			)
			return err
		},
	} {
		theirs, absent := tell(t, call(made.GetId())), tell(t, call(convert.IDText(tenant.New[tenant.MemberID](time.Now()))))
		if diff := cmp.Diff(absent, theirs); diff != "" || theirs.Reason != "MEMBER_NOT_FOUND" ||
			theirs.Code != connect.CodeNotFound {
			t.Errorf("%s (-absent +theirs):\n%s", name, diff)
		}
	}
	_, err := d.GetMember(
		t.Context(), as(elsewhere, &v1.GetMemberRequest{TenantId: d.Tenant.String(), MemberId: made.GetId()}),
	)
	if got := tell(t, err); got.Reason != "TENANT_FORBIDDEN" {
		t.Errorf("%+v", got)
	}
}

// Reads go by GET too; a search with every character in its address finds the same.
func TestSearchByGET(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.create(t, &v1.Member{Name: "50% & more?"})
	client := berthv1connect.NewMemberServiceClient(http.DefaultClient, d.URL, connect.WithHTTPGet())
	answer, err := client.ListMembers(t.Context(), as(d.Token(t, "coach"), &v1.ListMembersRequest{Query: "% & M"}))
	if err != nil || len(answer.Msg.GetMembers()) != 1 {
		t.Errorf("%v, %v", answer, err)
	}
}
