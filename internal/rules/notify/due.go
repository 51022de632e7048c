package notify

import (
	"time"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// Due is a notice that is due, with the facts about it.
type Due struct {
	Notice     Notice
	Sending    bool            // an attempt has begun, and its result is not stored
	LastStatus delivery.Status // of that attempt
	To         Recipient       // without what was sent
	About      Facts
}

// Step is what happens with a notice that is due.
type Step struct {
	Action
	Notice   Notice    // as it continues
	To       Recipient // with what counts for them; empty if no further attempt is possible
	Reminder bool      // the reminder of a booking is due for the first time, which is an event
}

// Next decides about a notice that is due, and counts it if it is deferred until there is room in a sending quota.
func (u *Usage) Next(d Due, s Settings, now time.Time) Step {
	n := d.Notice
	if d.Sending {
		resumed, closed, why := n.Resume(d.LastStatus)
		switch n = resumed; {
		case why != "":
			return Step{Action: Action{Kind: Drop, Reason: why}, Notice: n}
		case closed:
			return Step{Action: Action{Kind: Close}, Notice: n}
		}
	}
	to := u.recipient(n, d.To)
	step := Step{Action: Decide(n, s, to, d.About, now), Notice: n, To: to, Reminder: n.ReminderDue(d.About)}
	switch c := step.Channel; {
	case step.Kind == Send:
		step.Notice.LastChannel = n.IsOnlyChannel(c, to, d.About)
	case step.Kind == Defer && step.Reason == SendingQuotaReason:
		u.sending.Wait(c, SendingCountry(c, to.Phone), step.Until)
	}
	return step
}

// HoldsOffer reports whether quiet hours hold back the message that tells a member of an offer.
func (s Step) HoldsOffer() bool { return s.Notice.Topic == Offered && s.Reason == QuietHoursReason }
