package catalog

import (
	"cmp"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
	"github.com/berthhq/berth/internal/printable"
	"github.com/berthhq/berth/internal/rules/settings"
	"github.com/berthhq/berth/internal/tenant"
)

// Limits of a tenant's fields. The contract has them too; these apply to callers inside the service.
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

// MaxNoShowDelay is the longest time after the end of a session before no-shows are marked.
const MaxNoShowDelay = 7 * day

// leastNoShowDelay is the shortest time after the start of a session before no-shows are marked.
const leastNoShowDelay = 5 * time.Minute

// Validate rejects a tenant with invalid fields: INVALID_FIELD.
func (t Tenant) Validate() error {
	return cmp.Or(
		notPlatform(t.ID),
		name("tenant.name", t.Name),
		noAddress("tenant.name", t.Name),
		zone("tenant.time_zone", t.TimeZone),
		locale("tenant.locale", t.Locale),
		currencyCode("tenant.currency", t.Currency),
		t.Brand.Validate("tenant.brand"),
		t.StepUp.validate(),
	)
}

// ValidateEdit is Validate for an edit. A name that stays is not judged again.
func (t Tenant) ValidateEdit(before Tenant) error {
	t.Name = field.Kept(before.Name, t.Name)
	return t.Validate()
}

// notPlatform keeps a tenant from the rows that belong to none.
func notPlatform(id tenant.TenantID) error {
	if id == tenant.Platform {
		return fault.Invalid("id", "The platform's own rows have this id.")
	}
	return nil
}

// CheckNewZone rejects another time zone for a location with sessions: SESSION_STATE.
func CheckNewZone(hasSessions bool) error {
	if hasSessions {
		return fault.New(fault.FailedPrecondition, fault.SessionState,
			"The location has sessions: its time zone stays. Make another location, or delete them.").
			WithMetadata("state", "scheduled").WithField("location.time_zone")
	}
	return nil
}

// Validate rejects a location with invalid fields: INVALID_FIELD.
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

// ValidateEdit is Validate for an edit. A name that stays is not judged again.
func (l Location) ValidateEdit(before Location) error {
	l.Name = field.Kept(before.Name, l.Name)
	return l.Validate()
}

// Valid reports whether the position exists. Comparisons with NaN are false, so NaN is invalid.
func (p Point) Valid() bool {
	return p.Latitude >= -90 && p.Latitude <= 90 && p.Longitude >= -180 && p.Longitude <= 180
}

// Validate rejects a resource with invalid fields: INVALID_FIELD.
func (r Resource) Validate() error {
	return cmp.Or(
		name("resource.name", r.Name),
		text("resource.kind", r.Kind, maxKind),
	)
}

// ValidateEdit is Validate for an edit. A name that stays is not judged again.
func (r Resource) ValidateEdit(before Resource) error {
	r.Name = field.Kept(before.Name, r.Name)
	return r.Validate()
}

var colorPattern = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

// Validate rejects a service with invalid fields: INVALID_FIELD.
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
	case s.Color != "" && !colorPattern.MatchString(s.Color):
		return fault.Invalid("service.color", "A color is # and six hexadecimal digits.")
	}
	return nil
}

// ValidateEdit is Validate for an edit. A name that stays is not judged again.
func (s Service) ValidateEdit(before Service) error {
	s.Name = field.Kept(before.Name, s.Name)
	return s.Validate()
}

// KnownZone reports whether a text names a time zone.
func KnownZone(name string) bool {
	_, problem := field.Zone(name)
	return problem == ""
}

func zone(of, name string) error {
	if !KnownZone(name) {
		return fault.Invalid(of, "Unknown time zone. Use a name from the IANA database, such as Europe/Lisbon.")
	}
	return nil
}

// locale accepts a BCP 47 tag that names a language.
func locale(field, tag string) error {
	if parsed, err := language.Parse(tag); err != nil || parsed == language.Und {
		return fault.Invalid(field, "Unknown language. Use a BCP 47 tag, such as pt-PT.")
	}
	return nil
}

func currencyCode(field, code string) error {
	if unit, err := currency.ParseISO(code); err != nil || unit.String() != code {
		return fault.Invalid(field, "Unknown currency. Use an ISO 4217 code, such as EUR.")
	}
	return nil
}

// name rejects what is no name, or could be mistaken for another.
func name(of, value string) error {
	if problem := field.CheckName(value, maxName); problem != "" {
		return fault.Invalid(of, "%s", problem)
	}
	return nil
}

// noAddress rejects a name with an email address. Mails come in the name of the tenant, and mail programs show that
// instead of the address.
func noAddress(field, value string) error {
	if printable.HasAddress(value) {
		return fault.Invalid(field, "The name must not contain an address.")
	}
	return nil
}

// text rejects a text that is too long, in characters, or that could not be stored or shown.
func text(field, value string, longest int) error {
	switch {
	case !utf8.ValidString(value) || !printable.Lines(value):
		return fault.Invalid(field, "The text has control or invisible characters, or is not valid UTF-8.")
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
