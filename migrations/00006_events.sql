-- +goose Up
-- How far each durable consumer has come in a tenant's log: behind all events of earlier transactions, and behind
-- those of this one up to this id. It moves on in the transaction that does what is to be done.
create table event_consumers (
  tenant_id uuid not null references directory,
  name      text not null check (name <> ''),
  xid       xid8 not null default '0',
  event_id  uuid,
  primary key (tenant_id, name)
) with (fillfactor = 50);

-- +goose Down
drop table event_consumers;
