package csvfile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/berthhq/berth/internal/printable"
)

// Column is a column that a file may have.
type Column[R any] struct {
	Name      string // in lower case, words separated by underscores
	Required  bool
	MaxLength int  // in characters
	FreeText  bool // is free text, which must not look like a formula
	Multiline bool // may have several lines
	// Read parses a cell that is not empty, without space around it, and returns what is wrong with it.
	Read func(*R, string) string
	// Empty, if set, is called for an empty cell.
	Empty func(*R)
}

// parse parses a cell, or returns what is wrong with it.
func (c *Column[R]) parse(r *R, cell string) (problem string) {
	text := strings.TrimSpace(cell)
	if !c.Multiline {
		text = printable.Trim(cell) // as field.Line does, for forms and calls
	}
	switch {
	case text == "" && c.Required:
		return "It is empty."
	case text == "":
		if c.Empty != nil {
			c.Empty(r)
		}
		return ""
	case !utf8.ValidString(text):
		return "It is not UTF-8: save the file as CSV in UTF-8."
	case !c.shows(text):
		return fmt.Sprintf("It has characters that cannot be seen: %s. Type it anew.", Quote(text))
	case utf8.RuneCountInString(text) > c.MaxLength:
		return fmt.Sprintf("It is longer than %d characters.", c.MaxLength)
	case c.FreeText && isFormula(text):
		return fmt.Sprintf("%s is a formula to a spreadsheet: give its value.", Quote(text))
	default:
		return c.Read(r, text)
	}
}

// shows reports whether a text shows all that it contains.
func (c *Column[R]) shows(text string) bool {
	if c.Multiline {
		return printable.Lines(text) && !strings.ContainsRune(text, '\r')
	}
	return printable.Line(text)
}

// isFormula reports whether a spreadsheet would run the text in an export. Names may start
// with a sign ("-20% Friday", "@home"): those are formulas only if they call a function or a program.
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

// Quote quotes a cell for a message. It shortens it and escapes invisible characters.
func Quote(cell string) string {
	const limit = 40
	cell = strings.ToValidUTF8(strings.TrimSpace(cell), "\ufffd")
	if utf8.RuneCountInString(cell) > limit {
		cell = string([]rune(cell)[:limit]) + "…"
	}
	return strconv.Quote(cell)
}
