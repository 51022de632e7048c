package catalog

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/settings"
)

// Bounds of what a tenant may write down. The contract states them too; here they
// hold for whoever does not come through it.
const (
	maxName        = 200
	maxAddress     = 500
	maxKind        = 50
	maxDescription = 4_000
	maxCategory    = 100
	maxTier        = 50
	maxTiers       = 50
	maxCapacity    = 100_000
	maxWaitlist    = 10_000
	maxParty       = 1_000
	minGPSMeters   = 10
	maxGPSMeters   = 100_000
)

// MaxNoShowDelay bounds how long after a session's end a policy lets no-shows wait.
const MaxNoShowDelay = 7 * day

// Validate refuses a tenant that cannot be: INVALID_FIELD.
func (t Tenant) Validate() error {
	return cmp.Or(
		name("tenant.name", t.Name),
		zone("tenant.time_zone", t.TimeZone),
		locale("tenant.locale", t.Locale),
		money("tenant.currency", t.Currency),
		t.Brand.Validate("tenant.brand"),
	)
}

// Validate refuses a location that cannot be: INVALID_FIELD.
func (l Location) Validate() error {
	err := cmp.Or(
		name("location.name", l.Name),
		zone("location.time_zone", l.TimeZone),
		text("location.address", l.Address, maxAddress),
	)
	switch {
	case err != nil:
		return err
	case l.Point != nil && !l.Point.Valid():
		return fault.Invalid("location.geo", "The latitude is -90 to 90 degrees, the longitude -180 to 180.")
	}
	for i, c := range l.Channels {
		if !slices.Contains(Channels(), c) || slices.Contains(l.Channels[:i], c) {
			return fault.Invalid("location.channels", "Channels are ONLINE, PHONE and WALK_IN, each at most once.")
		}
	}
	return nil
}

// Valid reports whether there is such a place.
func (p Point) Valid() bool {
	return p.Latitude >= -90 && p.Latitude <= 90 && p.Longitude >= -180 && p.Longitude <= 180
}

// Validate refuses a resource that cannot be: INVALID_FIELD.
func (r Resource) Validate() error {
	return cmp.Or(
		name("resource.name", r.Name),
		text("resource.kind", r.Kind, maxKind),
	)
}

var colors = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

// Validate refuses a service that cannot be: INVALID_FIELD.
func (s Service) Validate() error {
	err := cmp.Or(
		name("service.name", s.Name),
		text("service.description", s.Description, maxDescription),
		text("service.category", s.Category, maxCategory),
		settings.Span(time.Minute, 7*day)("service.duration", s.Duration),
		number("service.default_capacity", s.DefaultCapacity, 0, maxCapacity),
		number("service.default_waitlist_capacity", &s.DefaultWaitlistCapacity, 0, maxWaitlist),
		number("service.min_party", &s.MinParty, 1, maxParty),
		number("service.max_party", &s.MaxParty, 1, maxParty),
	)
	switch {
	case err != nil:
		return err
	case s.MaxParty < s.MinParty:
		return fault.Invalid("service.max_party", "max_party must not be below min_party.")
	case s.Delivery != InPerson && s.Delivery != Feed:
		return fault.Invalid("service.delivery", "The delivery is IN_PERSON or FEED.")
	case s.Color != "" && !colors.MatchString(s.Color):
		return fault.Invalid("service.color", "A color is # and six hexadecimal digits.")
	}
	return nil
}

// KnownZone reports whether the zone database has a zone of that name. "Local" is
// whatever this machine is set to, and no zone of anybody's.
func KnownZone(name string) bool {
	switch {
	case name == "", name == "Local", name == "localtime", name == "posixrules", name == "Factory",
		strings.HasPrefix(name, "posix/"), strings.HasPrefix(name, "right/"):
		return false // files that lie beside the zones, and "right" ones count leap seconds
	}
	_, err := time.LoadLocation(name)
	return err == nil
}

// KnownLocale reports whether a text is a BCP 47 tag that names a language.
func KnownLocale(tag string) bool {
	parsed, err := language.Parse(tag)
	return err == nil && parsed != language.Und
}

func zone(field, name string) error {
	if !KnownZone(name) {
		return fault.Invalid(field, "There is no such time zone. Name one of the IANA database, such as Europe/Lisbon.")
	}
	return nil
}

func locale(field, tag string) error {
	if !KnownLocale(tag) {
		return fault.Invalid(field, "There is no such language. Give a BCP 47 tag, such as pt-PT.")
	}
	return nil
}

func money(field, code string) error {
	if unit, err := currency.ParseISO(code); err != nil || unit.String() != code {
		return fault.Invalid(field, "There is no such currency. Give an ISO 4217 code, such as EUR.")
	}
	return nil
}

// name refuses what two people would read as the same name although it is another.
func name(field, value string) error {
	switch {
	case value == "":
		return fault.Invalid(field, "A name is needed.")
	case strings.TrimSpace(value) != value:
		return fault.Invalid(field, "A name neither begins nor ends with a space.")
	case strings.ContainsFunc(value, unicode.IsControl):
		return fault.Invalid(field, "A name is one line of text.")
	}
	return text(field, value, maxName)
}

// text refuses what is too long, counted in characters, or could not be kept or shown.
func text(field, value string, longest int) error {
	unprintable := func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r) }
	switch {
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unprintable):
		return fault.Invalid(field, "Control characters are no text.")
	case utf8.RuneCountInString(value) > longest:
		return fault.Invalid(field, "At most %d characters.", longest)
	}
	return nil
}

func number(field string, value *int, least, most int) error {
	if value != nil && (*value < least || *value > most) {
		return fault.Invalid(field, "It is %d to %d.", least, most)
	}
	return nil
}
