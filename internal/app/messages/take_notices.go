package messages

import (
	"context"
	"errors"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// maxNotices is how many notices TakeNotices takes at once.
const maxNotices = 200

// Outgoing is a message to send now. The delivery log already lists it.
type Outgoing struct {
	Message  delivery.Message
	Notice   notify.Notice // counts this attempt
	Provider string        // "twilio", "fcm", "smtp", or "local" for the local outbox
	Own      bool          // through the tenant's own account
	Device   tenant.DeviceID
	Counted  notify.SendingKey // where it counts toward a sending quota; zero: nowhere
}

// LocalOutbox is the provider of messages that are only kept for display.
const LocalOutbox = "local"

// DueNotices is the result of TakeNotices.
type DueNotices struct {
	Out    []Outgoing
	At     time.Time // when the attempts started
	More   bool      // more notices are due
	Unsent map[Unsent]int
	Alarms []notify.SendingAlarm
}

// Unsent says why messages were not sent, or not yet.
type Unsent struct {
	Topic   notify.Topic
	Channel delivery.Channel // whose sending quota is used up; otherwise empty
	Status  delivery.Status
	Reason  notify.Reason
}

// RunNotices calls deliver for a tenant whenever one of its notices is due, until ctx ends. It knows the notices that
// this node plans, and those that WakeNotices finds.
func (s *Service) RunNotices(ctx context.Context, deliver func(tenant.TenantID)) {
	s.Notices.Run(ctx, s.engine.Now, 1, deliver)
}

// LoadNoticeAlarm sets the alarm for a tenant's next notice, whichever node planned it.
func (s *Service) LoadNoticeAlarm(ctx context.Context, id tenant.TenantID) error {
	var next *time.Time
	var batch pg.Batch
	messagedb.FindNextNotice(&batch, id, &next)
	if err := s.engine.Read(ctx, tenant.System(id), &batch); err != nil {
		return err
	}
	if next != nil {
		s.Notices.Set(id, *next)
	}
	return nil
}

// SetNoticeAlarm sets the alarm of a tenant after a delay.
func (s *Service) SetNoticeAlarm(id tenant.TenantID, wait time.Duration) {
	s.Notices.Set(id, s.engine.Now().Add(wait))
}

// TakeNotices decides about a tenant's due notices and returns the messages to send now. The delivery log lists each
// message as POSSIBLY_SENT before it is sent. So even after a crash, a message that may be sent twice is in the log as
// a possible duplicate. The caller sends the messages and passes the results to SettleDeliveries.
func (s *Service) TakeNotices(ctx context.Context, id tenant.TenantID) (DueNotices, error) {
	caller, now := tenant.System(id), s.engine.Now()
	due, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]tenant.NoticeID) {
		messagedb.ListDueNotices(b, id, now, maxNotices, into)
	})
	if err != nil || len(due) == 0 {
		return DueNotices{}, errors.Join(err, s.LoadNoticeAlarm(ctx, id))
	}
	t := engine.Transaction{Name: "notice.take", Quiet: true}
	take := func(ctx context.Context, tx *engine.Tx) (*noticeOutcome, error) { return s.takeBatch(ctx, tx, due) }
	outcome, err := engine.Transact(ctx, s.engine, caller, t, take)
	if err != nil {
		return DueNotices{}, err
	}
	if outcome.extended || len(outcome.events) > 0 {
		s.engine.NotifyChanged(id)
	}
	for _, offer := range outcome.unsendable {
		err = errors.Join(err, s.offers.WithdrawUnsendable(ctx, id, offer))
	}
	return DueNotices{
		Out: outcome.messages, More: len(due) == maxNotices, At: now, Unsent: outcome.unsent(), Alarms: outcome.alarms,
	}, errors.Join(err, s.LoadNoticeAlarm(ctx, id))
}
