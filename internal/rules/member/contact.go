package member

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/language"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// ContactKind is a kind of contact that members confirm.
type ContactKind string

// The kinds of contacts.
const (
	ByEmail ContactKind = "EMAIL"
	ByPhone ContactKind = "PHONE"
)

// ContactKinds returns all kinds.
func ContactKinds() []ContactKind { return []ContactKind{ByEmail, ByPhone} }

// Field returns the name of the member's field.
func (k ContactKind) Field() string { return strings.ToLower(string(k)) }

// Contact is an email address or a phone number.
type Contact struct {
	Kind    ContactKind
	Address string
}

// Key returns the address in the form in which addresses are compared.
func (c Contact) Key() string { return strings.ToLower(c.Address) }

// Limits of codes. The member and the address have limits of their own, so that neither can be used to flood the other.
const (
	CodeLifetime = 10 * time.Minute
	MaxGuesses   = 5 // for a code
	CodeDay      = 24 * time.Hour
	// MaxCodes is how many codes a member can ask for within a CodeDay, for each kind of contact, and how many one address
	// gets of all members together.
	MaxCodes = 3
	// MaxAddressGuesses is how many wrong codes an address has within a CodeDay, of all members together, also if they
	// were never sent. After that no code for it is right, or many members could guess one.
	MaxAddressGuesses = MaxCodes * MaxGuesses
)

// PendingContact is a contact that a member has entered and not confirmed yet. Until then, messages go to the old one.
type PendingContact struct {
	Contact

	Code      tenant.CodeID // the newest
	CodeHash  []byte
	Guesses   int // wrong ones
	ExpiresAt time.Time
}

// Open reports whether the newest code can still be used.
func (p PendingContact) Open(now time.Time) bool {
	return now.Before(p.ExpiresAt) && p.Guesses < MaxGuesses
}

// Guess decides about a code. AtAddress is how many wrong ones its address has got of all members. If the code is
// wrong, it returns the contact with the guess, to be stored, and CONTACT_CODE_INVALID. So it does if the address has
// got too many, which the member does not learn. A code that is too old, or was wrong too often, is
// CONTACT_CODE_EXPIRED, even if it is right.
func (p PendingContact) Guess(right bool, atAddress int, now time.Time) (PendingContact, *fault.Error) {
	if !p.Open(now) {
		return p, ErrCodeExpired
	}
	if right && atAddress < MaxAddressGuesses {
		return p, nil
	}
	p.Guesses++
	return p, fault.New(fault.FailedPrecondition, fault.ContactCodeInvalid, "The code is wrong.").
		WithField("code").WithMetadata("guesses_left", strconv.Itoa(MaxGuesses-p.Guesses))
}

// CheckNewest rejects the code of a link if a newer one was sent: CONTACT_CODE_EXPIRED. It is no guess.
func (p PendingContact) CheckNewest(code tenant.CodeID) error {
	if p.Code != code {
		return ErrCodeExpired
	}
	return nil
}

// ContactToConfirm returns the contact of a kind to which a member can have a new code sent: the pending one, or else
// the one that they have and have not confirmed. Verified is as for Confirmed. Without either the error is
// CONTACT_NOT_PENDING.
func (m Member) ContactToConfirm(k ContactKind, pending *PendingContact, verified string) (Contact, error) {
	current := m.Contact(k)
	switch {
	case pending != nil:
		return pending.Contact, nil
	case current.Address == "" || m.Confirmed(k, verified):
		return Contact{}, ErrNotPending
	}
	return current, nil
}

// ConfirmByHand makes a contact the member's that they have entered, or that they have and have not confirmed, because
// staff know that it is theirs. Staff name the address, so that it is the one that they saw. Used reports whether it
// was the pending one. Without such a contact the error is CONTACT_NOT_PENDING.
func (m Member) ConfirmByHand(c Contact, pending *PendingContact) (after Member, used bool, err error) {
	current := m.Contact(c.Kind)
	switch {
	case pending != nil && pending.Key() == c.Key():
		return m.Confirm(pending.Contact), true, nil
	case c.Address != "" && current.Key() == c.Key() && !m.Confirmed(c.Kind, ""):
		return m.Confirm(current), false, nil
	}
	return m, false, ErrNotPending
}

// ErrOwnContact means that someone would confirm a contact of their own by hand: PERMISSION_DENIED.
var ErrOwnContact = fault.New(fault.PermissionDenied, fault.PermissionDeniedReason,
	"Your own contacts are confirmed with a code, or by someone else.")

// ErrCodeExpired means that a code or a link can no longer be used: CONTACT_CODE_EXPIRED.
var ErrCodeExpired = fault.New(fault.FailedPrecondition, fault.ContactCodeExpired,
	"The code has expired, or was wrong too often. Ask for a new one.")

// ErrNotPending means that no contact of the kind waits for confirmation: CONTACT_NOT_PENDING.
var ErrNotPending = fault.New(fault.FailedPrecondition, fault.ContactNotPending,
	"No contact of this kind waits for confirmation.")

// contact returns the member's contact of a kind, and the confirmed one.
func (m *Member) contact(k ContactKind) (current, confirmed *string) {
	if k == ByPhone {
		return &m.Phone, &m.ConfirmedPhone
	}
	return &m.Email, &m.ConfirmedEmail
}

// Contact returns the member's contact of a kind. The address is empty if there is none.
func (m Member) Contact(k ContactKind) Contact {
	address, _ := m.contact(k)
	return Contact{k, *address}
}

// Confirmed reports whether the member's contact is known to be theirs. Verified is the email address that the issuer
// of the caller's token has verified, if they are the member and the operator trusts the issuer's addresses: other
// issuers let people claim any address.
func (m Member) Confirmed(k ContactKind, verified string) bool {
	_, confirmed := m.contact(k)
	return sameContact(m.Contact(k), *confirmed) || k == ByEmail && sameContact(m.Contact(k), verified)
}

func sameContact(c Contact, address string) bool {
	return address != "" && c.Key() == Contact{c.Kind, address}.Key()
}

// Confirm sets a contact that is known to be the member's.
func (m Member) Confirm(c Contact) Member {
	current, confirmed := m.contact(c.Kind)
	*current, *confirmed = c.Address, c.Address
	return m
}

// forgetConfirmed removes what is known of contacts that the member no longer has.
func (m *Member) forgetConfirmed() {
	for _, k := range ContactKinds() {
		if _, confirmed := m.contact(k); !sameContact(m.Contact(k), *confirmed) {
			*confirmed = ""
		}
	}
}

// ContactChange is a change of a contact by its member.
type ContactChange struct {
	From, To  Contact // the address of either can be empty
	NeedsCode bool    // the old contact stays until the new one is confirmed
}

// HoldContacts decides about the contacts of members who edit themselves. After is in stored form. It returns the
// member to store, who keeps the old contact instead of one that needs a code. Verified is as for Confirmed.
func HoldContacts(before, after Member, verified string) (Member, []ContactChange) {
	var changes []ContactChange
	for _, k := range ContactKinds() {
		change := ContactChange{From: before.Contact(k), To: after.Contact(k)}
		if change.From.Key() == change.To.Key() {
			continue
		}
		switch {
		case change.To.Address == "":
		case k == ByEmail && sameContact(change.To, verified):
			after = after.Prove(change.To.Address)
		default:
			current, _ := after.contact(k)
			*current = change.From.Address
			change.NeedsCode = true
		}
		changes = append(changes, change)
	}
	return after, changes
}

// CodeFacts is what RequestCode needs to know.
type CodeFacts struct {
	Pending   *PendingContact // of the kind; nil: none
	OfMember  int             // codes for contacts of the kind that the member asked for within a CodeDay
	ToAddress int             // codes that the address got within a CodeDay, of all members
	Countries []string        // to whose numbers the tenant sends codes
	// Ceiling is how many messages the platform's account may send within a day before it sends no codes, if it has sent
	// as many; 0: it has not.
	Ceiling int
}

// CodePlan says what happens when a member asks for a code.
type CodePlan struct {
	Make bool // false: the code that was sent before is still good
	Send bool // false: the address got too many, which the member does not learn
}

// RequestCode decides about a code for a contact. Again asks for a new one while the old one is still good. The errors
// are CONTACT_COUNTRY, CONTACT_NOT_MOBILE and QUOTA_EXCEEDED. None depends on what others have done with the address.
func RequestCode(c Contact, f CodeFacts, again bool, now time.Time) (CodePlan, error) {
	if country := Country(c.Address); c.Kind == ByPhone && !slices.Contains(f.Countries, country) {
		return CodePlan{}, fault.New(fault.FailedPrecondition, fault.ContactCountry,
			"Codes are not sent to numbers of that country.").WithField("member.phone").WithMetadata("country", country)
	}
	if c.Kind == ByPhone && !Mobile(c.Address) {
		return CodePlan{}, fault.New(fault.FailedPrecondition, fault.ContactNotMobile,
			"Codes are only sent to mobile numbers.").WithField("member.phone")
	}
	if p := f.Pending; !again && p != nil && p.Key() == c.Key() && p.Open(now) {
		return CodePlan{}, nil
	}
	if f.OfMember >= MaxCodes {
		return CodePlan{}, fault.OverQuota("contact_codes", MaxCodes,
			"At most %d codes are sent in 24 hours. Try again tomorrow.", MaxCodes)
	}
	if f.Ceiling > 0 {
		return CodePlan{}, fault.OverQuota("sent_messages", f.Ceiling,
			"More than %d messages were sent in 24 hours, so no code can be sent. Try again later.", f.Ceiling)
	}
	return CodePlan{Make: true, Send: f.ToAddress < MaxCodes}, nil
}

// Country returns the country (ISO 3166-1 alpha-2) of a phone number in E.164; "" if it has none.
func Country(phone string) string {
	number, err := phonenumbers.Parse(phone, "ZZ")
	if err != nil {
		return ""
	}
	// Some countries share a code. A number that is assigned in none of them counts as one of the largest.
	country := phonenumbers.GetRegionCodeForNumber(number)
	if country == "" {
		country = phonenumbers.GetRegionCodeForCountryCode(int(number.GetCountryCode()))
	}
	if country == "001" { // no country, but a network of the whole world
		return ""
	}
	return country
}

// Mobile reports whether a phone number in E.164 gets text messages. Premium, shared-cost and fixed-line numbers do
// not. Some countries do not tell fixed-line numbers from mobile ones; theirs do.
func Mobile(phone string) bool {
	number, err := phonenumbers.Parse(phone, "ZZ")
	if err != nil {
		return false
	}
	kind := phonenumbers.GetNumberType(number)
	return kind == phonenumbers.MOBILE || kind == phonenumbers.FIXED_LINE_OR_MOBILE
}

// Countries returns the countries to whose numbers a tenant sends codes: those that it chose, else those of its time
// zones, else that of its language.
func Countries(chosen, zones []string, locale string) []string {
	if len(chosen) > 0 {
		return chosen
	}
	var countries []string
	for _, zone := range zones {
		if country := civil.CountryOf(zone); country != "" && !slices.Contains(countries, country) {
			countries = append(countries, country)
		}
	}
	if tag, err := language.Parse(locale); len(countries) == 0 && err == nil {
		if region, _ := tag.Region(); region.IsCountry() {
			countries = append(countries, region.String())
		}
	}
	return countries
}
