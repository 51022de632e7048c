package messagedb

import (
	"crypto/sha256"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// Delivery is an attempt in the delivery log.
type Delivery struct {
	ID                tenant.DeliveryID
	Notice            tenant.NoticeID // zero for a test
	Topic             notify.Topic
	Channel           delivery.Channel // empty if none was usable
	Status            delivery.Status
	Reason            notify.Reason
	Recipient         tenant.UUID
	Member            tenant.MemberID
	RecipientName     string
	Address           string // a number, an email address, or a device's id
	Session           tenant.SessionID
	Booking           tenant.BookingID
	Offer             tenant.OfferID
	Provider          string
	Platform          bool // through an account of the platform, not one of the tenant's own
	ProviderID        string
	ErrorCode         string
	ErrorMessage      string
	Segments          int
	Attempt           int
	PossibleDuplicate bool
	Counted           bool
	RetryAt           time.Time
	Content           *content.Rendered // only in the local outbox
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

var deliveries = pg.NewTable("d", func(d *Delivery) []pg.Column {
	return []pg.Column{
		pg.Key("id", &d.ID),
		pg.Fixed("notice_id", &d.Notice),
		pg.Fixed("topic", &d.Topic),
		pg.Fixed("channel", pg.Null((*string)(&d.Channel))),
		pg.Col("status", &d.Status),
		pg.Col("reason", &d.Reason),
		pg.Fixed("recipient", &d.Recipient),
		pg.Fixed("member_id", &d.Member),
		pg.Fixed("recipient_name", &d.RecipientName),
		pg.Fixed("address", &d.Address),
		pg.Fixed("session_id", &d.Session),
		pg.Fixed("booking_id", &d.Booking),
		pg.Fixed("offer_id", &d.Offer),
		pg.Fixed("provider", &d.Provider),
		pg.Fixed("platform", &d.Platform),
		pg.Later("provider_id", &d.ProviderID),
		pg.Later("error_code", &d.ErrorCode),
		pg.Later("error_message", &d.ErrorMessage),
		pg.Later("segments", &d.Segments),
		pg.Fixed("attempt", &d.Attempt),
		pg.Fixed("possible_duplicate", &d.PossibleDuplicate),
		pg.Col("counted", &d.Counted),
		pg.Col("retry_at", pg.Null(&d.RetryAt)),
		pg.Fixed("content", pg.JSON(&d.Content)),
		pg.Fixed("created_at", &d.CreatedAt),
		pg.Col("updated_at", &d.UpdatedAt),
	}
})

// DeliveryOutcome is the result of an attempt.
type DeliveryOutcome struct {
	ID           tenant.DeliveryID
	Status       delivery.Status
	Reason       notify.Reason
	ProviderID   string
	ErrorCode    string
	ErrorMessage string
	Segments     int
	RetryAt      time.Time
	Unsent       bool // the attempt reached none of the devices
}

var outcomes = pg.NewTable("", func(o *DeliveryOutcome) []pg.Column {
	return []pg.Column{
		pg.Key("id", &o.ID),
		pg.Col("status", &o.Status),
		pg.Col("reason", &o.Reason),
		pg.Col("provider_id", &o.ProviderID),
		pg.Col("error_code", &o.ErrorCode),
		pg.Col("error_message", &o.ErrorMessage),
		pg.Col("segments", &o.Segments),
		pg.Col("retry_at", pg.Null(&o.RetryAt)),
		pg.Col("unsent", &o.Unsent),
	}
})

// unreported is true for attempts whose status the outcome `x` may set: those without a report that says more.
const unreported = `(d.status = 'POSSIBLY_SENT' or d.status = 'QUEUED' and x.status = 'SENT')`

var (
	insertDeliveries = pg.SQL(`insert into deliveries ` + deliveries.Rows())
	updateDeliveries = pg.SQL(`
update deliveries d set
  status = case when ` + unreported + ` then x.status else d.status end,
  reason = case when ` + unreported + ` and x.reason <> '' then x.reason else d.reason end,
  provider_id = coalesce(nullif(x.provider_id, ''), d.provider_id),
  error_code = coalesce(nullif(d.error_code, ''), x.error_code),
  error_message = coalesce(nullif(d.error_message, ''), x.error_message), segments = greatest(d.segments, x.segments),
  retry_at = case when ` + unreported + ` then x.retry_at end,
  counted = d.counted and not (x.unsent and ` + unreported + `),
  updated_at = ` + outcomes.Extra(1) + `
from ` + outcomes.Changes() + `
where d.tenant_id = $1 and d.id = x.id and d.id = any($2)`)
	findDelivery = pg.SQL(`select ` + deliveries.Columns() + ` from deliveries d
where d.tenant_id = $1 and (d.id = $2 or ($2::uuid is null and d.provider_id = $3 and $3 <> '')) limit 1`)
	findDeliveries = pg.SQL(`select ` + deliveries.Columns() + ` from deliveries d
where d.tenant_id = $1 and d.id = any($2) order by array_position($2, d.id)`)
	listDeliveries = pg.SQL(`select ` + deliveries.Columns() + ` from deliveries d
where d.tenant_id = $1 and ($2::uuid is null or d.member_id = $2) and ($3::uuid is null or d.booking_id = $3)
  and ($4::uuid is null or d.offer_id = $4) and (coalesce(cardinality($5::text[]), 0) = 0 or d.status = any($5))
  and ($6::text = '' or d.channel = $6) and ($7::text = '' or d.topic = $7)
  and ($8::timestamptz is null or d.created_at >= $8) and ($9::timestamptz is null or d.created_at < $9)
  and (not $10::boolean or d.content is not null)
  and ($11::timestamptz is null or (d.created_at, d.id) < ($11, $12))
order by d.created_at desc, d.id desc limit $13`)
	reportDelivery = pg.SQL(`update deliveries set ` + deliveries.Set() + ` where tenant_id = $1 and id = $2`)
)

// InsertDeliveries inserts attempts.
func InsertDeliveries(tx *pg.Tx, in tenant.TenantID, all []Delivery) {
	if len(all) == 0 {
		return
	}
	rows := pg.Array(all, func(d Delivery) *Delivery {
		d.UpdatedAt = d.CreatedAt
		return &d
	})
	tx.Write(insertDeliveries, deliveries.InsertAll(in, rows)...)
}

// UpdateDeliveries writes the results of attempts. A status that was reported earlier and says more stays, with its
// reason: no failure overrides that the provider has the message. A message that certainly was not sent does not count
// toward the frequency cap.
func UpdateDeliveries(tx *pg.Tx, in tenant.TenantID, all []DeliveryOutcome, now time.Time) {
	rows := pg.Array(all, func(o DeliveryOutcome) *DeliveryOutcome { return &o })
	tx.Write(updateDeliveries, append(outcomes.UpdateAll(in, rows), now)...)
}

// FindDelivery reads an attempt by its id, or by the provider's id if that is zero; nil if it does not exist.
func FindDelivery(b *pg.Batch, in tenant.TenantID, id tenant.DeliveryID, providerID string, into **Delivery) {
	deliveries.Find(b.Queue(findDelivery, in, id, providerID), into)
}

// ReportDelivery writes an attempt after a provider's report.
func ReportDelivery(tx *pg.Tx, in tenant.TenantID, d Delivery, now time.Time) {
	d.UpdatedAt = now
	tx.Write(reportDelivery, deliveries.Update(in, &d)...)
}

// DeliveryQuery selects attempts, newest first. Zero fields match all.
type DeliveryQuery struct {
	Member   tenant.MemberID
	Booking  tenant.BookingID
	Offer    tenant.OfferID
	Statuses []delivery.Status
	Channel  delivery.Channel
	Topic    notify.Topic
	From     time.Time
	Until    time.Time
	Outbox   bool // only attempts with content

	BeforeAt time.Time // keyset: the last attempt of the page before; zero: from the newest
	BeforeID tenant.DeliveryID
	Limit    int
}

// ListDeliveries reads attempts, newest first.
func ListDeliveries(b *pg.Batch, in tenant.TenantID, q DeliveryQuery, into *[]Delivery) {
	deliveries.List(b.Queue(listDeliveries, in, q.Member, q.Booking, q.Offer, q.Statuses, q.Channel, q.Topic,
		pg.OrNull(q.From), pg.OrNull(q.Until), q.Outbox, pg.OrNull(q.BeforeAt), q.BeforeID, q.Limit), into)
}

// FindDeliveries reads attempts in the order of ids.
func FindDeliveries(b *pg.Batch, in tenant.TenantID, ids []tenant.DeliveryID, into *[]Delivery) {
	deliveries.List(b.Queue(findDeliveries, in, ids), into)
}

// CountTests counts the test messages that a member has sent to themselves since a time.
func CountTests(b *pg.Batch, in tenant.TenantID, owner tenant.MemberID, since time.Time, into *int) {
	b.Queue(`
select count(*) from deliveries where tenant_id = $1 and member_id = $2 and created_at > $3 and notice_id is null`,
		in, owner, since).Scan(into)
}

// PutPhoneTenants records that the tenant sends to numbers from the platform's number, which tenants share.
func PutPhoneTenants(tx *pg.Tx, in tenant.TenantID, numbers []string) {
	if len(numbers) == 0 {
		return
	}
	tx.Write(`
insert into shared_contacts (tenant_id, number_hash)
select distinct $1::uuid, n from unnest($2::bytea[]) as n on conflict do nothing`, in, pg.Array(numbers, hashNumber))
}

// ListTenantsByPhone reads, across all tenants, which have sent to a number from the platform's number.
func ListTenantsByPhone(b *pg.Batch, number string, into *[]tenant.TenantID) {
	pg.Collect(b.Queue(`select tenant_id from shared_contacts where number_hash = $1 order by tenant_id`,
		hashNumber(number)), into, pgx.RowTo[tenant.TenantID])
}

func hashNumber(number string) []byte {
	sum := sha256.Sum256([]byte(number))
	return sum[:]
}
