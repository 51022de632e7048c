package messages

import (
	"cmp"
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// Delivery is a line of the delivery log, DeliveryQuery chooses some.
type (
	Delivery      = messagedb.Delivery
	DeliveryQuery = messagedb.DeliveryQuery
)

// ListDeliveries reads the delivery log, the newest first.
func (s *Service) ListDeliveries(ctx context.Context, caller tenant.Caller, q DeliveryQuery) ([]Delivery, error) {
	var lines []Delivery
	var batch pg.Batch
	messagedb.ListDeliveries(&batch, caller.Tenant, q, &lines)
	err := s.engine.Read(ctx, caller, &batch)
	return lines, err
}

// SendTest sends a template with example values to the caller, at once, and waits for the provider's answer. It gives the lines of the log:
// one, or for push one for each device. Errors: MEMBER_NOT_FOUND, UNREACHABLE.
func (s *Service) SendTest(ctx context.Context, caller tenant.Caller, topic notify.Topic, c notify.Channel, locale string) ([]Delivery, error) {
	var ids []tenant.DeliveryID
	var out []Outgoing
	err := s.engine.Write(ctx, caller, "notification.test", func(ctx context.Context, tx *engine.Tx) (err error) {
		ids = nil
		if out, err = s.writeTest(ctx, tx, topic, c, locale); err != nil {
			return err
		}
		for _, o := range out {
			ids = append(ids, o.Message.ID)
		}
		return nil
	}, engine.Answers(&ids))
	if err == nil && len(out) > 0 { // else it is a repetition, and was sent before
		err = s.sendTest(ctx, caller.Tenant, out)
	}
	if err != nil {
		return nil, err
	}
	var lines []Delivery
	var batch pg.Batch
	messagedb.FindDeliveries(&batch, caller.Tenant, ids, &lines)
	return lines, s.engine.Read(ctx, caller, &batch)
}

func (s *Service) sendTest(ctx context.Context, in tenant.TenantID, out []Outgoing) error {
	attempts := s.post(ctx, in, out)
	now := s.engine.Now()
	var outcomes []messagedb.DeliveryOutcome
	for _, s := range attempts {
		outcomes = append(outcomes, outcomeOf(s))
	}
	stops, gone := unusable(attempts, now)
	return engine.Exec(ctx, s.engine, tenant.System(in), engine.Spec[struct{}]{Name: "delivery.settle", Quiet: true}, func(_ context.Context, tx *engine.Tx) error {
		messagedb.UpdateDeliveries(tx.Tx, tx.Tenant, outcomes, now)
		messagedb.PutStops(tx.Tx, tx.Tenant, stops...)
		accountdb.DeleteDevices(tx.Tx, tx.Tenant, gone)
		return nil
	})
}

func (s *Service) writeTest(ctx context.Context, tx *engine.Tx, topic notify.Topic, c notify.Channel, locale string) ([]Outgoing, error) {
	var m *member.Member
	var settings notify.Settings
	var sealed *messagedb.Sealed
	var own []messagedb.OwnTemplate
	var h house
	recipients := make(map[tenant.UUID]*notify.Recipient)
	var batch pg.Batch
	accountdb.FindMember(&batch, tx.Tenant, tx.Caller.Member, &m)
	messagedb.ListRecipients(&batch, tx.Tenant, []tenant.MemberID{tx.Caller.Member}, recipients)
	messagedb.FindNotificationSettings(&batch, tx.Tenant, &settings)
	messagedb.FindSenders(&batch, tx.Tenant, &sealed)
	messagedb.ListTemplates(&batch, tx.Tenant, []notify.Topic{topic}, &own)
	h.queue(&batch, tx.Tenant)
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	to := recipients[tx.Caller.Member.UUID]
	if m == nil || to == nil {
		return nil, fault.Missing(fault.MemberNotFound, "Member")
	}
	if !to.Reachable(c) || to.Stopped[c] != "" {
		return nil, fault.New(fault.FailedPrecondition, fault.Unreachable, "You have no number, address or device for that channel, or have stopped it.").
			WithMetadata("channel", string(c))
	}
	mine := make([]notify.Template, len(own))
	for i, o := range own {
		mine[i] = o.Template
	}
	template := notify.Choose(mine, topic, c, locale, to.Locale, cmp.Or(settings.Locale, h.locale))
	n := notify.Notice{Topic: topic, Member: m.ID}
	unsubscribe := ""
	if c == notify.Email {
		unsubscribe = s.unsubscribeLink(tx.Tenant, n, *to)
	}
	rendered, err := notify.Render(template, notify.Example(topic, template.Locale), h.brand, unsubscribe)
	if err != nil {
		return nil, err
	}
	provider, mineToo := s.carrier(s.unseal(tx.Tenant, sealed), c)
	message := notify.Message{
		Channel: c, Text: rendered.Text, HTML: rendered.HTML, Link: rendered.Link, Unsubscribe: unsubscribe, CollapseKey: "test",
		From: notify.Mailbox{Name: cmp.Or(settings.SenderName, h.name)}, HighPriority: true, Data: map[string]string{"topic": string(topic)},
	}
	if message.Title, message.Subject = rendered.Subject, rendered.Subject; settings.ReplyTo != "" {
		message.ReplyTo = notify.Mailbox{Name: message.From.Name, Address: settings.ReplyTo}
	}
	var lines []Delivery
	var out []Outgoing
	add := func(to, address string, device tenant.DeviceID) {
		line := Delivery{
			ID: tenant.NextID[tenant.DeliveryID](tx.IDs), Topic: topic, Channel: c, Status: notify.PossiblySent, Recipient: m.ID.UUID, Member: m.ID,
			RecipientName: m.Name, Address: address, Provider: provider, Attempt: 1, CreatedAt: tx.Now, UpdatedAt: tx.Now,
		}
		if provider == LocalOutbox {
			line.Content = &rendered
		}
		sent := message
		sent.ID, sent.To = line.ID, to
		lines = append(lines, line)
		out = append(out, Outgoing{Message: sent, Notice: n, Provider: provider, Own: mineToo, Device: device})
	}
	switch c {
	case notify.SMS:
		add(to.Phone, to.Phone, tenant.DeviceID{})
	case notify.Email:
		message.ToName = to.Name
		add(to.Email, to.Email, tenant.DeviceID{})
	case notify.Push:
		for _, d := range to.Devices {
			add(d.Token, d.ID.String(), d.ID)
		}
	}
	messagedb.InsertDeliveries(tx.Tx, tx.Tenant, lines)
	messagedb.PutPhoneTenants(tx.Tx, tx.Tenant, onSharedNumber(out))
	return out, nil
}
