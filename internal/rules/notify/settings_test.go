package notify

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestSettings_AreNormalizedOrNameTheInvalidField(t *testing.T) {
	t.Parallel()
	limits := func(bySMS, byPush, byEmail int) set {
		return set{"PerDay": map[delivery.Channel]int{sms: bySMS, push: byPush, email: byEmail}}
	}
	for field, all := range map[string][]set{
		"": {
			nil, {"SenderName": "Yoga @ the Pier"}, {"SenderName": "🧘‍♀️ Yoga"}, limits(1, 1, 1), {"Locale": "pt-BR"},
			{"PhoneCountries": []string{"PT", "GB"}},
		},
		"settings.sms_per_day": {limits(0, 1, 1)}, "settings.push_per_day": {limits(1, 0, 1)},
		"settings.email_per_day":   {limits(1, 1, 0)},
		"settings.phone_countries": {{"PhoneCountries": []string{"UK"}}, {"PhoneCountries": []string{"001"}}},
		"settings.locale":          {{"Locale": "english!"}},
		"settings.sender_name": {
			{"SenderName": "Studio\r\nBcc: all"}, {"SenderName": "Studio\u202ednoob"}, {"SenderName": "Stu\u200bdio"},
			{"SenderName": "Stu\u2066dio"}, {"SenderName": "Studio\u2028Bcc"}, {"SenderName": "support@bank.example"},
			{"SenderName": "Bank <support＠bank.example>"},
		},
		"settings.quiet_hours": {
			{"QuietHours.Start.Hour": 25}, {"QuietHours.End.Hour": 25}, {"QuietHours.End.Second": 1},
		},
	} {
		want := strings.TrimSuffix("INVALID_FIELD @"+field, "INVALID_FIELD @")
		for _, differ := range all {
			expect.Fault(t, want, differ)(vary.From(DefaultSettings(), differ).Normalize())
		}
	}
	s := DefaultSettings()
	s.Reminders, s.PhoneCountries = []time.Duration{time.Minute, time.Hour, time.Minute}, []string{"PT", "GB", "PT"}
	got := expect.Value(s.Normalize())(t)
	test.Eq(t, []time.Duration{time.Hour, time.Minute}, got.Reminders)
	test.Eq(t, []string{"GB", "PT"}, got.PhoneCountries)
	test.EqOp(t, time.Minute, s.Reminders[0], test.Sprint("the caller's changed"))
	test.EqOp(t, "PT", s.PhoneCountries[0], test.Sprint("the caller's changed"))
	s.ReplyTo, s.SenderName, s.Locale = "a@b.example", "Harbour", "de"
	s.PhoneCountries = []string{"PT"}
	test.Eq(t, catalog.AuditFields{
		"quiet_hours": "21:00-08:00", "sms_per_day": 6, "push_per_day": 12,
		"email_per_day": 20, "reminders": []string{"1m0s", "1h0m0s", "1m0s"}, "reply_to": "a@b.example",
		"sender_name": "Harbour", "credits_low_at": 1, "locale": "de", "phone_countries": []string{"PT"},
	}, s.AuditFields())
	test.Eq(t, []time.Duration{24 * time.Hour, 30 * time.Minute}, DefaultSettings().Reminders)
}
