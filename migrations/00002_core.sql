-- +goose Up
-- Every key starts with tenant_id: a row cannot refer to a row of another tenant, and tenants can be
-- distributed over several databases. The application provides all times.

-- The tenants in this database. It contains only IDs.
create table directory (
  tenant_id  uuid primary key,
  created_at timestamptz not null
);

create table tenants (
  tenant_id               uuid primary key,
  name                    text not null check (name <> ''),
  time_zone               text not null,
  locale                  text not null,
  currency                text not null check (currency ~ '^[A-Z]{3}$'),
  takes_payments          boolean not null default false,
  -- The tenant's brand; empty is Berth's own. Browsers fetch the logo, the service never does.
  logo_url                text not null default ''
    check (logo_url = '' or logo_url ~ '^https://[^[:space:]"''<>]+$' and length(logo_url) <= 500),
  accent_color            text not null default '' check (accent_color = '' or accent_color ~ '^#[0-9A-Fa-f]{6}$'),
  -- Increases with every change to what nodes cache for bookings: this table, locations, services, policies and plans.
  -- Bookings read it in their transaction, so they never decide with outdated data.
  snapshot_version        bigint not null default 1,
  -- Whether reads of members' personal pages are audited.
  audit_member_reads      boolean not null default false,
  -- Which sign-in people need to change roles, senders and service accounts.
  step_up_max_age_seconds integer not null default 0
    check (step_up_max_age_seconds = 0 or step_up_max_age_seconds between 60 and 86400),
  step_up_acr_values      text[] not null default '{}' check (cardinality(step_up_acr_values) <= 10),
  version                 integer not null default 1,
  created_at              timestamptz not null,
  updated_at              timestamptz not null
);

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

-- The position of each durable consumer in a tenant's event log: after all events of earlier transactions, and after
-- those of this one up to this ID. It advances in the transaction that handles the events.
create table event_consumers (
  tenant_id uuid not null references directory,
  name      text not null check (name <> ''),
  xid       xid8 not null default '0',
  event_id  uuid,
  primary key (tenant_id, name)
) with (fillfactor = 50);

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
  -- From where the act came: the request, the address of the client, and what it says that it is.
  request_id    text not null default '',
  address       text not null default '' check (length(address) <= 45),
  client        text not null default '' check (length(client) <= 200),
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
  key          text not null,
  -- SHA-256 of the request, to tell a retry from a conflict.
  request_hash bytea not null,
  -- Not null once the transaction is durable. It must be read exactly as it was written, so it is json, not jsonb.
  answer       json,
  created_at   timestamptz not null,
  -- Always false: a transaction that uses a key again sets it, and fails because of the check.
  used         boolean not null default false,
  primary key (tenant_id, principal, key),
  constraint idempotency_keys_once check (not used)
);
create index idempotency_keys_age on idempotency_keys (tenant_id, created_at);

-- Imports of files. A node takes one whose time has come, to create or to undo, and takes it again if no node has ended
-- that by then.
create table imports (
  tenant_id    uuid not null references tenants,
  id           uuid not null,
  kind         text not null check (kind in ('SESSIONS', 'MEMBERS', 'SUBSCRIPTIONS', 'BOOKINGS')),
  status       text not null check (status in ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'UNDOING', 'UNDONE')),
  dry_run      boolean not null,
  leave_out    boolean not null,
  -- Its caller may publish what it creates.
  may_publish  boolean not null,
  created_by   text not null,
  subject      text not null,
  -- What becomes of the columns of the file.
  columns      jsonb not null,
  rows_total   integer not null,
  rows_done    integer not null,
  rows_invalid integer not null check (rows_invalid >= 0),
  created      integer not null check (created >= 0),
  -- The ids of what it created, to undo it.
  created_ids  uuid[] not null default '{}',
  -- What the rows add up to in the file and in the ledger. An import with a difference fails.
  total        jsonb,
  problems     jsonb not null,
  notes        jsonb not null,
  batch_id     uuid,
  -- How often a node took it.
  attempts     integer not null check (attempts >= 0),
  -- The file, and when a node may take it. The file is null once it has ended, so that no contacts are kept.
  file         bytea,
  -- The rows with problems, for a day after the end.
  left_out     bytea,
  due_at       timestamptz,
  created_at   timestamptz not null,
  ended_at     timestamptz,
  -- Who undoes it; empty: nobody. What came up against it, and when it was done.
  undo_by      text not null default '',
  undo_subject text not null default '',
  undo_problem jsonb,
  undone_at    timestamptz,
  primary key (tenant_id, id),
  constraint imports_created_ids check (cardinality(created_ids) = created),
  constraint imports_undo check ((undo_by <> '') = (status in ('UNDOING', 'UNDONE'))),
  constraint imports_undone check ((undone_at is not null) = (status = 'UNDONE')),
  constraint imports_total check ((total -> 'file') is not distinct from (total -> 'ledger')),
  constraint imports_progress check (rows_done between 0 and rows_total),
  constraint imports_file check ((file is null) = (status in ('SUCCEEDED', 'FAILED', 'UNDOING', 'UNDONE'))),
  constraint imports_left_out check (left_out is null or ended_at is not null),
  constraint imports_due_until_end check ((due_at is null) = (status in ('SUCCEEDED', 'FAILED', 'UNDONE'))),
  constraint imports_end check ((ended_at is not null) = (status in ('SUCCEEDED', 'FAILED', 'UNDOING', 'UNDONE')))
);
create index imports_due on imports (tenant_id, due_at) where due_at is not null;
create index imports_ended on imports (tenant_id, ended_at) where ended_at is not null;
create index imports_left_out_at on imports (tenant_id, ended_at) where left_out is not null;

-- +goose Down
drop table imports, idempotency_keys, audit_entries, event_consumers, events, tenants, directory;
