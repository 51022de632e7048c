// Package mutate measures the tests. It changes the product in one small way at a time, and runs the tests that are
// near the change. A mutant that no test notices shows what the tests leave open.
//
// The tree is never written: a changed file reaches the compiler through an overlay, and a changed schema is a
// statement that a test process runs on its own copy of the migrated database.
package mutate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Kind says which way a mutant was made.
type Kind string

// Mutants of Go code.
const (
	Condition  Kind = "condition negated"
	Comparison Kind = "comparison shifted"
	Logic      Kind = "and/or exchanged"
	Arithmetic Kind = "operator exchanged"
	Constant   Kind = "number moved"
	One        Kind = "one made zero"
	Boolean    Kind = "boolean turned"
	Text       Kind = "string emptied"
	Statement  Kind = "statement removed"
	Guard      Kind = "guard removed"
	Failure    Kind = "error dropped"
	Arguments  Kind = "arguments swapped"
)

// Mutants of SQL in Go code.
const (
	SQLTerm       Kind = "sql: term dropped"
	SQLComparison Kind = "sql: comparison shifted"
	SQLOrder      Kind = "sql: order changed"
	SQLLock       Kind = "sql: lock dropped"
	SQLLimit      Kind = "sql: limit dropped"
)

// Mutants of the migrated database.
const (
	DBCheck     Kind = "database: check dropped"
	DBUnique    Kind = "database: unique index dropped"
	DBForeign   Kind = "database: foreign key dropped"
	DBExclusion Kind = "database: exclusion dropped"
	DBPolicy    Kind = "database: policy opened"
	DBSecurity  Kind = "database: row security off"
	DBPrivilege Kind = "database: privilege granted"
)

// A Mutant is one change of the product.
type Mutant struct {
	ID       string   `json:"id"`
	Package  string   `json:"package"` // its folder, relative to the module
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	Function string   `json:"function"` // or the table
	Kind     Kind     `json:"kind"`
	Old      []string `json:"old,omitempty"` // the lines that the change touches, without indentation
	New      []string `json:"new"`
	Site     string   `json:"site,omitempty"` // the words that were changed

	// Schema is the statement that changes the migrated database.
	Schema string `json:"schema,omitempty"`

	// Off is the statement that turns a second guard off, which would hide the mutant.
	Off string `json:"off,omitempty"`

	edits []edit // of the file
	block int    // where the innermost statement of a block that contains the change begins; -1 outside of functions

	// around has the lines that the change touches, from begin on in the file.
	around string
	begin  int
}

// An edit replaces the bytes from start to end of a file.
type edit struct {
	start, end int
	text       string
}

// apply changes a text. Edits do not overlap. Those that start at one byte are applied in their order.
func apply(text []byte, edits []edit) []byte {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var out []byte
	at := 0
	for _, e := range sorted {
		out = append(out, text[at:e.start]...)
		out = append(out, e.text...)
		at = e.end
	}
	return append(out, text[at:]...)
}

// describe fills in what a report says about a change of a file.
func (m *Mutant) describe(text []byte) {
	first, last := m.edits[0], m.edits[len(m.edits)-1]
	m.Line = 1 + bytes.Count(text[:first.start], []byte("\n"))
	begin := bytes.LastIndexByte(text[:first.start], '\n') + 1
	end := len(text)
	if i := bytes.IndexByte(text[last.end:], '\n'); i >= 0 {
		end = last.end + i
	}
	var shifted []edit
	for _, e := range m.edits {
		shifted = append(shifted, edit{start: e.start - begin, end: e.end - begin, text: e.text})
	}
	m.around, m.begin = string(text[begin:end]), begin
	m.Old = lines(m.around)
	m.New = lines(string(apply(text[begin:end], shifted)))
	m.Site = strings.Join(strings.Fields(string(text[first.start:last.end])), " ")
	m.ID = identify(m.File, fmt.Sprint(m.edits))
}

// identify returns the ID of a mutant. It is the same in every run over the same files.
func identify(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:5])
}

// lines returns the lines of a text that are not blank, without indentation.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// snippet returns the pattern of a part of a text, whose spaces and line breaks are as long as they may be.
func snippet(text string) *regexp.Regexp {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = regexp.QuoteMeta(word)
	}
	return regexp.MustCompile(strings.Join(words, `\s+`))
}

// changes reports whether the change is in, or at, a part of the text with these words. Any is without words.
func (m Mutant) changes(words string) bool {
	if words == "" {
		return true
	}
	if m.Schema != "" {
		return snippet(words).MatchString(m.Site + " " + strings.Join(m.Old, "\n"))
	}
	first, last := m.edits[0].start-m.begin, m.edits[len(m.edits)-1].end-m.begin
	return slices.ContainsFunc(snippet(words).FindAllStringIndex(m.around, -1), func(at []int) bool {
		return at[0] <= last && at[1] >= first
	})
}

// Diff returns what the mutant changes: the lines before and after, without those that are the same.
func (m Mutant) Diff() string {
	before, after := m.Old, m.New
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	var out strings.Builder
	for _, line := range before {
		fmt.Fprintf(&out, "- %s\n", line)
	}
	for _, line := range after {
		fmt.Fprintf(&out, "+ %s\n", line)
	}
	return out.String()
}
