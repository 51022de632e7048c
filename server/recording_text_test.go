package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
)

// names gives whatever differs from run to run a name that does not: the first session that is seen is <session-1>.
type names struct {
	known map[string]string
	count map[string]int
}

func newNames() *names { return &names{known: make(map[string]string), count: make(map[string]int)} }

// set gives an id a name of its own.
func (n *names) set(id, name string) { n.known[id] = "<" + name + ">" }

func (n *names) of(text, kind string) string {
	if _, ok := n.known[text]; !ok {
		n.count[kind]++
		n.set(text, fmt.Sprintf("%s-%d", kind, n.count[kind]))
	}
	return n.known[text]
}

func (n *names) clone() *names { return &names{known: maps.Clone(n.known), count: maps.Clone(n.count)} }

var (
	anyUUID     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyTime     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	anyCalendar = regexp.MustCompile(`\b(\d{8}T\d{4})\d\dZ`)
	anySecret   = regexp.MustCompile(`berth_[A-Za-z0-9_-]{10,}|[A-Za-z0-9_.-]{32,}`)
	anySequence = regexp.MustCompile(`SEQUENCE:\d+`) // seconds since a booking was made
	anyCode     = regexp.MustCompile(`\b([12]) \d{6}\b`)
	anyDuration = regexp.MustCompile(`^-?\d+\.\d+s$`)
)

// clean replaces what differs from run to run in a text that stands under a key of an object. Times of the script's clock
// are cut to the minute.
func (n *names) clean(text, key, owner string) string {
	switch {
	case key == "cursor" || key == "endCursor":
		return "<cursor>" // the end of the log may be several positions
	case len(text) > 100_000:
		return fmt.Sprintf("%s… (%d bytes)", text[:20], len(text))
	case key == "csv":
		file, _ := base64.StdEncoding.DecodeString(text)
		return string(file)
	case strings.HasSuffix(strings.ToLower(key), "pagetoken") && len(text) > len("none"):
		return n.of(text, "page")
	case anyDuration.MatchString(text):
		d, _ := time.ParseDuration(text)
		if d > 365*24*time.Hour {
			return "<real time>" // reckoned from the clock of the script to that of the test
		}
		return fmt.Sprintf("<about %s>", d.Truncate(time.Minute))
	}
	kind := kindOf(key, owner)
	text = strings.ReplaceAll(text, "\u00a0", " ") // encoders of messages put them into errors at random
	text = anyUUID.ReplaceAllStringFunc(text, func(id string) string { return n.of(id, kind) })
	text = anyTime.ReplaceAllStringFunc(text, func(raw string) string {
		at, err := time.Parse(time.RFC3339Nano, raw)
		if err != nil || at.Year() > 2025 {
			return "<real time>"
		}
		return at.Truncate(time.Minute).Format("2006-01-02T15:04Z")
	})
	text = anyCalendar.ReplaceAllString(text, "${1}Z")
	text = anySequence.ReplaceAllString(text, "SEQUENCE:<n>")
	text = anyCode.ReplaceAllString(text, "$1 <code>")
	text = anySecret.ReplaceAllStringFunc(text, func(found string) string {
		word := !strings.ContainsFunc(found, unicode.IsUpper) || !strings.ContainsFunc(found, unicode.IsLower)
		if word && !strings.HasPrefix(found, "berth_") {
			return found
		}
		return "<secret>" // some are the same within a second
	})
	return text
}

// kindOf says what an id is of: that of "bookingId" is a booking's, "id" is that of what it stands in.
func kindOf(key, owner string) string {
	if key == "id" {
		key = owner
	}
	key = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(key, "s"), "Id"), "_id"), "_")
	if i := strings.LastIndexFunc(key, func(c rune) bool { return c == '_' || unicode.IsUpper(c) }); i >= 0 {
		key = strings.TrimPrefix(key[i:], "_")
	}
	switch key = strings.ToLower(key); key {
	case "":
		return "id"
	case "entrie":
		return "entry"
	case "serie":
		return "series"
	}
	return key
}

// An object keeps the order of its fields.
type object []field

type field struct {
	key   string
	value any
}

func (o object) get(key string) any {
	for _, f := range o {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

// parseJSON reads a value as objects, lists and scalars.
func parseJSON(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			o = append(o, field{fmt.Sprint(key), value})
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			value, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := d.Token()
		return list, err
	}
	return token, nil
}

// cleaned gives a value whose texts are the same in every run.
func (n *names) cleaned(value any, key, owner string) any {
	switch v := value.(type) {
	case object:
		o := make(object, len(v))
		for i, f := range v {
			o[i] = field{f.key, n.cleaned(f.value, f.key, key)}
		}
		return o
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = n.cleaned(item, key, owner)
		}
		return list
	case string:
		return n.clean(v, key, owner)
	}
	return value
}

const textWidth = 140

// render writes a value: what fits on a line on one line, and as many short fields on each line as fit.
func render(value any, indent string) string {
	line := oneLine(value)
	if len(indent)+len(line) <= textWidth && !strings.Contains(line, `\n`) {
		return line
	}
	inner := indent + "  "
	var lines []string
	add := func(prefix string, value any) {
		text := prefix + render(value, inner)
		last := len(lines) - 1
		if prefix != "" && last >= 0 && !strings.Contains(lines[last]+text, "\n") && len(inner)+len(lines[last])+len(text) < textWidth {
			lines[last] += ", " + text
			return
		}
		lines = append(lines, text)
	}
	switch v := value.(type) {
	case object:
		for _, f := range v {
			add(f.key+": ", f.value)
		}
		return "{\n" + inner + strings.Join(lines, "\n"+inner) + "\n" + indent + "}"
	case []any:
		for _, item := range v {
			add("", item)
		}
		return "[\n" + inner + strings.Join(lines, "\n"+inner) + "\n" + indent + "]"
	case string:
		if strings.Contains(v, "\n") {
			text := "|"
			for line := range strings.Lines(v) {
				text += "\n" + strings.TrimRight(inner+visible(strings.TrimRight(line, "\r\n")), " ")
			}
			return text
		}
	}
	return line
}

// visible shows spaces at the end of a line.
func visible(line string) string {
	kept := strings.TrimRight(line, " ")
	return kept + strings.Repeat("␣", len(line)-len(kept))
}

func oneLine(value any) string {
	var parts []string
	switch v := value.(type) {
	case object:
		for _, f := range v {
			parts = append(parts, f.key+": "+oneLine(f.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		for _, item := range v {
			parts = append(parts, oneLine(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return fmt.Sprintf("%q", v)
	case nil:
		return "null"
	}
	return fmt.Sprint(value)
}

// A failure is an error as Connect sends it.
type failure struct {
	Code    string
	Message string
	Details []struct{ Type, Value string }

	info       errdetails.ErrorInfo
	violations validatepb.Violations
	others     []string // types of further details
}

func (f *failure) reason() string { return f.info.GetReason() }

func (f *failure) read() error {
	for _, detail := range f.Details {
		raw, err := base64.RawStdEncoding.DecodeString(detail.Value)
		if err != nil {
			return err
		}
		switch detail.Type {
		case "google.rpc.ErrorInfo":
			err = proto.Unmarshal(raw, &f.info)
		case "buf.validate.Violations":
			err = proto.Unmarshal(raw, &f.violations)
		default:
			f.others = append(f.others, detail.Type)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write writes a value of JSON down.
func (r *recording) write(raw []byte) {
	r.t.Helper()
	value, err := parseJSON(raw)
	if err != nil && err != io.EOF {
		r.t.Fatalf("%v: %s", err, raw)
	}
	fmt.Fprintln(&r.text, render(r.names.cleaned(value, "", ""), ""))
}

// told are the headers of answers that belong to the contract.
var told = []string{"X-Booking-Status", "X-Idempotent", "X-Idempotency-Key", "WWW-Authenticate"}

func (r *recording) writeReply(got reply) {
	r.t.Helper()
	var headers strings.Builder
	for _, name := range told {
		for _, value := range got.header.Values(name) {
			fmt.Fprintf(&headers, " [%s: %s]", name, value)
		}
	}
	if got.failure == nil {
		fmt.Fprintf(&r.text, "← OK%s\n", headers.String())
	}
	for _, message := range got.messages {
		r.write(message)
	}
	if f := got.failure; f != nil {
		fmt.Fprintf(&r.text, "← %s %s%s\n%s\n", f.Code, f.reason(), headers.String(), r.names.clean(f.Message, "", ""))
		metadata := f.info.GetMetadata()
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			fmt.Fprintf(&r.text, "  %s: %s\n", key, r.names.clean(metadata[key], key, ""))
		}
		for _, v := range f.violations.GetViolations() {
			fmt.Fprintf(&r.text, "  violation of %s: %q [%s]\n", fieldPath(v.GetField()), r.names.clean(v.GetMessage(), "", ""), v.GetRuleId())
		}
		for _, other := range f.others {
			fmt.Fprintf(&r.text, "  detail: %s\n", other)
		}
	}
	r.text.WriteString("\n")
}

func fieldPath(path *validatepb.FieldPath) string {
	var names []string
	for _, e := range path.GetElements() {
		name := e.GetFieldName()
		if e.Subscript != nil {
			name += fmt.Sprintf("[%d]", e.GetIndex())
		}
		names = append(names, name)
	}
	return strings.Join(names, ".")
}
