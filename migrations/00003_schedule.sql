-- +goose Up

create table series (
  tenant_id          uuid not null references tenants,
  id                 uuid not null,
  service_id         uuid not null,
  location_id        uuid not null,
  resource_id        uuid,
  coach_id           uuid,
  title              text not null default '',
  description        text not null default '',
  capacity           integer check (capacity >= 0),
  waitlist_capacity  integer not null default 0 check (waitlist_capacity >= 0),
  rule               text not null,
  start_date         date not null,
  -- Wall clock at the location, so that it stays the same when the clocks change.
  start_time         time not null,
  duration_seconds   integer not null check (duration_seconds > 0),
  excluded_dates     date[] not null default '{}',
  publish            boolean not null default false,
  -- The rule has no end: more sessions are made as time goes by.
  open_ended         boolean not null default false,
  materialized_until date not null,
  version            integer not null default 1,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, service_id) references services,
  foreign key (tenant_id, location_id) references locations
);
create index series_open_ended on series (tenant_id, materialized_until) where open_ended;

create table sessions (
  tenant_id         uuid not null references tenants,
  id                uuid not null,
  service_id        uuid not null,
  location_id       uuid not null,
  resource_id       uuid,
  coach_id          uuid,
  series_id         uuid,
  -- Edited by itself: the series no longer decides about it.
  detached          boolean not null default false,
  -- The occurrence of the series that it stands for, wherever it was moved since: the local day and
  -- the instant. Null where the pattern no longer has one for it.
  occurs_on         date,
  occurs_at         timestamptz,
  title             text not null check (title <> ''),
  description       text not null default '',
  starts_at         timestamptz not null,
  ends_at           timestamptz not null,
  -- The calendar day of starts_at at the location; quotas and reports count by it.
  local_date        date not null,
  capacity          integer check (capacity >= 0),
  waitlist_capacity integer not null default 0,
  -- Seats of bookings that are PENDING, CONFIRMED or ATTENDED, and of live offers. `berth verify` proves
  -- it equal to the rows; the check below is what makes overselling impossible.
  seats_taken       integer not null default 0 check (seats_taken >= 0),
  -- Bookings that are PENDING. Where there are none nobody looks for expired ones.
  holds             integer not null default 0 check (holds >= 0),
  -- Entries that wait for it by name.
  waiting           integer not null default 0 check (waiting >= 0),
  state             text not null check (state in ('DRAFT', 'PUBLISHED', 'CANCELLED')),
  blocked           boolean not null default false,
  -- It has rows in session_workouts. Where it has none nobody looks.
  has_workouts      boolean not null default false,
  state_reason      text not null default '',
  deleted_at        timestamptz,
  batch_id          uuid,
  version           integer not null default 1,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  foreign key (tenant_id, service_id) references services,
  foreign key (tenant_id, location_id) references locations,
  foreign key (tenant_id, location_id, resource_id) references resources (tenant_id, location_id, id),
  foreign key (tenant_id, coach_id) references members,
  foreign key (tenant_id, series_id) references series,
  check ((occurs_on is null) = (occurs_at is null)),
  constraint sessions_span check (starts_at < ends_at),
  constraint sessions_capacity check (capacity is null or seats_taken <= capacity),
  constraint sessions_waitlist check (waiting <= waitlist_capacity),
  -- Deferrable, so that a statement which moves many sessions is judged by where they end up.
  constraint sessions_resource_busy exclude using gist (
    tenant_id with =, resource_id with =, tstzrange(starts_at, ends_at) with &&
  ) where (resource_id is not null and state <> 'CANCELLED' and deleted_at is null) deferrable initially immediate,
  constraint sessions_staff_busy exclude using gist (
    tenant_id with =, coach_id with =, tstzrange(starts_at, ends_at) with &&
  ) where (coach_id is not null and state <> 'CANCELLED' and deleted_at is null) deferrable initially immediate,
  -- An occurrence has one session. Deferred, because an edit of a series deals them out afresh.
  constraint sessions_occurrence unique (tenant_id, series_id, occurs_at) deferrable initially deferred
) with (fillfactor = 70); -- counters change with every booking: leave room for HOT updates
create index sessions_start on sessions (tenant_id, starts_at, id) where deleted_at is null;
-- The primary key comes last: where a table is small, or nobody has analysed it, all indexes that lead with the
-- tenant look equally good, and the planner takes the newest. With any other one it would read every
-- session of the tenant to find one, and serializable bookings of different sessions would conflict.
alter table sessions add primary key (tenant_id, id);

create table workouts (
  tenant_id  uuid not null references tenants,
  id         uuid not null,
  name       text not null check (name <> ''),
  body       text not null default '',
  inline     boolean not null default false,
  version    integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Out of use; sessions that have it keep it.
  deleted_at timestamptz,
  primary key (tenant_id, id)
);
create index workouts_name on workouts (tenant_id, lower(name), id) where not inline and deleted_at is null;

create table session_workouts (
  tenant_id  uuid not null,
  session_id uuid not null,
  position   integer not null,
  workout_id uuid not null,
  primary key (tenant_id, session_id, position),
  unique (tenant_id, session_id, workout_id),
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, workout_id) references workouts
);

-- +goose Down
drop table session_workouts, workouts, sessions, series;
