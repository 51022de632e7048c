package member_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
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

// The contract and the help for members name these limits.
func TestLimits_AreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	test.EqOp(t, 20, member.MaxDevices)
	test.EqOp(t, 3, member.MaxCodes)
	test.EqOp(t, 5, member.MaxGuesses)
	test.EqOp(t, 15, member.MaxAddressGuesses)
	test.EqOp(t, 24*time.Hour, member.CodeDay)
	test.EqOp(t, 10*time.Minute, member.CodeLifetime)
}

type set = vary.Fields

// ana returns a member, but for some fields.
func ana(differ set) member.Member {
	return vary.From(member.Member{Name: "Ana", Status: member.Active, Tags: []string{}}, differ)
}

func TestNormalize_ReturnsStoredForm(t *testing.T) {
	t.Parallel()
	long := strings.Repeat
	for name, tt := range map[string]struct{ written, stored set }{ // stored nil: as it is written
		"nothing":            {},
		"name":               {set{"Name": " Zoë "}, set{"Name": "Zoë"}},
		"longest name":       {set{"Name": long("é", 200)}, nil},
		"subject":            {set{"Subject": " auth0|1 "}, nil},
		"longest subject":    {set{"Subject": long("é", 127) + "e"}, nil},
		"email":              {set{"Email": "Ana.B+x@Example.com"}, nil},
		"longest email":      {set{"Email": long("a", 248) + "@b.com"}, nil},
		"phone":              {set{"Phone": "+351 912 345 678"}, set{"Phone": "+351912345678"}},
		"longest phone":      {set{"Phone": "+351" + long("-", 27) + "912345678"}, set{"Phone": "+351912345678"}},
		"most digits":        {set{"Phone": "+491511111111111"}, nil},
		"unassigned phone":   {set{"Phone": "+12025550143"}, nil},
		"locale":             {set{"Locale": "pt-pt"}, set{"Locale": "pt-PT"}},
		"longest locale":     {set{"Locale": "en-x-abcdefgh-abcdefgh-abcdefgh-abc"}, nil},
		"zone":               {set{"TimeZone": "America/Argentina/Ushuaia"}, nil},
		"UTC":                {set{"TimeZone": "UTC"}, nil},
		"longest zone":       {set{"TimeZone": "Area/" + long("x", 59)}, nil},
		"notes":              {set{"Notes": "a\r\n\tb\n"}, set{"Notes": "a\n\tb"}},
		"longest notes":      {set{"Notes": long("é", 4000)}, nil},
		"tags":               {set{"Tags": []string{"b", " a ", "b"}}, set{"Tags": []string{"b", "a"}}},
		"most tags":          {set{"Tags": many(50)}, nil},
		"an inactive member": {set{"Status": member.Inactive}, nil},
	} {
		want := vary.From(ana(tt.written), tt.stored)
		got := expect.Value(ana(tt.written).Normalize())(t)
		test.Eq(t, want, got, test.Sprint(name))
		test.Eq(t, want, expect.Value(got.Normalize())(t), test.Sprint(name))
	}
}

func TestNormalize_NamesTheInvalidField(t *testing.T) {
	t.Parallel()
	long := strings.Repeat
	for field, written := range map[string][]any{
		"Name":    {" \t", "", long("é", 201), "A\x00", "A\nB", "A\u202dB", "A\u202eB"},
		"Subject": {"sa:1", long("é", 128), "\x00"},
		"Email":   {"Ana <ana@example.com>", "ana", "a@b.c,d@e.f", long("a", 249) + "@b.com", "an\u202ea@example.com"},
		"Phone": {
			"912345678", "+1234", "+4915111111111111", "+" + long("3", 30), "+351912345678 ext. 5", "tel:+351912345678",
			"+351" + long("-", 28) + "912345678",
		},
		"Tier":   {long("x", 51)},
		"Locale": {"portuguese!", "xx-QQ", "und", "en-x-abcdefgh-abcdefgh-abcdefgh-abcd"},
		"TimeZone": {
			"Local", "Europe/Atlantis", "../../etc/passwd", "Two words", "Area/" + long("x", 60),
		},
		"Notes":  {"a\x00", long("x", 4001)},
		"Tags":   {[]string{" "}, []string{long("x", 51)}, many(51)},
		"Status": {"GONE", ""},
	} {
		for _, value := range written {
			want := "INVALID_FIELD @member." + strings.ToLower(strings.ReplaceAll(field, "TimeZone", "time_zone"))
			expect.Fault(t, want, field, value)(ana(set{field: value}).Normalize())
		}
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
	owner := set{"Roles": []string{tenant.RoleOwner}, "Subject": "ana"}
	ended := vary.Fields{"Status": member.Inactive, "Roles": []string{tenant.RoleOwner}, "Subject": "ana"}
	for name, tt := range map[string]struct {
		before, edit set
		others       bool
		want         string
		changed      []string
	}{
		"nothing":                   {nil, nil, false, "", nil},
		"same, spelled differently": {nil, set{"Name": " Ana"}, false, "", nil},
		"two fields":                {nil, set{"Tier": "gold", "Notes": "x"}, false, "", []string{"tier", "notes"}},
		"tags":                      {nil, set{"Tags": []string{"a"}}, false, "", []string{"tags"}},
		"invalid":                   {nil, set{"Phone": "1"}, false, "INVALID_FIELD @member.phone", nil},

		"subject set":       {nil, set{"Subject": "a"}, false, "", []string{"subject"}},
		"subject set again": {owner, set{"Subject": "b"}, true, "INVALID_FIELD @member.subject", nil},
		"subject cleared":   {owner, set{"Subject": ""}, true, "INVALID_FIELD @member.subject", nil},

		"member is deactivated":     {nil, set{"Status": member.Inactive}, false, "", []string{"status"}},
		"last owner is deactivated": {owner, set{"Status": member.Inactive}, false, "LAST_OWNER", nil},
		"owner is deactivated":      {owner, set{"Status": member.Inactive}, true, "", []string{"status"}},
		"owner is activated":        {ended, set{"Status": member.Active}, false, "", []string{"status"}},
		"inactive owner is edited":  {ended, set{"Tier": "x"}, false, "", []string{"tier"}},
	} {
		for _, self := range []bool{false, true} {
			before := ana(tt.before)
			_, changed, err := member.Edit(before, vary.From(before, tt.edit), self, tt.others)
			test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(name))
			test.Eq(t, tt.changed, changed, test.Sprint(name))
		}
	}
	for fields, want := range map[string]bool{"name status": true, "subject": true, "name email": false} {
		test.EqOp(t, want, member.AffectsSignIn(strings.Fields(fields)),
			test.Sprintf("a change of %s affects who can sign in", fields))
	}
}

// Who can change where an owner's messages go could become that owner.
func TestCheckRevoke_KeepsAnActiveOwner(t *testing.T) {
	t.Parallel()
	owner := member.Member{Status: member.Active, Roles: []string{tenant.RoleOwner, tenant.RoleCoach}}
	for name, tt := range map[string]struct {
		differ vary.Fields
		role   string
		others bool
		want   string
	}{
		"the last owner":                 {nil, tenant.RoleOwner, false, "LAST_OWNER"},
		"one of several":                 {nil, tenant.RoleOwner, true, ""},
		"another role of the last owner": {nil, tenant.RoleCoach, false, ""},
		"an inactive owner":              {vary.Fields{"Status": member.Inactive}, tenant.RoleOwner, false, ""},
		"one who is none":                {vary.Fields{"Roles": []string{tenant.RoleCoach}}, tenant.RoleOwner, false, ""},
	} {
		expect.Fault(t, tt.want, name)(vary.From(owner, tt.differ).CheckRevoke(tt.role, tt.others))
	}
}

func TestTaken_NamesTheField(t *testing.T) {
	t.Parallel()
	expect.Fault(t, "ALREADY_EXISTS @member.email")(member.Taken("email", "email address"))
}

func TestEdit_LeavesContactsOfOwnersToThemselves(t *testing.T) {
	t.Parallel()
	for _, roles := range [][]string{{"member"}, {"admin"}, {"owner"}, {"owner", "member"}} {
		for field, edit := range map[string]set{
			"email": {"Email": "new@example.com"}, "phone": {"Phone": "+351912345678"}, "name": {"Name": "Anna"},
		} {
			for _, status := range []member.Status{member.Active, member.Inactive} {
				before := ana(set{"Roles": roles, "Status": status, "Email": "old@example.com"})
				after, want := vary.From(before, edit), ""
				expect.Fault(t, "", roles, " edit their own ", field)(member.Edit(before, after, true, true))
				if roles[0] == "owner" && field != "name" {
					want = "PERMISSION_DENIED @member." + field
				}
				expect.Fault(t, want, "another edits the ", field, " of ", roles)(member.Edit(before, after, false, true))
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
	found := expect.Value(member.ParseImport([]byte("Name,Email,phone,subject,tier,tags,Time Zone,locale,notes\n" +
		"Ana,ana@example.com,+351 912 345 678,ana,gold,a; b;a,Europe/Lisbon,pt-pt,\"x\ny\"\n" +
		"ANA,ANA@example.com,,ben,,,,,\n" +
		"Cid,,1,ana,,,Mars,,\n" +
		"Dee,dee@example.com,,dee,,,,,\n" +
		"Eva,,,,,,,,\n" +
		"Fay,,,,,,,,\n")))(t)
	test.Eq(t, member.Member{
		Name: "Ana", Email: "ana@example.com", Phone: "+351912345678", Subject: "ana", Tier: "gold",
		Tags: []string{"a", "b"}, TimeZone: "Europe/Lisbon", Locale: "pt-PT", Notes: "x\ny", Status: member.Active,
	}, found.Rows[0].Member)
	member.ReadNational(found.Rows, nil)
	member.RejectTaken(found.Rows, member.Existing{
		Emails: []member.Addressee{{Email: "dee@example.com", Name: "dee"}}, Subjects: []string{"dee", ""},
	})
	test.Eq(t, []string{
		"3 email ALREADY_EXISTS", "4 phone INVALID_FIELD", "4 time_zone INVALID_FIELD", "4 subject ALREADY_EXISTS",
		"5 email ALREADY_EXISTS", "5 subject ALREADY_EXISTS",
	}, problems(found))
	test.EqOp(t, 3, found.InvalidRows())
}

// problems returns the problems of a file, as "row column reason".
func problems(found *member.Import) []string {
	var all []string
	for _, p := range found.Problems() {
		all = append(all, fmt.Sprintf("%d %s %s", p.Row, p.Column, p.Reason))
	}
	return all
}

// A file must not set roles, status or ids, which need other permissions.
func TestParseImport_AcceptsKnownColumnsOnly(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"roles", "role", "status", "id"} {
		file := []byte("name," + name + "\nAna,owner\n")
		found := expect.Value(member.ParseImport(file))(t)
		test.Eq(t, []csvfile.Match{{Header: "name", Field: "name"}, {Header: name}}, found.Columns)
		test.Eq(t, member.Member{Name: "Ana", Status: member.Active}, found.Rows[0].Member)
		test.SliceEmpty(t, found.Problems())
		expect.Fault(t, "INVALID_FIELD @columns", name)(member.ParseImport(file, csvfile.Match{Header: name, Field: name}))
	}
}

// The shapes of files that other programs export, and what becomes of them.
func TestParseImport_ReadsFilesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	ana := member.Member{Name: "Ana Sá", Email: "ana@example.com", Phone: "+351912345678", Status: member.Active}
	for _, file := range []string{
		"Client ID,First Name,Last Name,Email,Mobile Phone,Last Visit,Visits,Membership\n" +
			"200401,Ana,Sá,ana@example.com,+351912345678,03/02/2026,3,Off-Peak\n",
		"Member ID,Name,Email Address,Phone Number,Last Booking,Status\n" +
			"GLX-1,Ana Sá,ana@example.com,+351912345678,2026-01-09,Active\n",
		"Nr.;Vorname;Nachname;E-Mail-Adresse;Handy;Telefon\n7;Ana;Sá;ana@example.com;+351 912 345 678;+351 1\n",
		"Name;Vorname;E-Mail;Telefon\nSá;Ana;ana@example.com;+351912345678\n",
		"N°;Nom;Prénom;Adresse e-mail;Téléphone portable\n7;Sá;Ana;ana@example.com;+351912345678\n",
		"Prenom;Nom de famille;Courriel;Tel. mobile;Fumeur\nAna;Sá;ana@example.com;+351912345678;non\n",
		"First name,Name,Email,Phone\nANA,Ana Sá,ana@example.com,+351912345678\n",
		"Name,First name,Surname,Email,Phone\nAna Sá,Ana,S,ana@example.com,+351912345678\n",
		"Full name,First name,Surname,Email,Phone\n,Ana,Sá,ana@example.com,+351912345678\n",
		"Name,Email,Phone,Tier,Notes,Locale\nAna Sá,ana@example.com,+351912345678,N/A,-,–\n",
	} {
		found := expect.Value(member.ParseImport([]byte(file)))(t)
		test.SliceEmpty(t, found.Problems(), test.Sprint(file))
		test.Eq(t, ana, found.Rows[0].Member, test.Sprint(file))
	}
	long := strings.Repeat("x", 120)
	test.Eq(t, []string{"2 name INVALID_FIELD", "3 name INVALID_FIELD"}, problems(expect.Value(member.ParseImport(
		[]byte("first_name,last_name,email\n,,a@example.com\n"+long+","+long+",\n")))(t)))
}

func TestParseImport_ReportsAnEmptyFileOnce(t *testing.T) {
	t.Parallel()
	found := expect.Value(member.ParseImport([]byte("colour\n")))(t)
	test.Eq(t, []string{"1 name INVALID_FIELD"}, problems(found))
	test.EqOp(t, 1, found.InvalidRows())
}

func TestCheckDeviceToken_RejectsEmptyLongAndControlCharacters(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"": "INVALID_FIELD @token", "abc": "", "a\x00": "INVALID_FIELD @token", strings.Repeat("é", 4096): "",
		strings.Repeat("é", 4097): "INVALID_FIELD @token",
	} {
		expect.Fault(t, want, len(token))(member.CheckDeviceToken(token))
	}
}

func TestAuditValues_HasTheNamedFields(t *testing.T) {
	t.Parallel()
	m := ana(set{"Tier": "gold", "Tags": []string{"a"}, "Notes": "x"})
	got := m.AuditValues([]string{"name", "tier", "status", "tags"})
	want := map[string]any{"name": "Ana", "tier": "gold", "status": "ACTIVE", "tags": []string{"a"}}
	test.Eq(t, want, got)
	test.MapEmpty(t, m.AuditValues(nil))
	m.Tags[0] = "b" // the log keeps what was
	test.Eq(t, want, got)
}

func TestParseImport_ChecksCellsOfEveryColumn(t *testing.T) {
	t.Parallel()
	const all = "name,email,phone,subject,tier,tags,locale,time_zone,notes\n"
	tags := func(length int) string { return "name\ttags\nAna\t" + strings.Repeat(";", length) + "\n" }
	for file, want := range map[string][]string{
		all + "=a,=a@b.com,,=a,=a,=a,,,=a\n": {
			"2 name INVALID_FIELD", "2 email INVALID_FIELD", "2 subject INVALID_FIELD", "2 tier INVALID_FIELD",
			"2 tags INVALID_FIELD", "2 notes INVALID_FIELD",
		},
		"email\na@b.com\n": {"1 name INVALID_FIELD"},
		tags(2600):         nil,
		tags(2601):         {"2 tags INVALID_FIELD"},
	} {
		test.Eq(t, want, problems(expect.Value(member.ParseImport([]byte(file)))(t)))
	}
}

func TestParseImport_RejectsFilesThatAreEmptyOrTooLarge(t *testing.T) {
	t.Parallel()
	for want, file := range map[string]string{
		"IMPORT_INVALID @csv":                   "",
		"IMPORT_INVALID @csv max_bytes=3000000": "name\n" + strings.Repeat("x", 3_000_000),
		"IMPORT_INVALID @csv max_rows=50000":    "name\n" + strings.Repeat("x\n", 50_001),
	} {
		expect.Fault(t, want)(member.ParseImport([]byte(file)))
	}
}

// What one way in stores, no other refuses: an import, a form and an RPC decide alike.
func TestNormalize_DecidesAboutAddressesAsTheContract(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"maeve@example.com": "", "Maeve.K+gym@mail.example.co.uk": "", "o'brien@example.com": "",
		"maeve\u200b@example.com": "INVALID_FIELD @member.email", "maeve@exam\u00adple.com": "INVALID_FIELD @member.email",
		"\ufeffmaeve@example.com": "INVALID_FIELD @member.email", `"ma eve"@example.com`: "INVALID_FIELD @member.email",
		"maeve@[127.0.0.1]": "INVALID_FIELD @member.email", "maeve@example..com": "INVALID_FIELD @member.email",
		"maeve@-example.com": "INVALID_FIELD @member.email", "maéve@example.com": "INVALID_FIELD @member.email",
	} {
		expect.Fault(t, want, address)(ana(set{"Email": address}).Normalize())
		row := expect.Value(member.ParseImport([]byte("name,email\nAna," + strconv.Quote(address) + "\n")))(t).Rows[0]
		if !strings.Contains(address, `"`) {
			test.EqOp(t, want == "", len(row.Problems) == 0, test.Sprint(address))
		}
	}
}

func TestNormalize_ComposesLettersAndTrimsWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"Jose\u0301 Mun\u0303oz": "José Muñoz", "\u200bAna\ufeff": "Ana", " Ana\u2060 ": "Ana", "🧘‍♀️ Yoga": "🧘‍♀️ Yoga",
		"علی\u200cرضا": "علی\u200cرضا", "क्\u200dष": "क्\u200dष",
	} {
		test.EqOp(t, want, expect.Value(ana(set{"Name": written}).Normalize())(t).Name, test.Sprintf("%q", written))
	}
	expect.Fault(t, "INVALID_FIELD @member.name")(ana(set{"Name": "\u200b\u2060"}).Normalize())
	expect.Fault(t, "INVALID_FIELD @member.name")(ana(set{"Name": "A\u200bna"}).Normalize())
}

func TestEdit_LeavesWhatWasStoredBeforeALaterRule(t *testing.T) {
	t.Parallel()
	before := ana(set{"Email": "ana\u200b@example.com", "Tier": "go\u200bld", "Tags": []string{"a\u200bb"}})
	after := before
	after.Notes = "likes the window"
	edited, changed, err := member.Edit(before, after, false, true)
	must.NoError(t, err)
	test.Eq(t, []string{"notes"}, changed)
	test.EqOp(t, before.Email, edited.Email)
	after.Email = "ben\u200b@example.com"
	expect.Fault(t, "INVALID_FIELD @member.email")(member.Edit(before, after, false, true))
}
