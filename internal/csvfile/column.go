package csvfile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Column is one that a file may have.
type Column[R any] struct {
	Name     string // in lower case, words joined by underscores
	Required bool
	Longest  int  // in characters
	Text     bool // is free text, which a spreadsheet may take for a formula
	Lines    bool // may have several lines
	// Read takes a cell that is not empty, without the space around it, and says what is wrong with it.
	Read func(*R, string) string
	// Empty takes an empty cell, where that means something.
	Empty func(*R)

	unnamed bool // has no name, so must be empty; spreadsheets save such columns
}

func (f *Format[R, P]) named(name string) *Column[R] {
	for n := range f.Columns {
		if f.Columns[n].Name == name {
			return &f.Columns[n]
		}
	}
	return nil
}

func (f *Format[R, P]) names() string {
	names := make([]string, len(f.Columns))
	for n, column := range f.Columns {
		names[n] = column.Name
	}
	return strings.Join(names, ", ")
}

// judge takes a cell, or says what is wrong with it.
func (c *Column[R]) judge(r *R, cell string) (problem string) {
	switch text := strings.TrimSpace(cell); {
	case text == "" && c.Required:
		return "It is empty."
	case text == "":
		if c.Empty != nil {
			c.Empty(r)
		}
		return ""
	case c.unnamed:
		return fmt.Sprintf("The cell %s stands in a column without a name.", Quote(text))
	case !utf8.ValidString(text):
		return "It is not UTF-8: save the file as CSV in UTF-8."
	case strings.ContainsFunc(text, c.forbids):
		return fmt.Sprintf("It has control characters: %s.", Quote(text))
	case utf8.RuneCountInString(text) > c.Longest:
		return fmt.Sprintf("It is longer than %d characters.", c.Longest)
	case c.Text && isFormula(text):
		return fmt.Sprintf("%s is a formula to a spreadsheet: give its value.", Quote(text))
	default:
		return c.Read(r, text)
	}
}

// forbids finds control characters, and overrides of the direction of writing,
// with which a name can be made to look like another. Text in Arabic or Hebrew
// needs none.
func (c *Column[R]) forbids(char rune) bool {
	switch char {
	case '\n', '\t':
		return !c.Lines
	case '\u202d', '\u202e':
		return true
	default:
		return unicode.IsControl(char)
	}
}

// isFormula tells what a spreadsheet would run when someone opens an export of
// it. A name may well begin with a sign ("-20% Friday", "@home"): only what
// calls a function or a program is a formula then.
func isFormula(text string) bool {
	switch text[0] {
	case '=':
		return true
	case '+', '-', '@':
		return strings.Contains(text, "|") || functionCall.MatchString(text)
	default:
		return false
	}
}

var functionCall = regexp.MustCompile(`[\pL\pN._]\(`)

func filled(cell string) bool { return strings.TrimSpace(cell) != "" }

func lastFilled(cells []string) int {
	for n, cell := range slices.Backward(cells) {
		if filled(cell) {
			return n
		}
	}
	return -1
}

var underscores = strings.NewReplacer(" ", "_", "-", "_")

// columnName makes names such as "Coach email" comparable.
func columnName(cell string) string {
	return underscores.Replace(strings.ToLower(strings.TrimSpace(strings.ToValidUTF8(cell, "\ufffd"))))
}

// shown cuts what a file said to a length fit for a message.
func shown(cell string) string {
	const most = 40
	cell = strings.ToValidUTF8(strings.TrimSpace(cell), "\ufffd")
	if utf8.RuneCountInString(cell) > most {
		cell = string([]rune(cell)[:most]) + "…"
	}
	return cell
}

// Quote puts a cell between marks for a message: cut to a fit length, with what
// cannot be seen spelled out.
func Quote(cell string) string { return strconv.Quote(shown(cell)) }
