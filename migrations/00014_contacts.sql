-- +goose Up

-- The address and the number that are known to be the member's: by a code, a link, or the issuer of their tokens. A
-- contact is confirmed as long as it equals them.
alter table members
  add column confirmed_email text not null default '',
  add column confirmed_phone text not null default '';

-- Contacts that members entered and have not confirmed. They are not unique: whether another member has one shows only
-- to those who confirm it.
create table pending_contacts (
  tenant_id  uuid not null,
  member_id  uuid not null,
  kind       text not null check (kind in ('EMAIL', 'PHONE')),
  address    text not null check (address <> ''),
  -- The newest code. Its hash has a key that the database never sees.
  code_id    uuid not null,
  code_hash  bytea not null check (length(code_hash) = 32),
  guesses    integer not null default 0 check (guesses between 0 and 5),
  expires_at timestamptz not null,
  primary key (tenant_id, member_id, kind),
  foreign key (tenant_id, member_id) references members
);

-- The codes of the last day, to count them.
create table contact_codes (
  tenant_id    uuid not null,
  id           uuid not null,
  member_id    uuid not null,
  kind         text not null check (kind in ('EMAIL', 'PHONE')),
  -- A keyed hash; null if the code was not sent, because the address had got too many.
  address_hash bytea check (length(address_hash) = 32),
  created_at   timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, member_id) references members
);
create index contact_codes_member on contact_codes (tenant_id, member_id, kind, created_at);
create index contact_codes_time on contact_codes (tenant_id, created_at);
create index contact_codes_address on contact_codes (tenant_id, address_hash, created_at) where address_hash is not null;

alter table pending_contacts enable row level security;
alter table pending_contacts force row level security;
create policy tenant on pending_contacts
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert, update, delete on pending_contacts to berth_app;

alter table contact_codes enable row level security;
alter table contact_codes force row level security;
create policy tenant on contact_codes
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert, update, delete on contact_codes to berth_app;

-- The countries (ISO 3166-1) to whose numbers codes are sent; empty: those of the time zones of the tenant and its
-- locations.
alter table notification_settings
  add column phone_countries text[] not null default '{}' check (cardinality(phone_countries) <= 50);

-- +goose Down
alter table notification_settings drop column phone_countries;
drop table contact_codes, pending_contacts;
alter table members drop column confirmed_email, drop column confirmed_phone;
