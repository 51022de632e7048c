-- +goose Up

create table plans (
  tenant_id      uuid not null references tenants,
  id             uuid not null,
  name           text not null check (name <> ''),
  description    text not null default '',
  kind           text not null check (kind in ('UNLIMITED', 'CREDITS', 'COURSE')),
  credits        integer not null default 0 check (credits >= 0),
  period_seconds bigint check (period_seconds > 0),
  term_seconds   bigint check (term_seconds > 0),
  daily_limit    integer check (daily_limit > 0),
  weekly_limit   integer check (weekly_limit > 0),
  allow_overlap  boolean not null default false,
  price_currency text not null default '',
  price_units    bigint not null default 0,
  price_nanos    integer not null default 0,
  active         boolean not null default true,
  version        integer not null default 1,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (tenant_id, id),
  check ((kind = 'CREDITS') = (credits > 0)),
  check (kind = 'CREDITS' or period_seconds is null)
);
create unique index plans_name on plans (tenant_id, lower(name));

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
create index subscriptions_due on subscriptions (tenant_id, least(ends_at, period_ends_at)) where status in ('ACTIVE', 'PAUSED', 'DEBT');
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

-- Partners whose members get a discount, by the number of their membership there.
create table benefit_providers (
  tenant_id        uuid not null references tenants,
  code             text not null check (code ~ '^[A-Z0-9_-]{1,50}$'),
  name             text not null check (name <> ''),
  -- A membership number has to match it completely (RE2).
  number_pattern   text not null,
  discount_percent integer not null default 0 check (discount_percent between 0 and 100),
  active           boolean not null default true,
  version          integer not null default 1,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  primary key (tenant_id, code)
);

create table items (
  tenant_id      uuid not null,
  id             uuid not null,
  location_id    uuid not null,
  name           text not null check (name <> ''),
  kind           text not null default '',
  stock          integer not null check (stock between 0 and 10000),
  price_currency text not null default '',
  price_units    bigint not null default 0,
  price_nanos    integer not null default 0,
  -- How long one is in use, from the session's start; null: as long as the session.
  out_seconds    bigint check (out_seconds > 0),
  active         boolean not null default true,
  version        integer not null default 1,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, location_id) references locations
);
create unique index items_name on items (tenant_id, location_id, lower(name));

create table bookings (
  tenant_id       uuid not null,
  id              uuid not null,
  session_id      uuid not null,
  -- Null for guests, who have a contact instead.
  member_id       uuid,
  party_size      integer not null check (party_size >= 1),
  status          text not null check (status in ('PENDING', 'CONFIRMED', 'ATTENDED', 'NO_SHOW', 'CANCELLED', 'EXPIRED')),
  channel         text not null check (channel in ('ONLINE', 'PHONE', 'WALK_IN')),
  subscription_id uuid,
  -- Credits that the booking holds now. Its ledger lines sum to minus this.
  credits         integer not null default 0 check (credits >= 0),
  -- It counts towards the quotas of its subscription.
  counted         boolean not null default false,
  external_ref    text not null default '',
  -- SHA-256 of the request with this external_ref, to tell a retry from a conflict.
  request_hash    bytea,
  note            text not null default '',
  promoted        boolean not null default false,
  -- Until then it may be cancelled without penalty, whatever the policy says.
  grace_until     timestamptz,
  late_cancelled  boolean not null default false,
  cancel_reason   text not null default '',
  -- The session's time span, kept equal to it: the exclusion constraint below needs it in this row.
  starts_at       timestamptz not null,
  ends_at         timestamptz not null,
  -- Its plan forbids overlapping bookings.
  exclusive       boolean not null default false,
  created_by      text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  cancelled_at    timestamptz,
  -- A hold keeps its seats until then. Null once it is confirmed.
  hold_expires_at timestamptz,
  -- When the hold became a booking.
  confirmed_at    timestamptz,
  contact_name    text not null default '',
  contact_email   text not null default '',
  contact_phone   text not null default '',
  -- The tier whose policy applies to a guest. A member's tier is in the membership.
  guest_tier      text not null default '',
  payment_status  text not null default 'UNPAID' check (payment_status in ('UNPAID', 'AUTHORIZED', 'CAPTURED', 'REFUNDED')),
  amount_currency text not null default '',
  amount_units    bigint not null default 0,
  amount_nanos    integer not null default 0,
  payment_method  text not null default '',
  paid_at         timestamptz,
  benefit_code    text,
  benefit_number  text not null default '',
  benefit_percent integer not null default 0,
  -- It has rows in booking_items. If false, no statement looks for them.
  has_items       boolean not null default false,
  checked_in_at   timestamptz,
  check_in_method text check (check_in_method in ('MANUAL', 'QR', 'GPS')),
  -- When it was automatically marked as a no-show. That happens once per booking, so that
  -- staff who undo it have the last word.
  auto_no_show_at timestamptz,
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
  check (case kind when 'GRANT' then amount > 0 when 'PERIOD' then amount > 0 when 'REFUND' then amount > 0 else amount < 0 end)
);
create unique index credit_entries_line on credit_entries (tenant_id, subscription_id, line);
-- A booking takes its credits once and returns them once.
create unique index credit_entries_once on credit_entries (tenant_id, booking_id, kind) where booking_id is not null;

-- The event log, in commit order: xid is the transaction's ID. Readers stop before the oldest
-- transaction that is still running, so they never skip the events of a slow one.
create table events (
  tenant_id   uuid not null,
  id          uuid not null,
  xid         xid8 not null default pg_current_xact_id(),
  type        text not null,
  session_id  uuid,
  booking_id  uuid,
  member_id   uuid,
  actor       text not null,
  data        jsonb not null default '{}',
  occurred_at timestamptz not null,
  primary key (tenant_id, id)
);
create index events_order on events (tenant_id, xid, id);

create table audit_entries (
  tenant_id     uuid not null,
  id            uuid not null,
  actor         text not null,
  actor_name    text not null default '',
  -- The subject of the token; empty if there was none.
  actor_subject text not null default '',
  action        text not null,
  target_kind   text not null,
  target_id     text not null default '',
  batch_id      uuid,
  reason        text not null default '',
  changes       jsonb not null default '{}',
  request_id    text not null default '',
  occurred_at   timestamptz not null,
  primary key (tenant_id, id)
);
create index audit_entries_time on audit_entries (tenant_id, occurred_at, id);
create index audit_entries_actor on audit_entries (tenant_id, actor, occurred_at, id);
create index audit_entries_target on audit_entries (tenant_id, target_kind, target_id, occurred_at, id);
create index audit_entries_batch on audit_entries (tenant_id, batch_id, occurred_at, id) where batch_id is not null;

-- The answers to mutations, by the caller and the idempotency key of the request. The row is written in the
-- same transaction as the mutation.
create table idempotency_keys (
  tenant_id    uuid not null,
  principal    text not null,
  procedure    text not null,
  key          text not null,
  -- SHA-256 of the request, to tell a retry from a conflict.
  request_hash bytea not null,
  -- Not null once the transaction is durable. It must be read exactly as it was written, so it is json, not jsonb.
  answer       json,
  created_at   timestamptz not null,
  -- Always false: a transaction that uses a key again sets it, and fails because of the check.
  used         boolean not null default false,
  primary key (tenant_id, principal, procedure, key),
  constraint idempotency_keys_once check (not used)
);
create index idempotency_keys_age on idempotency_keys (tenant_id, created_at);

-- +goose Down
drop table idempotency_keys, audit_entries, events, credit_entries, booking_items, bookings, items, benefit_providers, usage, subscriptions, plans;
