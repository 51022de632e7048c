package messagedb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// settingsRow is a tenant's choices, with the numbers of messages a day by channel.
type settingsRow struct {
	notify.Settings
	sms, push, email int
}

var settings = pg.NewTable("n", func(s *settingsRow) []pg.Column {
	return []pg.Column{
		pg.Col("quiet_start", &s.Quiet.Start),
		pg.Col("quiet_end", &s.Quiet.End),
		pg.Col("email_in_quiet", &s.EmailInQuiet),
		pg.Col("sms_per_day", &s.sms),
		pg.Col("push_per_day", &s.push),
		pg.Col("email_per_day", &s.email),
		pg.Col("reminders", pg.List(&s.Reminders)),
		pg.Col("reply_to", &s.ReplyTo),
		pg.Col("sender_name", &s.SenderName),
		pg.Col("credits_low_at", &s.CreditsLowAt),
		pg.Col("locale", &s.Locale),
		pg.Col("version", &s.Version),
		pg.Col("updated_at", &s.UpdatedAt),
	}
})

var (
	findSettings = pg.SQL(`select ` + settings.Columns() + ` from notification_settings n where n.tenant_id = $1`)
	putSettings  = pg.SQL(`insert into notification_settings ` + settings.Values() + `
on conflict (tenant_id) do update set ` + settings.SetExcluded())
)

// FindNotificationSettings reads a tenant's choices for its messages; the defaults, at version 0, where it has made
// none.
func FindNotificationSettings(b *pg.Batch, in tenant.TenantID, into *notify.Settings) {
	*into = notify.DefaultSettings()
	settings.Each(b.Queue(findSettings, in), func(s settingsRow) {
		s.PerDay = map[notify.Channel]int{notify.SMS: s.sms, notify.Push: s.push, notify.Email: s.email}
		*into = s.Settings
	})
}

// PutNotificationSettings writes a tenant's choices for its messages with the transaction.
func PutNotificationSettings(tx *pg.Tx, in tenant.TenantID, s notify.Settings) {
	row := settingsRow{s, s.PerDay[notify.SMS], s.PerDay[notify.Push], s.PerDay[notify.Email]}
	tx.Write(putSettings, settings.Insert(in, &row)...)
}

// Sealed is a text that only the service can read.
type Sealed struct {
	Text      []byte
	Version   int
	UpdatedAt time.Time
}

var senders = pg.NewTable("n", func(s *Sealed) []pg.Column {
	return []pg.Column{pg.Col("sealed", &s.Text), pg.Col("version", &s.Version), pg.Col("updated_at", &s.UpdatedAt)}
})

var (
	findSenders = pg.SQL(`select ` + senders.Columns() + ` from notification_senders n where n.tenant_id = $1`)
	putSenders  = pg.SQL(`insert into notification_senders ` + senders.Values() + `
on conflict (tenant_id) do update set ` + senders.SetExcluded())
)

// FindSenders reads who carries a tenant's messages; nil where it is the platform for all of them.
func FindSenders(b *pg.Batch, in tenant.TenantID, into **Sealed) {
	senders.Find(b.Queue(findSenders, in), into)
}

// PutSenders writes who carries a tenant's messages with the transaction.
func PutSenders(tx *pg.Tx, in tenant.TenantID, s Sealed) {
	tx.Write(putSenders, senders.Insert(in, &s)...)
}

// OwnTemplate is a wording that a tenant has given itself.
type OwnTemplate struct {
	notify.Template
	Version   int
	UpdatedAt time.Time
}

var templates = pg.NewTable("n", func(t *OwnTemplate) []pg.Column {
	return []pg.Column{
		pg.Key("topic", &t.Topic),
		pg.Key("channel", &t.Channel),
		pg.Key("locale", &t.Locale),
		pg.Col("subject", &t.Subject),
		pg.Col("body", &t.Body),
		pg.Col("html", &t.HTML),
		pg.Col("version", &t.Version),
		pg.Col("updated_at", &t.UpdatedAt),
	}
})

var (
	listTemplates = pg.SQL(`select ` + templates.Columns() + ` from notification_templates n
where n.tenant_id = $1 and ($2::text[] is null or n.topic = any($2))`)
	putTemplate = pg.SQL(`insert into notification_templates ` + templates.Values() + `
on conflict (tenant_id, topic, channel, locale) do update set ` + templates.SetExcluded())
)

// ListTemplates reads a tenant's own wording of the topics; nil topics are all.
func ListTemplates(b *pg.Batch, in tenant.TenantID, topics []notify.Topic, into *[]OwnTemplate) {
	templates.List(b.Queue(listTemplates, in, topics), into)
}

// PutTemplate writes a tenant's own wording with the transaction.
func PutTemplate(tx *pg.Tx, in tenant.TenantID, t OwnTemplate) {
	tx.Write(putTemplate, templates.Insert(in, &t)...)
}

// DeleteTemplate deletes a tenant's own wording with the transaction.
func DeleteTemplate(tx *pg.Tx, in tenant.TenantID, t notify.Topic, c notify.Channel, locale string) {
	tx.Write(`delete from notification_templates where tenant_id = $1 and topic = $2 and channel = $3 and locale = $4`,
		in, string(t), string(c), locale)
}
