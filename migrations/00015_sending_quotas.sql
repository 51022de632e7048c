-- +goose Up

-- What the platform's accounts sent for a tenant. A row has the messages of a channel to a country in an hour.
create table sending_counts (
  tenant_id uuid not null references tenants,
  channel   text not null check (channel in ('SMS', 'EMAIL')),
  -- ISO 3166-1, or ZZ if the number belongs to none. Empty for mail, and for alarms about all countries together.
  country   text not null check (country ~ '^([A-Z]{2})?$'),
  hour      timestamptz not null,
  sent      integer not null check (sent >= 0),
  -- Messages that were deferred to this hour.
  waiting   integer not null check (waiting >= 0),
  -- The highest share of the limit, in percent, that the tenant was told of in this hour.
  alarm     integer not null check (alarm >= 0),
  primary key (tenant_id, channel, country, hour)
) with (fillfactor = 80);

-- How far the limits of a tenant have grown.
create table sending_standings (
  tenant_id   uuid not null references tenants,
  channel     text not null check (channel in ('SMS', 'EMAIL')),
  -- How often the limits have doubled.
  level       integer not null check (level >= 0),
  -- Of the last change. Messages before it no longer count.
  since       timestamptz not null,
  reviewed_at timestamptz not null,
  primary key (tenant_id, channel)
);

alter table sending_counts enable row level security;
alter table sending_counts force row level security;
create policy tenant on sending_counts
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert, update, delete on sending_counts to berth_app;

alter table sending_standings enable row level security;
alter table sending_standings force row level security;
create policy tenant on sending_standings
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert, update, delete on sending_standings to berth_app;

-- Whether the platform's account sent the message, not one of the tenant's own.
alter table deliveries add column platform boolean not null default false;

-- +goose Down
alter table deliveries drop column platform;
drop table sending_standings, sending_counts;
