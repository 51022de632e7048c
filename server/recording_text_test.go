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
	"github.com/shoenig/test/must"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
)

// placeholders replaces values that differ between runs with stable names: the first session becomes <session-1>.
type placeholders struct {
	known map[string]string
	count map[string]int
}

func newPlaceholders() *placeholders {
	return &placeholders{known: make(map[string]string), count: make(map[string]int)}
}

// set sets the name of an id.
func (p *placeholders) set(id, name string) { p.known[id] = "<" + name + ">" }

func (p *placeholders) of(text, kind string) string {
	if _, ok := p.known[text]; !ok {
		p.count[kind]++
		p.set(text, fmt.Sprintf("%s-%d", kind, p.count[kind]))
	}
	return p.known[text]
}

func (p *placeholders) clone() *placeholders {
	return &placeholders{known: maps.Clone(p.known), count: maps.Clone(p.count)}
}

var (
	anyUUID     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyTime     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	anyCalendar = regexp.MustCompile(`\b(\d{8}T\d{4})\d\dZ`)
	anySecret   = regexp.MustCompile(`berth_[A-Za-z0-9_-]{10,}|[A-Za-z0-9_.-]{32,}`)
	anySequence = regexp.MustCompile(`SEQUENCE:\d+`) // seconds since a booking was created
	anyCode     = regexp.MustCompile(`\b([12]) \d{6}\b`)
	anyPin      = regexp.MustCompile(
		`\b\d{6}\b( (?:is your|ist Ihr|est votre) )|((?:code|Code) (?:[^.\n]{0,60} )?(?:is|ist|est) )\d{6}\b`,
	)
	anyDNS      = regexp.MustCompile(`(berth-)[0-9a-f]{10}\b|(berth=)[a-z2-7]{26}|(; p=)MII[A-Za-z0-9+/=]+`)
	anyWebhook  = regexp.MustCompile(`(/twilio/[^/]+\.)[0-9a-f]{8}/`)
	onlyDigits  = regexp.MustCompile(`^\d{6}$`)
	anyDuration = regexp.MustCompile(`^-?\d+\.\d+s$`)
)

// bulkToken is the length of the token of a preview, which is shorter than secrets are.
const bulkToken = 22

// normalizeText replaces the parts of a text that differ between runs. Times of the script's clock are truncated to the
// minute. The text is the value of a key in an object; owner is the object's own key.
func (p *placeholders) normalizeText(text, key, owner string) string {
	switch {
	case key == "cursor" || key == "endCursor":
		return "<cursor>" // several positions can be the end of the log
	case len(text) > 100_000:
		return fmt.Sprintf("%s… (%d bytes)", text[:20], len(text))
	case key == "code" && onlyDigits.MatchString(text):
		return "<code>"
	case key == "csv":
		file, _ := base64.StdEncoding.DecodeString(text)
		return string(file)
	case strings.HasSuffix(strings.ToLower(key), "pagetoken") && len(text) > len("none"):
		return p.of(text, "page")
	case key == "token" && len(text) == bulkToken:
		return p.of(text, "token")
	case anyDuration.MatchString(text):
		d, _ := time.ParseDuration(text)
		if d > 365*24*time.Hour {
			return "<real time>" // it runs from the script's clock to the test's clock
		}
		return fmt.Sprintf("<about %s>", d.Truncate(time.Minute))
	}
	kind := kindOf(key, owner)
	text = strings.ReplaceAll(text, "\u00a0", " ") // Protobuf randomly puts them into errors
	text = anyUUID.ReplaceAllStringFunc(text, func(id string) string { return p.of(id, kind) })
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
	text = anyPin.ReplaceAllString(text, "$2<code>$1")
	text = anyDNS.ReplaceAllString(text, "$1$2$3<secret>")
	text = anyWebhook.ReplaceAllString(text, "$1<checksum>/")
	text = anySecret.ReplaceAllStringFunc(text, func(found string) string {
		word := !strings.ContainsFunc(found, unicode.IsUpper) || !strings.ContainsFunc(found, unicode.IsLower)
		if word && !strings.HasPrefix(found, "berth_") {
			return found
		}
		return "<secret>" // some are equal within a second, so they are not numbered
	})
	return text
}

// kindOf returns the kind of an id: "bookingId" is a booking's, and "id" is that of its object.
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

// An object is a JSON object that keeps the order of its fields.
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

// parseJSON parses a value into objects, lists and scalars.
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

// normalize returns a value whose texts are the same in every run.
func (p *placeholders) normalize(value any, key, owner string) any {
	switch v := value.(type) {
	case object:
		o := make(object, len(v))
		for i, f := range v {
			o[i] = field{f.key, p.normalize(f.value, f.key, key)}
		}
		return o
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = p.normalize(item, key, owner)
		}
		return list
	case string:
		return p.normalizeText(v, key, owner)
	}
	return value
}

const textWidth = 140

// render formats a value: on one line if it fits, otherwise with as many short fields on each line as fit.
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
		if prefix != "" && last >= 0 && !strings.Contains(lines[last]+text, "\n") &&
			len(inner)+len(lines[last])+len(text) < textWidth {
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
				text += "\n" + strings.TrimRight(inner+showTrailingSpaces(strings.TrimRight(line, "\r\n")), " ")
			}
			return text
		}
	}
	return line
}

// showTrailingSpaces replaces spaces at the end of a line with a visible character.
func showTrailingSpaces(line string) string {
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

// A callError is an error in Connect's format.
type callError struct {
	Code    string
	Message string
	Details []struct{ Type, Value string }

	info       errdetails.ErrorInfo
	violations validatepb.Violations
	others     []string // types of further details
}

func (e *callError) reason() string { return e.info.GetReason() }

func (e *callError) read() error {
	for _, detail := range e.Details {
		raw, err := base64.RawStdEncoding.DecodeString(detail.Value)
		if err != nil {
			return err
		}
		switch detail.Type {
		case "google.rpc.ErrorInfo":
			err = proto.Unmarshal(raw, &e.info)
		case "buf.validate.Violations":
			err = proto.Unmarshal(raw, &e.violations)
		default:
			e.others = append(e.others, detail.Type)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeJSON records a JSON value.
func (r *recording) writeJSON(raw []byte) {
	r.t.Helper()
	value, err := parseJSON(raw)
	must.False(r.t, err != nil && err != io.EOF, must.Sprintf("%v: %s", err, raw))
	fmt.Fprintln(&r.text, render(r.names.normalize(value, "", ""), ""))
}

// recordedHeaders are the headers of responses that are part of the contract.
var recordedHeaders = []string{"X-Booking-Status", "X-Idempotent", "X-Idempotency-Key", "WWW-Authenticate"}

func (r *recording) writeResult(got callResult) {
	r.t.Helper()
	var headers strings.Builder
	for _, name := range recordedHeaders {
		for _, value := range got.header.Values(name) {
			fmt.Fprintf(&headers, " [%s: %s]", name, value)
		}
	}
	if got.err == nil {
		r.printf("← OK%s\n", headers.String())
	}
	for _, message := range got.messages {
		r.writeJSON(message)
	}
	if f := got.err; f != nil {
		fmt.Fprintf(
			&r.text, "← %s %s%s\n%s\n", f.Code, f.reason(), headers.String(), r.names.normalizeText(f.Message, "", ""),
		)
		metadata := f.info.GetMetadata()
		for _, key := range slices.Sorted(maps.Keys(metadata)) {
			r.printf("  %s: %s\n", key, r.names.normalizeText(metadata[key], key, ""))
		}
		for _, v := range f.violations.GetViolations() {
			fmt.Fprintf(
				&r.text, "  violation of %s: %q [%s]\n", fieldPath(v.GetField()), r.names.normalizeText(v.GetMessage(), "", ""),
				v.GetRuleId(),
			)
		}
		for _, other := range f.others {
			r.printf("  detail: %s\n", other)
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
