package messages_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/sending"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

func TestFaults_FailTheCall(t *testing.T) {
	t.Parallel()
	f := testkit.NewFaults(t)
	s := messagetest.On(f.Studio, limited(notify.SendingLimits{email: {Total: 9}}))
	app, ctx, owner := s.App.Messages, t.Context(), s.Owner
	mia := s.AddReachable("Mia")
	s.MustPlace(mia, s.SessionAt(testkit.Noon.Add(48*time.Hour)))
	s.Plan()
	s.MustPlace(mia, s.SessionAt(testkit.Noon.Add(50*time.Hour)))
	text := content.Template{Topic: confirmed, Channel: sms, Locale: "en", Body: "Hello {{.Name}}"}
	at := messages.TemplateQuery{Topic: confirmed, Channel: sms, Locale: "en"}
	feed := expect.Value(app.CreateCalendarFeed(ctx, mia))(t)
	secret := strings.TrimSuffix(feed[strings.LastIndex(feed, "/")+1:], ".ics")
	phone := s.PhoneOf(mia)
	due := expect.Value(app.TakeNotices(ctx, s.Tenant))(t)
	results := s.Dispatcher.SendAll(ctx, s.Tenant, due.Out)
	s.ConfirmContacts(mia)
	s.SetMode(waitlist.OfferInTurn)
	class, who, booked := s.AddFullSession(1)
	s.MustJoin(s.AddReachable("Zoe"), testkit.ForSessions(class))
	s.MustCancel(who[0], booked[0])
	_, link, _ := strings.Cut(due.Out[1].Message.Unsubscribe, messages.UnsubscribePath)
	domain := func(edited *messages.Senders) { edited.Domain = &sending.Domain{Address: "hello@studio.com"} }
	expect.OK(t)(app.UpdateNotificationSenders(ctx, owner, nil, domain))
	f.WantErrors(
		s.TryPlan,
		func() error { return expect.Error(app.SendTestNotification(ctx, mia, confirmed, sms, "en")) },
		func() error { return expect.Error(app.GetNotificationPreferences(ctx, mia, tenant.MemberID{})) },
		func() error {
			return expect.Error(app.UpdateNotificationPreferences(ctx, mia, messages.PreferencesEdit{
				Chosen: notify.Preferences{{Topic: confirmed, Channel: sms}: true},
			}))
		},
		func() error { return expect.Error(app.GetNotificationSettings(ctx, owner)) },
		func() error {
			return expect.Error(app.UpdateNotificationSettings(
				ctx, owner, nil, func(s *notify.Settings) { s.CreditsLowAt = 2 },
			))
		},
		func() error { return expect.Error(app.ListNotificationTemplates(ctx, owner, messages.TemplateQuery{})) },
		func() error { return expect.Error(app.GetNotificationTemplate(ctx, owner, at)) },
		func() error { return expect.Error(app.UpdateNotificationTemplate(ctx, owner, text, nil)) },
		func() error { return expect.Error(app.PreviewNotificationTemplate(ctx, owner, text)) },
		func() error { return expect.Error(app.ResetNotificationTemplate(ctx, owner, at, nil)) },
		func() error { return expect.Error(app.GetNotificationSenders(ctx, owner)) },
		func() error { return expect.Error(app.ListSendingQuotas(ctx, owner)) },
		func() error { return app.ReviewSending(ctx, s.Tenant) },
		func() error {
			return expect.Error(outbox.Consume(ctx, s.DB.DB, s.Tenant, outbox.Consumer{
				Name: "test", Handle: func(context.Context, *pg.Tx, tenant.TenantID, []*outbox.Record) error { return nil },
			}))
		},
		func() error { return app.LoadNoticeAlarm(ctx, s.Tenant) },
		func() error { return expect.Error(app.GetCalendarFeed(ctx, secret)) },
		func() error { return app.SettleDeliveries(ctx, s.Tenant, results) },
		func() error { return expect.Error(app.GetNotificationDelivery(ctx, owner, due.Out[0].Message.ID)) },
		func() error {
			return expect.Error(app.ListNotificationDeliveries(ctx, owner, messages.DeliveryQuery{Limit: 9}))
		},
		func() error {
			return app.ReportDelivery(ctx, s.Tenant, messages.DeliveryReport{
				Delivery: due.Out[0].Message.ID, Status: delivery.Delivered,
			})
		},
		func() error {
			return app.ReportDelivery(ctx, s.Tenant, messages.DeliveryReport{
				Delivery: due.Out[1].Message.ID, Status: delivery.Undelivered, Err: &delivery.Error{Kind: delivery.Transient},
			})
		},
		func() error { return expect.Error(app.AnswerSMS(ctx, s.Tenant, phone, "STOP")) },
		func() error { return app.DeleteCalendarFeed(ctx, mia) },
		func() error { return expect.Error(app.AnswerSMS(ctx, s.Tenant, phone, "HELP")) },
		func() error { return expect.Error(app.AnswerSMS(ctx, s.Tenant, phone, "1 482117")) },
		func() error { return expect.Error(app.AnswerSharedSMS(ctx, phone, "HELP")) },
		func() error { return expect.Error(app.GetUnsubscribe(ctx, link)) },
		func() error { return expect.Error(app.Unsubscribe(ctx, link, true)) },
		func() error { return expect.Error(app.UpdateNotificationSenders(ctx, owner, nil, domain)) },
		func() error { return app.CheckDomain(ctx, s.Tenant) },
		func() error { return expect.Error(app.TakeNotices(ctx, s.Tenant)) },
	)
}
