package app

import (
	"cmp"
	"context"

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
func (a *App) ListDeliveries(ctx context.Context, caller tenant.Caller, q DeliveryQuery) ([]Delivery, error) {
	var lines []Delivery
	var batch pg.Batch
	messagedb.ListDeliveries(&batch, caller.Tenant, q, &lines)
	err := a.read(ctx, caller, &batch)
	return lines, err
}

// SendTest sends a template with example values to the caller, at once, and waits for the provider's answer. It gives the lines of the log:
// one, or for push one for each device. Errors: MEMBER_NOT_FOUND, UNREACHABLE.
func (a *App) SendTest(ctx context.Context, caller tenant.Caller, topic notify.Topic, c notify.Channel, locale string) ([]Delivery, error) {
	var ids []tenant.DeliveryID
	var out []Outgoing
	err := a.write(ctx, caller, "notification.test", func(ctx context.Context, t *tx) (err error) {
		ids = nil
		if out, err = a.writeTest(ctx, t, topic, c, locale); err != nil {
			return err
		}
		for _, o := range out {
			ids = append(ids, o.Message.ID)
		}
		return nil
	}, answers(&ids))
	if err == nil && len(out) > 0 { // else it is a repetition, and was sent before
		err = a.sendTest(ctx, caller.Tenant, out)
	}
	if err != nil {
		return nil, err
	}
	var lines []Delivery
	var batch pg.Batch
	messagedb.FindDeliveries(&batch, caller.Tenant, ids, &lines)
	return lines, a.read(ctx, caller, &batch)
}

func (a *App) sendTest(ctx context.Context, in tenant.TenantID, out []Outgoing) error {
	attempts := a.post(ctx, in, out)
	now := a.now()
	var outcomes []messagedb.DeliveryOutcome
	for _, s := range attempts {
		outcomes = append(outcomes, outcomeOf(s))
	}
	stops, gone := unusable(attempts, now)
	return a.attempt(ctx, tenant.System(in), "delivery.settle", func(_ context.Context, t *tx) error {
		messagedb.UpdateDeliveries(t.Tx, t.in, outcomes, now)
		messagedb.PutStops(t.Tx, t.in, stops...)
		accountdb.DeleteDevices(t.Tx, t.in, gone)
		return nil
	}, &writing{})
}

func (a *App) writeTest(ctx context.Context, t *tx, topic notify.Topic, c notify.Channel, locale string) ([]Outgoing, error) {
	var m *member.Member
	var settings notify.Settings
	var sealed *messagedb.Sealed
	var own []messagedb.OwnTemplate
	var h house
	recipients := make(map[tenant.UUID]*notify.Recipient)
	var batch pg.Batch
	accountdb.FindMember(&batch, t.in, t.caller.Member, &m)
	messagedb.ListRecipients(&batch, t.in, []tenant.MemberID{t.caller.Member}, recipients)
	messagedb.FindNotificationSettings(&batch, t.in, &settings)
	messagedb.FindSenders(&batch, t.in, &sealed)
	messagedb.ListTemplates(&batch, t.in, []notify.Topic{topic}, &own)
	h.queue(&batch, t.in)
	if err := t.Load(ctx, &batch); err != nil {
		return nil, err
	}
	to := recipients[t.caller.Member.UUID]
	if m == nil || to == nil {
		return nil, fault.Missing(fault.MemberNotFound, "Member")
	}
	if !to.Reachable(c) || to.Stopped[c] != "" {
		return nil, fault.New(fault.FailedPrecondition, fault.Unreachable, "You have no number, address or device for that channel, or have stopped it.").
			With("channel", string(c))
	}
	mine := make([]notify.Template, len(own))
	for i, o := range own {
		mine[i] = o.Template
	}
	template := notify.Choose(mine, topic, c, locale, to.Locale, cmp.Or(settings.Locale, h.locale))
	n := notify.Notice{Topic: topic, Member: m.ID}
	unsubscribe := ""
	if c == notify.Email {
		unsubscribe = a.unsubscribeLink(t.in, n, *to)
	}
	rendered, err := notify.Render(template, notify.Example(topic, template.Locale), h.brand, unsubscribe)
	if err != nil {
		return nil, err
	}
	provider, mineToo := a.carrier(a.unseal(t.in, sealed), c)
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
			ID: tenant.Next[tenant.DeliveryID](t.mint), Topic: topic, Channel: c, Status: notify.PossiblySent, Recipient: m.ID.UUID, Member: m.ID,
			RecipientName: m.Name, Address: address, Provider: provider, Attempt: 1, CreatedAt: t.now, UpdatedAt: t.now,
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
	messagedb.InsertDeliveries(t.Tx, t.in, lines)
	messagedb.PutInTouch(t.Tx, t.in, onSharedNumber(out))
	return out, nil
}
