package accountdb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// PlatformMail is a mail about signing in that has not left yet.
type PlatformMail struct {
	ID       tenant.MailID
	Kind     string
	About    tenant.UUID // such as an invitation
	Sealed   []byte
	Attempts int // that have begun
	DueAt    time.Time
	// ExpiresAt is when it is worth nothing any more.
	ExpiresAt time.Time
}

var platformMails = pg.NewTable("m", func(m *PlatformMail) []pg.Column {
	return []pg.Column{
		pg.Key("id", &m.ID),
		pg.Fixed("kind", &m.Kind),
		pg.Fixed("about", &m.About),
		pg.Fixed("sealed", &m.Sealed),
		pg.Col("attempts", &m.Attempts),
		pg.Col("due_at", &m.DueAt),
		pg.Fixed("expires_at", &m.ExpiresAt),
	}
})

var (
	listDueMails = pg.SQL(`
select ` + platformMails.Columns() + ` from platform_mails m
where m.tenant_id = $1 and m.due_at <= $2 order by m.due_at, m.id limit $3`)
	insertPlatformMails = pg.SQL(`insert into platform_mails ` + platformMails.Rows())
	updatePlatformMail  = pg.SQL(`
update platform_mails set ` + platformMails.Set() + ` where tenant_id = $1 and id = $2`)
)

// ListDueMails reads the platform's mails that are due, the one that waits longest first.
func ListDueMails(b *pg.Batch, in tenant.TenantID, now time.Time, limit int, into *[]PlatformMail) {
	platformMails.List(b.Queue(listDueMails, in, now, limit), into)
}

// FindNextMail reads when the next of the platform's mails is due; nil if none waits.
func FindNextMail(b *pg.Batch, in tenant.TenantID, into **time.Time) {
	b.Queue(`select min(due_at) from platform_mails where tenant_id = $1`, in).Scan(into)
}

// InsertPlatformMails inserts mails. The statement is the same for none.
func InsertPlatformMails(tx *pg.Tx, in tenant.TenantID, all ...PlatformMail) {
	tx.Write(insertPlatformMails,
		platformMails.InsertAll(in, pg.Array(all, func(m PlatformMail) *PlatformMail { return &m }))...)
}

// UpdatePlatformMail writes how many attempts a mail has had, and when it is due.
func UpdatePlatformMail(tx *pg.Tx, in tenant.TenantID, m PlatformMail) {
	tx.Write(updatePlatformMail, platformMails.Update(in, &m)...)
}

// DelayPlatformMail makes a mail due later, if nothing has happened to it since an attempt.
func DelayPlatformMail(tx *pg.Tx, in tenant.TenantID, m PlatformMail) {
	tx.Write(`update platform_mails set due_at = $4 where tenant_id = $1 and id = $2 and attempts = $3`,
		in, m.ID, m.Attempts, m.DueAt)
}

// DeletePlatformMail deletes a mail.
func DeletePlatformMail(tx *pg.Tx, in tenant.TenantID, id tenant.MailID) {
	tx.Write(`delete from platform_mails where tenant_id = $1 and id = $2`, in, id)
}

// DeletePlatformMailsAbout deletes the mails about something.
func DeletePlatformMailsAbout(tx *pg.Tx, in tenant.TenantID, about tenant.UUID) {
	tx.Write(`delete from platform_mails where tenant_id = $1 and about = $2`, in, about)
}
