-- +goose Up
-- What a tenant offers: places, services, plans, items and benefits, and the policies of booking.

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
  tenant_id                        uuid not null references tenants,
  level                            text not null check (level in ('TENANT', 'LOCATION', 'SERVICE')),
  scope_id                         uuid not null,
  advance_window_seconds           bigint check (advance_window_seconds >= 0),
  booking_closes_before_seconds    bigint check (booking_closes_before_seconds >= 0),
  cancellation_window_seconds      bigint check (cancellation_window_seconds >= 0),
  allow_late_cancellation          boolean,
  allow_reschedule                 boolean,
  hold_ttl_seconds                 bigint check (hold_ttl_seconds > 0),
  check_in_opens_before_seconds     bigint check (check_in_opens_before_seconds >= 0),
  check_in_closes_after_end_seconds bigint check (check_in_closes_after_end_seconds >= 0),
  gps_max_meters                   double precision check (gps_max_meters > 0),
  check_in_requires_qr              boolean,
  -- One of the waitlist rules, because every booking of a full session reads it. The others are in waitlist_rules,
  -- by name. rules_version is the tenant's version of their last edit at this level.
  waitlist_enabled                 boolean,
  waitlist_rules                   jsonb not null default '{}',
  rules_version                    integer not null default 0,
  -- The rules or this policy were edited, so open seats may now belong to someone on a waitlist. Not checked yet.
  rules_due                        boolean not null default false,
  auto_no_show                     boolean,
  auto_no_show_after_seconds       bigint check (auto_no_show_after_seconds >= 0),
  auto_no_show_after_start_seconds bigint check (auto_no_show_after_start_seconds >= 0),
  -- Overrides by tier: {"visitor": {"cancellation_window_seconds": 172800, "allow_reschedule": false}}.
  tier_cancellations               jsonb,
  version                          integer not null default 0,
  updated_at                       timestamptz not null,
  primary key (tenant_id, level, scope_id)
);

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
  use_seconds    bigint check (use_seconds > 0),
  active         boolean not null default true,
  version        integer not null default 1,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, location_id) references locations
);
create unique index items_name on items (tenant_id, location_id, lower(name));

-- Partners whose members get a discount, by the number of their membership there.
create table benefit_providers (
  tenant_id        uuid not null references tenants,
  code             text not null check (code ~ '^[A-Z0-9_-]{1,50}$'),
  name             text not null check (name <> ''),
  -- A membership number has to match it completely (RE2).
  number_pattern   text not null,
  discount_percent integer not null default 0 check (discount_percent between 0 and 100),
  -- How numbers are verified: not, or by the provider's list.
  verification     text not null default 'NONE' check (verification in ('NONE', 'LIST')),
  -- Several members may use one number.
  families         boolean not null default false,
  -- How many numbers are on the list.
  numbers          integer not null default 0 check (numbers >= 0),
  active           boolean not null default true,
  version          integer not null default 1,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  primary key (tenant_id, code)
);

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

-- +goose Down
drop table benefit_memberships, benefit_numbers, benefit_providers, items, plans, policies, services, resources,
  locations;
