package store

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// Delivery is one line of the delivery log.
type Delivery struct {
	ID                tenant.DeliveryID
	Notice            tenant.NoticeID // zero for a test
	Topic             notify.Topic
	Channel           notify.Channel // empty where none could be used
	Status            notify.DeliveryStatus
	Reason            notify.Reason
	Recipient         tenant.UUID
	Member            tenant.MemberID
	RecipientName     string
	Address           string // a number or an email address; for push the device's id
	Session           tenant.SessionID
	Booking           tenant.BookingID
	Offer             tenant.OfferID
	Provider          string
	ProviderID        string
	ErrorCode         string
	ErrorMessage      string
	Segments          int
	Attempt           int
	PossibleDuplicate bool
	Counted           bool
	RetryAt           time.Time
	Content           *notify.Rendered // in the local outbox alone
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

const deliveryColumns = `
  id, notice_id, topic, coalesce(channel, ''), status, reason, recipient, member_id, recipient_name, address, session_id, booking_id, offer_id,
  provider, provider_id, error_code, error_message, segments, attempt, possible_duplicate, counted, retry_at, content, created_at, updated_at`

func scanDelivery(row pgx.Row) (Delivery, error) {
	var d Delivery
	var retry *time.Time
	var content []byte
	err := row.Scan(&d.ID, &d.Notice, &d.Topic, &d.Channel, &d.Status, &d.Reason, &d.Recipient, &d.Member, &d.RecipientName, &d.Address,
		&d.Session, &d.Booking, &d.Offer, &d.Provider, &d.ProviderID, &d.ErrorCode, &d.ErrorMessage, &d.Segments, &d.Attempt,
		&d.PossibleDuplicate, &d.Counted, &retry, &content, &d.CreatedAt, &d.UpdatedAt)
	if err != nil {
		return d, err
	}
	if retry != nil {
		d.RetryAt = *retry
	}
	if content != nil {
		d.Content = new(notify.Rendered)
		err = json.Unmarshal(content, d.Content)
	}
	return d, err
}

// InsertDeliveries writes lines with the transaction.
func InsertDeliveries(tx *pg.Tx, in tenant.TenantID, lines []Delivery) {
	if len(lines) == 0 {
		return
	}
	type row struct {
		ID                tenant.DeliveryID     `json:"id"`
		Notice            *tenant.NoticeID      `json:"notice_id"`
		Topic             notify.Topic          `json:"topic"`
		Channel           *notify.Channel       `json:"channel"`
		Status            notify.DeliveryStatus `json:"status"`
		Reason            notify.Reason         `json:"reason"`
		Recipient         tenant.UUID           `json:"recipient"`
		Member            *tenant.MemberID      `json:"member_id"`
		RecipientName     string                `json:"recipient_name"`
		Address           string                `json:"address"`
		Session           *tenant.SessionID     `json:"session_id"`
		Booking           *tenant.BookingID     `json:"booking_id"`
		Offer             *tenant.OfferID       `json:"offer_id"`
		Provider          string                `json:"provider"`
		Attempt           int                   `json:"attempt"`
		PossibleDuplicate bool                  `json:"possible_duplicate"`
		Counted           bool                  `json:"counted"`
		RetryAt           *time.Time            `json:"retry_at"`
		Content           *notify.Rendered      `json:"content"`
		CreatedAt         time.Time             `json:"created_at"`
	}
	rows := make([]row, len(lines))
	for i, d := range lines {
		rows[i] = row{
			ID: d.ID, Notice: known(d.Notice), Topic: d.Topic, Status: d.Status, Reason: d.Reason, Recipient: d.Recipient, Member: known(d.Member),
			RecipientName: d.RecipientName, Address: d.Address, Session: known(d.Session), Booking: known(d.Booking), Offer: known(d.Offer),
			Provider: d.Provider, Attempt: d.Attempt, PossibleDuplicate: d.PossibleDuplicate, Counted: d.Counted, RetryAt: optional(d.RetryAt),
			Content: d.Content, CreatedAt: d.CreatedAt,
		}
		if d.Channel != "" {
			rows[i].Channel = &d.Channel
		}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		panic("store: deliveries: " + err.Error()) // plain values
	}
	tx.Write(`
insert into deliveries (tenant_id, id, notice_id, topic, channel, status, reason, recipient, member_id, recipient_name, address, session_id,
  booking_id, offer_id, provider, attempt, possible_duplicate, counted, retry_at, content, created_at, updated_at)
select $1, d.*, d.created_at from jsonb_to_recordset($2) as d (id uuid, notice_id uuid, topic text, channel text, status text, reason text, recipient uuid,
  member_id uuid, recipient_name text, address text, session_id uuid, booking_id uuid, offer_id uuid, provider text, attempt integer,
  possible_duplicate boolean, counted boolean, retry_at timestamptz, content jsonb, created_at timestamptz)`, in, text)
}

// known gives nil for a zero id.
func known[I interface{ IsZero() bool }](id I) *I {
	if id.IsZero() {
		return nil
	}
	return &id
}

// DeliveryOutcome is what became of an attempt.
type DeliveryOutcome struct {
	ID           tenant.DeliveryID
	Status       notify.DeliveryStatus
	Reason       notify.Reason
	ProviderID   string
	ErrorCode    string
	ErrorMessage string
	Segments     int
	RetryAt      time.Time
	Unsent       bool // its attempt reached nobody, on no device
}

// UpdateDeliveries writes what became of attempts with the transaction. A status that was reported meanwhile, and tells more, stays with
// its reason: what the provider has, no failure takes back. What surely was not sent does not count.
func UpdateDeliveries(tx *pg.Tx, in tenant.TenantID, outcomes []DeliveryOutcome, now time.Time) {
	if len(outcomes) == 0 {
		return
	}
	var ids []tenant.DeliveryID
	var statuses, reasons, providers, codes, messages []string
	var segments []int
	var retries []*time.Time
	var unsent []bool
	for _, o := range outcomes {
		unsent = append(unsent, o.Unsent)
		ids, statuses, reasons = append(ids, o.ID), append(statuses, string(o.Status)), append(reasons, string(o.Reason))
		providers, codes, messages = append(providers, o.ProviderID), append(codes, o.ErrorCode), append(messages, o.ErrorMessage)
		segments, retries = append(segments, o.Segments), append(retries, optional(o.RetryAt))
	}
	// What a provider has reported is not in doubt any more, but for how far the message got.
	const open = `(d.status = 'POSSIBLY_SENT' or d.status = 'QUEUED' and o.status = 'SENT')`
	tx.Write(`
update deliveries d set
  status = case when `+open+` then o.status else d.status end, reason = case when `+open+` and o.reason <> '' then o.reason else d.reason end,
  provider_id = coalesce(nullif(o.provider_id, ''), d.provider_id), error_code = coalesce(nullif(d.error_code, ''), o.code),
  error_message = coalesce(nullif(d.error_message, ''), o.message), segments = greatest(d.segments, o.segments),
  retry_at = case when `+open+` then o.retry_at end, counted = d.counted and not (o.unsent and `+open+`), updated_at = $10
from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::integer[], $9::timestamptz[],
  $11::boolean[]) as o (id, status, reason, provider_id, code, message, segments, retry_at, unsent)
where d.tenant_id = $1 and d.id = o.id and d.id = any($2)`, in, ids, statuses, reasons, providers, codes, messages, segments, retries, now, unsent)
}

// FindDelivery reads a line by its id, or where that is zero by what its provider calls it; nil where there is none.
func FindDelivery(b *pg.Batch, in tenant.TenantID, id tenant.DeliveryID, providerID string, into **Delivery) {
	b.Queue(`select`+deliveryColumns+` from deliveries where tenant_id = $1 and (id = $2 or ($2::uuid is null and provider_id = $3 and $3 <> '')) limit 1`,
		in, id, providerID).QueryRow(func(row pgx.Row) error {
		d, err := scanDelivery(row)
		return found(into, d, err)
	})
}

// ReportDelivery writes what a provider reports about a line with the transaction.
func ReportDelivery(tx *pg.Tx, in tenant.TenantID, d Delivery, now time.Time) {
	tx.Write(`
update deliveries set status = $3, reason = $4, provider_id = $5, error_code = $6, error_message = $7, segments = $8, counted = $9, retry_at = $10,
  updated_at = $11
where tenant_id = $1 and id = $2`, in, d.ID, string(d.Status), string(d.Reason), d.ProviderID, d.ErrorCode, d.ErrorMessage, d.Segments, d.Counted,
		optional(d.RetryAt), now)
}

// DeliveryQuery chooses lines of the log, the newest first. All that is set must hold.
type DeliveryQuery struct {
	Member   tenant.MemberID
	Booking  tenant.BookingID
	Offer    tenant.OfferID
	Statuses []notify.DeliveryStatus
	Channel  notify.Channel
	Topic    notify.Topic
	From     time.Time
	Until    time.Time
	Outbox   bool // with their content alone

	BeforeAt time.Time // zero: from the newest
	BeforeID tenant.DeliveryID
	Limit    int
}

// ListDeliveries reads lines of the log, the newest first.
func ListDeliveries(b *pg.Batch, in tenant.TenantID, q DeliveryQuery, into *[]Delivery) {
	var statuses []string
	for _, s := range q.Statuses {
		statuses = append(statuses, string(s))
	}
	pg.Collect(b.Queue(`select`+deliveryColumns+` from deliveries
where tenant_id = $1 and ($2::uuid is null or member_id = $2) and ($3::uuid is null or booking_id = $3) and ($4::uuid is null or offer_id = $4)
  and ($5::text[] is null or status = any($5)) and ($6::text = '' or channel = $6) and ($7::text = '' or topic = $7)
  and ($8::timestamptz is null or created_at >= $8) and ($9::timestamptz is null or created_at < $9)
  and (not $10::boolean or content is not null)
  and ($11::timestamptz is null or (created_at, id) < ($11, $12))
order by created_at desc, id desc limit $13`,
		in, q.Member, q.Booking, q.Offer, statuses, string(q.Channel), string(q.Topic), optional(q.From), optional(q.Until), q.Outbox,
		optional(q.BeforeAt), q.BeforeID, q.Limit), into, func(row pgx.CollectableRow) (Delivery, error) { return scanDelivery(row) })
}

// FindDeliveries reads lines by their ids, in that order.
func FindDeliveries(b *pg.Batch, in tenant.TenantID, ids []tenant.DeliveryID, into *[]Delivery) {
	pg.Collect(b.Queue(`select`+deliveryColumns+` from deliveries where tenant_id = $1 and id = any($2) order by array_position($2, id)`, in, ids), into,
		func(row pgx.CollectableRow) (Delivery, error) { return scanDelivery(row) })
}

// PutInTouch notes with the transaction that the tenant writes to numbers from the one that tenants share.
func PutInTouch(tx *pg.Tx, in tenant.TenantID, numbers []string) {
	if len(numbers) == 0 {
		return
	}
	hashes := make([][]byte, len(numbers))
	for i, number := range numbers {
		hashes[i] = hashNumber(number)
	}
	tx.Write(`insert into shared_contacts (tenant_id, number_hash) select distinct $1::uuid, n from unnest($2::bytea[]) as n on conflict do nothing`, in, hashes)
}

// ListTenantsInTouch reads, for an operator's task, which tenants have written to a number from the one that they share.
func ListTenantsInTouch(b *pg.Batch, number string, into *[]tenant.TenantID) {
	pg.Collect(b.Queue(`select tenant_id from shared_contacts where number_hash = $1 order by tenant_id`, hashNumber(number)), into, pgx.RowTo[tenant.TenantID])
}

func hashNumber(number string) []byte {
	sum := sha256.Sum256([]byte(number))
	return sum[:]
}
