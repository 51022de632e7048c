package messages

import (
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// The statuses of attempts that were not sent.
const (
	deferred delivery.Status = "DEFERRED"
	dropped  delivery.Status = "DROPPED"
)

// noticeOutcome is what follows from the decisions about a batch of notices.
type noticeOutcome struct {
	messages   []Outgoing
	lines      []messagedb.Delivery // of the delivery log
	states     []notify.NoticeState
	planned    []notify.Notice
	events     []outbox.Event
	unsendable []tenant.OfferID // those whose members cannot be told in time
	alarms     []notify.SendingAlarm
	extended   bool // an offer was extended, which is an event
}

// write queues the writes.
func (o *noticeOutcome) write(tx *engine.Tx, planned func(due time.Time)) {
	messagedb.InsertDeliveries(tx.Tx, tx.Tenant, o.lines)
	messagedb.PutPhoneTenants(tx.Tx, tx.Tenant, onSharedNumber(o.messages))
	messagedb.UpdateNotices(tx.Tx, tx.Tenant, o.states, tx.Now)
	messagedb.InsertNotices(tx.Tx, tx.Tenant, o.planned, tx.Now, planned)
	outbox.Append(tx.Tx, tx.Tenant, o.events...)
}

// unsent counts the messages that are not sent, or not yet.
func (o *noticeOutcome) unsent() map[Unsent]int {
	unsent := make(map[Unsent]int)
	for _, line := range o.lines {
		if line.Status == dropped || line.Status == deferred {
			unsent[Unsent{line.Topic, line.Channel, line.Status, line.Reason}]++
		}
	}
	return unsent
}

// onSharedNumber returns the phone numbers that get messages from the platform's number, which tenants share.
func onSharedNumber(out []Outgoing) []string {
	var numbers []string
	for _, o := range out {
		if o.Provider == ProviderTwilio && !o.Own {
			numbers = append(numbers, o.Message.To)
		}
	}
	return numbers
}

// wait defers a notice.
func (o *noticeOutcome) wait(tx *engine.Tx, s notify.Step) {
	o.log(tx, s, messagedb.Delivery{Channel: s.Channel, Status: deferred, Reason: s.Reason, RetryAt: s.Until})
	o.states = append(o.states, s.Notice.Waiting(s.Until))
}

// drop ends a notice that is not sent.
func (o *noticeOutcome) drop(tx *engine.Tx, s notify.Step) {
	if !s.Notice.OmitFromLog(s.Reason) {
		o.log(tx, s, messagedb.Delivery{Channel: s.Channel, Status: dropped, Reason: s.Reason})
	}
	o.end(tx, s.Notice)
}

func (o *noticeOutcome) end(tx *engine.Tx, n notify.Notice) {
	o.states = append(o.states, n.Closed(tx.Now))
}

// log adds an attempt to the delivery log.
func (o *noticeOutcome) log(tx *engine.Tx, s notify.Step, d messagedb.Delivery) tenant.DeliveryID {
	n := s.Notice
	d.ID = tenant.NextID[tenant.DeliveryID](tx.IDs)
	d.Notice, d.Topic, d.Recipient, d.Member, d.RecipientName = n.ID, n.Topic, n.Recipient(), n.Member, s.To.Name
	d.Session, d.Booking, d.Offer, d.CreatedAt = n.Session, n.Booking, n.Offer, tx.Now
	d.PossibleDuplicate = n.UnknownResults > 0 && d.Status == delivery.PossiblySent
	o.lines = append(o.lines, d)
	return d.ID
}

// remind adds the event that the reminder of a booking is due.
func (o *noticeOutcome) remind(tx *engine.Tx, n notify.Notice, booked event.Facts) {
	o.events = append(o.events, outbox.Event{
		ID: tenant.NextID[tenant.EventID](tx.IDs), Session: n.Session, Booking: n.Booking, Member: n.Member,
		Actor: credit.SystemActor, Data: event.BookingReminderDue{LeadSeconds: int(n.Details.Lead.Seconds())},
		Facts: booked, At: tx.Now,
	})
}

// attempt adds the messages of an attempt, one for each destination. The line of the first counts toward the frequency
// cap and has the content, because a message to several devices counts once, and is kept once.
func (o *noticeOutcome) attempt(tx *engine.Tx, s notify.Step, line messagedb.Delivery, out Outgoing) {
	out.Notice = s.Notice
	for _, d := range destinations(s.Channel, s.To) {
		line.Address, out.Message.To, out.Device = d.logged, d.address, d.device
		out.Message.ID = o.log(tx, s, line)
		line.Counted, line.Content = false, nil
		o.messages = append(o.messages, out)
	}
	o.states = append(o.states, s.Notice.Started(tx.Now))
}

// destination is where a message is sent, and what the delivery log keeps of that: a device's id rather than its token.
type destination struct {
	address, logged string
	device          tenant.DeviceID
}

// destinations returns the recipient's number, email address, or each of their devices.
func destinations(c delivery.Channel, to notify.Recipient) []destination {
	switch c {
	case delivery.SMS:
		return []destination{{address: to.Phone, logged: to.Phone}}
	case delivery.Email:
		return []destination{{address: to.Email, logged: to.Email}}
	default:
		return pg.Array(to.Devices, func(d notify.Device) destination { return destination{d.Token, d.ID.String(), d.ID} })
	}
}
