package bookingdb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/tenant"
)

var displayLinks = pg.NewTable("d", func(l *checkin.DisplayLink) []pg.Column {
	return []pg.Column{
		pg.Key("id", &l.ID),
		pg.Fixed("session_id", &l.Session),
		pg.Fixed("created_by", &l.CreatedBy),
		pg.Fixed("created_at", &l.CreatedAt),
		pg.Col("screen", &l.Screen),
		pg.Col("opened_at", pg.Null(&l.OpenedAt)),
		pg.Col("second_at", pg.Null(&l.SecondAt)),
		pg.Col("revoked_by", pg.Null(&l.RevokedBy)),
		pg.Col("revoked_at", pg.Null(&l.RevokedAt)),
	}
})

var (
	findDisplayLink = pg.SQL(`
select ` + displayLinks.Columns() + ` from display_links d where d.tenant_id = $1 and d.id = $2`)
	listDisplayLinks = pg.SQL(`
select ` + displayLinks.Columns() + ` from display_links d
where d.tenant_id = $1 and d.session_id = $2 order by d.created_at desc, d.id desc limit $3`)
	insertDisplayLink = pg.SQL(`insert into display_links ` + displayLinks.Values())
	updateDisplayLink = pg.SQL(`
update display_links set ` + displayLinks.Set() + ` where tenant_id = $1 and id = $2`)
)

// FindDisplayLink reads a display link; nil if it does not exist.
func FindDisplayLink(b *pg.Batch, in tenant.TenantID, id tenant.DisplayLinkID, into **checkin.DisplayLink) {
	displayLinks.Find(b.Queue(findDisplayLink, in, id), into)
}

// ListDisplayLinks reads the display links of a session, the latest first.
func ListDisplayLinks(
	b *pg.Batch, in tenant.TenantID, session tenant.SessionID, limit int, into *[]checkin.DisplayLink,
) {
	displayLinks.List(b.Queue(listDisplayLinks, in, session, limit), into)
}

// CountDisplayLinks counts the display links of a session.
func CountDisplayLinks(b *pg.Batch, in tenant.TenantID, session tenant.SessionID, into *int) {
	b.Queue(`select count(*) from display_links where tenant_id = $1 and session_id = $2`, in, session).Scan(into)
}

// InsertDisplayLink inserts a display link.
func InsertDisplayLink(tx *pg.Tx, in tenant.TenantID, l checkin.DisplayLink) {
	tx.Write(insertDisplayLink, displayLinks.Insert(in, &l)...)
}

// UpdateDisplayLink writes who renews a display link, and that it is revoked.
func UpdateDisplayLink(tx *pg.Tx, in tenant.TenantID, l checkin.DisplayLink) {
	tx.Write(updateDisplayLink, displayLinks.Update(in, &l)...)
}

// HasOldDisplayLinks reads whether there is a display link of a session that ended before a time.
func HasOldDisplayLinks(b *pg.Batch, in tenant.TenantID, until time.Time, into *bool) {
	b.Queue(`
select exists (
  select from display_links d join sessions s on s.tenant_id = d.tenant_id and s.id = d.session_id
  where d.tenant_id = $1 and s.ends_at < $2)`, in, until).Scan(into)
}

// DeleteOldDisplayLinks deletes the display links of sessions that ended before a time.
func DeleteOldDisplayLinks(tx *pg.Tx, in tenant.TenantID, until time.Time) {
	tx.Write(`
delete from display_links d using sessions s
where d.tenant_id = $1 and s.tenant_id = d.tenant_id and s.id = d.session_id and s.ends_at < $2`, in, until)
}
