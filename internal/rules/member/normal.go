package member

import (
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/language"

	"github.com/berthhq/berth/internal/fault"
)

// Limits of what a membership says, in characters.
const (
	maxName     = 200
	maxEmail    = 254
	maxTier     = 50
	maxTag      = 50
	maxTags     = 50
	maxLocale   = 35
	maxZone     = 64
	maxNotes    = 4000
	maxSubject  = 255 // bytes: no token says more
	maxPhone    = 40  // as people write it
	accountMark = "sa:"
)

// text is a field that is one text.
type text struct {
	name string // in the contract, and of the column in a file
	of   func(*Member) *string
	// normal gives the form in which it is kept, or what is wrong with it. It is
	// asked about texts that are not empty.
	normal func(string) (string, string)
}

var texts = []text{
	{"subject", func(m *Member) *string { return &m.Subject }, subject},
	{"name", func(m *Member) *string { return &m.Name }, line(maxName)},
	{"email", func(m *Member) *string { return &m.Email }, email},
	{"phone", func(m *Member) *string { return &m.Phone }, phone},
	{"tier", func(m *Member) *string { return &m.Tier }, line(maxTier)},
	{"locale", func(m *Member) *string { return &m.Locale }, locale},
	{"time_zone", func(m *Member) *string { return &m.TimeZone }, timeZone},
	{"notes", func(m *Member) *string { return &m.Notes }, notes},
}

// Normal gives the form in which a member is kept. INVALID_FIELD names a field
// that can mean nothing.
func (m Member) Normal() (Member, error) {
	for _, f := range texts {
		at := f.of(&m)
		if *at == "" {
			continue
		}
		normal, problem := f.normal(*at)
		if problem != "" {
			return m, fault.Invalid("member."+f.name, "%s", problem)
		}
		*at = normal
	}
	if m.Name == "" {
		return m, fault.Invalid("member.name", "A member needs a name.")
	}
	if m.Status != Active && m.Status != Inactive {
		return m, fault.Invalid("member.status", "A member is active or inactive.")
	}
	tags, problem := normalTags(m.Tags)
	if problem != "" {
		return m, fault.Invalid("member.tags", "%s", problem)
	}
	m.Tags = tags
	return m, nil
}

// subject is compared with tokens byte by byte, so nothing of it is changed.
func subject(s string) (string, string) {
	switch {
	case len(s) > maxSubject:
		return "", fmt.Sprintf("A subject has at most %d bytes.", maxSubject)
	case strings.ContainsFunc(s, unprintable):
		return "", "A subject has no control characters."
	case strings.HasPrefix(s, accountMark):
		return "", "Subjects that begin with sa: are those of service accounts."
	}
	return s, ""
}

// line takes a text of one line; space around it is cut off.
func line(longest int) func(string) (string, string) {
	return func(s string) (string, string) {
		s = strings.TrimSpace(s)
		switch {
		case s == "":
			return "", "It is blank."
		case utf8.RuneCountInString(s) > longest:
			return "", fmt.Sprintf("It is longer than %d characters.", longest)
		case strings.ContainsFunc(s, unprintable):
			return "", "It has control characters."
		}
		return s, ""
	}
}

// unprintable finds control characters, and overrides of the direction of
// writing, with which a name can be made to look like another.
func unprintable(char rune) bool {
	return unicode.IsControl(char) || char == '\u202d' || char == '\u202e'
}

func email(s string) (string, string) {
	address, err := mail.ParseAddress(s)
	if err != nil || address.Address != s || len(s) > maxEmail || strings.ContainsFunc(s, unprintable) {
		return "", "It is no email address, such as ana@example.com."
	}
	return s, ""
}

// Phone gives a telephone number in E.164, however it was written; empty where it is none, or does not say its country.
func Phone(written string) string {
	number, _ := phone(strings.TrimSpace(written))
	return number
}

// phone takes international numbers, written with or without separators. That a
// number can exist is asked, not that it does: numbering plans change faster
// than any list of them.
func phone(s string) (string, string) {
	const problem = "It is no telephone number in E.164, such as +351912345678."
	if !strings.HasPrefix(s, "+") || len(s) > maxPhone {
		return "", problem
	}
	number, err := phonenumbers.Parse(s, "ZZ") // no region: the country code must be there
	if err != nil || number.GetExtension() != "" || !phonenumbers.IsPossibleNumber(number) {
		return "", problem
	}
	return phonenumbers.Format(number, phonenumbers.E164), ""
}

func locale(s string) (string, string) {
	tag, err := language.Parse(s)
	if err != nil || tag == language.Und || len(s) > maxLocale {
		return "", "It is no language tag of BCP 47, such as pt-PT."
	}
	return tag.String(), ""
}

// zoneName keeps what is no zone's name away from the file system.
var zoneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)

func timeZone(s string) (string, string) {
	const problem = "It is no time zone of the IANA database, such as Europe/Lisbon."
	if len(s) > maxZone || !zoneName.MatchString(s) || s == "Local" {
		return "", problem
	}
	if _, err := time.LoadLocation(s); err != nil {
		return "", problem
	}
	return s, ""
}

// notes may have several lines.
func notes(s string) (string, string) {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
	switch {
	case utf8.RuneCountInString(s) > maxNotes:
		return "", fmt.Sprintf("Notes have at most %d characters.", maxNotes)
	case strings.ContainsFunc(s, func(char rune) bool { return char != '\n' && char != '\t' && unprintable(char) }):
		return "", "Notes have no control characters."
	}
	return s, ""
}

// normalTags drops what is said twice.
func normalTags(tags []string) ([]string, string) {
	normal := make([]string, 0, len(tags))
	for _, tag := range tags {
		tag, problem := line(maxTag)(tag)
		if problem != "" {
			return nil, "A tag is wrong: " + problem
		}
		if !slices.Contains(normal, tag) {
			normal = append(normal, tag)
		}
	}
	if len(normal) > maxTags {
		return nil, fmt.Sprintf("A member has at most %d tags.", maxTags)
	}
	return normal, ""
}
