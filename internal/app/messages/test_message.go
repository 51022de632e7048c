package messages

import (
	"cmp"
	"context"

	"github.com/berthhq/berth/internal/app/contacts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// testMessages are the messages of a test: several if there are several devices, none if the caller has to confirm the
// contact first. Only IDs is stored for a replay.
type testMessages struct {
	IDs []tenant.DeliveryID
	out []Outgoing // not stored
}

// SendTestNotification sends a template with example values to the caller and waits for the provider's answer. It
// returns the attempts in the delivery log: one, or one for each device. If the caller has not confirmed the contact,
// it sends the code for that instead, and returns none. Errors: MEMBER_NOT_FOUND, UNREACHABLE, QUOTA_EXCEEDED,
// CONTACT_COUNTRY, CONTACT_NOT_MOBILE.
func (s *Service) SendTestNotification(
	ctx context.Context, caller tenant.Caller, topic notify.Topic, c delivery.Channel, locale string,
) ([]Delivery, error) {
	t := engine.Transaction{Name: "notification.test", Replay: true}
	code, err := s.codes.New(caller.Tenant)
	if err != nil {
		return nil, err
	}
	test, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (testMessages, error) {
		out, err := s.composeTest(ctx, tx, topic, c, locale, code)
		return testMessages{pg.Array(out, func(o Outgoing) tenant.DeliveryID { return o.Message.ID }), out}, err
	})
	if err == nil && len(test.out) > 0 { // a replayed answer has none: they were sent before
		err = s.sendTest(ctx, caller.Tenant, test.out)
	}
	if err != nil {
		return nil, err
	}
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]Delivery) {
		messagedb.FindDeliveries(b, caller.Tenant, test.IDs, into)
	})
}

func (s *Service) sendTest(ctx context.Context, in tenant.TenantID, out []Outgoing) error {
	attempts := s.send(ctx, in, out)
	return s.settle(ctx, in, attempts, pg.Array(attempts, outcomeOf), nil, s.engine.Now())
}

// contactOf is what members confirm before they get test messages over a channel.
var contactOf = map[delivery.Channel]member.ContactKind{delivery.SMS: member.ByPhone, delivery.Email: member.ByEmail}

// composeTest writes the messages of a test and logs them.
func (s *Service) composeTest(
	ctx context.Context, tx *engine.Tx, topic notify.Topic, c delivery.Channel, locale string, code contacts.Code,
) ([]Outgoing, error) {
	tests := 0
	var sending contacts.SendingFacts
	var settings notify.Settings
	var sealed *messagedb.Sealed
	var own []messagedb.OwnTemplate
	var profile tenantProfile
	recipients := make(map[tenant.UUID]*notify.Recipient)
	m, err := engine.Find(ctx, tx, noMember, func(b *pg.Batch, into **member.Member) {
		accountdb.FindMember(b, tx.Tenant, tx.Caller.Member, into)
		messagedb.ListRecipients(b, tx.Tenant, []tenant.MemberID{tx.Caller.Member}, s.opener(tx.Tenant), recipients)
		messagedb.FindNotificationSettings(b, tx.Tenant, &settings)
		messagedb.FindSenders(b, tx.Tenant, &sealed)
		messagedb.ListTemplates(b, tx.Tenant, []notify.Topic{topic}, &own)
		profile.queue(b, tx.Tenant)
		sending.Queue(b, tx.Tenant, c == delivery.SMS, tx.Now)
		messagedb.CountTests(b, tx.Tenant, tx.Caller.Member, tx.Now.Add(-notify.TestDay), &tests)
	})
	if err != nil {
		return nil, err
	}
	to := recipients[m.ID.UUID]
	if err := to.CheckReachable(c); err != nil {
		return nil, err
	}
	if kind, ok := contactOf[c]; ok && !m.Confirmed(kind, tx.Caller.Email) {
		_, _, err := s.codes.Ask(ctx, tx, m.ID, m.Contact(kind), code, false)
		return nil, err
	}
	sent := sending.Sending(tx.Tenant, s.Limits(tx.Tenant, sealed), tx.Now)
	if err := notify.CheckTests(tests, sent.Ceiling(c, notify.SendingCountry(c, to.Phone))); err != nil {
		return nil, err
	}
	template := content.Choose(templatesOf(own), topic, c, locale, to.Locale, cmp.Or(settings.Locale, profile.locale))
	n := notify.Notice{Topic: topic, Member: m.ID}
	unsubscribe := ""
	if c == delivery.Email && !topic.Mandatory(c) {
		unsubscribe = s.unsubscribeLink(tx.Tenant, n, *to)
	}
	senders := s.unseal(tx.Tenant, sealed)
	rendered, err := content.Render(
		template, content.Example(topic, template.Locale), profile.brand, s.foot(senders, unsubscribe),
	)
	if err != nil {
		return nil, err
	}
	message := delivery.Message{
		Channel: c, ToName: to.Name, Subject: rendered.Subject, Title: rendered.Subject,
		Text: rendered.Text, HTML: rendered.HTML, Link: rendered.Link, Unsubscribe: unsubscribe, CollapseKey: "test",
		Data: map[string]string{"topic": string(topic)}, HighPriority: true,
	}
	addressMail(&message, senders, settings, profile)
	provider, ofTenant := s.provider(senders, c)
	platform := s.platform(ChannelSender{c, provider, ofTenant})
	counted := s.countTest(tx, senders, c, to.Phone)
	var deliveries []Delivery
	var out []Outgoing
	for _, d := range destinations(c, *to) {
		line := Delivery{
			ID: tenant.NextID[tenant.DeliveryID](tx.IDs), Topic: topic, Channel: c, Status: delivery.PossiblySent,
			Recipient: m.ID.UUID, Member: m.ID, RecipientName: m.Name, Address: d.logged, Provider: provider,
			Platform: platform, Attempt: 1, CreatedAt: tx.Now,
		}
		if provider == LocalOutbox {
			line.Content = &rendered
		}
		message.ID, message.To = line.ID, d.address
		deliveries = append(deliveries, line)
		out = append(out, Outgoing{
			Message: message, Notice: n, Provider: provider, Own: ofTenant, Device: d.device, Counted: counted,
		})
	}
	record.Audit(tx, "test_notification.sent", "member", m.ID.UUID, "", map[string]any{
		"topic": string(topic), "channel": string(c), "messages": len(deliveries),
	})
	messagedb.InsertDeliveries(tx.Tx, tx.Tenant, deliveries)
	messagedb.PutPhoneTenants(tx.Tx, tx.Tenant, onSharedNumber(out))
	return out, nil
}
