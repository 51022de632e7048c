package member

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
	"github.com/berthhq/berth/internal/tenant"
)

// Length limits of a member's fields, in characters.
const (
	maxName    = 200
	maxEmail   = field.MaxEmail
	maxTier    = 50
	maxTag     = 50
	maxTags    = 50
	maxLocale  = 35
	maxZone    = field.MaxZone
	maxNotes   = 4000
	maxSubject = 255 // bytes; the limit of OpenID Connect Core 1.0, section 2
	maxPhone   = field.MaxPhone
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
	{"name", func(m *Member) *string { return &m.Name }, field.Line(maxName)},
	{"email", func(m *Member) *string { return &m.Email }, field.Email},
	{"phone", func(m *Member) *string { return &m.Phone }, field.Phone},
	{"tier", func(m *Member) *string { return &m.Tier }, field.Line(maxTier)},
	{"locale", func(m *Member) *string { return &m.Locale }, locale},
	{"time_zone", func(m *Member) *string { return &m.TimeZone }, field.Zone},
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

// unprintable matches control characters, and overrides of the text direction, which can make a name look like another.
func unprintable(char rune) bool {
	return unicode.IsControl(char) || char == '\u202d' || char == '\u202e'
}

// EmailAddress returns an email address as it was entered in one of the fields, without space around it. The error is
// INVALID_FIELD.
func EmailAddress(of, written string) (string, error) {
	address, problem := field.Email(strings.TrimSpace(written))
	if problem != "" {
		return "", fault.Invalid(of, "%s", problem)
	}
	return address, nil
}

// Phone returns a phone number in E.164, however it was written. It returns "" if the text is not a phone number, or
// has no country code.
func Phone(written string) string {
	number, _ := field.Phone(strings.TrimSpace(written))
	return number
}

func locale(s string) (string, string) {
	tag, err := language.Parse(s)
	if err != nil || tag == language.Und || len(s) > maxLocale {
		return "", "It is not a BCP 47 language tag, such as pt-PT."
	}
	return tag.String(), ""
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
		tag, problem := field.Line(maxTag)(tag)
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
