package content

import (
	"bytes"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/printable"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
)

// Template is the text of a topic for a channel in a language: Go templates (text/template, and html/template for HTML)
// with the variables of the topic.
type Template struct {
	Topic   notify.Topic
	Channel delivery.Channel
	Locale  string // BCP 47, in canonical form
	Subject string // email's subject, push's title
	Body    string
	HTML    string // email; empty: made from the text
}

// functions are the functions that Berth adds. None of them loops, or makes a long text from a short one.
var functions = template.FuncMap{"upper": strings.ToUpper, "lower": strings.ToLower, "short": short}

// allowed are all functions that templates may call, including those of Go's template language.
var allowed = map[string]bool{
	"and": true, "or": true, "not": true, "eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true,
	"upper": true, "lower": true, "short": true,
}

// maxRendered limits the output of a template, in bytes.
const maxRendered = 256 << 10

// Check rejects a template that does not compile, uses a variable that its topic does not have, or lacks a part that
// its channel needs. It returns the template as it is stored. The errors are TEMPLATE_INVALID and INVALID_FIELD.
func (t Template) Check() (Template, error) {
	tag, err := language.Parse(t.Locale)
	if err != nil {
		return t, fault.Invalid("locale", "%q is not a language tag.", t.Locale)
	}
	t.Locale = tag.String()
	switch {
	case strings.TrimSpace(t.Body) == "":
		return t, fault.Invalid("template.body", "The body is required.")
	case t.Channel == delivery.SMS && t.Subject != "":
		return t, fault.Invalid("template.subject", "A text message has no subject.")
	case t.Channel != delivery.SMS && strings.TrimSpace(t.Subject) == "":
		return t, fault.Invalid("template.subject", "The subject is required.")
	case !printable.Lines(t.Subject):
		return t, fault.Invalid("template.subject", "The subject has control or invisible characters.")
	case t.Channel != delivery.Email && t.HTML != "":
		return t, fault.Invalid("template.html", "Only mails have HTML.")
	}
	// Render with all values set and with all values empty, so that conditions are tested both ways.
	for _, values := range []Values{Example(t.Topic, t.Locale), emptyValues(t.Topic)} {
		if _, err := t.fill(values); err != nil {
			return t, err
		}
	}
	return t, nil
}

// filled has the texts of a template after its variables are filled in.
type filled struct{ Subject, Body, HTML string }

// fill fills in values.
func (t Template) fill(values Values) (filled, error) {
	var f filled
	var err error
	if f.Subject, err = fillText("subject", t.Subject, values); err != nil {
		return f, err
	}
	f.Subject = strings.Join(strings.Fields(f.Subject), " ") // a header has one line
	if f.Body, err = fillText("body", t.Body, values); err != nil {
		return f, err
	}
	f.Body = strings.TrimSpace(f.Body)
	if t.HTML != "" {
		f.HTML, err = fillHTML("html", t.HTML, values)
	}
	return f, err
}

func fillText(field, text string, values Values) (string, error) {
	compiled, err := parseTemplate(field, text, values)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := compiled.Execute(&limitedWriter{to: &out, left: maxRendered}, map[string]any(values)); err != nil {
		return "", executionError(field, err)
	}
	return out.String(), nil
}

func fillHTML(field, text string, values Values) (string, error) {
	if _, err := parseTemplate(field, text, values); err != nil {
		return "", err
	}
	compiled, err := htmltemplate.New(field).Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return "", parseError(field, text, err)
	}
	var out bytes.Buffer
	if err := compiled.Execute(&limitedWriter{to: &out, left: maxRendered}, map[string]any(values)); err != nil {
		return "", executionError(field, err)
	}
	return out.String(), nil
}

// maxActions limits the actions of a template, and so the time that it takes to read, check and fill in.
const maxActions = 1000

// parseTemplate returns a template whose nodes are allowed.
func parseTemplate(field, text string, values Values) (*template.Template, error) {
	if actions := actionsOf(text); len(actions) > maxActions {
		return nil, invalidAt(field, text, actions[maxActions], fmt.Sprintf("there are more than %d actions", maxActions))
	}
	compiled, err := template.New(field).Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return nil, parseError(field, text, err)
	}
	return compiled, checkNodes(field, text, compiled.Tree, values)
}

// actionsOf returns where the actions of a template start.
func actionsOf(text string) []int {
	var starts []int
	for at := 0; ; at += len("{{") {
		next := strings.Index(text[at:], "{{")
		if next < 0 {
			return starts
		}
		at += next
		starts = append(starts, at)
	}
}

// limitedWriter returns errTooLong after a number of bytes.
type limitedWriter struct {
	to   io.Writer
	left int
}

var errTooLong = errors.New("the message is too long")

// Write implements io.Writer.
func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errTooLong
	}
	return w.to.Write(p)
}

// checkNodes rejects loops, nested templates, and unknown functions and variables, also in branches that are not taken.
// It is a security boundary: tenants write templates, and the service runs them for each message.
func checkNodes(field, text string, tree *parse.Tree, values Values) error {
	if tree == nil {
		return nil
	}
	var first error
	var check func(node parse.Node)
	list := func(nodes *parse.ListNode) {
		if nodes != nil {
			for _, n := range nodes.Nodes {
				check(n)
			}
		}
	}
	reject := func(node parse.Node, problem string) {
		if first == nil {
			first = invalidAt(field, text, int(node.Position()), problem)
		}
	}
	pipe := func(p *parse.PipeNode) {
		if p != nil {
			check(p)
		}
	}
	branch := func(b *parse.BranchNode) {
		pipe(b.Pipe)
		list(b.List)
		list(b.ElseList)
	}
	check = func(node parse.Node) {
		switch n := node.(type) {
		case *parse.ListNode:
			list(n)
		case *parse.ActionNode:
			pipe(n.Pipe)
		case *parse.PipeNode:
			for _, c := range n.Cmds {
				check(c)
			}
		case *parse.CommandNode:
			for _, a := range n.Args {
				check(a)
			}
		case *parse.IfNode:
			branch(&n.BranchNode)
		case *parse.WithNode:
			branch(&n.BranchNode)
		case *parse.ChainNode:
			check(n.Node)
		case *parse.IdentifierNode:
			if !allowed[n.Ident] {
				reject(n, fmt.Sprintf("there is no function %q", n.Ident))
			}
		case *parse.FieldNode:
			if _, has := values[n.Ident[0]]; !has || len(n.Ident) > 1 {
				reject(n, fmt.Sprintf("there is no variable %q", "."+strings.Join(n.Ident, ".")))
			}
		case *parse.RangeNode:
			reject(n, "range is not allowed")
		case *parse.TemplateNode:
			reject(n, "template is not allowed")
		}
	}
	list(tree.Root)
	return first
}

// errorPattern matches an error of the template packages. Errors of execution, "template: body:3:14: executing ...",
// have line and byte. Errors of parsing have only the line.
var errorPattern = regexp.MustCompile(`^(?:html/)?template: ?[a-z]+:(\d+)(?::(\d+))?: (?s:(.*))$`)

// executionError reads the position from an error of execution.
func executionError(field string, err error) error {
	parts := errorPattern.FindStringSubmatch(err.Error())
	if parts == nil {
		return invalidTemplate(field, 1, 1, err.Error())
	}
	line, _ := strconv.Atoi(parts[1]) // the pattern has digits here, and below
	column := 0                       // some errors of html/template have only the line
	if parts[2] != "" {
		column, _ = strconv.Atoi(parts[2])
	}
	problem := parts[3]
	if _, after, ok := strings.Cut(problem, ">: "); ok && strings.HasPrefix(problem, "executing ") {
		problem = after
	}
	if name, ok := strings.CutPrefix(problem, "map has no entry for key "); ok {
		problem = "there is no variable " + name
	}
	return invalidTemplate(field, line, column+1, problem)
}

// parseError finds the position of an error of parsing: the first action after which the text so far is not the
// beginning of a valid template. Errors of the parser have only the line.
func parseError(field, text string, err error) error {
	problem := err.Error()
	if parts := errorPattern.FindStringSubmatch(problem); parts != nil {
		problem = parts[3]
	}
	actions := actionsOf(text)
	first, _ := slices.BinarySearchFunc(actions, true, func(start int, _ bool) int {
		end := strings.Index(text[start:], "}}")
		if end < 0 {
			return 0
		}
		_, failed := template.New("t").Funcs(functions).Parse(text[:start+end+len("}}")])
		if failed == nil || strings.HasSuffix(failed.Error(), "unexpected EOF") {
			return -1 // the parser stops at the first error, so those before have none
		}
		return 0
	})
	at := len(text) // the text ends too early
	if first < len(actions) {
		at = actions[first]
	}
	return invalidAt(field, text, at, problem)
}

func invalidAt(field, text string, at int, problem string) error {
	before := text[:min(at, len(text))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]) + 1
	return invalidTemplate(field, line, column, problem)
}

func invalidTemplate(field string, line, column int, problem string) error {
	return fault.New(fault.InvalidArgument, fault.TemplateInvalid,
		"Line %d, column %d of %s: %s.", line, column, field, problem).
		WithMetadata("line", strconv.Itoa(line)).WithMetadata("column", strconv.Itoa(column)).WithField("template." + field)
}

// short cuts a text to at most n characters. The last one is then a dot, if n is large enough.
func short(text string, n int) string {
	if n <= 0 || utf8.RuneCountInString(text) <= n {
		return text
	}
	cut := []rune(text)[:n]
	if n > 3 {
		return strings.TrimRight(string(cut[:n-1]), " ,.-") + "."
	}
	return string(cut)
}
