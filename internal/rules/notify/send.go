// Package notify decides what reaches people: which messages, when, how often,
// and what became of them.
package notify

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/tenant"
)

// Channel is a way to reach a person.
type Channel string

// The channels.
const (
	SMS   Channel = "SMS"
	Push  Channel = "PUSH"
	Email Channel = "EMAIL"
)

// Message is one text for one recipient over one channel, ready to be sent.
type Message struct {
	ID      tenant.DeliveryID // names the attempt to providers, and in their callbacks
	Channel Channel
	To      string // a number in E.164, an FCM registration token, or an email address
	ToName  string // email's display name; may be empty

	From    Mailbox // email; an empty address leaves the sender's own
	ReplyTo Mailbox // email; may be empty

	Subject string // email
	Title   string // push
	Text    string // SMS and push: all of it; email: the part for readers without HTML
	HTML    string // email; empty for text alone

	Link        string    // push: opened by a tap
	Calendar    *Calendar // email
	Unsubscribe string    // email: an https address that takes RFC 8058's POST

	CollapseKey  string            // push: the newest message with this key replaces its predecessors
	Data         map[string]string // push: for the app
	ExpiresAt    time.Time         // never delivered from here on; zero: it does not expire
	HighPriority bool              // push: wakes a sleeping device
}

// Mailbox is a name and an email address.
type Mailbox struct {
	Name    string
	Address string
}

// Calendar is an iCalendar object (RFC 5545) that a message carries (RFC 6047).
type Calendar struct {
	Method CalendarMethod // the same as in Body
	Body   []byte
}

// CalendarMethod is what a calendar is asked to do (RFC 5546).
type CalendarMethod string

// The methods.
const (
	Request CalendarMethod = "REQUEST" // add the entry, or update the one with its UID
	Cancel  CalendarMethod = "CANCEL"  // take it out
)

// Receipt is what a provider said when it took a message.
type Receipt struct {
	ProviderID string // names the message in the provider's callbacks and console
	Segments   int    // SMS: how many are paid for
	Status     DeliveryStatus
}

// DeliveryStatus is how far a message got.
type DeliveryStatus string

// The statuses. Empty means that nothing is known yet.
const (
	PossiblySent DeliveryStatus = "POSSIBLY_SENT" // the provider may have it: its answer was lost
	Queued       DeliveryStatus = "QUEUED"        // the provider has it
	Sent         DeliveryStatus = "SENT"          // handed on to the carrier, the device's vendor or the mail server
	Failed       DeliveryStatus = "FAILED"        // the provider could not hand it on
	Undelivered  DeliveryStatus = "UNDELIVERED"   // the carrier could not deliver it
	Bounced      DeliveryStatus = "BOUNCED"       // the mail came back
	Delivered    DeliveryStatus = "DELIVERED"
	Read         DeliveryStatus = "READ"
)

// progress orders the statuses by how much they tell. Proof of delivery outranks
// a report of failure, which carriers are known to take back.
var progress = map[DeliveryStatus]int{
	"": 0, PossiblySent: 1, Queued: 2, Sent: 3, Failed: 4, Undelivered: 5, Bounced: 6, Delivered: 7, Read: 8,
}

// Advance gives the status after a report. It is the later of the two in a fixed
// order, so that reports may come twice, late and in any order, and end in the
// same status. One that is not known changes nothing.
func Advance(from, to DeliveryStatus) DeliveryStatus {
	if progress[to] > progress[from] {
		return to
	}
	return from
}

// Taken reports whether the provider has the message, as far as is known: it is not sent again, whatever else was heard of it.
func (s DeliveryStatus) Taken() bool {
	return s == Queued || s == Sent || s == Delivered || s == Read
}

// Settled reports whether no further report is waited for.
func (s DeliveryStatus) Settled() bool { return progress[s] >= progress[Failed] }

// FailureKind is what follows from a message that could not be sent.
type FailureKind string

// The kinds.
const (
	Transient     FailureKind = "TRANSIENT"     // not sent; worth another try later
	Permanent     FailureKind = "PERMANENT"     // this message never gets there
	Unregistered  FailureKind = "UNREGISTERED"  // the token or number is gone: drop it
	OptedOut      FailureKind = "OPTED_OUT"     // the recipient told the provider to stop
	Misconfigured FailureKind = "MISCONFIGURED" // the sender's account or settings; nothing gets there until they are mended
	Unknown       FailureKind = "UNKNOWN"       // no answer to a request that was made: it may have been sent
)

// SendError is why a message was not sent, or may not have been.
type SendError struct {
	Kind       FailureKind
	Code       string        // the provider's own
	RetryAfter time.Duration // not before then, says the provider; 0 where it does not say
	Reason     string        // for people, without personal data
	Err        error
}

// Error names kind, code and reason.
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

// Unwrap gives the cause.
func (e *SendError) Unwrap() error { return e.Err }

// Expired is why a message is not sent any more.
func Expired() *SendError {
	return &SendError{Kind: Permanent, Code: "EXPIRED", Reason: "it expired before it was sent"}
}

// Backoff spreads further tries out in time.
type Backoff struct {
	Base time.Duration // the most that the first wait may take; each doubles it
	Most time.Duration // no wait is longer, but for what the provider asks
}

// Next says when to try again after the attempt, counted from 1, that ended now. The wait
// is drawn evenly from nothing to its limit (full jitter), so that what failed
// together does not come back together; random is in [0, 1). A provider's
// RetryAfter comes on top. It reports false where that would be too late.
func (b Backoff) Next(now time.Time, attempt int, random float64, retryAfter time.Duration, expiresAt time.Time) (time.Time, bool) {
	limit := float64(b.Base) * math.Pow(2, float64(max(attempt, 1)-1))
	wait := time.Duration(random * min(limit, float64(b.Most)))
	at := now.Add(max(retryAfter, 0) + wait)
	if !expiresAt.IsZero() && !at.Before(expiresAt) {
		return time.Time{}, false
	}
	return at, true
}

// Encoding is how an SMS is written.
type Encoding string

// The encodings (3GPP TS 23.038).
const (
	GSM7Bit Encoding = "GSM-7"
	UCS2    Encoding = "UCS-2"
)

// What one SMS holds, in the encoding's units: alone, and as a part of a longer
// one, where a header takes six bytes.
const (
	gsmAlone, gsmPart = 160, 153
	ucsAlone, ucsPart = 70, 67
)

// basic is the GSM 7-bit default alphabet; extension is its escaped table, each
// character of which takes two units.
const (
	basic = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
		"¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	extension = "\f^{}\\[~]|€"
)

var gsmUnits = func() map[rune]int {
	units := make(map[rune]int, 138)
	for _, r := range basic {
		units[r] = 1
	}
	for _, r := range extension {
		units[r] = 2
	}
	return units
}()

// GSM7 says what a text costs as SMS: how many segments, in which encoding, and
// how many of its units each of them holds. One character outside the
// GSM 7-bit alphabet makes the whole text UCS-2. No character is split between
// segments, so that a text may need one more than its length suggests. An empty
// text has none.
func GSM7(text string) (segments int, encoding Encoding, perSegment int) {
	if units, ok := gsmLengths(text); ok {
		segments, perSegment = pack(units, gsmAlone, gsmPart)
		return segments, GSM7Bit, perSegment
	}
	segments, perSegment = pack(utf16Lengths(text), ucsAlone, ucsPart)
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

// pack counts the segments that characters of these lengths fill.
func pack(lengths []int, alone, part int) (segments, perSegment int) {
	total := 0
	for _, n := range lengths {
		total += n
	}
	if total <= alone {
		return min(total, 1), alone
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
