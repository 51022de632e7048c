package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// FindNotificationSettings reads a tenant's choices for its messages; the defaults, at version 0, where it has made none.
func FindNotificationSettings(b *pg.Batch, in tenant.TenantID, into *notify.Settings) {
	b.Queue(`
select quiet_start::text, quiet_end::text, email_in_quiet, sms_per_day, push_per_day, email_per_day, reminders, reply_to, sender_name,
  credits_low_at, locale, version, updated_at
from notification_settings where tenant_id = $1`, in).QueryRow(func(row pgx.Row) error {
		var s notify.Settings
		var start, end string
		var sms, push, email int
		var reminders []int64
		err := row.Scan(&start, &end, &s.EmailInQuiet, &sms, &push, &email, &reminders, &s.ReplyTo, &s.SenderName, &s.CreditsLowAt,
			&s.Locale, &s.Version, &s.UpdatedAt)
		if isNoRows(err) {
			*into = notify.DefaultSettings()
			return nil
		}
		if err != nil {
			return err
		}
		if s.Quiet, err = quietHours(start, end); err != nil {
			return err
		}
		s.PerDay = map[notify.Channel]int{notify.SMS: sms, notify.Push: push, notify.Email: email}
		for _, lead := range reminders {
			s.Reminders = append(s.Reminders, time.Duration(lead)*time.Second)
		}
		*into = s
		return nil
	})
}

func quietHours(start, end string) (notify.QuietHours, error) {
	from, err := civil.ParseTimeOfDay(start)
	if err != nil {
		return notify.QuietHours{}, err
	}
	until, err := civil.ParseTimeOfDay(end)
	return notify.QuietHours{Start: from, End: until}, err
}

// PutNotificationSettings writes a tenant's choices for its messages with the transaction.
func PutNotificationSettings(tx *pg.Tx, in tenant.TenantID, s notify.Settings) {
	reminders := make([]int64, len(s.Reminders))
	for i, lead := range s.Reminders {
		reminders[i] = int64(lead / time.Second)
	}
	tx.Write(`
insert into notification_settings (tenant_id, quiet_start, quiet_end, email_in_quiet, sms_per_day, push_per_day, email_per_day, reminders,
  reply_to, sender_name, credits_low_at, locale, version, updated_at)
values ($1, $2::text::time, $3::text::time, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
on conflict (tenant_id) do update set
  quiet_start = excluded.quiet_start, quiet_end = excluded.quiet_end, email_in_quiet = excluded.email_in_quiet,
  sms_per_day = excluded.sms_per_day, push_per_day = excluded.push_per_day, email_per_day = excluded.email_per_day,
  reminders = excluded.reminders, reply_to = excluded.reply_to, sender_name = excluded.sender_name,
  credits_low_at = excluded.credits_low_at, locale = excluded.locale, version = excluded.version, updated_at = excluded.updated_at`,
		in, s.Quiet.Start.String(), s.Quiet.End.String(), s.EmailInQuiet, s.PerDay[notify.SMS], s.PerDay[notify.Push], s.PerDay[notify.Email],
		reminders, s.ReplyTo, s.SenderName, s.CreditsLowAt, s.Locale, s.Version, s.UpdatedAt)
}

// Sealed is a text that only the service can read.
type Sealed struct {
	Text      []byte
	Version   int
	UpdatedAt time.Time
}

// FindSenders reads who carries a tenant's messages; nil where it is the platform for all of them.
func FindSenders(b *pg.Batch, in tenant.TenantID, into **Sealed) {
	b.Queue(`select sealed, version, updated_at from notification_senders where tenant_id = $1`, in).QueryRow(func(row pgx.Row) error {
		var s Sealed
		err := row.Scan(&s.Text, &s.Version, &s.UpdatedAt)
		return found(into, s, err)
	})
}

// PutSenders writes who carries a tenant's messages with the transaction.
func PutSenders(tx *pg.Tx, in tenant.TenantID, s Sealed) {
	tx.Write(`
insert into notification_senders (tenant_id, sealed, version, updated_at) values ($1, $2, $3, $4)
on conflict (tenant_id) do update set sealed = excluded.sealed, version = excluded.version, updated_at = excluded.updated_at`,
		in, s.Text, s.Version, s.UpdatedAt)
}

// OwnTemplate is a wording that a tenant has given itself.
type OwnTemplate struct {
	notify.Template
	Version   int
	UpdatedAt time.Time
}

// ListTemplates reads a tenant's own wording of the topics; nil topics are all.
func ListTemplates(b *pg.Batch, in tenant.TenantID, topics []notify.Topic, into *[]OwnTemplate) {
	pg.Collect(b.Queue(`
select topic, channel, locale, subject, body, html, version, updated_at from notification_templates
where tenant_id = $1 and ($2::text[] is null or topic = any($2))`, in, topics), into,
		func(row pgx.CollectableRow) (OwnTemplate, error) {
			var t OwnTemplate
			err := row.Scan(&t.Topic, &t.Channel, &t.Locale, &t.Subject, &t.Body, &t.HTML, &t.Version, &t.UpdatedAt)
			return t, err
		})
}

// PutTemplate writes a tenant's own wording with the transaction.
func PutTemplate(tx *pg.Tx, in tenant.TenantID, t OwnTemplate) {
	tx.Write(`
insert into notification_templates (tenant_id, topic, channel, locale, subject, body, html, version, updated_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (tenant_id, topic, channel, locale) do update set
  subject = excluded.subject, body = excluded.body, html = excluded.html, version = excluded.version, updated_at = excluded.updated_at`,
		in, string(t.Topic), string(t.Channel), t.Locale, t.Subject, t.Body, t.HTML, t.Version, t.UpdatedAt)
}

// DeleteTemplate deletes a tenant's own wording with the transaction.
func DeleteTemplate(tx *pg.Tx, in tenant.TenantID, t notify.Topic, c notify.Channel, locale string) {
	tx.Write(`delete from notification_templates where tenant_id = $1 and topic = $2 and channel = $3 and locale = $4`,
		in, string(t), string(c), locale)
}
