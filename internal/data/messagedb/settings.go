package messagedb

import (
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// settingsRow is a tenant's settings with its frequency caps by channel.
type settingsRow struct {
	notify.Settings
	sms, push, email int
}

var settings = pg.NewTable("n", func(s *settingsRow) []pg.Column {
	return []pg.Column{
		pg.Col("quiet_hours_start", &s.QuietHours.Start),
		pg.Col("quiet_hours_end", &s.QuietHours.End),
		pg.Col("sms_per_day", &s.sms),
		pg.Col("push_per_day", &s.push),
		pg.Col("email_per_day", &s.email),
		pg.Col("reminders", pg.List(&s.Reminders)),
		pg.Col("reply_to", &s.ReplyTo),
		pg.Col("sender_name", &s.SenderName),
		pg.Col("credits_low_at", &s.CreditsLowAt),
		pg.Col("locale", &s.Locale),
		pg.Col("phone_countries", pg.List(&s.PhoneCountries)),
		pg.Col("version", &s.Version),
		pg.Col("updated_at", &s.UpdatedAt),
	}
})

var (
	findSettings = pg.SQL(`select ` + settings.Columns() + ` from notification_settings n where n.tenant_id = $1`)
	putSettings  = pg.SQL(`insert into notification_settings ` + settings.Values() + `
on conflict (tenant_id) do update set ` + settings.SetExcluded())
)

// FindNotificationSettings reads a tenant's settings for messages; the defaults, at version 0, if it has none.
func FindNotificationSettings(b *pg.Batch, in tenant.TenantID, into *notify.Settings) {
	*into = notify.DefaultSettings()
	settings.Each(b.Queue(findSettings, in), func(s settingsRow) {
		s.PerDay = map[delivery.Channel]int{delivery.SMS: s.sms, delivery.Push: s.push, delivery.Email: s.email}
		*into = s.Settings
	})
}

// PutNotificationSettings writes a tenant's settings for messages.
func PutNotificationSettings(tx *pg.Tx, in tenant.TenantID, s notify.Settings) {
	row := settingsRow{s, s.PerDay[delivery.SMS], s.PerDay[delivery.Push], s.PerDay[delivery.Email]}
	tx.Write(putSettings, settings.Insert(in, &row)...)
}
