// Package notify has the rules for messages: which notices an event leads to, when and over which channel each is sent,
// what it says, and what follows from the result.
package notify

import (
	"fmt"
	"math"
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
	Request CalendarMethod = "REQUEST" // add the entry, or update the one with its UID
	Cancel  CalendarMethod = "CANCEL"  // remove it
)

// Receipt is a provider's answer when it accepted a message.
type Receipt struct {
	ProviderID string // identifies the message in the provider's callbacks and console
	Segments   int    // SMS: billed segments
	Status     DeliveryStatus
}

// DeliveryStatus is the delivery status of a message.
type DeliveryStatus string

// The statuses. Empty means that nothing is known yet.
const (
	PossiblySent DeliveryStatus = "POSSIBLY_SENT" // the provider's answer was lost, so it may have the message
	Queued       DeliveryStatus = "QUEUED"        // the provider has it
	Sent         DeliveryStatus = "SENT"          // passed to the carrier, the push service or the mail server
	Failed       DeliveryStatus = "FAILED"        // the provider could not pass it on
	Undelivered  DeliveryStatus = "UNDELIVERED"   // the carrier could not deliver it
	Bounced      DeliveryStatus = "BOUNCED"       // the mail bounced
	Delivered    DeliveryStatus = "DELIVERED"
	Read         DeliveryStatus = "READ"
)

// progress ranks the statuses. Delivery ranks above failure, because carriers sometimes correct a report of failure.
var progress = map[DeliveryStatus]int{
	"": 0, PossiblySent: 1, Queued: 2, Sent: 3, Failed: 4, Undelivered: 5, Bounced: 6, Delivered: 7, Read: 8,
}

// Advance returns the status after a report: the one with the higher rank. So reports can come twice, late and in any
// order, and lead to the same status. An unknown status changes nothing.
func Advance(from, to DeliveryStatus) DeliveryStatus {
	if progress[to] > progress[from] {
		return to
	}
	return from
}

// Accepted reports whether the provider is known to have the message. It must not be sent again.
func (s DeliveryStatus) Accepted() bool {
	return s == Queued || s == Sent || s == Delivered || s == Read
}

// FailureKind is the class of a failure to send.
type FailureKind string

// The kinds.
const (
	Transient     FailureKind = "TRANSIENT"     // not sent; retry later
	Permanent     FailureKind = "PERMANENT"     // this message can never be delivered
	Unregistered  FailureKind = "UNREGISTERED"  // the token or number no longer exists: delete it
	OptedOut      FailureKind = "OPTED_OUT"     // the recipient told the provider to stop
	Misconfigured FailureKind = "MISCONFIGURED" // the sender's account or settings are wrong: all messages fail
	Unknown       FailureKind = "UNKNOWN"       // a request got no answer: the message may have been sent
)

// SendError is why a message was not sent, or may not have been sent.
type SendError struct {
	Kind       FailureKind
	Code       string        // of the provider
	RetryAfter time.Duration // the wait that the provider asks for; 0: none
	Reason     string        // for people, without personal data
	Err        error
}

// Error returns the kind, code and reason.
func (e *SendError) Error() string {
	text := strings.ToLower(string(e.Kind))
	if e.Code != "" {
		text += " (" + e.Code + ")"
	}
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if e.Err != nil {
		text = fmt.Sprintf("%s: %v", text, e.Err)
	}
	return text
}

// Unwrap returns the cause.
func (e *SendError) Unwrap() error { return e.Err }

// Expired means that a message expired before it was sent.
func Expired() *SendError {
	return &SendError{Kind: Permanent, Code: "EXPIRED", Reason: "it expired before it was sent"}
}

// Backoff is exponential backoff with full jitter.
type Backoff struct {
	Base time.Duration // limit of the first wait; doubles with each attempt
	Max  time.Duration // highest limit, without the provider's RetryAfter
}

// Next returns when to retry after an attempt, counted from 1, that ended now. The wait is random between 0 and its
// limit (full jitter), so that messages that failed together are not retried together. Random is in [0, 1). The
// provider's RetryAfter is added. It returns false if the message expires before.
func (b Backoff) Next(
	now time.Time, attempt int, random float64, retryAfter time.Duration, expiresAt time.Time,
) (time.Time, bool) {
	limit := float64(b.Base) * math.Pow(2, float64(max(attempt, 1)-1))
	wait := time.Duration(random * min(limit, float64(b.Max)))
	at := now.Add(max(retryAfter, 0) + wait)
	if !expiresAt.IsZero() && !at.Before(expiresAt) {
		return time.Time{}, false
	}
	return at, true
}

// Encoding is the encoding of an SMS.
type Encoding string

// The encodings (3GPP TS 23.038).
const (
	GSM7Bit Encoding = "GSM-7"
	UCS2    Encoding = "UCS-2"
)

// The capacity of an SMS in units of the encoding: of a single one, and of a part of a longer one, in which a header
// takes six bytes.
const (
	gsmSingle, gsmPart = 160, 153
	ucsSingle, ucsPart = 70, 67
)

// gsmBasic is the GSM 7-bit default alphabet. gsmExtension is its extension table: each character takes two units, an
// escape and itself.
const (
	gsmBasic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
		"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmExtension = "\f^{}\\[~]|€"
)

var gsmUnits = func() map[rune]int {
	units := make(map[rune]int, 138)
	for _, r := range gsmBasic {
		units[r] = 1
	}
	for _, r := range gsmExtension {
		units[r] = 2
	}
	return units
}()

// CountSegments returns how many segments a text needs as SMS, in which encoding, and how many units each segment
// holds. One character outside the GSM 7-bit alphabet makes the whole text UCS-2. A character is never split between
// segments, so a text can need one more than its length suggests. An empty text has no segments.
func CountSegments(text string) (segments int, encoding Encoding, perSegment int) {
	if units, ok := gsmLengths(text); ok {
		segments, perSegment = pack(units, gsmSingle, gsmPart)
		return segments, GSM7Bit, perSegment
	}
	segments, perSegment = pack(utf16Lengths(text), ucsSingle, ucsPart)
	return segments, UCS2, perSegment
}

func gsmLengths(text string) ([]int, bool) {
	lengths := make([]int, 0, len(text))
	for _, r := range text {
		n, ok := gsmUnits[r]
		if !ok {
			return nil, false
		}
		lengths = append(lengths, n)
	}
	return lengths, true
}

func utf16Lengths(text string) []int {
	lengths := make([]int, 0, len(text))
	for _, r := range text {
		if r > 0xFFFF {
			lengths = append(lengths, 2)
		} else {
			lengths = append(lengths, 1)
		}
	}
	return lengths
}

// pack counts the segments for characters of these lengths.
func pack(lengths []int, single, part int) (segments, perSegment int) {
	total := 0
	for _, n := range lengths {
		total += n
	}
	if total <= single {
		return min(total, 1), single
	}
	segments, used := 1, 0
	for _, n := range lengths {
		if used+n > part {
			segments, used = segments+1, 0
		}
		used += n
	}
	return segments, part
}
