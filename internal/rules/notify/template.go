package notify

import (
	"bytes"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/berthhq/berth/internal/fault"
)

// Template is the wording of a topic for a channel in a language: Go templates (text/template, and html/template for HTML)
// over the variables of the topic.
type Template struct {
	Topic   Topic
	Channel Channel
	Locale  string // BCP 47, in canonical form
	Subject string // email's subject, push's title
	Body    string
	HTML    string // email; empty: made of the text
}

// functions are all that templates may call. None of them loops, or makes much out of little.
var functions = template.FuncMap{"upper": strings.ToUpper, "lower": strings.ToLower, "short": short}

// allowed are the functions of the language itself that may be called, too.
var allowed = map[string]bool{
	"and": true, "or": true, "not": true, "eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true,
	"upper": true, "lower": true, "short": true,
}

// maxRendered bounds what a template makes, in bytes.
const maxRendered = 256 << 10

// Check refuses a wording that does not compile, uses what its topic does not have, or lacks a part that its
// channel needs. It gives the template as it is kept. Errors: TEMPLATE_INVALID, INVALID_FIELD.
func (t Template) Check() (Template, error) {
	tag, err := language.Parse(t.Locale)
	if err != nil {
		return t, fault.Invalid("template.locale", "%q is no language.", t.Locale)
	}
	t.Locale = tag.String()
	switch {
	case strings.TrimSpace(t.Body) == "":
		return t, fault.Invalid("template.body", "The body is needed.")
	case t.Channel == SMS && t.Subject != "":
		return t, fault.Invalid("template.subject", "A text message has no subject.")
	case t.Channel != SMS && strings.TrimSpace(t.Subject) == "":
		return t, fault.Invalid("template.subject", "The subject is needed.")
	case t.Channel != Email && t.HTML != "":
		return t, fault.Invalid("template.html", "Only mails have HTML.")
	}
	// What holds for one set of values must hold for all: conditions are tried both ways.
	for _, values := range []Values{Example(t.Topic, t.Locale), Values{}.complete(t.Topic)} {
		if _, err := t.fill(values); err != nil {
			return t, err
		}
	}
	return t, nil
}

// filled are the texts of a template with its variables put in.
type filled struct{ Subject, Body, HTML string }

// fill puts values in.
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
	compiled, err := template.New(field).Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return "", notCompiled(field, text, err)
	}
	if err := harmless(field, text, compiled.Tree, values); err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := compiled.Execute(&bounded{to: &out, left: maxRendered}, map[string]any(values)); err != nil {
		return "", refusal(field, err)
	}
	return out.String(), nil
}

func fillHTML(field, text string, values Values) (string, error) {
	plain, err := template.New(field).Funcs(functions).Parse(text)
	if err != nil {
		return "", notCompiled(field, text, err)
	}
	if err := harmless(field, text, plain.Tree, values); err != nil {
		return "", err
	}
	compiled, err := htmltemplate.New(field).Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return "", notCompiled(field, text, err)
	}
	var out bytes.Buffer
	if err := compiled.Execute(&bounded{to: &out, left: maxRendered}, map[string]any(values)); err != nil {
		return "", refusal(field, err)
	}
	return out.String(), nil
}

// bounded refuses to write more than so much.
type bounded struct {
	to   io.Writer
	left int
}

var errTooLong = errors.New("the message is too long")

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errTooLong
	}
	return b.to.Write(p)
}

// harmless refuses loops, further templates, and functions and variables that are not there, in branches not taken too: tenants
// write templates, and the service runs them for each message.
func harmless(field, text string, tree *parse.Tree, values Values) error {
	if tree == nil {
		return nil
	}
	var wrong error
	var look func(node parse.Node)
	list := func(nodes *parse.ListNode) {
		if nodes != nil {
			for _, n := range nodes.Nodes {
				look(n)
			}
		}
	}
	refuse := func(node parse.Node, what string) {
		if wrong == nil {
			wrong = invalidAt(field, text, int(node.Position()), what)
		}
	}
	pipe := func(p *parse.PipeNode) {
		if p != nil {
			look(p)
		}
	}
	branch := func(b *parse.BranchNode) {
		pipe(b.Pipe)
		list(b.List)
		list(b.ElseList)
	}
	look = func(node parse.Node) {
		switch n := node.(type) {
		case *parse.ListNode:
			list(n)
		case *parse.ActionNode:
			pipe(n.Pipe)
		case *parse.PipeNode:
			for _, c := range n.Cmds {
				look(c)
			}
		case *parse.CommandNode:
			for _, a := range n.Args {
				look(a)
			}
		case *parse.IfNode:
			branch(&n.BranchNode)
		case *parse.WithNode:
			branch(&n.BranchNode)
		case *parse.ChainNode:
			look(n.Node)
		case *parse.IdentifierNode:
			if !allowed[n.Ident] {
				refuse(n, fmt.Sprintf("there is no function %q", n.Ident))
			}
		case *parse.FieldNode:
			if _, has := values[n.Ident[0]]; !has || len(n.Ident) > 1 {
				refuse(n, fmt.Sprintf("there is no variable %q", "."+strings.Join(n.Ident, ".")))
			}
		case *parse.RangeNode:
			refuse(n, "range is not allowed")
		case *parse.TemplateNode:
			refuse(n, "template is not allowed")
		}
	}
	list(tree.Root)
	return wrong
}

// At "template: body:3:14: executing ..." the language names line and byte; where it does not compile, the line alone.
var where = regexp.MustCompile(`^(?:html/)?template: ?[a-z]+:(\d+)(?::(\d+))?: (?s:(.*))$`)

// refusal reads the position out of an error of the execution.
func refusal(field string, err error) error {
	parts := where.FindStringSubmatch(err.Error())
	if parts == nil {
		return invalidTemplate(field, 1, 1, err.Error())
	}
	line, _ := strconv.Atoi(parts[1])
	column := 0 // html/template knows the line alone, for some errors
	if parts[2] != "" {
		column, _ = strconv.Atoi(parts[2])
	}
	what := parts[3]
	if _, behind, ok := strings.Cut(what, ">: "); ok && strings.HasPrefix(what, "executing ") {
		what = behind
	}
	if name, ok := strings.CutPrefix(what, "map has no entry for key "); ok {
		what = "there is no variable " + name
	}
	return invalidTemplate(field, line, column+1, what)
}

// notCompiled finds the position of what does not compile: the first action with which the text before it
// stops being the beginning of a template.
func notCompiled(field, text string, err error) error {
	what := err.Error()
	if parts := where.FindStringSubmatch(what); parts != nil {
		what = parts[3]
	}
	at := 0
	for at < len(text) {
		open := strings.Index(text[at:], "{{")
		if open < 0 {
			at = len(text) // it ends too early
			break
		}
		open += at
		end := strings.Index(text[open:], "}}")
		if end < 0 {
			at = open
			break
		}
		end += open + len("}}")
		_, failed := template.New("t").Funcs(functions).Parse(text[:end])
		if failed != nil && !strings.HasSuffix(failed.Error(), "unexpected EOF") {
			at = open
			break
		}
		at = end
	}
	return invalidAt(field, text, at, what)
}

func invalidAt(field, text string, at int, what string) error {
	before := text[:min(at, len(text))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]) + 1
	return invalidTemplate(field, line, column, what)
}

func invalidTemplate(field string, line, column int, what string) error {
	return fault.New(fault.InvalidArgument, fault.TemplateInvalid, "Line %d, column %d of %s: %s.", line, column, field, what).
		With("line", strconv.Itoa(line)).With("column", strconv.Itoa(column)).In("template." + field)
}

// short cuts a text to at most n characters, the last of which says that it was cut.
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
