-- +goose Up

-- From where an act came: the address of the client, and what it says that it is.
alter table audit_entries
  add column address text not null default '' check (length(address) <= 45),
  add column client  text not null default '' check (length(client) <= 200);

-- Whether reads of members' personal pages are audited.
alter table tenants add column audit_member_reads boolean not null default false;

-- The token of a device, sealed with a key that the database never sees, and bound to the tenant. The service seals
-- the tokens that were stored before, in batches: SQL has no key. token_hash is then a keyed hash.
alter table devices
  add column sealed bytea check (length(sealed) between 1 and 8192),
  alter column token drop not null,
  add constraint devices_one_token check ((token is null) <> (sealed is null));
create index devices_unsealed on devices (tenant_id, id) where sealed is null;

-- +goose Down
alter table devices no force row level security; -- its policy would hide the rows of all tenants
delete from devices where token is null; -- apps register again when they are opened
alter table devices force row level security;
drop index devices_unsealed;
alter table devices
  drop constraint devices_one_token,
  alter column token set not null,
  drop column sealed;
alter table tenants drop column audit_member_reads;
alter table audit_entries drop column address, drop column client;
