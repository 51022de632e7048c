-- +goose Up
-- Who has a place, and what paid for it.

create table subscriptions (
  tenant_id      uuid not null,
  id             uuid not null,
  member_id      uuid not null,
  plan_id        uuid not null,
  status         text not null check (status in ('ACTIVE', 'PAUSED', 'DEBT', 'EXPIRED', 'CANCELLED')),
  -- Always the sum of the ledger below. Stored here so that a booking reads one row.
  balance        integer not null default 0,
  -- The number of ledger lines.
  lines          integer not null default 0,
  starts_at      timestamptz not null,
  ends_at        timestamptz,
  period_ends_at timestamptz,
  version        integer not null default 1,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  foreign key (tenant_id, member_id) references members,
  foreign key (tenant_id, plan_id) references plans,
  constraint subscriptions_balance check (balance >= 0)
) with (fillfactor = 70);
create index subscriptions_member on subscriptions (tenant_id, member_id, id);
-- When the term or period of a subscription ends. Bookings change neither column, so their updates stay HOT.
create index subscriptions_due on subscriptions (tenant_id, least(ends_at, period_ends_at))
  where status in ('ACTIVE', 'PAUSED', 'DEBT');
alter table subscriptions add primary key (tenant_id, id); -- last, see sessions

-- The number of active bookings of a subscription on a local day or in a local week (identified by its Monday).
-- Rows exist only if the plan limits that span.
create table usage (
  tenant_id       uuid not null,
  subscription_id uuid not null,
  span            text not null check (span in ('DAY', 'WEEK')),
  starts_on       date not null,
  used            integer not null check (used >= 0),
  primary key (tenant_id, subscription_id, span, starts_on),
  foreign key (tenant_id, subscription_id) references subscriptions
) with (fillfactor = 70);

create table bookings (
  tenant_id        uuid not null,
  id               uuid not null,
  session_id       uuid not null,
  -- Null for guests, who have a contact instead.
  member_id        uuid,
  party_size       integer not null check (party_size >= 1),
  status           text not null
    check (status in ('PENDING', 'CONFIRMED', 'ATTENDED', 'NO_SHOW', 'CANCELLED', 'EXPIRED')),
  channel          text not null check (channel in ('ONLINE', 'PHONE', 'WALK_IN')),
  subscription_id  uuid,
  -- Credits that the booking holds now. Its ledger lines sum to minus this.
  credits          integer not null default 0 check (credits >= 0),
  -- It counts towards the quotas of its subscription.
  counted          boolean not null default false,
  external_ref     text not null default '',
  -- SHA-256 of the request with this external_ref, to tell a retry from a conflict.
  request_hash     bytea,
  note             text not null default '',
  promoted         boolean not null default false,
  -- Until then it may be cancelled without penalty, whatever the policy says.
  grace_until      timestamptz,
  late_cancelled   boolean not null default false,
  cancel_reason    text not null default '',
  -- The session's time span, kept equal to it: the exclusion constraint below needs it in this row.
  starts_at        timestamptz not null,
  ends_at          timestamptz not null,
  -- Its plan forbids overlapping bookings.
  exclusive        boolean not null default false,
  created_by       text not null,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  version          integer not null default 1,
  cancelled_at     timestamptz,
  -- A hold keeps its seats until then. Null once it is confirmed.
  hold_expires_at  timestamptz,
  -- When the hold became a booking.
  confirmed_at     timestamptz,
  contact_name     text not null default '',
  contact_email    text not null default '',
  contact_phone    text not null default '',
  -- The tier whose policy applies to a guest. A member's tier is in the membership.
  guest_tier       text not null default '',
  -- The payment is derived from its lines in payment_entries. It is stored so that reading a booking reads one row.
  payment_status   text not null default 'UNPAID'
    check (payment_status in ('UNPAID', 'AUTHORIZED', 'CAPTURED', 'REFUNDED', 'WRITTEN_OFF')),
  amount_currency  text not null default '',
  amount_units     bigint not null default 0,
  amount_nanos     integer not null default 0,
  refunded_units   bigint not null default 0,
  refunded_nanos   integer not null default 0,
  -- Of what came in after the booking had ended. The currency is that of the amount, as for refunds.
  to_refund_units  bigint not null default 0,
  to_refund_nanos  integer not null default 0,
  payment_method   text not null default '',
  paid_at          timestamptz,
  benefit_code     text,
  benefit_number   text not null default '',
  benefit_percent  integer not null default 0,
  -- Whether the number was on the provider's list when the booking was confirmed.
  benefit_verified boolean not null default false,
  -- It has rows in booking_items. If false, no statement looks for them.
  has_items        boolean not null default false,
  checked_in_at    timestamptz,
  check_in_method  text check (check_in_method in ('MANUAL', 'QR', 'GPS')),
  -- When it was automatically marked as a no-show. That happens once per booking, so that
  -- staff who undo it have the last word.
  auto_no_show_at  timestamptz,
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, member_id) references members,
  foreign key (tenant_id, subscription_id) references subscriptions,
  foreign key (tenant_id, benefit_code) references benefit_providers,
  check (member_id is not null or contact_name <> ''),
  check (member_id is null or guest_tier = ''),
  check (status <> 'PENDING' or hold_expires_at is not null),
  check ((status = 'ATTENDED') = (checked_in_at is not null)),
  check ((checked_in_at is null) = (check_in_method is null))
) with (fillfactor = 80);
-- At most one active booking per member and session.
create unique index bookings_active on bookings (tenant_id, session_id, member_id)
  where status in ('PENDING', 'CONFIRMED', 'ATTENDED');
alter table bookings add constraint bookings_overlap exclude using gist (
  tenant_id with =, member_id with =, tstzrange(starts_at, ends_at) with &&
) where (exclusive and status in ('PENDING', 'CONFIRMED', 'ATTENDED'));
create index bookings_due on bookings (tenant_id, hold_expires_at) where status = 'PENDING';
create index bookings_holds on bookings (tenant_id, session_id, hold_expires_at) where status = 'PENDING';
create unique index bookings_external_ref on bookings (tenant_id, external_ref) where external_ref <> '';
create index bookings_session on bookings (tenant_id, session_id, id);
create index bookings_member on bookings (tenant_id, member_id, starts_at, id);
-- Bookings of service accounts. Members' bookings are not in it and cost nothing.
create index bookings_account on bookings (tenant_id, created_by, starts_at, id) where created_by like 'sa:%';
alter table bookings add primary key (tenant_id, id); -- last, see sessions

-- Each row is one unit of an item's stock, by its number. A number cannot be in use twice at the same time,
-- so concurrent bookings never exceed the stock.
create table booking_items (
  tenant_id      uuid not null,
  id             uuid not null,
  booking_id     uuid not null,
  -- The line of the booking that it belongs to: a quantity of an item.
  line_id        uuid not null,
  item_id        uuid not null,
  number         integer not null check (number >= 1),
  status         text not null check (status in ('PENDING', 'CONFIRMED', 'CANCELLED')),
  price_currency text not null default '',
  price_units    bigint not null default 0,
  price_nanos    integer not null default 0,
  out_from       timestamptz not null,
  out_until      timestamptz not null check (out_from < out_until),
  primary key (tenant_id, id),
  foreign key (tenant_id, booking_id) references bookings,
  foreign key (tenant_id, item_id) references items,
  constraint booking_items_out exclude using gist (
    tenant_id with =, item_id with =, number with =, tstzrange(out_from, out_until) with &&
  ) where (status <> 'CANCELLED')
);
create index booking_items_booking on booking_items (tenant_id, booking_id);

-- The lines of bookings' payments. They are append-only: see the grants.
create table payment_entries (
  tenant_id       uuid not null,
  id              uuid not null,
  booking_id      uuid not null,
  -- Numbers the lines of a booking from 1, without gaps. Of two transactions that write the same line, one fails.
  line            integer not null check (line >= 1),
  kind            text not null check (kind in ('AUTHORIZATION', 'CAPTURE', 'REFUND', 'WRITE_OFF')),
  amount_currency text not null check (amount_currency ~ '^[A-Z]{3}$'),
  amount_units    bigint not null,
  amount_nanos    integer not null,
  -- The totals after this line.
  captured_units  bigint not null,
  captured_nanos  integer not null,
  refunded_units  bigint not null,
  refunded_nanos  integer not null,
  method          text not null default '',
  -- Of a receipt, or of a payment provider's transaction.
  reference       text not null default '',
  actor           text not null,
  created_at      timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, booking_id) references bookings,
  constraint payment_entries_amounts check (
    least(amount_units, captured_units, refunded_units, amount_nanos, captured_nanos, refunded_nanos) >= 0
    and greatest(amount_nanos, captured_nanos, refunded_nanos) < 1000000000),
  constraint payment_entries_refunds check ((refunded_units, refunded_nanos) <= (captured_units, captured_nanos))
);
create unique index payment_entries_line on payment_entries (tenant_id, booking_id, line);

-- The credit ledger. It is append-only: see the grants.
create table credit_entries (
  tenant_id       uuid not null,
  id              uuid not null,
  subscription_id uuid not null,
  -- Numbers the lines of a subscription from 1, without gaps.
  line            integer not null check (line >= 1),
  kind            text not null check (kind in ('GRANT', 'PERIOD', 'BOOKING', 'REFUND', 'EXPIRY', 'CORRECTION')),
  amount          integer not null check (amount <> 0),
  balance         integer not null check (balance >= 0),
  booking_id      uuid,
  actor           text not null,
  reason          text not null default '',
  created_at      timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, subscription_id) references subscriptions,
  foreign key (tenant_id, booking_id) references bookings,
  check ((kind in ('BOOKING', 'REFUND')) = (booking_id is not null)),
  check (case kind when 'GRANT' then amount > 0 when 'PERIOD' then amount > 0 when 'REFUND' then amount > 0
    else amount < 0 end)
);
create unique index credit_entries_line on credit_entries (tenant_id, subscription_id, line);
-- A booking takes its credits once and returns them once.
create unique index credit_entries_once on credit_entries (tenant_id, booking_id, kind) where booking_id is not null;

-- +goose Down
drop table credit_entries, payment_entries, booking_items, bookings, usage, subscriptions;
