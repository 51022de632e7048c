package member_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Some machines have files with other names in the folder of their time zones.
func TestMain(m *testing.M) {
	if err := os.Setenv("ZONEINFO", "testdata/zoneinfo"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// Rows have these values, also those that were written years ago.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []member.Status{"ACTIVE", "INACTIVE"}, []member.Status{member.Active, member.Inactive})
	test.Eq(t, []member.DeviceKind{"IOS", "ANDROID", "WEB"},
		[]member.DeviceKind{member.IOS, member.Android, member.Web})
}

// same returns an edit that sets text, for a value that is stored as it is.
func same(at func(*member.Member) *string, text string) func(*member.Member) {
	return func(m *member.Member) { *at(m) = text }
}

func ana(edit func(*member.Member)) member.Member {
	m := member.Member{Name: "Ana", Status: member.Active, Tags: []string{}}
	if edit != nil {
		edit(&m)
	}
	return m
}

func TestNormalize_ReturnsStoredFormOrNamesTheInvalidField(t *testing.T) {
	t.Parallel()
	long := strings.Repeat
	var (
		subject = func(m *member.Member) *string { return &m.Subject }
		email   = func(m *member.Member) *string { return &m.Email }
		locale  = func(m *member.Member) *string { return &m.Locale }
		zone    = func(m *member.Member) *string { return &m.TimeZone }
		phone   = func(m *member.Member) *string { return &m.Phone }
		notes   = func(m *member.Member) *string { return &m.Notes }
	)
	type row struct {
		edit func(*member.Member)
		want func(*member.Member) // nil: rejected
	}
	longest := func(at func(*member.Member) *string, text string) row { return row{same(at, text), same(at, text)} }
	for name, c := range map[string]row{
		"nothing":     {nil, func(*member.Member) {}},
		"name":        {func(m *member.Member) { m.Name = " Zoë " }, func(m *member.Member) { m.Name = "Zoë" }},
		"name, blank": {func(m *member.Member) { m.Name = " \t" }, nil},
		"name, empty": {func(m *member.Member) { m.Name = "" }, nil},
		"name, longest": {
			func(m *member.Member) { m.Name = long("é", 200) }, func(m *member.Member) { m.Name = long("é", 200) },
		},
		"name, too long":      {func(m *member.Member) { m.Name = long("é", 201) }, nil},
		"name, null":          {func(m *member.Member) { m.Name = "A\x00" }, nil},
		"name, lines":         {func(m *member.Member) { m.Name = "A\nB" }, nil},
		"name, turned around": {func(m *member.Member) { m.Name = "A\u202eB" }, nil},
		"subject": {
			func(m *member.Member) { m.Subject = " auth0|1 " }, func(m *member.Member) { m.Subject = " auth0|1 " },
		},
		"subject, longest":  longest(subject, long("é", 127)+"e"),
		"email, longest":    longest(email, long("a", 248)+"@b.com"),
		"locale, longest":   longest(locale, "en-x-abcdefgh-abcdefgh-abcdefgh-abc"),
		"locale, too long":  {same(locale, "en-x-abcdefgh-abcdefgh-abcdefgh-abcd"), nil},
		"zone, longest":     longest(zone, "Area/"+long("x", 59)),
		"zone, too long":    {same(zone, "Area/"+long("x", 60)), nil},
		"zone, two words":   {same(zone, "Two words"), nil},
		"notes, longest":    longest(notes, long("é", 4000)),
		"phone, longest":    {same(phone, "+351"+long("-", 27)+"912345678"), same(phone, "+351912345678")},
		"phone, a bit long": {same(phone, "+351"+long("-", 28)+"912345678"), nil},
		"tags, most": {
			func(m *member.Member) { m.Tags = many(50) }, func(m *member.Member) { m.Tags = many(50) },
		},
		"subject, account":  {func(m *member.Member) { m.Subject = "sa:1" }, nil},
		"subject, too long": {func(m *member.Member) { m.Subject = long("é", 128) }, nil},
		"subject, null":     {func(m *member.Member) { m.Subject = "\x00" }, nil},
		"email": {
			func(m *member.Member) { m.Email = "Ana.B+x@Example.com" },
			func(m *member.Member) { m.Email = "Ana.B+x@Example.com" },
		},
		"email, named":    {func(m *member.Member) { m.Email = "Ana <ana@example.com>" }, nil},
		"email, none":     {func(m *member.Member) { m.Email = "ana" }, nil},
		"email, two":      {func(m *member.Member) { m.Email = "a@b.c,d@e.f" }, nil},
		"email, too long": {func(m *member.Member) { m.Email = long("a", 249) + "@b.com" }, nil},
		"phone": {
			func(m *member.Member) { m.Phone = "+351 912 345 678" },
			func(m *member.Member) { m.Phone = "+351912345678" },
		},
		"phone, unassigned": {
			func(m *member.Member) { m.Phone = "+12025550143" }, func(m *member.Member) { m.Phone = "+12025550143" },
		},
		"phone, national":  {func(m *member.Member) { m.Phone = "912345678" }, nil},
		"phone, too short": {func(m *member.Member) { m.Phone = "+1234" }, nil},
		"phone, too long":  {func(m *member.Member) { m.Phone = "+" + long("3", 30) }, nil},
		"phone, extension": {func(m *member.Member) { m.Phone = "+351912345678 ext. 5" }, nil},
		"phone, uri":       {func(m *member.Member) { m.Phone = "tel:+351912345678" }, nil},
		"tier, too long":   {func(m *member.Member) { m.Tier = long("x", 51) }, nil},
		"locale":           {func(m *member.Member) { m.Locale = "pt-pt" }, func(m *member.Member) { m.Locale = "pt-PT" }},
		"locale, none":     {func(m *member.Member) { m.Locale = "portuguese!" }, nil},
		"locale, unknown":  {func(m *member.Member) { m.Locale = "xx-QQ" }, nil},
		"locale, und":      {func(m *member.Member) { m.Locale = "und" }, nil},
		"zone": {
			func(m *member.Member) { m.TimeZone = "America/Argentina/Ushuaia" },
			func(m *member.Member) { m.TimeZone = "America/Argentina/Ushuaia" },
		},
		"zone, UTC": {
			func(m *member.Member) { m.TimeZone = "UTC" },
			func(m *member.Member) { m.TimeZone = "UTC" },
		},
		"zone, this machine's": {func(m *member.Member) { m.TimeZone = "Local" }, nil},
		"zone, unknown":        {func(m *member.Member) { m.TimeZone = "Europe/Atlantis" }, nil},
		"zone, path":           {func(m *member.Member) { m.TimeZone = "../../etc/passwd" }, nil},
		"notes": {
			func(m *member.Member) { m.Notes = "a\r\n\tb\n" },
			func(m *member.Member) { m.Notes = "a\n\tb" },
		},
		"notes, null":     {func(m *member.Member) { m.Notes = "a\x00" }, nil},
		"notes, too long": {func(m *member.Member) { m.Notes = long("x", 4001) }, nil},
		"tags": {
			func(m *member.Member) { m.Tags = []string{"b", " a ", "b"} },
			func(m *member.Member) { m.Tags = []string{"b", "a"} },
		},
		"tags, blank":    {func(m *member.Member) { m.Tags = []string{" "} }, nil},
		"tags, too long": {func(m *member.Member) { m.Tags = []string{long("x", 51)} }, nil},
		"tags, too many": {func(m *member.Member) { m.Tags = many(51) }, nil},
		"status":         {func(m *member.Member) { m.Status = "GONE" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ana(c.edit).Normalize()
			if c.want == nil {
				field, _, _ := strings.Cut(name, ",")
				if field == "zone" {
					field = "time_zone"
				}
				test.EqOp(t, "INVALID_FIELD @member."+field, faulttest.Text(err))
				return
			}
			must.NoError(t, err)
			test.Eq(t, ana(c.want), got)
			again, err := got.Normalize()
			test.NoError(t, err)
			test.Eq(t, got, again)
		})
	}
}

func many(n int) []string {
	tags := make([]string, n)
	for i := range tags {
		tags[i] = strings.Repeat("x", i/26+1) + string(rune('a'+i%26))
	}
	return tags
}

func TestEdit_ReturnsChangedFieldsAndKeepsAnOwner(t *testing.T) {
	t.Parallel()
	owner := ana(func(m *member.Member) { m.Roles, m.Subject = []string{tenant.RoleOwner}, "ana" })
	inactive := func(m member.Member) member.Member { m.Status = member.Inactive; return m }
	subject := func(m member.Member, s string) member.Member { m.Subject = s; return m }
	for name, c := range map[string]struct {
		before, after member.Member
		others        bool
		want          string
		changed       []string
	}{
		"nothing":                   {ana(nil), ana(nil), false, "", nil},
		"same, spelled differently": {ana(nil), ana(func(m *member.Member) { m.Name = " Ana" }), false, "", nil},
		"two fields": {
			ana(nil), ana(func(m *member.Member) { m.Tier, m.Notes = "gold", "x" }), false, "", []string{"tier", "notes"},
		},
		"tags":    {ana(nil), ana(func(m *member.Member) { m.Tags = []string{"a"} }), false, "", []string{"tags"}},
		"invalid": {ana(nil), ana(func(m *member.Member) { m.Phone = "1" }), false, "INVALID_FIELD @member.phone", nil},

		"subject set":       {ana(nil), subject(ana(nil), "a"), false, "", []string{"subject"}},
		"subject set again": {owner, subject(owner, "b"), true, "INVALID_FIELD @member.subject", nil},
		"subject cleared":   {owner, subject(owner, ""), true, "INVALID_FIELD @member.subject", nil},

		"member is deactivated":     {ana(nil), inactive(ana(nil)), false, "", []string{"status"}},
		"last owner is deactivated": {owner, inactive(owner), false, "LAST_OWNER", nil},
		"owner is deactivated":      {owner, inactive(owner), true, "", []string{"status"}},
		"owner is activated":        {inactive(owner), owner, false, "", []string{"status"}},
		"inactive owner is edited": {
			inactive(owner),
			inactive(ana(func(m *member.Member) { m.Roles, m.Subject, m.Tier = owner.Roles, owner.Subject, "x" })),
			false, "", []string{"tier"},
		},
	} {
		for _, self := range []bool{false, true} {
			_, changed, err := member.Edit(c.before, c.after, self, c.others)
			test.EqOp(t, c.want, faulttest.Text(err), test.Sprint(name))
			test.Eq(t, c.changed, changed, test.Sprint(name))
		}
	}
	for fields, want := range map[string]bool{"name status": true, "subject": true, "name email": false} {
		test.EqOp(t, want, member.AffectsSignIn(strings.Fields(fields)),
			test.Sprintf("a change of %s affects who can sign in", fields))
	}
}

// Who can change where an owner's messages go could become that owner.
func TestEdit_LeavesContactsOfOwnersToThemselves(t *testing.T) {
	t.Parallel()
	edits := map[string]func(*member.Member){
		"email": func(m *member.Member) { m.Email = "new@example.com" },
		"phone": func(m *member.Member) { m.Phone = "+351912345678" },
		"name":  func(m *member.Member) { m.Name = "Anna" },
	}
	for _, roles := range [][]string{{"member"}, {"admin"}, {"owner"}, {"owner", "member"}} {
		for _, status := range []member.Status{member.Active, member.Inactive} {
			before := ana(func(m *member.Member) { m.Roles, m.Status, m.Email = roles, status, "old@example.com" })
			for field, edit := range edits {
				after := before
				edit(&after)
				_, changed, err := member.Edit(before, after, true, true)
				test.EqOp(t, "", faulttest.Text(err), test.Sprintf("%v edits their own %s", roles, field))
				test.Eq(t, []string{field}, changed)
				want := ""
				if roles[0] == "owner" && field != "name" {
					want = "PERMISSION_DENIED @member." + field
				}
				_, _, err = member.Edit(before, after, false, true)
				test.EqOp(t, want, faulttest.Text(err), test.Sprintf("another edits the %s of %v", field, roles))
			}
		}
	}
}

func TestSearchDigits_ReturnsPartOfAPhoneNumber(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"": "", "912": "912", "+351 912-345": "+351912345", "(030) 12": "03012", "ana": "", "12 ana": "", "+": "+", "1+2": "",
	} {
		test.EqOp(t, want, (member.Search{Query: query}).Digits(), test.Sprintf("%q", query))
	}
}

func TestParseImport_ReadsMembersAndReportsProblems(t *testing.T) {
	t.Parallel()
	found := expect.Value(member.ParseImport([]byte("Name;E-mail\n")))(t)
	must.True(t, len(found.Header) != 0, must.Sprint("an unknown column was accepted"))
	found = expect.Value(member.ParseImport([]byte("Name,Email,phone,subject,tier,tags,Time Zone,locale,notes\n" +
		"Ana,ana@example.com,+351 912 345 678,ana,gold,a; b;a,Europe/Lisbon,pt-pt,\"x\ny\"\n" +
		"Ben,ANA@example.com,,ben,,,,,\n" +
		"Cid,,1,ana,,,Mars,,\n" +
		"Dee,dee@example.com,,dee,,,,,\n" +
		"Eva,,,,,,,,\n" +
		"Fay,,,,,,,,\n")))(t)
	want := member.Member{
		Name: "Ana", Email: "ana@example.com", Phone: "+351912345678", Subject: "ana", Tier: "gold",
		Tags: []string{"a", "b"}, TimeZone: "Europe/Lisbon", Locale: "pt-PT", Notes: "x\ny", Status: member.Active,
	}
	test.Eq(t, want, found.Rows[0].Member)
	member.RejectTaken(found, []string{"dee@example.com", ""}, []string{"dee", ""})
	wrong := make(map[int][]string)
	for _, row := range found.Rows {
		for _, p := range row.Problems {
			wrong[row.Number] = append(wrong[row.Number], p.Column)
		}
	}
	wantWrong := map[int][]string{3: {"email"}, 4: {"phone", "time_zone", "subject"}, 5: {"email", "subject"}}
	test.Eq(t, wantWrong, wrong)

	for step, want := range map[int][]int{4: {4, 6}, 6: {6}, 100: {6}} {
		var read []int
		var problems int
		var last member.Progress
		for p := range member.ReportProgress(found, step) {
			read, problems, last = append(read, p.Read), problems+len(p.Problems), p
		}
		test.True(
			t, slices.Equal(read, want) && problems == 6 && last.OK == 3 && last.Wrong == 3 && last.Total == 6,
			test.Sprintf("every %d: read %v, %d problems, last %+v", step, read, problems, last),
		)
	}
	whole := member.FullReport(found)
	test.True(t, whole.Read == 6 && len(whole.Problems) == 6, test.Sprintf("%+v", whole))
}

// A file must not set roles, status or ids, which need other permissions.
func TestParseImport_RejectsRolesStatusAndIDs(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"roles", "role", "status", "id"} {
		found := expect.Value(member.ParseImport([]byte("name," + column + "\nAna,owner\n")))(t)
		test.True(
			t, len(found.Header) == 1 && found.InvalidRows() == 1 && found.Rows[0].Member.Roles == nil,
			test.Sprintf("%s: %+v", column, found),
		)
	}
}

func TestFollow_ReportsAnEmptyFileOnce(t *testing.T) {
	t.Parallel()
	found := expect.Value(member.ParseImport([]byte("surname\n")))(t)
	reports := slices.Collect(member.ReportProgress(found, 10))
	test.True(
		t, len(reports) == 1 && reports[0].Total == 0 && reports[0].Wrong == 1 && reports[0].Problems[0].Row == 1,
		test.Sprintf("%+v", reports),
	)
}

func TestCheckDeviceToken_RejectsEmptyLongAndControlCharacters(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"": "INVALID_FIELD @token", "abc": "", "a\x00": "INVALID_FIELD @token", strings.Repeat("é", 4096): "",
		strings.Repeat("é", 4097): "INVALID_FIELD @token",
	} {
		test.EqOp(t, want, faulttest.Text(member.CheckDeviceToken(token)), test.Sprintf("%d bytes", len(token)))
	}
}

func TestAuditValues_HasTheNamedFields(t *testing.T) {
	t.Parallel()
	m := ana(func(m *member.Member) { m.Tier, m.Tags, m.Notes = "gold", []string{"a"}, "x" })
	got := m.AuditValues([]string{"name", "tier", "status", "tags"})
	want := map[string]any{"name": "Ana", "tier": "gold", "status": "ACTIVE", "tags": []string{"a"}}
	test.Eq(t, want, got)
	test.MapEmpty(t, m.AuditValues(nil))
	m.Tags[0] = "b" // the log keeps what was
	test.Eq(t, want, got)
}

// imported returns the problems of a file, as "row column".
func imported(t *testing.T, file string) []string {
	t.Helper()
	found := expect.Value(member.ParseImport([]byte(file)))(t)
	var all []string
	for _, p := range member.FullReport(found).Problems {
		all = append(all, fmt.Sprintf("%d %s", p.Row, p.Column))
	}
	return all
}

func TestParseImport_ChecksCellsOfEveryColumn(t *testing.T) {
	t.Parallel()
	test.Eq(t, []string{"2 name", "2 email", "2 subject", "2 tier", "2 tags", "2 notes"},
		imported(t, "name,email,phone,subject,tier,tags,locale,time_zone,notes\n=a,=a@b.com,,=a,=a,=a,,,=a\n"))
	test.Eq(t, []string{"1 name"}, imported(t, "email\na@b.com\n"))
	tags := func(length int) string { return "name\ttags\nAna\t" + strings.Repeat(";", length) + "\n" }
	test.SliceEmpty(t, imported(t, tags(2600)))
	found := expect.Value(member.ParseImport([]byte("name,phone\nAna,\nBen,\nCid,1\n")))(t)
	whole := member.FullReport(found)
	test.Eq(t, [4]int{3, 3, 2, 1}, [4]int{whole.Total, whole.Read, whole.OK, whole.Wrong})
	test.Eq(t, []string{"2 tags"}, imported(t, tags(2601)))
}

func TestParseImport_RejectsFilesThatAreEmptyOrTooLarge(t *testing.T) {
	t.Parallel()
	for want, file := range map[string]string{
		"IMPORT_INVALID @csv":                   "",
		"IMPORT_INVALID @csv max_bytes=3000000": "name\n" + strings.Repeat("x", 3_000_000),
		"IMPORT_INVALID @csv max_rows=50000":    "name\n" + strings.Repeat("x\n", 50_001),
	} {
		_, err := member.ParseImport([]byte(file))
		test.EqOp(t, want, faulttest.Text(err))
	}
}
