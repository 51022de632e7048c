// Package field has one rule for each kind of text that people enter, whatever the way in: a form, a call, an import or
// a token. Each returns the form in which a text is stored, or in a sentence what is wrong with it.
package field

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/unicode/norm"

	"github.com/berthhq/berth/internal/printable"
)

// Length limits, in characters.
const (
	MaxEmail = 254
	MaxZone  = 64
	MaxPhone = 40 // as people write it, with separators
)

// Line accepts one line of text, and composes its letters. It removes space and what cannot be seen at its ends.
func Line(longest int) func(string) (string, string) {
	const unseen = "It has control or invisible characters."
	return func(s string) (string, string) {
		if !utf8.ValidString(s) {
			return "", unseen
		}
		s = norm.NFC.String(printable.Trim(s))
		switch {
		case s == "":
			return "", "It is blank."
		case utf8.RuneCountInString(s) > longest:
			return "", fmt.Sprintf("It is longer than %d characters.", longest)
		case !printable.Line(s):
			return "", unseen
		}
		return s, ""
	}
}

// CheckName returns what is wrong with a name that is not changed before it is stored; "" if nothing is.
func CheckName(s string, longest int) string {
	normal, problem := Line(longest)(s)
	if problem == "" && normal != norm.NFC.String(s) {
		return "It begins or ends with a space, or with what cannot be seen."
	}
	return problem
}

// Kept returns the text that an edit is judged by. One that stays as it is passes: rules become stricter, and what was
// stored earlier can still be edited.
func Kept(before, after string) string {
	if after == before {
		return "kept"
	}
	return after
}

// emailAddress is what the contract, by protovalidate, and browsers, by the HTML standard, take for an address, if
// mails can be sent to it: without dots at the ends of its first part, or next to each other there (RFC 5322, section
// 3.4.1).
var emailAddress = regexp.MustCompile("^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+(?:\\.[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+)*@" +
	`[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?` +
	`(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)

// Email accepts an email address.
func Email(s string) (string, string) {
	if len(s) > MaxEmail || !emailAddress.MatchString(s) {
		return "", "It is not an email address, such as ana@example.com."
	}
	return s, ""
}

// maxE164 is the length of the longest number of ITU-T E.164: a plus sign and 15 digits.
const maxE164 = 16

// Phone accepts international numbers, with or without separators. It only checks that a number is possible, not that
// it is assigned: numbering plans change faster than the library's lists.
func Phone(s string) (string, string) {
	const problem = "It is not a phone number in E.164, such as +351912345678."
	if !strings.HasPrefix(s, "+") || len(s) > MaxPhone {
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

// zoneName keeps other texts, such as paths, away from the file system.
var zoneName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}$`)

// Zone accepts a name of the zone database. "Local" means the setting of this machine, so it is not a zone for a
// tenant.
func Zone(s string) (string, string) {
	const problem = "It is not an IANA time zone, such as Europe/Lisbon."
	switch {
	case s == "Local", s == "localtime", s == "posixrules", s == "Factory",
		strings.HasPrefix(s, "posix/"), strings.HasPrefix(s, "right/"):
		return "", problem // other files in the same folder; those in "right" count leap seconds
	case len(s) > MaxZone, !zoneName.MatchString(s):
		return "", problem
	}
	if _, err := time.LoadLocation(s); err != nil {
		return "", problem
	}
	return s, ""
}
