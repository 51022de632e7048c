-- +goose Up
-- Every key starts with tenant_id: a row cannot refer to a row of another tenant, and tenants can be
-- distributed over several databases. The application provides all times.

-- The tenants in this database. It contains only IDs.
create table directory (
  tenant_id  uuid primary key,
  created_at timestamptz not null
);

create table tenants (
  tenant_id      uuid primary key,
  name           text not null check (name <> ''),
  time_zone      text not null,
  locale         text not null,
  currency       text not null check (currency ~ '^[A-Z]{3}$'),
  takes_payments boolean not null default false,
  -- The tenant's brand; empty is Berth's own. Browsers fetch the logo, the service never does.
  logo_url       text not null default '' check (logo_url = '' or logo_url ~ '^https://[^[:space:]"''<>]+$' and length(logo_url) <= 500),
  accent_color   text not null default '' check (accent_color = '' or accent_color ~ '^#[0-9A-Fa-f]{6}$'),
  -- Increases with every change to what nodes cache for bookings: this table, locations, services, policies and plans.
  -- Bookings read it in their transaction, so they never decide with outdated data.
  house_version  bigint not null default 1,
  version        integer not null default 1,
  created_at     timestamptz not null,
  updated_at     timestamptz not null
);

create table locations (
  tenant_id  uuid not null references tenants,
  id         uuid not null,
  name       text not null check (name <> ''),
  time_zone  text not null,
  address    text not null default '',
  latitude   double precision check (latitude between -90 and 90),
  longitude  double precision check (longitude between -180 and 180),
  channels   text[] not null default '{ONLINE,PHONE,WALK_IN}' check (channels <@ '{ONLINE,PHONE,WALK_IN}'),
  active     boolean not null default true,
  version    integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((latitude is null) = (longitude is null))
);
create unique index locations_name on locations (tenant_id, lower(name));
alter table locations add primary key (tenant_id, id); -- last, see sessions

create table resources (
  tenant_id   uuid not null,
  id          uuid not null,
  location_id uuid not null,
  name        text not null check (name <> ''),
  kind        text not null default '',
  active      boolean not null default true,
  version     integer not null default 1,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (tenant_id, id),
  -- Sessions refer to both columns, so a session's resource is at its own location.
  unique (tenant_id, location_id, id),
  foreign key (tenant_id, location_id) references locations
);
create unique index resources_name on resources (tenant_id, location_id, lower(name));

create table services (
  tenant_id                 uuid not null references tenants,
  id                        uuid not null,
  name                      text not null check (name <> ''),
  description               text not null default '',
  category                  text not null default '',
  duration_seconds          integer not null check (duration_seconds > 0),
  default_capacity          integer check (default_capacity >= 0),
  default_waitlist_capacity integer not null default 0 check (default_waitlist_capacity >= 0),
  min_party                 integer not null default 1 check (min_party >= 1),
  max_party                 integer not null default 1,
  delivery                  text not null default 'IN_PERSON' check (delivery in ('IN_PERSON', 'FEED')),
  color                     text not null default '',
  active                    boolean not null default true,
  version                   integer not null default 1,
  created_at                timestamptz not null,
  updated_at                timestamptz not null,
  check (max_party >= min_party)
);
create unique index services_name on services (tenant_id, lower(name));
alter table services add primary key (tenant_id, id); -- last, see sessions

-- The settings of a level. Null inherits: defaults, then tenant, location, service.
-- scope_id is the ID of the tenant, location or service.
create table policies (
  tenant_id                  uuid not null references tenants,
  level                      text not null check (level in ('TENANT', 'LOCATION', 'SERVICE')),
  scope_id                   uuid not null,
  advance_seconds            bigint check (advance_seconds >= 0),
  booking_closes_seconds     bigint check (booking_closes_seconds >= 0),
  cancellation_seconds       bigint check (cancellation_seconds >= 0),
  allow_late_cancellation    boolean,
  allow_reschedule           boolean,
  hold_ttl_seconds           bigint check (hold_ttl_seconds > 0),
  check_in_opens_seconds     bigint check (check_in_opens_seconds >= 0),
  check_in_closes_seconds    bigint check (check_in_closes_seconds >= 0),
  gps_max_meters             double precision check (gps_max_meters > 0),
  -- One of the waitlist rules, because every booking of a full session reads it. The others are in waitlist_rules,
  -- by name. rules_version is the tenant's version of their last edit at this level.
  waitlist_enabled           boolean,
  waitlist_rules             jsonb not null default '{}',
  rules_version              integer not null default 0,
  -- The rules or this policy were edited, so open seats may now belong to someone on a waitlist. Not checked yet.
  rules_due                  boolean not null default false,
  auto_no_show               boolean,
  auto_no_show_seconds       bigint check (auto_no_show_seconds >= 0),
  -- Overrides by tier: {"visitor": {"cancellation_seconds": 172800, "allow_reschedule": false}}.
  tiers                      jsonb,
  version                    integer not null default 0,
  updated_at                 timestamptz not null,
  primary key (tenant_id, level, scope_id)
);

-- Built-in roles have rows, too, so that member_roles refers to a row that exists.
-- Their permissions are in the program, not here.
create table roles (
  tenant_id   uuid not null references tenants,
  name        text not null check (name ~ '^[a-z][a-z0-9_]{0,49}$'),
  title       text not null default '',
  description text not null default '',
  built_in    boolean not null default false,
  permissions text[] not null default '{}',
  version     integer not null default 1,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (tenant_id, name)
);

create table members (
  tenant_id  uuid not null references tenants,
  id         uuid not null,
  subject    text not null default '',
  name       text not null check (name <> ''),
  -- Under row-level security only plain columns can use an index: lower() is not leakproof.
  name_key   text not null generated always as (lower(name)) stored,
  email      text not null default '',
  email_key  text not null generated always as (lower(email)) stored,
  phone      text not null default '',
  tier       text not null default '',
  tags       text[] not null default '{}',
  status     text not null default 'ACTIVE' check (status in ('ACTIVE', 'INACTIVE')),
  locale     text not null default '',
  time_zone  text not null default '',
  notes      text not null default '',
  version    integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index members_subject on members (tenant_id, subject) where subject <> '';
create unique index members_email on members (tenant_id, email_key) where email_key <> '';
create index members_name on members (tenant_id, name_key, id);
alter table members add primary key (tenant_id, id); -- last, see sessions

create table member_roles (
  tenant_id  uuid not null,
  member_id  uuid not null,
  role       text not null,
  created_at timestamptz not null,
  primary key (tenant_id, member_id, role),
  foreign key (tenant_id, member_id) references members,
  constraint member_roles_role foreign key (tenant_id, role) references roles
);
create index member_roles_by_role on member_roles (tenant_id, role);

create table devices (
  tenant_id  uuid not null,
  id         uuid not null,
  member_id  uuid not null,
  kind       text not null check (kind in ('IOS', 'ANDROID', 'WEB')),
  token      text not null,
  -- SHA-256 of the token, because tokens can exceed the size of an index entry.
  token_hash bytea not null check (length(token_hash) = 32),
  created_at timestamptz not null,
  seen_at    timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, member_id) references members
);
create unique index devices_token on devices (tenant_id, token_hash);
create index devices_member on devices (tenant_id, member_id);

create table service_accounts (
  tenant_id   uuid not null references tenants,
  id          uuid not null,
  name        text not null check (name <> ''),
  name_key    text not null generated always as (lower(name)) stored,
  description text not null default '',
  created_at  timestamptz not null,
  revoked_at  timestamptz,
  primary key (tenant_id, id)
);
-- The name of a revoked account can be used again.
create unique index service_accounts_name on service_accounts (tenant_id, name_key) where revoked_at is null;
create index service_accounts_by_name on service_accounts (tenant_id, name_key, id);

create table service_account_roles (
  tenant_id  uuid not null,
  account_id uuid not null,
  role       text not null,
  primary key (tenant_id, account_id, role),
  foreign key (tenant_id, account_id) references service_accounts,
  constraint service_account_roles_role foreign key (tenant_id, role) references roles
);
create index service_account_roles_by_role on service_account_roles (tenant_id, role);

create table service_account_keys (
  tenant_id  uuid not null,
  id         uuid not null,
  account_id uuid not null,
  -- SHA-256 of the secret. The secret has 256 random bits, so it needs no password hash.
  hash       bytea not null check (length(hash) = 32),
  created_at timestamptz not null,
  expires_at timestamptz,
  used_at    timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references service_accounts
);
create index service_account_keys_account on service_account_keys (tenant_id, account_id);

-- +goose Down
drop table service_account_keys, service_account_roles, service_accounts, devices, member_roles, members, roles, policies,
  services, resources, locations, tenants, directory;
