package member

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/printable"
	"github.com/berthhq/berth/internal/tenant"
)

// Length limits of a member's fields, in characters.
const (
	maxName    = 200
	maxEmail   = 254
	maxTier    = 50
	maxTag     = 50
	maxTags    = 50
	maxLocale  = 35
	maxZone    = 64
	maxNotes   = 4000
	maxSubject = 255 // bytes; the limit of OpenID Connect Core 1.0, section 2
	maxPhone   = 40  // as people write it, with separators
)

// textField is a field with a text value.
type textField struct {
	name string // in the contract, and of the column in a file
	of   func(*Member) *string
	// normal returns the stored form of a value, or the problem with it. It is not called for an empty value.
	normal func(string) (string, string)
}

var textFields = []textField{
	{"subject", func(m *Member) *string { return &m.Subject }, subject},
	{"name", func(m *Member) *string { return &m.Name }, line(maxName)},
	{"email", func(m *Member) *string { return &m.Email }, email},
	{"phone", func(m *Member) *string { return &m.Phone }, phone},
	{"tier", func(m *Member) *string { return &m.Tier }, line(maxTier)},
	{"locale", func(m *Member) *string { return &m.Locale }, locale},
	{"time_zone", func(m *Member) *string { return &m.TimeZone }, timeZone},
	{"notes", func(m *Member) *string { return &m.Notes }, notes},
}

// Normalize returns the member as it is stored. The error is INVALID_FIELD.
func (m Member) Normalize() (Member, error) { return m.NormalizeFrom(Member{}) }

// NormalizeFrom is Normalize for an edited member. What was stored before stays as it is, also if a later rule would
// refuse it: it must not be in the way of other edits.
func (m Member) NormalizeFrom(before Member) (Member, error) {
	for _, f := range textFields {
		at := f.of(&m)
		if *at == "" || *at == *f.of(&before) {
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
	if slices.Equal(m.Tags, before.Tags) && len(m.Tags) > 0 {
		return m, nil
	}
	tags, problem := normalTags(m.Tags)
	if problem != "" {
		return m, fault.Invalid("member.tags", "%s", problem)
	}
	m.Tags = tags
	return m, nil
}

// subject keeps the text as it is, because it is compared with tokens byte by byte.
func subject(s string) (string, string) {
	switch {
	case len(s) > maxSubject:
		return "", fmt.Sprintf("A subject has at most %d bytes.", maxSubject)
	case strings.ContainsFunc(s, unprintable):
		return "", "A subject must not have control characters."
	case strings.HasPrefix(s, tenant.AccountPrefix):
		return "", "Subjects that begin with sa: are reserved for service accounts."
	case strings.HasPrefix(s, tenant.MemberPrefix):
		return "", "Subjects that begin with member: are reserved for people whom Berth signs in."
	}
	return s, ""
}

// line accepts one line of text, and composes its letters. It removes space and what cannot be seen at its ends.
func line(longest int) func(string) (string, string) {
	return func(s string) (string, string) {
		s = norm.NFC.String(strings.TrimFunc(s, func(char rune) bool {
			return unicode.IsSpace(char) || printable.IsHidden(char) && !unicode.IsControl(char)
		}))
		switch {
		case s == "":
			return "", "It is blank."
		case utf8.RuneCountInString(s) > longest:
			return "", fmt.Sprintf("It is longer than %d characters.", longest)
		case !printable.Line(s):
			return "", "It has control or invisible characters."
		}
		return s, ""
	}
}

// unprintable matches control characters, and overrides of the text direction, which can make a name look like another.
func unprintable(char rune) bool {
	return unicode.IsControl(char) || char == '\u202d' || char == '\u202e'
}

// emailAddress is what the contract, by protovalidate, and browsers, by the HTML standard, take for an address.
var emailAddress = regexp.MustCompile("^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@" +
	`[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?` +
	`(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)

func email(s string) (string, string) {
	if len(s) > maxEmail || !emailAddress.MatchString(s) {
		return "", "It is not an email address, such as ana@example.com."
	}
	return s, ""
}

// EmailAddress returns an email address as it was entered in a field, without space around it. The error is
// INVALID_FIELD.
func EmailAddress(field, written string) (string, error) {
	address, problem := email(strings.TrimSpace(written))
	if problem != "" {
		return "", fault.Invalid(field, "%s", problem)
	}
	return address, nil
}

// Phone returns a phone number in E.164, however it was written. It returns "" if the text is not a phone number, or
// has no country code.
func Phone(written string) string {
	number, _ := phone(strings.TrimSpace(written))
	return number
}

// maxE164 is the length of the longest number of ITU-T E.164: a plus sign and 15 digits.
const maxE164 = 16

// phone accepts international numbers, with or without separators. It only checks that a number is possible, not that
// it is assigned: numbering plans change faster than the library's lists.
func phone(s string) (string, string) {
	const problem = "It is not a phone number in E.164, such as +351912345678."
	if !strings.HasPrefix(s, "+") || len(s) > maxPhone {
		return "", problem
	}
	number, err := phonenumbers.Parse(s, "ZZ") // no default region: the country code is required
	if err != nil || number.GetExtension() != "" || !phonenumbers.IsPossibleNumber(number) {
		return "", problem
	}
	formatted := phonenumbers.Format(number, phonenumbers.E164)
	// Reading a number drops one national prefix. If that leaves another, each reading would give another number.
	again, err := phonenumbers.Parse(formatted, "ZZ")
	if err != nil || phonenumbers.Format(again, phonenumbers.E164) != formatted || len(formatted) > maxE164 {
		return "", problem
	}
	return formatted, ""
}

func locale(s string) (string, string) {
	tag, err := language.Parse(s)
	if err != nil || tag == language.Und || len(s) > maxLocale {
		return "", "It is not a BCP 47 language tag, such as pt-PT."
	}
	return tag.String(), ""
}

// zoneName keeps other texts, such as paths, away from the file system.
var zoneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)

func timeZone(s string) (string, string) {
	const problem = "It is not an IANA time zone, such as Europe/Lisbon."
	if len(s) > maxZone || !zoneName.MatchString(s) || s == "Local" {
		return "", problem
	}
	if _, err := time.LoadLocation(s); err != nil {
		return "", problem
	}
	return s, ""
}

// notes accepts several lines.
func notes(s string) (string, string) {
	s = norm.NFC.String(strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")))
	switch {
	case utf8.RuneCountInString(s) > maxNotes:
		return "", fmt.Sprintf("Notes have at most %d characters.", maxNotes)
	case strings.ContainsFunc(s, func(char rune) bool { return char != '\n' && char != '\t' && unprintable(char) }):
		return "", "Notes must not have control characters."
	}
	return s, ""
}

// normalTags trims tags and removes duplicates.
func normalTags(tags []string) ([]string, string) {
	normal := make([]string, 0, len(tags))
	for _, tag := range tags {
		tag, problem := line(maxTag)(tag)
		if problem != "" {
			return nil, "A tag is invalid: " + problem
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
