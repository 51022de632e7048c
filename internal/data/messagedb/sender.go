package messagedb

import (
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/tenant"
)

// Sealed is an encrypted text.
type Sealed struct {
	Text      []byte
	Version   int
	UpdatedAt time.Time
	// DomainCheckAt is when the records of the sending domain are looked up; zero: never.
	DomainCheckAt time.Time
}

var senders = pg.NewTable("n", func(s *Sealed) []pg.Column {
	return []pg.Column{
		pg.Col("sealed", &s.Text),
		pg.Col("version", &s.Version),
		pg.Col("updated_at", &s.UpdatedAt),
		pg.Col("domain_check_at", pg.Null(&s.DomainCheckAt)),
	}
})

var (
	findSenders = pg.SQL(`select ` + senders.Columns() + ` from notification_senders n where n.tenant_id = $1`)
	putSenders  = pg.SQL(`insert into notification_senders ` + senders.Values() + `
on conflict (tenant_id) do update set ` + senders.SetExcluded())
)

// FindSenders reads a tenant's own senders; nil if it has none.
func FindSenders(b *pg.Batch, in tenant.TenantID, into **Sealed) {
	senders.Find(b.Queue(findSenders, in), into)
}

// PutSenders writes a tenant's own senders.
func PutSenders(tx *pg.Tx, in tenant.TenantID, s Sealed) {
	tx.Write(putSenders, senders.Insert(in, &s)...)
}

// FindDomainCheck reads when the records of a tenant's sending domain are looked up next; nil: never.
func FindDomainCheck(b *pg.Batch, in tenant.TenantID, into **time.Time) {
	*into = nil
	b.Queue(`select domain_check_at from notification_senders where tenant_id = $1`, in).ScanAny(into)
}
