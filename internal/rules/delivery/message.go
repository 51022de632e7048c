// Package delivery has what passes between this service and the providers that deliver its messages: the message, the
// provider's receipt or error, reports, and how often and when to try again.
package delivery

import (
	"strings"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Channel is a channel for messages.
type Channel string

// The channels.
const (
	SMS   Channel = "SMS"
	Push  Channel = "PUSH"
	Email Channel = "EMAIL"
)

// Channels returns all channels, in the order of the contract.
func Channels() []Channel { return []Channel{SMS, Push, Email} }

// Message is a message to one recipient over one channel, ready to be sent.
type Message struct {
	ID      tenant.DeliveryID // identifies the attempt for providers, and in their callbacks
	Channel Channel
	To      string // a number in E.164, an FCM registration token, or an email address
	ToName  string // email: display name; can be empty

	From    Mailbox // email; without an address, the sender's own
	ReplyTo Mailbox // email; can be empty
	DKIM    *DKIM   // email; nil: not signed

	Subject string // email
	Title   string // push
	Text    string // SMS and push: the whole text; email: the part without HTML
	HTML    string // email; empty: text only

	Link        string    // push: opened by a tap
	Calendar    *Calendar // email
	Unsubscribe string    // email: an https URL that accepts the POST of RFC 8058

	CollapseKey  string            // push: the newest message with this key replaces the earlier ones
	Data         map[string]string // push: for the app
	ExpiresAt    time.Time         // not delivered from then on; zero: never expires
	HighPriority bool              // push: wakes a sleeping device
}

// Mailbox is a name and an email address.
type Mailbox struct {
	Name    string
	Address string
}

// DKIM signs a mail for the domain of its sender (RFC 6376).
type DKIM struct {
	Domain, Selector string
	Key              []byte // RSA, in PKCS #8
}

// Calendar is an iCalendar object (RFC 5545) in a mail (RFC 6047).
type Calendar struct {
	Method CalendarMethod // the same as in Body
	Body   []byte
}

// CalendarMethod is a method of iTIP (RFC 5546).
type CalendarMethod string

// The methods.
const (
	CalendarRequest CalendarMethod = "REQUEST" // add the entry, or update the one with its UID
	CalendarCancel  CalendarMethod = "CANCEL"  // remove it
)

// Mask hides most of a number or address. Its owner can still recognize it.
func Mask(c Channel, address string) string {
	if c == Push || address == "" {
		return address
	}
	if name, host, ok := strings.Cut(address, "@"); ok {
		return string([]rune(name)[:min(1, len([]rune(name)))]) + "***@" + host
	}
	if len(address) < 7 {
		return "***"
	}
	return address[:3] + strings.Repeat("*", len(address)-5) + address[len(address)-2:]
}
