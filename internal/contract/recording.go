package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// An exchange is a call in the recordings, which a test of the server makes and compares.
type exchange struct {
	title   string
	rpc     string // "BookingService/Book"
	request any
	headers []string // of the response
	answer  any      // nil after an error

	code, reason, message string // of an error
	metadata              map[string]string
}

var (
	call  = regexp.MustCompile(`^\S+ → (\w+/\w+)( \[.*\])?$`)
	reply = regexp.MustCompile(`^← (OK|\w+ \w+)((?: \[[^\]]*\])*)$`)
	held  = regexp.MustCompile(`^  ([a-z_]+): (.*)$`)
)

// readRecordings returns the exchanges of all recordings below the root of the repository, in their order.
func readRecordings(root string) ([]exchange, error) {
	files, err := filepath.Glob(filepath.Join(root, "server", "testdata", "recording", "*.txt"))
	if err != nil {
		return nil, err
	}
	var all []exchange
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for section := range strings.SplitSeq(string(text), "\n--- ") {
			e, err := parseExchange(section)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", filepath.Base(file), e.title, err)
			}
			if e.rpc != "" {
				all = append(all, e)
			}
		}
		logs, err := readLogs(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		all = append(all, logs...)
	}
	return all, nil
}

// readLogs returns what a recording has besides calls that are documented: the log of events at its end.
func readLogs(text string) ([]exchange, error) {
	var all []exchange
	for section := range strings.SplitSeq(text, "\n=== ") {
		title, log, _ := strings.Cut(section, "\n")
		if !strings.HasSuffix(title, ": events") {
			continue
		}
		events, err := parseValue("[" + log + "]")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", title, err)
		}
		all = append(all, exchange{title: title, answer: events})
	}
	return all, nil
}

// parseExchange reads one call with its answer. What is recorded besides calls has no RPC.
func parseExchange(section string) (exchange, error) {
	section, _, _ = strings.Cut(section, "\n=== ")
	var e exchange
	title, text, _ := strings.Cut(section, "\n")
	e.title = title
	first, text, _ := strings.Cut(text, "\n")
	found := call.FindStringSubmatch(first)
	sent, got, ok := strings.Cut(text, "\n← ")
	if found == nil || !ok {
		return e, nil
	}
	status, body, _ := strings.Cut(got, "\n")
	replied := reply.FindStringSubmatch("← " + status)
	if replied == nil {
		return e, nil
	}
	e.rpc = found[1]
	for header := range strings.SplitSeq(replied[2], "]") {
		if header = strings.TrimPrefix(header, " ["); header != "" {
			e.headers = append(e.headers, header)
		}
	}
	var err error
	if replied[1] != "OK" {
		e.code, e.reason, _ = strings.Cut(replied[1], " ")
		var lines string
		e.message, lines, _ = strings.Cut(body, "\n")
		for line := range strings.Lines(lines) {
			if m := held.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
				if e.metadata == nil {
					e.metadata = make(map[string]string)
				}
				e.metadata[m[1]] = filled(m[2])
			}
		}
		e.message = filled(e.message)
		return e, nil
	}
	if e.request, err = parseValue(sent); err != nil {
		return e, err
	}
	e.answer, err = parseValue(body)
	return e, err
}

// A member is one of an object, whose order is kept.
type member struct {
	key   string
	value any
}

// MarshalJSON is that of json.Marshaler.
//
//nolint:unparam // as encoding/json has it
func (m members) MarshalJSON() ([]byte, error) {
	var text strings.Builder
	for i, one := range m {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "%q:%s", one.key, pretty(one.value))
	}
	return []byte("{" + text.String() + "}"), nil
}

type members []member

// A scanner reads the values of a recording: JSON, but that keys have no quotes, lines need no commas, and a text of
// several lines is a bar and its lines, indented.
type scanner struct {
	text string
	at   int
}

func parseValue(text string) (value any, err error) {
	defer func() {
		if e, ok := recover().(scanError); ok {
			err = e
		}
	}()
	s := &scanner{text: text}
	return s.value(), nil
}

type scanError struct{ error }

func (s *scanner) fail(format string, args ...any) {
	panic(scanError{fmt.Errorf("at %d: "+format, append([]any{s.at}, args...)...)})
}

func (s *scanner) skip() {
	for s.at < len(s.text) && strings.ContainsRune(" \n,", rune(s.text[s.at])) {
		s.at++
	}
}

func (s *scanner) peek() byte {
	if s.skip(); s.at == len(s.text) {
		s.fail("the text ends")
	}
	return s.text[s.at]
}

var word = regexp.MustCompile(`^[^\s,:\]}]+`)

func (s *scanner) word() string {
	found := word.FindString(s.text[s.at:])
	if found == "" {
		s.fail("there is no word")
	}
	s.at += len(found)
	return found
}

func (s *scanner) value() any {
	switch s.peek() {
	case '{':
		s.at++
		all := members{}
		for s.peek() != '}' {
			key := s.word()
			if s.peek() != ':' {
				s.fail("there is no colon after %s", key)
			}
			s.at++
			value := s.value()
			switch text, _ := value.(string); key {
			case "csv":
				value = base64.StdEncoding.EncodeToString([]byte(text))
			case "expiresIn":
				value = "900s" // a recording has no length that the server's clock and the test's see differently
			}
			all = append(all, member{key, value})
		}
		s.at++
		return all
	case '[':
		s.at++
		all := []any{}
		for s.peek() != ']' {
			all = append(all, s.value())
		}
		s.at++
		return all
	case '"':
		return s.quoted()
	case '|':
		return s.block()
	}
	switch text := s.word(); text {
	case "true", "false":
		return text == "true"
	case "null":
		return nil
	default:
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			s.fail("%q is no value", text)
		}
		return json.Number(text)
	}
}

func (s *scanner) quoted() string {
	quoted, err := strconv.QuotedPrefix(s.text[s.at:])
	if err != nil {
		s.fail("%w", err)
	}
	s.at += len(quoted)
	text, err := strconv.Unquote(quoted)
	if err != nil {
		s.fail("%w", err)
	}
	return filled(text)
}

// block reads a text of several lines: those that are indented by more than the line of its bar.
func (s *scanner) block() string {
	start := strings.LastIndexByte(s.text[:s.at], '\n') + 1
	outer := len(s.text[start:s.at]) - len(strings.TrimLeft(s.text[start:s.at], " "))
	s.at += len("|\n")
	var lines []string
	for s.at < len(s.text) {
		line, _, _ := strings.Cut(s.text[s.at:], "\n")
		if trimmed := strings.TrimLeft(line, " "); trimmed != "" && len(line)-len(trimmed) <= outer {
			break
		}
		lines = append(lines, strings.ReplaceAll(strings.TrimPrefix(line, strings.Repeat(" ", outer+2)), "␣", " "))
		s.at = min(s.at+len(line)+1, len(s.text))
	}
	return filled(strings.Join(lines, "\n"))
}

var (
	placeholder = regexp.MustCompile(`<(?:about )?[a-z0-9 -]+>`)
	minute      = regexp.MustCompile(`\b(\d{4}-\d\d-\d\dT\d\d:\d\d)Z`)
	about       = regexp.MustCompile(`^<about (\S+)>$`)
)

// filled puts values where a recording has the names of what differs in each run. Secrets, cursors and codes keep them.
func filled(text string) string {
	if found := about.FindStringSubmatch(text); found != nil {
		if d, err := time.ParseDuration(found[1]); err == nil {
			return fmt.Sprintf("%ds", int(d.Seconds()))
		}
	}
	text = minute.ReplaceAllString(text, "$1:00Z")
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		switch name = strings.Trim(name, "<>"); {
		case name == "real time":
			return "2024-06-05T08:00:00Z"
		case slices.Contains([]string{"cursor", "secret", "code", "checksum", "n"}, name),
			strings.HasPrefix(name, "page-"), strings.HasPrefix(name, "token-"):
			return "<" + name + ">"
		}
		return exampleID(name)
	})
}

// exampleID returns the id that examples have for a name: a UUIDv7 as of June 2024.
func exampleID(name string) string {
	sum := sha256.Sum256([]byte(name))
	hex := fmt.Sprintf("%x", sum)
	return fmt.Sprintf("018fe%s-%s-7%s-8%s-%s", hex[:3], hex[3:7], hex[7:10], hex[10:13], hex[13:25])
}

// jsonOf returns a message as JSON.
func jsonOf(m proto.Message) string {
	text, err := protojson.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// matches reports whether a value is a message as the contract has it.
func matches(value any, m protoreflect.MessageType) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return protojson.Unmarshal(text, m.New().Interface())
}

// eventsIn returns the events in a value.
func eventsIn(value any) []members {
	var found []members
	switch v := value.(type) {
	case members:
		if kind, _ := v.get("type").(string); strings.HasPrefix(kind, "EVENT_TYPE_") {
			found = append(found, v)
		}
		for _, one := range v {
			found = append(found, eventsIn(one.value)...)
		}
	case []any:
		for _, one := range v {
			found = append(found, eventsIn(one)...)
		}
	}
	return found
}

func (m members) get(key string) any {
	if i := slices.IndexFunc(m, func(one member) bool { return one.key == key }); i >= 0 {
		return m[i].value
	}
	return nil
}
