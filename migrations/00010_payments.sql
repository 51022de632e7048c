-- +goose Up

-- The lines of bookings' payments. They are append-only: see the grants.
create table payment_entries (
  tenant_id       uuid not null,
  id              uuid not null,
  booking_id      uuid not null,
  -- Numbers the lines of a booking from 1, without gaps. Of two transactions that write the same line, one fails.
  line            integer not null check (line >= 1),
  kind            text not null check (kind in ('AUTHORIZED', 'CAPTURED', 'REFUNDED', 'WRITTEN_OFF')),
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

-- The payment of a booking is derived from its lines. It is stored so that reading a booking reads one row.
alter table bookings
  add column refunded_units bigint not null default 0,
  add column refunded_nanos integer not null default 0,
  drop constraint bookings_payment_status_check,
  add constraint bookings_payment_status_check
    check (payment_status in ('UNPAID', 'AUTHORIZED', 'CAPTURED', 'REFUNDED', 'WRITTEN_OFF'));

-- What was stored becomes lines. The policies of bookings would hide the rows of all tenants.
alter table bookings no force row level security;
insert into payment_entries (tenant_id, id, booking_id, line, kind, amount_currency, amount_units, amount_nanos,
    captured_units, captured_nanos, refunded_units, refunded_nanos, method, actor, created_at)
  select b.tenant_id, gen_random_uuid(), b.id, k.line, k.kind, b.amount_currency, b.amount_units, b.amount_nanos,
    case when k.kind <> 'AUTHORIZED' then b.amount_units else 0 end,
    case when k.kind <> 'AUTHORIZED' then b.amount_nanos else 0 end,
    case when k.kind = 'REFUNDED' then b.amount_units else 0 end,
    case when k.kind = 'REFUNDED' then b.amount_nanos else 0 end,
    b.payment_method, 'system', case when k.line = 2 then b.updated_at else coalesce(b.paid_at, b.created_at) end
  from bookings b join (values ('AUTHORIZED', 1, 'AUTHORIZED'), ('CAPTURED', 1, 'CAPTURED'),
    ('REFUNDED', 1, 'CAPTURED'), ('REFUNDED', 2, 'REFUNDED')) as k (status, line, kind) on k.status = b.payment_status;
update bookings set refunded_units = amount_units, refunded_nanos = amount_nanos where payment_status = 'REFUNDED';
alter table bookings force row level security;

alter table payment_entries enable row level security;
alter table payment_entries force row level security;
create policy tenant on payment_entries
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert on payment_entries to berth_app;

-- +goose Down
update bookings set payment_status = 'UNPAID' where payment_status = 'WRITTEN_OFF';
alter table bookings
  drop constraint bookings_payment_status_check,
  add constraint bookings_payment_status_check check (payment_status in ('UNPAID', 'AUTHORIZED', 'CAPTURED', 'REFUNDED')),
  drop column refunded_units, drop column refunded_nanos;
drop table payment_entries;
