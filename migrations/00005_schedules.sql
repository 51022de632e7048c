-- +goose Up
-- When it takes place.

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
  -- Local time at the location, so it stays the same when daylight saving time starts or ends.
  start_time         time not null,
  duration_seconds   integer not null check (duration_seconds > 0),
  excluded_dates     date[] not null default '{}',
  publish            boolean not null default false,
  -- The rule has no end: more sessions are created as time passes.
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
create index series_title on series (tenant_id, lower(title), id);

create table sessions (
  tenant_id         uuid not null references tenants,
  id                uuid not null,
  service_id        uuid not null,
  location_id       uuid not null,
  resource_id       uuid,
  coach_id          uuid,
  series_id         uuid,
  -- Edited individually: changes of the series no longer apply.
  detached          boolean not null default false,
  -- The occurrence of the series that it stands for, even if it was moved: the local day and the instant.
  -- Null if the rule no longer has an occurrence for it.
  occurs_on         date,
  occurs_at         timestamptz,
  title             text not null check (title <> ''),
  description       text not null default '',
  starts_at         timestamptz not null,
  ends_at           timestamptz not null,
  -- The local date of starts_at at the location. Quotas and reports use it.
  local_date        date not null,
  capacity          integer check (capacity >= 0),
  waitlist_capacity integer not null default 0,
  -- Seats of bookings that are PENDING, CONFIRMED or ATTENDED, and of live offers. `berth verify` checks
  -- that it equals the rows. The constraint sessions_capacity makes overbooking impossible.
  seats_taken       integer not null default 0 check (seats_taken >= 0),
  -- Number of PENDING bookings. If it is 0, no statement looks for expired ones.
  holds             integer not null default 0 check (holds >= 0),
  -- Number of waitlist entries for this session by name.
  waiting           integer not null default 0 check (waiting >= 0),
  -- Entries wait for it, and the first of them get seats when booking opens. If false, no statement looks for them.
  opening_due       boolean not null default false,
  state             text not null check (state in ('DRAFT', 'PUBLISHED', 'CANCELLED')),
  blocked           boolean not null default false,
  -- It has rows in session_workouts. If false, no statement looks for them.
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
  -- Deferrable, so that for a statement that moves many sessions only the result counts.
  constraint sessions_resource_busy exclude using gist (
    tenant_id with =, resource_id with =, tstzrange(starts_at, ends_at) with &&
  ) where (resource_id is not null and state <> 'CANCELLED' and deleted_at is null) deferrable initially immediate,
  constraint sessions_staff_busy exclude using gist (
    tenant_id with =, coach_id with =, tstzrange(starts_at, ends_at) with &&
  ) where (coach_id is not null and state <> 'CANCELLED' and deleted_at is null) deferrable initially immediate,
  -- One session per occurrence. Deferred, because an edit of a series reassigns them.
  constraint sessions_occurrence unique (tenant_id, series_id, occurs_at) deferrable initially deferred
) with (fillfactor = 70); -- every booking updates the counters: leave room for HOT updates
create index sessions_start on sessions (tenant_id, starts_at, id) where deleted_at is null;
create index sessions_opening on sessions (tenant_id, starts_at) where opening_due;
-- The deleted ones, whose bookings are listed all the same. Few are in it, and no booking writes it.
create index sessions_deleted on sessions (tenant_id, starts_at, id) where deleted_at is not null;
-- The primary key comes last. On a small or unanalysed table all indexes that start with the tenant look equally good,
-- and the planner takes the newest. With any other index it would read all sessions of the tenant to find one,
-- and serializable bookings of different sessions would conflict.
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
  -- Deleted; sessions that have it keep it.
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

-- The links of sessions' displays, each of which one screen may renew.
create table display_links (
  tenant_id  uuid not null,
  id         uuid not null,
  session_id uuid not null,
  created_by text not null check (created_by <> ''),
  created_at timestamptz not null,
  -- The number of the screen that renewed the link first, and since when.
  screen     uuid,
  opened_at  timestamptz,
  -- When another screen read the display for the first time.
  second_at  timestamptz,
  revoked_by text check (revoked_by <> ''),
  revoked_at timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, session_id) references sessions,
  constraint display_links_opened check ((screen is null) = (opened_at is null)),
  constraint display_links_second check (second_at is null or screen is not null),
  constraint display_links_revoked check ((revoked_by is null) = (revoked_at is null))
);
create index display_links_session on display_links (tenant_id, session_id, created_at);

-- +goose Down
drop table display_links, session_workouts, workouts, sessions, series;
