-- +goose Up
-- Who waits for a place, and how freed places were given.

-- A request for a place: in one session, in any of several, or in a window.
create table waitlist_entries (
  tenant_id          uuid not null,
  id                 uuid not null,
  member_id          uuid not null,
  session_id         uuid,
  any_of             uuid[] not null default '{}',
  -- A window: service, location, dates and time of day at the location, all inclusive.
  service_id         uuid,
  location_id        uuid,
  resource_id        uuid,
  first_date         date,
  last_date          date,
  earliest           time,
  latest             time,
  -- If set, only sessions of this coach.
  coach_id           uuid,
  party_size         integer not null check (party_size >= 1),
  status             text not null check (status in ('WAITING', 'OFFERED', 'BOOKED', 'CANCELLED', 'EXPIRED')),
  -- The order of joining. Staff who move an entry change it.
  join_key           bigint not null,
  -- Staff put the entry before all others, or gave it a fixed score.
  flagged            boolean not null default false,
  score              integer check (score between -1000000 and 1000000),
  -- Number of offers it has had.
  tries              integer not null default 0 check (tries >= 0),
  subscription_id    uuid,
  channel            text not null check (channel in ('ONLINE', 'PHONE', 'WALK_IN')),
  -- Staff added it for the member. Staff bypass credits and quotas.
  by_staff           boolean not null default false,
  external_ref       text not null default '',
  request_hash       bytea,
  note               text not null default '',
  booking_id         uuid,
  passed_over_reason text not null default '',
  created_by         text not null,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  closed_at          timestamptz,
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, member_id) references members,
  foreign key (tenant_id, coach_id) references members (tenant_id, id),
  foreign key (tenant_id, service_id) references services,
  foreign key (tenant_id, location_id) references locations,
  foreign key (tenant_id, location_id, resource_id) references resources (tenant_id, location_id, id),
  foreign key (tenant_id, subscription_id) references subscriptions,
  foreign key (tenant_id, booking_id) references bookings,
  check (num_nonnulls(session_id, nullif(any_of, '{}'), service_id) = 1),
  check (num_nonnulls(service_id, location_id, first_date, last_date, earliest, latest) in (0, 6)),
  check (first_date <= last_date),
  check ((status = 'BOOKED') = (booking_id is not null)),
  check ((status in ('WAITING', 'OFFERED')) = (closed_at is null))
) with (fillfactor = 80);
create unique index waitlist_entries_external_ref on waitlist_entries (tenant_id, external_ref)
  where external_ref <> '';
create index waitlist_entries_session on waitlist_entries (tenant_id, session_id, id) where session_id is not null;
create index waitlist_entries_member on waitlist_entries (tenant_id, member_id, id);
create index waitlist_entries_joined on waitlist_entries (tenant_id, created_at, id);
create index waitlist_entries_open on waitlist_entries (tenant_id, id) where status in ('WAITING', 'OFFERED');
alter table waitlist_entries add primary key (tenant_id, id); -- last, see sessions

-- A queue of entries: for a service, at a location, on a day.
create table waitlist_queues (
  tenant_id   uuid not null,
  location_id uuid not null,
  service_id  uuid not null,
  local_date  date not null,
  -- Number of entries in the queue. If it is 0, no statement looks for them.
  waiting     integer not null default 0 check (waiting >= 0),
  -- The highest join_key ever used in the queue.
  last_key    bigint not null default 0,
  primary key (tenant_id, location_id, service_id, local_date),
  foreign key (tenant_id, location_id) references locations,
  foreign key (tenant_id, service_id) references services
) with (fillfactor = 70);

-- The positions of waiting entries, one for each session named and for each day of a window.
-- They are deleted when the entry no longer waits.
create table waitlist_places (
  tenant_id   uuid not null,
  location_id uuid not null,
  service_id  uuid not null,
  local_date  date not null,
  entry_id    uuid not null,
  member_id   uuid not null,
  -- Null for a window.
  session_id  uuid,
  -- Copied from the entry, so that reading the first entries of a queue reads no others.
  flagged     boolean not null default false,
  join_key    bigint not null,
  foreign key (tenant_id, entry_id) references waitlist_entries,
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, location_id, service_id, local_date) references waitlist_queues
) with (fillfactor = 80);
-- A member waits for a session at most once.
create index waitlist_places_member on waitlist_places (tenant_id, member_id);
create unique index waitlist_places_active on waitlist_places (tenant_id, session_id, member_id)
  where session_id is not null;
create unique index waitlist_places_once
  on waitlist_places (tenant_id, entry_id, location_id, service_id, local_date, session_id) nulls not distinct;
create index waitlist_places_queue
  on waitlist_places (tenant_id, location_id, service_id, local_date, (not flagged), join_key, entry_id);

-- The handling of seats that became free at the same time.
create table waitlist_rounds (
  tenant_id  uuid not null,
  id         uuid not null,
  session_id uuid not null,
  -- Seats to give: those at the start, or all that were open since, if more.
  freed      integer not null check (freed >= 0),
  -- It began when booking opened: entries get no more than freed.
  opening    boolean not null default false,
  -- Seats reserved for the first members to claim them.
  keeps      integer not null default 0 check (keeps >= 0),
  -- The members whose seats they were.
  gave_up    uuid[] not null default '{}',
  opened_at  timestamptz not null,
  closed_at  timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, session_id) references sessions,
  check (closed_at is null or keeps = 0)
) with (fillfactor = 80);
create index waitlist_rounds_keeping on waitlist_rounds (tenant_id, session_id) where keeps > 0;

create table waitlist_offers (
  tenant_id  uuid not null,
  id         uuid not null,
  round_id   uuid not null,
  session_id uuid not null,
  entry_id   uuid not null,
  member_id  uuid not null,
  seats      integer not null check (seats >= 1),
  -- The round holds the seats, for the first of several members.
  shared     boolean not null default false,
  status     text not null check (status in ('LIVE', 'ACCEPTED', 'DECLINED', 'EXPIRED', 'WITHDRAWN')),
  try        integer not null check (try >= 1),
  by_hand    boolean not null default false,
  score      integer not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  closed_at  timestamptz,
  booking_id uuid,
  -- Why it was withdrawn, and what the member or staff said with its end.
  withdraw_cause text not null default '' check (withdraw_cause in ('', 'CLAIMED_BY_OTHERS', 'FEWER_SEATS',
    'SESSION_NOT_OPEN', 'SESSION_MOVED', 'SESSION_CANCELLED', 'NOT_NOTIFIED', 'ENTRY_LEFT')),
  reason     text not null default '',
  -- Withdrawn and treated as never made: its entry may get another offer in the round.
  void       boolean not null default false,
  -- SHA-256 of the token in its link, and a hash of the digits that answer it by text message, with a key that the
  -- database never sees.
  claim_hash bytea not null,
  code_hash  bytea not null check (length(code_hash) = 32),
  foreign key (tenant_id, round_id) references waitlist_rounds,
  foreign key (tenant_id, session_id) references sessions,
  foreign key (tenant_id, entry_id) references waitlist_entries,
  foreign key (tenant_id, member_id) references members,
  foreign key (tenant_id, booking_id) references bookings,
  check ((status = 'ACCEPTED') = (booking_id is not null)),
  check ((status = 'LIVE') = (closed_at is null)),
  check ((status = 'WITHDRAWN') = (withdraw_cause <> '')),
  check (status = 'WITHDRAWN' or not void)
) with (fillfactor = 80);
-- An entry has at most one live offer.
create unique index waitlist_offers_live on waitlist_offers (tenant_id, entry_id) where status = 'LIVE';
create index waitlist_offers_due on waitlist_offers (tenant_id, expires_at) where status = 'LIVE';
create index waitlist_offers_live_in on waitlist_offers (tenant_id, session_id) where status = 'LIVE';
create index waitlist_offers_session on waitlist_offers (tenant_id, session_id, id);
create index waitlist_offers_entry on waitlist_offers (tenant_id, entry_id, id);
create index waitlist_offers_member on waitlist_offers (tenant_id, member_id, id);
create index waitlist_offers_round on waitlist_offers (tenant_id, round_id, try);
create index waitlist_offers_made on waitlist_offers (tenant_id, created_at, id);
create unique index waitlist_offers_claim on waitlist_offers (tenant_id, claim_hash);
alter table waitlist_offers add primary key (tenant_id, id); -- last, see sessions

-- Each step of filling freed seats: its input, the verdicts, and the result.
create table waitlist_decisions (
  tenant_id     uuid not null,
  id            uuid not null,
  session_id    uuid not null,
  location_id   uuid not null,
  service_id    uuid not null,
  local_date    date not null,
  round_id      uuid,
  trigger       text not null,
  mode          text not null,
  move          text not null check (move in ('NOBODY_FITS', 'OFFER', 'ROLL_ON', 'HAND_BACK')),
  left_move     text not null check (left_move in ('', 'NOBODY_FITS', 'HAND_BACK')),
  seats         integer check (seats >= 0),
  given         integer not null check (given >= 0),
  tried         integer not null,
  rules_version integer not null,
  note          text not null default '',
  verdicts      jsonb not null,
  grants        jsonb not null,
  -- All input of the decision, so that it can be repeated. It must be read exactly as it was written, so it is json,
  -- not jsonb.
  facts         json not null,
  decided_at    timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, session_id) references sessions,
  -- Every open seat is part of exactly one step.
  check (given <= seats),
  check ((left_move <> '') = (coalesce(seats, 0) > given and seats is not null))
);
create index waitlist_decisions_session on waitlist_decisions (tenant_id, session_id, id);
create index waitlist_decisions_queue on waitlist_decisions (tenant_id, location_id, service_id, local_date, id);
create index waitlist_decisions_time on waitlist_decisions (tenant_id, decided_at, id);
create index waitlist_decisions_notes on waitlist_decisions (tenant_id, id) where note <> '';

-- Every edit of the waitlist rules, with the level's rules after it.
create table waitlist_rules_versions (
  tenant_id   uuid not null references tenants,
  version     integer not null check (version >= 1),
  level       text not null check (level in ('TENANT', 'LOCATION', 'SERVICE')),
  scope_id    uuid not null,
  enabled     boolean,
  rules       jsonb not null,
  reset       boolean not null default false,
  actor       text not null,
  actor_name  text not null default '',
  reason      text not null default '',
  created_at  timestamptz not null,
  primary key (tenant_id, version)
);

-- +goose Down
drop table waitlist_rules_versions, waitlist_decisions, waitlist_offers, waitlist_rounds, waitlist_places,
  waitlist_queues, waitlist_entries;
