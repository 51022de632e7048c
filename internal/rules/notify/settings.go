package notify

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/field"
	"github.com/berthhq/berth/internal/printable"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/delivery"
)

// Settings are a tenant's settings for messages.
type Settings struct {
	QuietHours   QuietHours               // in which nothing but mails is sent
	PerDay       map[delivery.Channel]int // the frequency cap: messages to one recipient
	Reminders    []time.Duration          // before the start, the longest first
	ReplyTo      string
	SenderName   string
	CreditsLowAt int    // the balance at which members get a message
	Locale       string // for members without a preference; empty: the tenant's
	// PhoneCountries are the countries to whose numbers codes are sent. Empty: those of the tenant's time zones.
	PhoneCountries []string

	Version   int
	UpdatedAt time.Time
}

// DefaultSettings returns the settings of a new tenant.
func DefaultSettings() Settings {
	return Settings{
		QuietHours:   QuietHours{civil.TimeOfDay{Hour: 21}, civil.TimeOfDay{Hour: 8}},
		PerDay:       map[delivery.Channel]int{delivery.SMS: 6, delivery.Push: 12, delivery.Email: 20},
		Reminders:    []time.Duration{24 * time.Hour, 30 * time.Minute},
		CreditsLowAt: 1,
	}
}

// capWindow is the period of the frequency cap.
const capWindow = 24 * time.Hour

// maxSenderName is the longest name of a sender, in characters.
const maxSenderName = 100

// Normalize returns the settings as they are stored. The error is INVALID_FIELD.
func (s Settings) Normalize() (Settings, error) {
	if err := s.QuietHours.Validate("settings.quiet_hours"); err != nil {
		return s, err
	}
	s.Reminders = slices.Clone(s.Reminders)
	slices.SortFunc(s.Reminders, func(a, b time.Duration) int { return int(b - a) })
	s.Reminders = slices.Compact(s.Reminders)
	for c, n := range s.PerDay {
		if n < 1 {
			return s, fault.Invalid("settings."+perDayFields[c],
				"The limit is at least 1 per day. To send none, turn the channel off.")
		}
	}
	if s.SenderName = strings.TrimSpace(s.SenderName); s.SenderName != "" {
		name, problem := field.Line(maxSenderName)(s.SenderName)
		if problem != "" {
			return s, fault.Invalid("settings.sender_name", "%s", problem)
		}
		s.SenderName = name
	}
	if printable.HasAddress(s.SenderName) { // mail programs show it instead of the address
		return s, fault.Invalid("settings.sender_name", "The sender's name must not contain an address.")
	}
	if s.Locale != "" {
		if _, err := language.Parse(s.Locale); err != nil {
			return s, fault.Invalid("settings.locale", "%q is not a language tag.", s.Locale)
		}
	}
	s.PhoneCountries = slices.Clone(s.PhoneCountries)
	slices.Sort(s.PhoneCountries)
	s.PhoneCountries = slices.Compact(s.PhoneCountries)
	for _, country := range s.PhoneCountries {
		region, err := language.ParseRegion(country)
		if err != nil || !region.IsCountry() || region.Canonicalize().String() != country {
			return s, fault.Invalid("settings.phone_countries", "%q is not a country, such as PT (ISO 3166-1).", country)
		}
	}
	return s, nil
}

var perDayFields = map[delivery.Channel]string{
	delivery.SMS: "sms_per_day", delivery.Push: "push_per_day", delivery.Email: "email_per_day",
}

// AuditFields returns the editable fields for the audit log, by the names of the contract.
func (s Settings) AuditFields() catalog.AuditFields {
	reminders := make([]string, len(s.Reminders))
	for i, d := range s.Reminders {
		reminders[i] = d.String()
	}
	return catalog.AuditFields{
		"quiet_hours": s.QuietHours.Start.String() + "-" + s.QuietHours.End.String(),
		"sms_per_day": s.PerDay[delivery.SMS], "push_per_day": s.PerDay[delivery.Push],
		"email_per_day": s.PerDay[delivery.Email], "reminders": reminders, "reply_to": s.ReplyTo, "sender_name": s.SenderName,
		"credits_low_at": s.CreditsLowAt, "locale": s.Locale, "phone_countries": s.PhoneCountries,
	}
}
