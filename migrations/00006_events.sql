-- +goose Up
-- The position of each durable consumer in a tenant's event log: after all events of earlier transactions, and after
-- those of this one up to this ID. It advances in the transaction that handles the events.
create table event_consumers (
  tenant_id uuid not null references directory,
  name      text not null check (name <> ''),
  xid       xid8 not null default '0',
  event_id  uuid,
  primary key (tenant_id, name)
) with (fillfactor = 50);

-- +goose Down
drop table event_consumers;
