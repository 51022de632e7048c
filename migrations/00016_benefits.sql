-- +goose Up

alter table benefit_providers
  -- How numbers are verified: not, or by the provider's list.
  add column verification text not null default 'NONE' check (verification in ('NONE', 'LIST')),
  -- Several members may use one number.
  add column families boolean not null default false,
  -- How many numbers are on the list.
  add column numbers integer not null default 0 check (numbers >= 0);

-- The membership numbers on a provider's list: letters in upper case, and digits.
create table benefit_numbers (
  tenant_id     uuid not null,
  provider_code text not null,
  number        text not null check (number <> ''),
  primary key (tenant_id, provider_code, number),
  foreign key (tenant_id, provider_code) references benefit_providers
);

-- The numbers that members use, one of each provider.
create table benefit_memberships (
  tenant_id     uuid not null,
  provider_code text not null,
  member_id     uuid not null,
  -- As in benefit_numbers.
  number        text not null check (number <> ''),
  -- As the member entered it.
  entered       text not null check (entered <> ''),
  -- The provider allowed families then.
  shared        boolean not null,
  created_at    timestamptz not null,
  primary key (tenant_id, provider_code, member_id),
  foreign key (tenant_id, provider_code) references benefit_providers,
  foreign key (tenant_id, member_id) references members
);
create unique index benefit_memberships_one on benefit_memberships (tenant_id, provider_code, number) where not shared;
create index benefit_memberships_number on benefit_memberships (tenant_id, provider_code, number, member_id);

alter table benefit_numbers enable row level security;
alter table benefit_numbers force row level security;
create policy tenant on benefit_numbers
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert, update, delete on benefit_numbers to berth_app;

alter table benefit_memberships enable row level security;
alter table benefit_memberships force row level security;
create policy tenant on benefit_memberships
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert, update, delete on benefit_memberships to berth_app;

-- Whether the number was on the provider's list when the booking was confirmed.
alter table bookings add column benefit_verified boolean not null default false;

-- +goose Down
alter table bookings drop column benefit_verified;
drop table benefit_memberships, benefit_numbers;
alter table benefit_providers drop column numbers, drop column families, drop column verification;
