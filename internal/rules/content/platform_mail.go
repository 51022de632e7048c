package content

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/delivery"
)

// MailKind is what a mail of the platform is about.
type MailKind string

// The kinds.
const (
	MailCode           MailKind = "SIGN_IN_CODE"    // has a code
	MailInvitation     MailKind = "INVITATION"      // has a link and its end
	MailPasskeyAdded   MailKind = "PASSKEY_ADDED"   // tells of a new passkey
	MailAddressChanged MailKind = "ADDRESS_CHANGED" // tells the old address, which agrees or refuses by a link
	MailAccountLinked  MailKind = "ACCOUNT_LINKED"  // tells that the account of an identity provider signs in from now on
)

// MailKinds returns all kinds.
func MailKinds() []MailKind {
	return []MailKind{MailCode, MailInvitation, MailPasskeyAdded, MailAddressChanged, MailAccountLinked}
}

// PlatformMail is a mail about signing in. It leaves by the platform's account alone, with these texts: what a tenant
// could read or word, its staff could sign in with.
type PlatformMail struct {
	Kind    MailKind  `json:"kind"`
	To      string    `json:"to"`
	Name    string    `json:"name,omitempty"` // of the recipient
	Locale  string    `json:"locale,omitempty"`
	Code    string    `json:"code,omitempty"`
	Link    string    `json:"link,omitempty"`
	Address string    `json:"address,omitempty"` // the new one; the mail hides most of it
	Until   time.Time `json:"until,omitzero"`
}

// Text is the mail as it is stored, before it is sealed.
func (m PlatformMail) Text() []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic("content: a platform mail is not JSON: " + err.Error()) // its fields are texts and a time
	}
	return text
}

// ReadPlatformMail reads what Text wrote.
func ReadPlatformMail(text []byte) (m PlatformMail, err error) {
	if err = json.Unmarshal(text, &m); err == nil && !slices.Contains(MailKinds(), m.Kind) {
		err = fmt.Errorf("content: no mail is of the kind %q", m.Kind)
	}
	return m, err
}

// MailFrame is what the mails of the platform say of a tenant.
type MailFrame struct {
	Tenant string
	Locale string // for recipients without their own
	Zone   *time.Location
	Report string // to whom misuse is reported; can be empty
}

// Message is the mail, in the recipient's language if it has texts, else in the tenant's, or in English.
func (m PlatformMail) Message(f MailFrame) (delivery.Message, error) {
	text := chooseMail(m.Kind, m.Locale, f.Locale)
	tenant := unlinked(f.Tenant)
	values := Values{
		"Tenant": tenant, "Name": unlinked(m.Name), "Code": m.Code, "Link": m.Link,
		"Address": delivery.Mask(delivery.Email, m.Address), "Until": "",
	}
	if !m.Until.IsZero() {
		values["Until"] = localeFor(cmp.Or(m.Locale, f.Locale)).dateTime(m.Until, f.Zone, nil)
	}
	out, err := Render(
		Template{Channel: delivery.Email, Locale: text.locale, Subject: text.subject, Body: text.mail},
		values, brand.Brand{}, Foot{Platform: true, Report: f.Report},
	)
	return delivery.Message{
		Channel: delivery.Email, To: m.To, Subject: out.Subject, Text: out.Text, HTML: out.HTML,
		From: delivery.Mailbox{Name: tenant},
	}, err
}

type mailText struct{ locale, subject, mail string }

// chooseMail returns the texts in the first of the languages that has them.
func chooseMail(kind MailKind, locales ...string) mailText {
	for _, locale := range append(locales, "en") {
		for _, tag := range fallbacks(locale) {
			if text, ok := platformMails[tag][kind]; ok {
				return mailText{tag, text.subject, text.mail}
			}
		}
	}
	return mailText{}
}

var dotted = regexp.MustCompile(`([.\x{3002}\x{ff0e}\x{ff61}])(\S)`)

// unlinked spaces out what mail programs would make a link of, so that nobody sends others to a page with their name.
func unlinked(name string) string {
	name = strings.NewReplacer("://", " ", "/", " ", "\\", " ", "@", " @ ").Replace(name)
	return strings.Join(strings.Fields(dotted.ReplaceAllString(name, "$1 $2")), " ")
}
