package notify

import (
	"cmp"
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// Usage is what a tenant sent in the last day, as it counts toward the frequency caps of recipients and toward sending
// quotas. It also counts what is sent and deferred while a batch of notices is decided.
type Usage struct {
	sent    map[tenant.UUID]map[delivery.Channel][]time.Time
	sending *Sending
}

// NewUsage returns the usage of a tenant. Sent has the times of messages by their recipients, sorted. A nil Sending has
// no limits.
func NewUsage(sent map[tenant.UUID]map[delivery.Channel][]time.Time, sending *Sending) *Usage {
	return &Usage{sent: sent, sending: sending}
}

// SendingCountry returns the country to which a message counts. A mail has none.
func SendingCountry(c delivery.Channel, phone string) string {
	if c != delivery.SMS {
		return ""
	}
	return cmp.Or(member.Country(phone), UnknownCountry)
}

// recipient returns the recipient of a notice with what counts for them now.
func (u *Usage) recipient(n Notice, r Recipient) Recipient {
	r.Sent, r.Full = u.sent[n.Recipient()], make(map[delivery.Channel]time.Time)
	r.NoCodes = make(map[delivery.Channel]bool)
	for _, c := range n.Topic.Channels(n.Lane) {
		if !u.sending.Limited(c) || !r.Reachable(c) {
			continue
		}
		country := SendingCountry(c, r.Phone)
		if at := u.sending.RoomAt(c, country); !at.IsZero() {
			r.Full[c] = at
		}
		r.NoCodes[c] = u.sending.Ceiling(c, country) > 0
	}
	return r
}

// Count counts the message of a notice that is sent now, once for all devices, and returns its counter.
func (u *Usage) Count(n Notice, r Recipient, c delivery.Channel, now time.Time) SendingKey {
	if n.Topic.Counted() {
		if u.sent[n.Recipient()] == nil {
			u.sent[n.Recipient()] = make(map[delivery.Channel][]time.Time)
		}
		u.sent[n.Recipient()][c] = append(u.sent[n.Recipient()][c], now)
	}
	if !u.sending.Limited(c) {
		return SendingKey{}
	}
	return u.sending.Count(c, SendingCountry(c, r.Phone))
}
