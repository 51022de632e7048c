-- +goose Up
-- The schema of this package's tests, with a table of each kind that they need.

-- +goose StatementBegin
do $$
begin
  create role berth_app nologin nosuperuser nobypassrls;
exception
  when duplicate_object or unique_violation then null;
end
$$;
-- +goose StatementEnd

grant select on goose_db_version to berth_app;

-- The table of the example for serializability in the Postgres manual (13.2.3).
create table mytab (
  tenant_id uuid not null,
  id        uuid not null,
  class     integer not null,
  value     integer not null,
  primary key (tenant_id, id)
);

create table counters (
  tenant_id uuid not null,
  id        uuid not null,
  taken     integer not null default 0,
  constraint counters_taken check (taken <= 3),
  primary key (tenant_id, id)
);

create table things (
  tenant_id uuid not null,
  id        uuid not null,
  parent_id uuid,
  tags      uuid[],
  at        timestamptz,
  primary key (tenant_id, id),
  constraint things_parent foreign key (tenant_id, parent_id) references things deferrable initially deferred
);

-- A column of each kind.
create table kinds (
  tenant_id uuid not null,
  id        uuid not null,
  name      text not null,
  kind      text not null,
  method    text,
  number    integer not null,
  total     bigint not null default 0,
  share     double precision,
  counted   boolean not null default false,
  hash      bytea,
  on_day    date,
  at_time   time not null,
  seconds   bigint,
  made_at   timestamptz not null,
  done_at   timestamptz,
  gone_at   timestamptz,
  tags      text[] not null,
  facts     jsonb not null,
  content   jsonb,
  parent_id uuid,
  seats     integer not null default 3,
  primary key (tenant_id, id)
);

create table directory (tenant_id uuid primary key);

-- +goose StatementBegin
do $$
declare
  t text;
begin
  foreach t in array array['mytab', 'counters', 'things', 'kinds', 'directory'] loop
    execute format('alter table %I enable row level security, force row level security', t);
    execute format('create policy tenant on %I using (tenant_id = nullif(current_setting(''app.tenant_id'', true), '''')::uuid)', t);
    execute format('grant select, insert, update, delete on %I to berth_app', t);
  end loop;
end
$$;
-- +goose StatementEnd

create policy operator on directory for select using (current_setting('app.operator', true) = 'on');

-- +goose Down
drop table directory, kinds, things, counters, mytab;
