package csvfile_test

import (
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/csvfile"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit/expect"
)

type pet struct {
	csvfile.Row
	Name, Story string
	Legs        int
	NoLegs      bool
}

var pets = csvfile.Format[pet, *pet]{
	MaxBytes: 1000,
	MaxRows:  5,
	Columns: []csvfile.Column[pet]{
		{
			Name: "name", Required: true, FreeText: true, MaxLength: 10,
			Read: func(p *pet, s string) string { p.Name = s; return "" },
		},
		{Name: "legs", MaxLength: 5, Empty: func(p *pet) { p.NoLegs = true }, Read: func(p *pet, s string) string {
			var err error
			if p.Legs, err = strconv.Atoi(s); err != nil {
				return csvfile.Quote(s) + " is not a number."
			}
			return ""
		}},
		{
			Name: "life_story", FreeText: true, Multiline: true, MaxLength: 50,
			Read: func(p *pet, s string) string { p.Story = s; return "" },
		},
	},
	Also: map[string][]string{"name": {"Rufname", "Nom", "Prénom"}, "legs": {"Number of legs"}},
	Header: func(c csvfile.Cells) []csvfile.Problem {
		if c.Has("life_story") && !c.Has("legs") {
			return []csvfile.Problem{{Reason: fault.InvalidField, Column: "legs", Message: "A story needs legs."}}
		}
		return nil
	},
	Row: func(p *pet, c csvfile.Cells) {
		if c.Filled("life_story") && !c.Filled("legs") {
			p.AddProblem(fault.InvalidField, "legs", "A story needs legs.")
		}
	},
}

func parse(t *testing.T, file string) *csvfile.Table[pet, *pet] {
	t.Helper()
	return expect.Value(pets.Parse([]byte(file), nil))(t)
}

func TestParse_ReadsVariants(t *testing.T) {
	t.Parallel()
	want := []pet{
		{Row: csvfile.Row{Number: 2}, Name: "Rex", Legs: 4},
		{Row: csvfile.Row{Number: 3}, Name: "Zoë", Legs: 3},
	}
	for name, file := range map[string]string{
		"comma":             "name,legs\nRex,4\nZoë,3\n",
		"semicolon":         "name;legs\nRex;4\nZoë;3",
		"tab":               "name\tlegs\nRex\t4\nZoë\t3\n",
		"windows":           "name,legs\r\nRex,4\r\nZoë,3\r\n",
		"classic mac":       "name,legs\rRex,4\rZoë,3\r",
		"byte order mark":   "\ufeffname,legs\nRex,4\nZoë,3\n",
		"case and order":    "LEGS , Name\n4,Rex\n 3 , Zoë \n",
		"padded":            "name,legs,,\nRex,4,,\nZoë,3\t,,,,,\n",
		"space between row": "name,legs\nRex,4\nZoë,3\n,,\n\n",
		"quoted":            "\"name\",\"legs\"\n\"Rex\",\"4\"\n\"Zoë\",3\n",
		"bar":               "name|legs\nRex|4\nZoë|3\n",
		"windows-1252":      "name,legs\nRex,4\nZo\xeb,3\n",
		"utf-16":            utf16File("\ufeffname\tlegs\r\nRex\t4\r\nZoë\t3", binary.LittleEndian),
		"utf-16, other":     utf16File("\ufeffname,legs\nRex,4\nZoë,3\n", binary.BigEndian),
		"utf-16, no mark":   utf16File("name,legs\nRex,4\nZoë,3\n", binary.LittleEndian),
		"utf-16, neither":   utf16File("name,legs\nRex,4\nZoë,3\n", binary.BigEndian),
		"named separator":   "sep=;\r\nname;legs\r\nRex;4\r\nZoë;3\r\n",
		"named, with mark":  "\ufeffSEP=|\nname|legs\nRex|4\nZoë|3\n",
		"named, saved":      "\"sep=,\",,\nname,legs\nRex,4\nZoë,3\n",
	} {
		table := parse(t, file)
		test.Eq(t, want, table.Rows, test.Sprint(name))
		test.SliceEmpty(t, table.Header, test.Sprint(name))
	}
}

// Some systems write a letter and its accent apart. What is stored is composed, and a cell's length is that of the
// letters that people see.
func TestParse_ComposesLetters(t *testing.T) {
	t.Parallel()
	table := parse(t, "name;life_story\nZoe\u0308zoe\u0308zoe\u0308;Cafe\u0301\u037e 1\nnine chars\u0308.;\n")
	test.EqOp(t, "Zoëzoëzoë", table.Rows[0].Name)
	test.EqOp(t, "Café; 1", table.Rows[0].Story, test.Sprint("a question mark of Greek is no separator"))
	test.SliceContains(t, table.Problems(), csvfile.RowProblem{Row: 3, Problem: csvfile.Problem{
		Reason: fault.InvalidField, Column: "name", Message: "It is longer than 10 characters.",
	}})
	test.StrContains(t, string(table.LeftOut()), "nine chars\u0308.")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.Rune(), 1, 8, -1).Draw(t, "text")
		file := func(text string) *csvfile.Table[pet, *pet] {
			quoted := `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			return expect.Value(pets.Parse([]byte("name\n"+quoted+"\n"), nil))(t)
		}
		composed, apart := file(norm.NFC.String(text)), file(norm.NFD.String(text))
		test.Eq(t, composed.Rows, apart.Rows)
		for _, row := range apart.Rows {
			test.True(t, norm.NFC.IsNormalString(row.Name))
		}
	})
}

func utf16File(text string, order binary.AppendByteOrder) string {
	var file []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		file = order.AppendUint16(file, unit)
	}
	return string(file)
}

func TestParse_FindsTheHeaderBelowTitles(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"title":        "Pets of the year\n\nExported on 2026-03-29; all\nname;legs\nRex;4\n",
		"padded":       "Pets,\n,\n\"of the, year\n so far\",\nname,legs\nRex,4\n",
		"empty":        "\n\n\nname,legs\nRex,4\n",
		"bad quotes":   "The \"best\" pets\n\n\nname,legs\nRex,4\n",
		"like columns": "Legs\n\n\nlegs,name\n4,Rex\n",
	} {
		table := parse(t, file)
		test.EqOp(t, 4, table.HeaderRow, test.Sprint(name))
		test.Eq(t, []pet{{Row: csvfile.Row{Number: 5}, Name: "Rex", Legs: 4}}, table.Rows, test.Sprint(name))
	}
	table := parse(t, "All pets\n\nKind,Colour\nDog,red\n")
	test.EqOp(t, 3, table.Problems()[0].Row)
	table = parse(t, strings.Repeat("Pets\n", 20)+"name,legs\nRex,4\n")
	test.EqOp(t, 21, table.HeaderRow)
	expect.Fault(t, "IMPORT_INVALID @csv max_rows=5", "too far down")(
		pets.Parse([]byte(strings.Repeat("Pets\n", 21)+"name,legs\n"), nil))
}

func TestParse_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"sep=x\nname,legs\n":     `Line 1 names the separator "x"`,
		"sep=\nname,legs\n":      "Line 1 names the separator",
		"\xff\xfen\x00\n\x00a":   "Line 2 is not UTF-16",
		"\xff\xfe\x00\xd8n\x00":  "Line 1 is not UTF-16",
		"\xd0\xcf\x11\xe0":       "spreadsheet",
		"\nna\"me,legs\nRex,4\n": "Row 2, the header",
	} {
		_, err := pets.Parse([]byte(file), nil)
		test.ErrorContains(t, err, want, test.Sprintf("%q", file))
	}
}

// Of the columns of other programs those are taken that are known, and the others are listed.
func TestParse_MatchesColumnsByName(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"name,legs":              "name=name legs=legs",
		"NAME, Life-Story *":     "NAME=name Life-Story *=life_story",
		"rufname,number_of_legs": "rufname=name number_of_legs=legs",
		"PRENOM;Legs?":           "PRENOM=name Legs?=legs",
		"Pre\u0301nom":           "Prénom=name",
		"Prénom,Nom":             "Prénom= Nom=name",
		"Nom,Name,nom":           "Nom= Name=name nom=",
		"ID,name,Colour,,#,,":    "ID= name=name Colour= = #=",
		"name,l\x00egs,wh\x00en": "name=name l egs=legs wh en=",
	} {
		var got []string
		for _, m := range parse(t, header+"\n").Columns {
			got = append(got, m.Header+"="+m.Field)
		}
		test.EqOp(t, want, strings.Join(got, " "), test.Sprintf("%q", header))
	}
}

func TestParse_TakesTheChosenColumns(t *testing.T) {
	t.Parallel()
	const file = "Pets\nCalled,Name,Number,Number,,Story\nRex,Reginald,4,9,x,\n"
	choose := func(choices ...string) []csvfile.Match {
		var all []csvfile.Match
		for _, choice := range choices {
			header, field, _ := strings.Cut(choice, "=")
			all = append(all, csvfile.Match{Header: header, Field: field})
		}
		return all
	}
	for _, tt := range []struct {
		chosen []csvfile.Match
		want   pet
	}{
		{nil, pet{Name: "Reginald"}},
		{choose("Called=name"), pet{Name: "Rex"}},
		{choose(" called! =name", "Number=legs"), pet{Name: "Rex", Legs: 4}},
		{choose("Number=", "Number=legs"), pet{Name: "Reginald", Legs: 9}},
		{choose("=life_story", "Number=legs"), pet{Name: "Reginald", Legs: 4, Story: "x"}},
		{choose("Name="), pet{}},
	} {
		found := expect.Value(pets.Parse([]byte(file), tt.chosen))(t)
		test.EqOp(t, 2, found.HeaderRow)
		row := found.Rows[0]
		row.Row = csvfile.Row{}
		test.Eq(t, tt.want, row, test.Sprint(tt.chosen))
		// What it answers chooses the same again.
		again := expect.Value(pets.Parse([]byte(file), found.Columns))(t)
		test.Eq(t, found, again, test.Sprint(tt.chosen))
	}
	test.Len(t, 1, expect.Value(pets.Parse([]byte(file), choose("Name=")))(t).Header, test.Sprint("name is required"))
	// A header without any known name is found by what is chosen.
	found := expect.Value(pets.Parse([]byte("a,b,c\nWho,How many\nRex,4\n"), choose("Who=name", "How many=legs")))(t)
	test.EqOp(t, 2, found.HeaderRow)
	for _, wrong := range [][]csvfile.Match{
		choose("Colour=name"), choose("Name=colour"), choose("Name=name", "Called=name"),
		choose("Number=", "Number=", "Number=legs"), choose("!=name"),
	} {
		expect.Fault(t, "INVALID_FIELD @columns", wrong)(pets.Parse([]byte(file), wrong))
	}
}

func TestParse_ChecksEveryRow(t *testing.T) {
	t.Parallel()
	table := parse(t, "name,legs,life story\n"+
		"Rex,four,\n"+
		",4,\n"+
		"\"Ann\n\",\"4\",\"Born.\nGrew.\"\n"+
		"\n"+
		"a \"quote,4,\n"+
		"Bob,,Born.\n")
	type judged struct {
		Row      int
		Problems []csvfile.Problem
	}
	var got []judged
	for _, row := range table.Rows {
		got = append(got, judged{row.Number, row.Problems})
	}
	want := []judged{
		{2, []csvfile.Problem{{Reason: fault.InvalidField, Column: "legs", Message: `"four" is not a number.`}}},
		{3, []csvfile.Problem{{Reason: fault.InvalidField, Column: "name", Message: "It is empty."}}},
		{4, nil},
		{6, []csvfile.Problem{{
			Reason: fault.ImportInvalid,
			Message: "The quotation marks do not match. A cell that contains one must be in quotation marks, with the inner " +
				"one doubled.",
		}}},
		{7, []csvfile.Problem{{Reason: fault.InvalidField, Column: "legs", Message: "A story needs legs."}}},
	}
	test.Eq(t, want, got)
	test.EqOp(t, "Born.\nGrew.", table.Rows[2].Story)
	test.True(t, table.Rows[4].NoLegs)
	test.EqOp(t, 4, table.InvalidRows())
}

func TestParse_RejectsInvalidCells(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"=1+1":                   "formula",
		"+c|'/C c'":              "formula",
		"@SUM(A1)":               "formula",
		"-SUM(A1)":               "formula",
		"\x00":                   "cannot be seen",
		"a\u202eb":               "cannot be seen",
		"\"a\nb\"":               "cannot be seen",
		"é\xff":                  "", // Windows-1252
		"éé\xff":                 "UTF-8",
		"\x81":                   "UTF-8",
		"12345678901":            "longer than 10",
		"-20% off":               "",
		"@home":                  "",
		"+49":                    "",
		"\u200b\ufeffRex\u00ad ": "",
		"Re\u200bx":              "cannot be seen",
		"שלום":                   "",
		strings.Repeat("é", 10):  "",
	} {
		row := parse(t, "name\n"+cell+"\n").Rows[0]
		test.EqOp(t, want != "", len(row.Problems) > 0, test.Sprintf("%q", cell))
		for _, p := range row.Problems {
			test.StrContains(t, p.Message, want, test.Sprintf("%q", cell))
		}
	}
}

func TestParse_ChecksHeader(t *testing.T) {
	t.Parallel()
	for header, want := range map[string][]string{
		"name":                 nil,
		"legs":                 {"name"},
		"name,name":            nil,
		"name,wings":           nil,
		"name,life story":      {"legs"},
		"wings,wings,\xff\xff": {"name"},
		"name|name":            nil,
	} {
		table := parse(t, header+"\n")
		var got []string
		for _, p := range table.Header {
			got = append(got, p.Column)
		}
		test.SliceEqOp(t, want, got, test.Sprintf("%q", header))
		test.EqOp(t, len(want) > 0, table.InvalidRows() > 0, test.Sprintf("%q", header))
	}
	table := parse(t, "name,\nRex,x\n")
	test.EqOp(t, 1, len(table.Rows[0].Problems), test.Sprintf("a cell without a column: %+v", table.Rows))
}

func TestParse_RejectsUnreadableFiles(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"": "", "\n\n": "", "\xff\xfen": "", "\xfe\xff\xd8\x00": "", "PK\x03\x04": "", "na\"me,legs\n": "",
		"name\n" + strings.Repeat("x", 996): " max_bytes=1000", "name\n" + strings.Repeat("Rex\n", 6): " max_rows=5",
		strings.Repeat("name,", 101): "",
	} {
		expect.Fault(t, "IMPORT_INVALID @csv"+want, file)(pets.Parse([]byte(file), nil))
	}
	test.Len(t, 5, parse(t, "name\n"+strings.Repeat("Rex\n", 5)).Rows)
}

func TestParse_AcceptsOrRejectsAnyInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"name", "legs", ",", ";", "\t", "|", "\n", "\r", "\"", "4", "\xff", "\xfe", "\x00", "\ufeff", " ", "é",
			"life_story", "sep=",
		})
		file := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "file"), "")
		table, err := pets.Parse([]byte(file), nil)
		if err != nil {
			must.EqOp(t, fault.ImportInvalid, fault.ReasonOf(err), must.Sprintf("%q: %v", file, err))
			return
		}
		last := table.HeaderRow
		must.Greater(t, 0, last, must.Sprintf("%q", file))
		for _, row := range table.Rows {
			must.Greater(t, last, row.Number, must.Sprintf("%q", file))
			last = row.Number
		}
	})
}

func TestLeftOut_HasTheRowsWithProblems(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"name,legs\nRex,4\n": "",
		"name;colour;legs\nRex;red;4\nZoë;;four\n;;\n;blue;1\n": "name;colour;legs;Problem\n" +
			"Zoë;;four;\"legs: \"\"four\"\" is not a number.\"\n;blue;1;name: It is empty.\n",
		"Pets\nname,legs\nRex,4,5,,\nTom,4\n": "name,legs,,Problem\n" +
			"Rex,4,5,The row has 3 cells where the header has 2.\n",
		"name,legs\n\"Rex\"x,4\n": "name,legs,Problem\n\"\"\"Rex\"\"x,4\",," +
			"\"The quotation marks do not match. A cell that contains one must be in quotation marks, " +
			"with the inner one doubled.\"\n",
		"name,legs,other\n=1+1,4, =cmd|' /C calc'!A0\n+1 welcome,-,@SUM(A1)\n": "name,legs,other,Problem\n" +
			"'=1+1,4,' =cmd|' /C calc'!A0,\"name: \"\"=1+1\"\" is a formula to a spreadsheet: give its value.\"\n" +
			"+1 welcome,-,'@SUM(A1),\"legs: \"\"-\"\" is not a number.\"\n",
		"legs\n4\n": "",
	} {
		got, marked := strings.CutPrefix(string(parse(t, file).LeftOut()), "\ufeff")
		test.EqOp(t, want, strings.ReplaceAll(got, "\r\n", "\n"), test.Sprint(file))
		test.EqOp(t, want != "", marked, test.Sprint(file))
	}
}

// The rows that are left out, and those that are good, are all of the file; once mended, they are good, too.
func TestLeftOut_CanBeMendedAndReadAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`[A-Z=+][a-zé",;'\n(]{0,8}[a-z]`), 1, 5).Draw(t, "names")
		separator := rapid.SampledFrom([]string{",", ";", "\t"}).Draw(t, "separator")
		file := "name" + separator + "legs\n"
		for _, name := range names {
			legs := rapid.SampledFrom([]string{"4", "four"}).Draw(t, "legs")
			file += `"` + strings.ReplaceAll(name, `"`, `""`) + `"` + separator + legs + "\n"
		}
		found := expect.Value(pets.Parse([]byte(file), nil))(t)
		must.EqOp(t, len(names), len(found.Good().Rows)+found.InvalidRows())
		must.Eq(t, found, found.With(found.Good().Rows), must.Cmp(cmpopts.IgnoreUnexported(csvfile.Table[pet, *pet]{})))
		left := found.LeftOut()
		if left == nil {
			must.EqOp(t, 0, found.InvalidRows())
			return
		}
		again := expect.Value(pets.Parse([]byte(strings.ReplaceAll(string(left), "four", "4")), nil))(t)
		must.EqOp(t, found.InvalidRows(), len(again.Rows))
		at := 0
		for i, row := range found.Rows {
			if len(row.Problems) == 0 {
				continue
			}
			fine := !strings.ContainsAny(names[i], "\n") && !strings.HasPrefix(names[i], "=") &&
				!strings.HasPrefix(names[i], "+")
			if fine {
				must.EqOp(t, names[i], again.Rows[at].Name)
				must.SliceEmpty(t, again.Rows[at].Problems)
			}
			at++
		}
	})
}
