package member_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

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
	for name, c := range map[string]struct {
		edit func(*member.Member)
		want func(*member.Member) // nil: rejected
	}{
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
				var f *fault.Error
				if !errors.As(err, &f) || f.Reason != fault.InvalidField || f.Field != "member."+field {
					t.Fatalf("%v", err)
				}
				return
			}
			if diff := cmp.Diff(ana(c.want), got); diff != "" || err != nil {
				t.Fatalf("%v (-want +got):\n%s", err, diff)
			}
			if again, err := got.Normalize(); err != nil || !cmp.Equal(again, got) {
				t.Fatalf("Normal changes its own result: %v %+v", err, again)
			}
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
		want          fault.Reason
		changed       []string
	}{
		"nothing":                   {ana(nil), ana(nil), false, "", nil},
		"same, spelled differently": {ana(nil), ana(func(m *member.Member) { m.Name = " Ana" }), false, "", nil},
		"two fields": {
			ana(nil), ana(func(m *member.Member) { m.Tier, m.Notes = "gold", "x" }), false, "", []string{"tier", "notes"},
		},
		"tags":    {ana(nil), ana(func(m *member.Member) { m.Tags = []string{"a"} }), false, "", []string{"tags"}},
		"invalid": {ana(nil), ana(func(m *member.Member) { m.Phone = "1" }), false, fault.InvalidField, nil},

		"subject set":       {ana(nil), subject(ana(nil), "a"), false, "", []string{"subject"}},
		"subject set again": {owner, subject(owner, "b"), true, fault.InvalidField, nil},
		"subject cleared":   {owner, subject(owner, ""), true, fault.InvalidField, nil},

		"member is deactivated":     {ana(nil), inactive(ana(nil)), false, "", []string{"status"}},
		"last owner is deactivated": {owner, inactive(owner), false, fault.LastOwner, nil},
		"owner is deactivated":      {owner, inactive(owner), true, "", []string{"status"}},
		"owner is activated":        {inactive(owner), owner, false, "", []string{"status"}},
		"inactive owner is edited": {
			inactive(owner),
			inactive(ana(func(m *member.Member) { m.Roles, m.Subject, m.Tier = owner.Roles, owner.Subject, "x" })),
			false, "", []string{"tier"},
		},
	} {
		_, changed, err := member.Edit(c.before, c.after, c.others)
		if fault.ReasonOf(err) != c.want || !slices.Equal(changed, c.changed) {
			t.Errorf("%s: %v, changed %v", name, err, changed)
		}
	}
	for fields, want := range map[string]bool{"name status": true, "subject": true, "name email": false} {
		if got := member.AffectsSignIn(strings.Fields(fields)); got != want {
			t.Errorf("a change of %s affects who can sign in: %t", fields, got)
		}
	}
}

func TestSearchDigits_ReturnsPartOfAPhoneNumber(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"": "", "912": "912", "+351 912-345": "+351912345", "(030) 12": "03012", "ana": "", "12 ana": "", "+": "+", "1+2": "",
	} {
		if got := (member.Search{Query: query}).Digits(); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

func TestParseImport_ReadsMembersAndReportsProblems(t *testing.T) {
	t.Parallel()
	found, err := member.ParseImport([]byte("Name;E-mail\n"))
	if err != nil || len(found.Header) == 0 {
		t.Fatalf("an unknown column was accepted: %v", err)
	}
	found, err = member.ParseImport([]byte("Name,Email,phone,subject,tier,tags,Time Zone,locale,notes\n" +
		"Ana,ana@example.com,+351 912 345 678,ana,gold,a; b;a,Europe/Lisbon,pt-pt,\"x\ny\"\n" +
		"Ben,ANA@example.com,,ben,,,,,\n" +
		"Cid,,1,ana,,,Mars,,\n" +
		"Dee,dee@example.com,,dee,,,,,\n" +
		"Eva,,,,,,,,\n" +
		"Fay,,,,,,,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := member.Member{
		Name: "Ana", Email: "ana@example.com", Phone: "+351912345678", Subject: "ana", Tier: "gold",
		Tags: []string{"a", "b"}, TimeZone: "Europe/Lisbon", Locale: "pt-PT", Notes: "x\ny", Status: member.Active,
	}
	if diff := cmp.Diff(want, found.Rows[0].Member); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	member.RejectTaken(found, []string{"dee@example.com", ""}, []string{"dee", ""})
	wrong := make(map[int][]string)
	for _, row := range found.Rows {
		for _, p := range row.Problems {
			wrong[row.Number] = append(wrong[row.Number], p.Column)
		}
	}
	wantWrong := map[int][]string{3: {"email"}, 4: {"phone", "time_zone", "subject"}, 5: {"email", "subject"}}
	if diff := cmp.Diff(wantWrong, wrong); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	for step, want := range map[int][]int{4: {4, 6}, 6: {6}, 100: {6}} {
		var read []int
		var problems int
		var last member.Progress
		for p := range member.ReportProgress(found, step) {
			read, problems, last = append(read, p.Read), problems+len(p.Problems), p
		}
		if !slices.Equal(read, want) || problems != 6 || last.OK != 3 || last.Wrong != 3 || last.Total != 6 {
			t.Errorf("every %d: read %v, %d problems, last %+v", step, read, problems, last)
		}
	}
	if whole := member.FullReport(found); whole.Read != 6 || len(whole.Problems) != 6 {
		t.Errorf("%+v", whole)
	}
}

// A file must not set roles, status or ids, which need other permissions.
func TestParseImport_RejectsRolesStatusAndIDs(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"roles", "role", "status", "id"} {
		found, err := member.ParseImport([]byte("name," + column + "\nAna,owner\n"))
		if err != nil || len(found.Header) != 1 || found.InvalidRows() != 1 || found.Rows[0].Member.Roles != nil {
			t.Errorf("%s: %+v, %v", column, found, err)
		}
	}
}

func TestFollow_ReportsAnEmptyFileOnce(t *testing.T) {
	t.Parallel()
	found, err := member.ParseImport([]byte("surname\n"))
	if err != nil {
		t.Fatal(err)
	}
	reports := slices.Collect(member.ReportProgress(found, 10))
	if len(reports) != 1 || reports[0].Total != 0 || reports[0].Wrong != 1 || reports[0].Problems[0].Row != 1 {
		t.Errorf("%+v", reports)
	}
}

func TestCheckDeviceToken_RejectsEmptyLongAndControlCharacters(t *testing.T) {
	t.Parallel()
	for token, ok := range map[string]bool{
		"": false, "abc": true, "a\x00": false, strings.Repeat("x", 4096): true, strings.Repeat("x", 4097): false,
	} {
		if err := member.CheckDeviceToken(token); (err == nil) != ok {
			t.Errorf("%d bytes: %v", len(token), err)
		}
	}
}
