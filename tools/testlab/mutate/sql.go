package mutate

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// A word is a token of SQL: a word in lower case, a literal, an operator, or a bracket.
type word struct {
	text       string
	start, end int
	depth      int // brackets and `case` around it
}

var tokens = regexp.MustCompile(`(?s)--[^\n]*|'(?:[^']|'')*'|"[^"]*"|\$\d+|[\pL_][\pL\d_]*|\d+(?:\.\d+)?|` +
	`::|<=|>=|<>|!=|->>|->|@>|<@|&&|\|\||[^\s]`)

// scan splits SQL, or a part of a statement, into words. Comments are left out.
func scan(text string) []word {
	var all []word
	depth := 0
	for _, at := range tokens.FindAllStringIndex(text, -1) {
		w := word{text: text[at[0]:at[1]], start: at[0], end: at[1]}
		switch w.text {
		case "(", "[", "case":
			w.depth = depth
			depth++
		case ")", "]", "end":
			depth--
			w.depth = depth
		default:
			w.depth = depth
			if strings.HasPrefix(w.text, "--") {
				continue
			}
		}
		all = append(all, w)
	}
	return all
}

var (
	sqlWord = regexp.MustCompile(
		`(^|[^\w-])(select|from|where|join|values|set|and|or|order by|limit|for update|for no key update|skip locked)[\s(]`)
	sqlSign = regexp.MustCompile(
		`\$\d| (=|<|>|<=|>=|<>) |order by|for update|for no key update|skip locked|\w\.\w+ is |limit \d`)
)

// isSQL reports whether a string is a statement or a part of one: it has a keyword, and a sign that sentences lack.
func isSQL(text string) bool {
	text += " "
	return sqlWord.MatchString(text) && sqlSign.MatchString(text)
}

// sql adds the mutants of a literal that is SQL. A literal with escapes is left out: none has any.
func (w *walker) sql(n *ast.BasicLit) {
	text := n.Value[1 : len(n.Value)-1]
	if n.Value[0] == '"' && strings.Contains(text, `\`) {
		return
	}
	base := w.offset(n.Pos()) + 1
	for _, c := range sqlChanges(text) {
		w.add(c.kind, n, edit{start: base + c.start, end: base + c.end, text: c.text})
		if m := &w.found[len(w.found)-1]; c.kind == SQLTerm && strings.Contains(m.Site, "tenant_id") {
			m.Off = noRowSecurity
		}
	}
}

type sqlChange struct {
	edit

	kind Kind
}

// sqlChanges returns the mutants of a text, which may be a part of a statement.
// A dropped term stays in the statement, where it has no effect: otherwise Postgres could not tell the types of its
// parameters, and any test would fail.
func sqlChanges(text string) []sqlChange {
	s := statement{text: text, words: scan(text)}
	for i := range s.words {
		s.term(i)
		s.comparison(i)
		s.order(i)
		s.lock(i)
		s.limit(i)
	}
	return s.found
}

type statement struct {
	text  string
	words []word
	found []sqlChange
}

func (s *statement) at(i int) string {
	if i < 0 || i >= len(s.words) {
		return ""
	}
	return s.words[i].text
}

func (s *statement) add(kind Kind, start, end int, text string) {
	s.found = append(s.found, sqlChange{kind: kind, edit: edit{start: start, end: end, text: text}})
}

// clauses are the words that end a term or an order.
var clauses = []string{
	"and", "or", "where", "order", "group", "having", "limit", "offset", "for", "returning", "union", "except",
	"intersect", "join", "inner", "cross", "full", "set", "then", "else", "when", "window", "on", ",", ";",
}

// clauseEnd returns the index of the word after a part that begins at i and ends with one of the given words.
func (s *statement) clauseEnd(i int, ends []string) int {
	depth, between := s.words[i].depth, false
	for ; i < len(s.words); i++ {
		w := s.words[i]
		switch {
		case w.depth < depth:
			return i
		case w.depth > depth:
			continue
		case w.text == "between":
			between = true
		case w.text == "and" && between:
			between = false
		case w.text == "left" || w.text == "right":
			if s.at(i+1) == "join" {
				return i
			}
		case w.text == "from" && s.at(i-1) == "distinct": // is distinct from
		case w.text == "from" || slices.Contains(ends, w.text):
			return i
		}
	}
	return i
}

// term drops a term of a condition.
func (s *statement) term(i int) {
	switch s.at(i) {
	case "where", "and", "or", "when", "having":
	case "on":
		if s.at(i+1) == "conflict" || s.at(i+1) == "update" || s.at(i+1) == "delete" {
			return
		}
	default:
		return
	}
	if i+1 >= len(s.words) || s.words[i+1].depth < s.words[i].depth || s.isUpperBound(i) {
		return
	}
	end := s.clauseEnd(i+1, clauses)
	if end == i+1 || !isWhole(s.words[i+1:end]) {
		return
	}
	neutral := "(true or ("
	if s.at(i) == "or" || end < len(s.words) && s.words[end].text == "or" && s.words[end].depth == s.words[i].depth {
		neutral = "(false and ("
	}
	start, stop := s.words[i+1].start, s.words[end-1].end
	if s.text[start:stop] == "true" {
		return
	}
	s.add(SQLTerm, start, stop, neutral+s.text[start:stop]+"))")
}

// isUpperBound reports whether an `and` belongs to a `between`.
func (s *statement) isUpperBound(i int) bool {
	if s.at(i) != "and" {
		return false
	}
	for j := i - 1; j >= 0 && s.words[j].depth >= s.words[i].depth; j-- {
		if s.words[j].depth > s.words[i].depth {
			continue
		}
		switch s.at(j) {
		case "between":
			return true
		case "and", "or", "where", "on", "when":
			return false
		}
	}
	return false
}

// isWhole reports whether a term is complete: its brackets are closed, and no operator waits for another literal.
func isWhole(term []word) bool {
	last := term[len(term)-1]
	if last.depth != term[0].depth {
		return false
	}
	switch last.text {
	case "=", "<", ">", "<=", ">=", "<>", "!=", "+", "-", "*", "/", "||", "not", "is", "in", "any", "like", "ilike", ".",
		"::", "between", "exists", "(", "[", "case":
		return false
	}
	return true
}

var sqlComparisons = map[string]string{
	"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=", "!=": "=",
}

// comparison shifts a comparison, or tests for the opposite of null.
func (s *statement) comparison(i int) {
	w := s.words[i]
	if w.text == "is" && s.at(i+1) == "null" {
		s.add(SQLComparison, w.end, w.end, " not")
		return
	}
	if w.text == "is" && s.at(i+1) == "not" && s.at(i+2) == "null" {
		s.add(SQLComparison, w.end, s.words[i+1].end, "")
		return
	}
	if other, ok := sqlComparisons[w.text]; ok && !s.assigns(i) {
		s.add(SQLComparison, w.start, w.end, other)
	}
}

// assigns reports whether a `=` belongs to a `set`, or names an argument.
func (s *statement) assigns(i int) bool {
	if s.at(i) != "=" {
		return false
	}
	for j := i - 1; j >= 0 && s.words[j].depth >= s.words[i].depth; j-- {
		if s.words[j].depth > s.words[i].depth {
			continue
		}
		switch s.at(j) {
		case "set":
			return true
		case "where", "from", "on", "and", "or", "when", "select", "having", "returning":
			return false
		}
	}
	return false
}

// order turns the direction of each term of an order, and drops each term.
func (s *statement) order(i int) {
	if s.at(i) != "by" || s.at(i-1) != "order" || i+1 >= len(s.words) || s.words[i+1].depth < s.words[i].depth {
		return
	}
	ends := slices.DeleteFunc(slices.Clone(clauses), func(word string) bool { return word == "and" || word == "or" })
	for first := i + 1; first < len(s.words); {
		end := s.clauseEnd(first, ends)
		if end == first || !isWhole(s.words[first:end]) {
			return
		}
		more := end < len(s.words) && s.words[end].text == "," && s.words[end].depth == s.words[i].depth
		s.orderTerm(i, first, end, more)
		if !more || end+1 >= len(s.words) {
			return
		}
		first = end + 1
	}
}

// orderTerm adds the mutants of the term of an order from first to end, which may be followed by another.
func (s *statement) orderTerm(by, first, end int, more bool) {
	start, stop := s.words[first].start, s.words[end-1].end
	if slices.ContainsFunc(s.words[first:end], func(w word) bool { return w.text == "tenant_id" }) {
		return // all rows have the same
	}
	for j := first; j < end; j++ {
		if s.words[j].depth != s.words[by].depth {
			continue
		}
		switch s.at(j) {
		case "desc":
			s.add(SQLOrder, s.words[j].start, s.words[j].end, "asc")
			stop = 0
		case "asc":
			s.add(SQLOrder, s.words[j].start, s.words[j].end, "desc")
			stop = 0
		case "nulls":
			if stop != 0 {
				s.add(SQLOrder, s.words[j].start, s.words[j].start, "desc ")
				stop = 0
			}
		}
	}
	if stop != 0 {
		s.add(SQLOrder, stop, stop, " desc")
	}
	switch {
	case more && end+1 < len(s.words):
		s.add(SQLOrder, start, s.words[end+1].start, "")
	case !more && first > by+1:
		s.add(SQLOrder, s.words[first-1].start, s.words[end-1].end, "")
	}
}

// lock drops the lock of a row, or the waiting for it.
func (s *statement) lock(i int) {
	w := s.words[i]
	switch {
	case w.text == "skip" && s.at(i+1) == "locked":
		s.add(SQLLock, w.start, s.words[i+1].end, "")
	case w.text == "nowait":
		s.add(SQLLock, w.start, w.end, "")
	case w.text == "for":
		j := i + 1
		for slices.Contains([]string{"no", "key"}, s.at(j)) {
			j++
		}
		if s.at(j) != "update" && s.at(j) != "share" {
			return
		}
		if s.at(j+1) == "of" {
			j += 2
		}
		if s.at(j+1) == "skip" {
			j += 2
		}
		if s.at(j+1) == "nowait" {
			j++
		}
		if j < len(s.words) {
			s.add(SQLLock, w.start, s.words[j].end, "")
		}
	}
}

// limit raises a limit beyond any number of rows. Its parameter stays in the statement. A limit that is the length of
// a list of ids tells Postgres how many rows there are at most, and cuts none.
func (s *statement) limit(i int) {
	if s.at(i) != "limit" || i+1 >= len(s.words) || s.at(i+1) == "cardinality" {
		return
	}
	end := s.clauseEnd(i+1, clauses)
	if end == i+1 || !isWhole(s.words[i+1:end]) {
		return
	}
	start, stop := s.words[i+1].start, s.words[end-1].end
	s.add(SQLLimit, start, stop, "1000000000 + ("+s.text[start:stop]+")")
}
