package session_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine
	"unicode/utf8"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit/expect"
)

const endBeforeStart = "The end must be after the start. For a session past midnight give duration_minutes."

func clock(text string) civil.TimeOfDay { return civiltest.TimeOfDay(text) }

func parseImport(t *testing.T, file string) *session.Import {
	t.Helper()
	return expect.Value(session.ParseImport([]byte(file)))(t)
}

// The forms in which spreadsheets save a file give the same rows.
func TestParseImport_ReadsEveryFormOfSpreadsheets(t *testing.T) {
	t.Parallel()
	const comma = `service,location,resource,coach_email,date,start,end,` +
		`duration_minutes,capacity,waitlist_capacity,title,notes,status
Vinyasa,Studio Mitte,Room 1,mia@example.com,2026-03-29,18:00,19:15,,12,5,Evening flow,"Bring a mat,
and a towel",published
Court hire,Halle 3,,,2026-03-30,7:30,,90,,,,,
`
	end, twelve, five := clock("19:15"), 12, 5
	want := []session.ImportRow{
		{
			Row: csvfile.Row{Number: 2}, Service: "Vinyasa", Location: "Studio Mitte", Resource: "Room 1",
			CoachEmail: "mia@example.com",
			Title:      "Evening flow", Notes: "Bring a mat,\nand a towel", Date: civiltest.Date("2026-03-29"),
			Start: clock("18:00"),
			End:   &end, Capacity: &twelve, WaitlistCapacity: &five, Publish: true,
		},
		{
			Row: csvfile.Row{Number: 3}, Service: "Court hire", Location: "Halle 3",
			Date: civiltest.Date("2026-03-30"), Start: clock("07:30"),
			Duration: 90 * time.Minute, Unlimited: true,
		},
	}
	separated := func(by string) string {
		return strings.ReplaceAll(strings.ReplaceAll(comma, "mat,\n", "mat\x00\n"), ",", by)
	}
	padded := strings.NewReplacer("status\n", "status,,\n", "published\n", "published,,\n", ",,,,,\n", ",,,,,,,\n")
	for name, file := range map[string]string{
		"plain":              comma,
		"byte order mark":    "\ufeff" + comma,
		"Windows line ends":  strings.ReplaceAll(comma, "\n", "\r\n"),
		"classic Mac":        strings.ReplaceAll(comma, "\n", "\r"),
		"semicolons":         strings.ReplaceAll(separated(";"), "\x00", ","),
		"tabs":               strings.ReplaceAll(separated("\t"), "\x00", ","),
		"no last line end":   strings.TrimSuffix(comma, "\n"),
		"names in capitals":  strings.Replace(comma, "coach_email", " Coach Email ", 1),
		"quoted names":       strings.Replace(comma, "service", `"Service"`, 1),
		"spaces round cells": strings.Replace(comma, ",Studio Mitte,", ",  Studio Mitte ,", 1),
		"padded with cells":  strings.ReplaceAll(comma, "published\n", "published,,,\n"),
		"padded columns":     padded.Replace(comma),
		"empty rows at end":  comma + "\n,,,,,,,,,,,,\n",
	} {
		found := parseImport(t, file)
		test.Eq(t, want, found.Rows, test.Sprint(name))
		test.EqOp(t, 1, found.HeaderRow, test.Sprint(name))
		test.EqOp(t, 0, found.InvalidRows(), test.Sprint(name))
	}
}

func TestParseImport_LeavesMissingColumnsToDefaults(t *testing.T) {
	t.Parallel()
	found := parseImport(t, "start,date,duration_minutes,location,service\n18:00,2026-03-29,60,Mitte,Flow\n")
	want := []session.ImportRow{{
		Row: csvfile.Row{Number: 2}, Service: "Flow", Location: "Mitte", Date: civiltest.Date("2026-03-29"),
		Start: clock("18:00"), Duration: time.Hour,
	}}
	test.Eq(t, want, found.Rows)
}

func TestParseImport_KnowsColumnsOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for header, row := range map[string]string{
		"Class name,Site,Class date,Start time,End time,Max capacity":              "Flow,Mitte,2026-03-29,18:00,19:00,9",
		"Kurs;Standort;Datum;Beginn;Ende;Kapazität":                                "Flow;Mitte;2026-03-29;18:00;19:00;9",
		"Cours;Lieu;Date;Heure de début;Heure de fin;Capacité;Client préféré (id)": "Flow;Mitte;2026-03-29;18:00;19:00;9;x",
	} {
		found := parseImport(t, header+"\n"+row+"\n")
		end, nine := clock("19:00"), 9
		test.SliceEmpty(t, found.Problems(), test.Sprint(header))
		test.Eq(t, []session.ImportRow{{
			Row: csvfile.Row{Number: 2}, Service: "Flow", Location: "Mitte", Date: civiltest.Date("2026-03-29"),
			Start: clock("18:00"), End: &end, Capacity: &nine,
		}}, found.Rows, test.Sprint(header))
	}
}

func TestParseImport_NumbersRowsLikeASpreadsheet(t *testing.T) {
	t.Parallel()
	found := parseImport(t, `service,location,date,start,duration_minutes,notes
A,L,2026-03-29,18:00,60,"two
lines"

B,L,2026-03-29,18:00,60,

,,,,,
C"C,L,2026-03-29,18:00,60,
D,L,2026-03-29,18:00,60,"three

lines"
E,L,2026-03-29,18:00,60,
`)
	var got []string
	for _, row := range found.Rows {
		got = append(got, fmt.Sprint(row.Number, row.Service, len(row.Problems)))
	}
	test.Eq(t, []string{"2A0", "4B0", "71", "8D0", "9E0"}, got)
}

func TestParseImport_ReportsHeaderProblemsAndStillChecksRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, header, row string
		want              []string // column: message
		cell              string   // column of the row's problem
	}{
		{
			name: "missing", header: "service,start,end", row: "Flow,18:00,17:00",
			want: []string{"location: The column is missing.", "date: The column is missing."}, cell: "end",
		},
		{
			name: "neither end nor duration", header: "service,location,date,start", row: "Flow,Mitte,29.3.26,18:00",
			want: []string{"end: The column is missing: give end or duration_minutes."}, cell: "date",
		},
		{
			name: "twice", header: "service,location,date,start,end,Service", row: "Flow,Mitte,2026-03-29,18:00,25:00,Other",
			cell: "end",
		},
		{
			name: "unknown", header: "service,location,date,start,end,capcity", row: "Flow,Mitte,2026-03-29,18:00,,12",
			cell: "end",
		},
		{
			name: "unnamed", header: "service,location,date,start,end,",
			row: "Flow,Mitte,2026-03-29,18:00,19:00,twelve", cell: "",
		},
	} {
		found := parseImport(t, c.header+"\n"+c.row+"\n")
		var got []string
		for _, p := range found.Header {
			got = append(got, p.Column+": "+p.Message)
		}
		test.Eq(t, c.want, got, test.Sprint(c.name))
		// The rows are checked with the columns that exist.
		test.Eq(t, []string{c.cell}, columns(found.Rows[0].Problems), test.Sprint(c.name))
		test.EqOp(t, 1+min(1, len(c.want)), found.InvalidRows(), test.Sprint(c.name))
	}
}

func TestParseImport_ReportsInvalidCells(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, column, cell string
		problem            string // "" if the cell is valid
	}{
		{"emoji", "title", "Power 💪🏽 hour", ""},
		{"right to left", "title", "יוגה בערב", ""},
		{"Arabic", "location", "استوديو الشارقة", ""},
		{"override of direction", "title", "Flow \u202eagoY",
			`It has characters that cannot be seen: "Flow \u202eagoY". Type it anew.`},
		{"NUL", "title", "Fl\x00ow", `It has characters that cannot be seen: "Fl\x00ow". Type it anew.`},
		{"escape", "notes", "\x1b[31mred", `It has characters that cannot be seen: "\x1b[31mred". Type it anew.`},
		{
			"line break in a title", "title", "\"Flow\nBcc: all@example.com\"",
			`It has characters that cannot be seen: "Flow\nBcc: all@example.com". Type it anew.`,
		},
		{"tab in notes", "notes", "mat\ttowel", ""},
		{"not UTF-8", "title", "Café \x81", "It is not UTF-8: save the file as CSV in UTF-8."},
		{"longest", "title", strings.Repeat("é", 200), ""},
		{"too long", "title", strings.Repeat("é", 201), "It is longer than 200 characters."},
		{"very long", "notes", strings.Repeat("x", 10_000), "It is longer than 4000 characters."},
		{"a very long number", "capacity", strings.Repeat("9", 10_000), "It is longer than 40 characters."},

		{"formula", "title", "=1+1", `"=1+1" is a formula to a spreadsheet: give its value.`},
		{
			"formula after a space", "notes", " =HYPERLINK(1)",
			`"=HYPERLINK(1)" is a formula to a spreadsheet: give its value.`,
		},
		{"call", "service", "+SUM(A1)", `"+SUM(A1)" is a formula to a spreadsheet: give its value.`},
		{
			"program", "notes", "-2+3+cmd|' /C calc'!A0",
			`"-2+3+cmd|' /C calc'!A0" is a formula to a spreadsheet: give its value.`,
		},
		{"macro", "coach_email", "@SUM(1)", `"@SUM(1)" is a formula to a spreadsheet: give its value.`},
		{"discount", "title", "-20% Friday (members)", ""},
		{"guests", "title", "+1 welcome", ""},
		{"at", "title", "@home", ""},

		{"empty service", "service", "", "It is empty."},
		{"empty location", "location", " ", "It is empty."},
		{"empty date", "date", "", "It is empty."},
		{"empty start", "start", "", "It is empty."},

		{"another date form", "date", "29.03.2026", `"29.03.2026" is not a date in the form 2026-03-29.`},
		{"day that does not exist", "date", "2026-02-30", `"2026-02-30" is not a date in the form 2026-03-29.`},
		{"afternoon", "start", "6:00 PM", ""},
		{"afternoon, close", "start", "6:00pm", ""},
		{"afternoon, bare", "start", "6 pm", ""},
		{"afternoon, with a no-break space", "start", "6:00\u202fPM", ""},
		{"with seconds", "start", "18:00:00", ""},
		{"to the second", "start", "18:00:30", `"18:00:30" is not a time of day in the form 18:00.`},
		{"to a fraction", "start", "18:00:00.5", `"18:00:00.5" is not a time of day in the form 18:00.`},
		{"hour 24", "start", "24:00", `"24:00" is not a time of day in the form 18:00.`},
		{"hour 13 PM", "start", "13:00 PM", `"13:00 PM" is not a time of day in the form 18:00.`},
		{"before the start", "end", "17:59", endBeforeStart},
		{"at the start", "end", "18:00", endBeforeStart},
		{"neither", "end", "", "Give end or duration_minutes."},

		{"no seats", "capacity", "0", ""},
		{"most seats", "capacity", "100000", ""},
		{"more seats", "capacity", "100001", `"100001" is not a whole number from 0 to 100000.`},
		{"negative", "capacity", "-1", `"-1" is not a whole number from 0 to 100000.`},
		{"half", "capacity", "12.5", `"12.5" is not a whole number from 0 to 100000.`},
		{"words", "waitlist_capacity", "many", `"many" is not a whole number from 0 to 10000.`},
		{"no waitlist", "waitlist_capacity", "0", ""},

		{"not an address", "coach_email", "Mia", notMail("Mia")},
		{
			"a name with an address", "coach_email", "Mia <mia@example.com>",
			notMail("Mia <mia@example.com>"),
		},
		{"an address that members cannot have", "coach_email", "mia@[127.0.0.1]", notMail("mia@[127.0.0.1]")},
		{"draft", "status", "Draft", ""},
		{"published", "status", "PUBLISHED", ""},
		{"another status", "status", "cancelled", `"cancelled" is not a status. Use draft or published.`},
	} {
		cells := map[string]string{
			"service": "Flow", "location": "Mitte", "date": "2026-03-29", "start": "18:00", "end": "19:00",
		}
		cells[c.column] = c.cell
		var header, row []string
		for name, cell := range cells {
			header, row = append(header, name), append(row, cell)
		}
		found := parseImport(t, strings.Join(header, ";")+"\n"+strings.Join(row, ";")+"\n")
		var want []csvfile.Problem
		if c.problem != "" {
			want = []csvfile.Problem{{Reason: fault.InvalidField, Column: c.column, Message: c.problem}}
		}
		test.Eq(t, want, found.Rows[0].Problems, test.Sprint(c.name))
		test.SliceEmpty(t, found.Header, test.Sprint(c.name))
	}
}

func notMail(address string) string {
	return `"` + address + `": It is not an email address, such as ana@example.com.`
}

// columns returns the columns of problems.
func columns(problems []csvfile.Problem) []string {
	all := make([]string, len(problems))
	for i, p := range problems {
		all[i] = p.Column
	}
	return all
}

func TestParseImport_ReportsAllProblemsOfARow(t *testing.T) {
	t.Parallel()
	found := parseImport(t, "service,location,date,start,end,duration_minutes,capacity\n,Mitte,tomorrow,late,19:00,0,x\n")
	test.Eq(t, strings.Fields("service date start duration_minutes capacity end"), columns(found.Rows[0].Problems))
	found.Rows[0].AddProblem(fault.LocationNotFound, "location", "There is no %s.", "Mitte")
	unknown := csvfile.Problem{Reason: fault.LocationNotFound, Column: "location", Message: "There is no Mitte."}
	test.EqOp(t, unknown, found.Rows[0].Problems[6])
}

func TestRefusePublished_AddsAProblemToPublishedRowsOnly(t *testing.T) {
	t.Parallel()
	rows := []session.ImportRow{{Publish: true}, {}}
	session.RefusePublished(rows)
	test.Eq(t, []string{"status"}, columns(rows[0].Problems))
	test.Nil(t, rows[1].Problems)
}

func TestParseImport_ReportsRaggedAndBadlyQuotedRows(t *testing.T) {
	t.Parallel()
	found := parseImport(t, `service,location,date,start,end
Flow,Mitte
Flow,Mitte,2026-03-29,18:00,19:00,,more
"Flow"x,Mitte
Flow,Mitte,2026-03-29,18:00,19:00
"Flow,Mitte
and,so on
`)
	var got []string
	for _, row := range found.Rows {
		for _, p := range row.Problems {
			got = append(got, fmt.Sprintf("%d %s%s", row.Number, p.Column, p.Message))
		}
	}
	const marks = "The quotation marks do not match. " +
		"A cell that contains one must be in quotation marks, with the inner one doubled."
	want := []string{
		"2 The row has 2 cells where the header has 5.",
		"3 The row has 7 cells where the header has 5.",
		"4 " + marks,
		"6 " + marks + " The cell continues to line 7 of the file.",
	}
	test.Eq(t, want, got)
}

func TestParseImport_RejectsFilesThatAreNotReadableCSV(t *testing.T) {
	t.Parallel()
	const header = "service,location,date,start,end\n"
	const row = "F,M,2026-03-29,18:00,19:00\n"
	for file, limit := range map[string]string{
		"": "", "\ufeff": "", "\n\r\n\n": "", header + strings.Repeat(" ", 1<<20): " max_bytes=1048576",
		header + strings.Repeat(row, 5001): " max_rows=5000", "service" + strings.Repeat(",x", 100) + "\n": "",
		"\xff\xfes\x00e": "", "\xfe\xff\x00s\x00": "", "PK\x03\x04\x14\x00": "", "service,\"location\n": "",
	} {
		expect.Fault(t, "IMPORT_INVALID @csv"+limit, file[:min(len(file), 40)])(session.ParseImport([]byte(file)))
	}
	for _, rows := range []int{0, 5000} {
		found := parseImport(t, header+strings.Repeat(row, rows))
		test.Len(t, rows, found.Rows)
		test.EqOp(t, 0, found.InvalidRows())
	}
}

func TestImportRowSpan_FollowsTheZone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, zone, date, start, end string
		length                       time.Duration
		ok                           bool
	}{
		{"common", "Europe/Berlin", "2026-06-01", "18:00", "19:00", time.Hour, true},
		{"clocks go forward during it", "Europe/Berlin", "2026-03-29", "01:00", "04:00", 2 * time.Hour, true},
		{"clocks go back during it", "Europe/Berlin", "2026-10-25", "01:00", "04:00", 4 * time.Hour, true},
		{"a clock change leaves no time", "Europe/Berlin", "2026-03-29", "02:30", "03:30", 0, false},
		{"a day that was skipped", "Pacific/Apia", "2011-12-30", "18:00", "19:00", time.Hour, false},
	} {
		row := parseImport(t, "service,location,date,start,end\nF,M,"+c.date+","+c.start+","+c.end+"\n").Rows[0]
		span, ok := row.Span(zone(c.zone))
		test.EqOp(t, c.length, span.Length(), test.Sprint(c.name))
		test.EqOp(t, c.ok, ok, test.Sprint(c.name))
	}
	// Past midnight, and a clock change.
	row := parseImport(t, "service,location,date,start,duration_minutes\nF,M,2026-03-28,23:00,300\n").Rows[0]
	span, ok := row.Span(zone("Europe/Berlin"))
	test.True(t, ok)
	test.EqOp(
		t, "2026-03-28T22:00:00Z 2026-03-29T03:00:00Z",
		span.Start.UTC().Format(time.RFC3339)+" "+span.End.UTC().Format(time.RFC3339),
	)
}

func TestParseImport_ReadsBackWhatASpreadsheetWrites(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[A-Za-zäß"',;💪][A-Za-z0-9äß"',; 💪\n]{0,30}[A-Za-z0-9äß"',;💪]`)
	rapid.Check(t, func(t *rapid.T) {
		separator := rapid.SampledFrom([]string{",", ";", "\t"}).Draw(t, "separator")
		lineEnd := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		columns := rapid.Permutation([]string{"service", "location", "date", "start", "end", "notes"}).Draw(t, "columns")
		quote := func(s string) string {
			return `"` + strings.ReplaceAll(strings.ReplaceAll(s, `"`, `""`), "\n", lineEnd) + `"`
		}
		var want []session.ImportRow
		file := strings.Join(columns, separator) + lineEnd
		for n := range rapid.IntRange(0, 5).Draw(t, "rows") {
			end := civil.TimeOfDay{Hour: rapid.IntRange(13, 23).Draw(t, "end")}
			row := session.ImportRow{
				Row:      csvfile.Row{Number: n + 2},
				Service:  strings.ReplaceAll(text.Draw(t, "service"), "\n", " "),
				Location: "Mitte",
				Notes:    text.Draw(t, "notes"),
				Date:     civiltest.Date("2026-01-01").AddDays(rapid.IntRange(0, 1000).Draw(t, "day")),
				Start: civil.TimeOfDay{
					Hour: rapid.IntRange(0, 12).Draw(t, "hour"), Minute: rapid.IntRange(0, 59).Draw(t, "minute"),
				},
				End: &end,
			}
			want = append(want, row)
			cells := map[string]string{
				"service": quote(row.Service), "location": row.Location, "notes": quote(row.Notes),
				"date": row.Date.String(), "start": row.Start.String(), "end": end.String(),
			}
			var line []string
			for _, column := range columns {
				line = append(line, cells[column])
			}
			file += strings.Join(line, separator) + lineEnd
		}
		found := expect.Value(session.ParseImport([]byte(file)))(t)
		must.Eq(t, want, found.Rows, must.Cmp(cmpopts.EquateEmpty()), must.Sprintf("%q", file))
	})
}

func FuzzParseImport(f *testing.F) {
	for _, file := range []string{
		"service,location,date,start,end\nFlow,Mitte,2026-03-29,18:00,19:00\n",
		"\ufeffService;Location;Date;Start;Duration minutes;Notes\r\nFlow;Mitte;2026-03-29;6 PM;60;\"a\r\nb\"\r\n\r\n;;\r\n",
		"a\tb\t\"c", "service\rFlow", "=1,\x00,\xff\n@,|(\n", "\n\n,,,\n\"\"\n",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		found, err := session.ParseImport(file)
		if err != nil {
			must.EqOp(t, fault.ImportInvalid, fault.ReasonOf(err), must.Sprint(err))
			return
		}
		problems, last := slices.Clone(found.Header), 1
		for _, row := range found.Rows {
			problems = append(problems, row.Problems...)
			must.Greater(t, last, row.Number)
			if last = row.Number; len(row.Problems) > 0 || len(found.Header) > 0 {
				continue
			}
			span, ok := row.Span(time.UTC)
			must.True(t, ok)
			must.LessEq(t, 7*24*time.Hour, span.Length())
			must.True(t, row.Date.Valid())
			must.True(t, row.Start.Valid())
			must.NotEqOp(t, "", row.Service)
			must.NotEqOp(t, "", row.Location)
			must.False(t, row.Capacity != nil && row.Unlimited, must.Sprint(row))
			for _, text := range []string{
				row.Service, row.Location, row.Resource, row.CoachEmail, row.Title, row.Notes,
			} {
				must.True(t, utf8.ValidString(text), must.Sprintf("%q", text))
				must.False(t, forbidden.MatchString(text), must.Sprintf("%q", text))
			}
		}
		must.LessEq(t, strings.Count(string(file), "\n")+strings.Count(string(file), "\r")+1, last)
		for _, p := range problems {
			must.NotEqOp(t, "", p.Message)
			must.True(t, utf8.ValidString(p.Message+p.Column), must.Sprint(p))
			must.LessEq(t, 1000, len(p.Message))
		}
	})
}

var forbidden = regexp.MustCompile("[\x00\x1b\u202e]|^=")
