// Package notify has the rules for messages: which notices an event leads to, for whom, when and over which channel
// each is sent, and what follows from the result.
package notify

import (
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
)

// Notice is a planned message to one recipient in one lane. There is only one for each recipient, thing, topic,
// revision and lane, however often it is planned.
type Notice struct {
	ID    tenant.NoticeID
	Topic Topic
	Lane  Lane

	// Member is the recipient; zero for a guest, who is reached by the contact of the booking.
	Member  tenant.MemberID
	Session tenant.SessionID
	Booking tenant.BookingID
	Entry   tenant.EntryID
	Offer   tenant.OfferID
	// Thing is what it is about, such as a booking, and Revision is the state of the thing.
	Thing    tenant.UUID
	Revision string

	StartsAt  time.Time // of the session, as in the message; zero if the message has no start
	DueAt     time.Time
	ExpiresAt time.Time // not sent from then on
	At        time.Time // of the event
	Details   Details

	// The attempts so far.
	FailedChannels []delivery.Channel
	Attempts       int  // on the current channel
	UnknownResults int  // attempts with an unknown result
	LastChannel    bool // during an attempt: no other channel is allowed and reaches the recipient
}

// Details are facts of the event that cannot be loaded later.
type Details struct {
	Reason   string        `json:"reason,omitempty"`
	Refunded bool          `json:"refunded,omitempty"`
	Late     bool          `json:"late,omitempty"`
	Waitlist bool          `json:"waitlist,omitempty"` // a waitlist entry, not a booking
	Position int           `json:"position,omitempty"`
	OldStart time.Time     `json:"old_start,omitzero"`
	Lead     time.Duration `json:"lead,omitempty"` // of a reminder
	Balance  int           `json:"balance,omitempty"`
	Payer    tenant.UUID   `json:"payer,omitzero"` // the subscription whose credits are low
	Note     string        `json:"note,omitempty"`
	Screen   bool          `json:"screen,omitempty"` // a second screen read the display of the session
	Access   *AccessChange `json:"access,omitempty"`
	From     string        `json:"from,omitempty"`  // the address from which mails no longer come
	Quota    *SendingAlarm `json:"quota,omitempty"` // the limit that was reached

	// Of a notice for a contact.
	To     string `json:"to,omitempty"`     // the address or number
	Sealed []byte `json:"sealed,omitempty"` // the code, encrypted
}

// Recipient returns the key for the frequency cap: the id of the member, or of the booking for a guest.
func (n Notice) Recipient() tenant.UUID {
	if !n.Member.IsZero() {
		return n.Member.UUID
	}
	return n.Booking.UUID
}
