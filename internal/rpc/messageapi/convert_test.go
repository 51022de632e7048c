package messageapi

import (
	"maps"
	"slices"
	"testing"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rpc/convert/converttest"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
)

// Every field is converted to the field of the same meaning, in both directions.
func TestConversions_CarryEveryField(t *testing.T) {
	t.Parallel()
	var l converttest.Lines
	converttest.Add(&l, settingsMessage, func(s *notify.Settings) {
		s.PerDay = map[delivery.Channel]int{delivery.SMS: 1001, delivery.Push: 1002, delivery.Email: 1003}
	})
	converttest.AddBack(&l, quietHoursValue)
	converttest.AddBack(&l, func(m *v1.NotificationSettingsInput) notify.Settings {
		edited := notify.Settings{PerDay: make(map[delivery.Channel]int)}
		editSettings(m, []string{
			"quiet_hours", "sms_per_day", "push_per_day", "email_per_day", "reminders", "reply_to",
			"sender_name", "credits_low_at", "locale", "phone_countries",
		})(&edited)
		return edited
	})
	converttest.AddBack(&l, func(m *v1.UpdateNotificationTemplateRequest) content.Template {
		return templateValue(m, m.GetTemplate())
	})
	converttest.AddBack(&l, func(m *v1.NotificationTemplateFilter) messages.TemplateQuery { return templateQueryValue(m) })
	converttest.Add(&l, deliveryMessage, func(d *messages.Delivery) {
		d.Topic, d.Channel, d.Status, d.Reason = notify.Reminder, delivery.Push, delivery.PossiblySent, notify.OptedOut
	})
	converttest.AddBack(&l, deliveryQueryValue)
	converttest.Add(&l, quotaMessage, func(q *notify.SendingQuota) { q.Channel = delivery.SMS })
	converttest.Add(&l, sendersMessage)
	converttest.AddBack(&l, func(m *v1.NotificationSendersInput) messages.Senders {
		var edited messages.Senders
		editSenders(m, []string{"twilio", "fcm", "smtp", "domain"})(&edited)
		return edited
	})
	l.Check(t, "testdata/fields.txt")
}

// What only text messages have is absent in others, and so is the number of an attempt that was none.
func TestConversions_LeaveOutWhatIsNot(t *testing.T) {
	t.Parallel()
	text := renderedMessage(delivery.SMS, content.Rendered{Segments: 2})
	test.Eq(t, new(int32(2)), text.Segments)
	test.Eq(t, new(false), text.Gsm7)
	mail := renderedMessage(delivery.Email, content.Rendered{})
	test.Nil(t, mail.Segments)
	test.Nil(t, mail.Gsm7)
	dropped := deliveryMessage(messages.Delivery{Reason: notify.OptedOut})
	test.Nil(t, dropped.Segments)
	test.Nil(t, dropped.Attempt)
}

// Each topic has a value in the contract, and each value is a topic.
func TestTopics_MatchContract(t *testing.T) {
	t.Parallel()
	for _, topic := range notify.Topics() {
		test.NotEqOp(t, 0, topicMessage(topic), test.Sprintf("the contract has no NOTIFICATION_TOPIC_%s", topic))
	}
	for _, number := range slices.Sorted(maps.Keys(v1.NotificationTopic_name))[1:] {
		topic := convert.EnumName[notify.Topic](topicPrefix, v1.NotificationTopic(number))
		test.True(t, topic.Fixed() || slices.Contains(notify.Topics(), topic),
			test.Sprintf("NOTIFICATION_TOPIC_%s is no topic", topic))
	}
}
