package messagedb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// OwnTemplate is a tenant's own template.
type OwnTemplate struct {
	content.Template
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

// ListTemplates reads a tenant's own templates of the topics; nil means all topics.
func ListTemplates(b *pg.Batch, in tenant.TenantID, topics []notify.Topic, into *[]OwnTemplate) {
	templates.List(b.Queue(listTemplates, in, topics), into)
}

// PutTemplate writes a tenant's own template.
func PutTemplate(tx *pg.Tx, in tenant.TenantID, t OwnTemplate) {
	tx.Write(putTemplate, templates.Insert(in, &t)...)
}

// DeleteTemplate deletes a tenant's own template.
func DeleteTemplate(tx *pg.Tx, in tenant.TenantID, t notify.Topic, c delivery.Channel, locale string) {
	tx.Write(`delete from notification_templates where tenant_id = $1 and topic = $2 and channel = $3 and locale = $4`,
		in, string(t), string(c), locale)
}
