package notify

import (
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/tenant"
)

// NewCode returns the notice that sends a code to a contact that a member has to confirm, until the code expires.
// Sealed is the code, encrypted.
func NewCode(
	owner tenant.MemberID, code tenant.CodeID, c delivery.Channel, to string, sealed []byte, now, expires time.Time,
) Notice {
	n := forContact(owner, code.UUID, c, to, now)
	n.Topic, n.ExpiresAt, n.Details.Sealed = ContactCode, expires, sealed
	return n
}

// OldContact returns the notice that tells a contact of a member that it is being changed. Change identifies the
// change.
func OldContact(owner tenant.MemberID, change tenant.UUID, c delivery.Channel, to string, now time.Time) Notice {
	n := forContact(owner, change, c, to, now)
	n.Topic, n.ExpiresAt = ContactChanged, now.Add(newsLifetime)
	return n
}

// NewDomainLapsed returns the notice that tells an owner that mails no longer come from an address, because the
// tenant's sending domain has lapsed. Lapse identifies that.
func NewDomainLapsed(owner tenant.MemberID, lapse tenant.UUID, from string, now time.Time) Notice {
	return Notice{
		Topic: DomainLapsed, Lane: Mail, Member: owner, Thing: lapse, DueAt: now, At: now, ExpiresAt: now.Add(mailLifetime),
		Details: Details{From: from},
	}
}

// NewQuotaReached returns the notice that tells an owner that no codes are sent, because the tenant has sent several
// times as many messages as it may. Alarm identifies that.
func NewQuotaReached(owner tenant.MemberID, alarm tenant.UUID, a SendingAlarm, now time.Time) Notice {
	return Notice{
		Topic: QuotaReached, Lane: Mail, Member: owner, Thing: alarm, DueAt: now, At: now, ExpiresAt: now.Add(mailLifetime),
		Details: Details{Quota: &a},
	}
}

func forContact(owner tenant.MemberID, thing tenant.UUID, c delivery.Channel, to string, now time.Time) Notice {
	lane := Alert
	if c == delivery.Email {
		lane = Mail
	}
	return Notice{Lane: lane, Member: owner, Thing: thing, DueAt: now, At: now, Details: Details{To: to}}
}

// At returns the recipient as the holder of one contact of theirs, or of one that they want to have.
func (r Recipient) At(c delivery.Channel, address string, stopped map[delivery.Channel]Reason) Recipient {
	r.Phone, r.Email, r.Devices, r.Stopped = "", "", nil, stopped
	if c == delivery.SMS {
		r.Phone = address
	} else {
		r.Email = address
	}
	return r
}
