-- +goose Up
-- What is sent to whom, and what became of it.

-- A tenant's settings for all its messages. Without a row the defaults apply.
create table notification_settings (
  tenant_id            uuid primary key references tenants,
  -- If both are equal, there are no quiet hours.
  quiet_hours_start    time not null,
  quiet_hours_end      time not null,
  sms_per_day          integer not null check (sms_per_day > 0),
  push_per_day         integer not null check (push_per_day > 0),
  email_per_day        integer not null check (email_per_day > 0),
  -- In seconds before the start.
  reminders            bigint[] not null,
  reply_to             text not null default '',
  sender_name          text not null default '',
  credits_low_at       integer not null check (credits_low_at >= 0),
  locale               text not null default '',
  -- The countries (ISO 3166-1) to whose numbers codes are sent; empty: those of the time zones of the tenant and its
  -- locations.
  phone_countries      text[] not null default '{}' check (cardinality(phone_countries) <= 50),
  version              integer not null,
  updated_at           timestamptz not null
);

-- The providers of a tenant that does not use the platform's. The row contains their secrets, encrypted with a key
-- that the database never sees, and bound to the tenant.
create table notification_senders (
  tenant_id       uuid primary key references tenants,
  sealed          bytea not null,
  -- When the records of the tenant's sending domain, which is in the sealed text, are looked up. Null: it has none that
  -- is verified.
  domain_check_at timestamptz,
  version         integer not null,
  updated_at      timestamptz not null
);

-- A tenant's own texts. Without a row the default of the service is used.
create table notification_templates (
  tenant_id  uuid not null references tenants,
  topic      text not null,
  channel    text not null check (channel in ('SMS', 'PUSH', 'EMAIL')),
  locale     text not null check (locale <> ''),
  subject    text not null default '',
  body       text not null check (body <> ''),
  html       text not null default '',
  version    integer not null,
  updated_at timestamptz not null,
  primary key (tenant_id, topic, channel, locale)
);

-- Preferences of members. Without a row the default of the topic applies.
create table notification_preferences (
  tenant_id  uuid not null,
  member_id  uuid not null,
  topic      text not null,
  channel    text not null check (channel in ('SMS', 'PUSH', 'EMAIL')),
  enabled    boolean not null,
  updated_at timestamptz not null,
  primary key (tenant_id, member_id, topic, channel),
  foreign key (tenant_id, member_id) references members
);

-- Other settings of members.
create table notification_members (
  tenant_id         uuid not null,
  member_id         uuid not null,
  -- The member's own quiet hours; null: the tenant's.
  quiet_hours_start time,
  quiet_hours_end   time,
  -- SHA-256 of the secret in the URL of the member's calendar feed. It has 128 random bits, so it needs no
  -- password hash.
  feed_hash         bytea check (length(feed_hash) = 32),
  -- Of the preferences and the quiet hours. 0: they were never edited.
  version           integer not null default 0,
  updated_at        timestamptz not null,
  primary key (tenant_id, member_id),
  foreign key (tenant_id, member_id) references members,
  check ((quiet_hours_start is null) = (quiet_hours_end is null))
);
create unique index notification_members_feed on notification_members (tenant_id, feed_hash)
  where feed_hash is not null;

-- Numbers and addresses that must not get messages through a channel, for any member.
create table notification_stops (
  tenant_id  uuid not null references tenants,
  channel    text not null check (channel in ('SMS', 'EMAIL')),
  -- A number in E.164, or an email address in lower case.
  address    text not null,
  reason     text not null check (reason in ('OPTED_OUT', 'UNSUBSCRIBED', 'BOUNCED')),
  created_at timestamptz not null,
  primary key (tenant_id, channel, address)
);

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

-- A message for one recipient through one lane.
create table notices (
  tenant_id   uuid not null,
  id          uuid not null,
  topic       text not null,
  lane        text not null check (lane in ('ALERT', 'MAIL')),
  -- The member, or the booking of a guest.
  recipient   uuid not null,
  member_id   uuid,
  session_id  uuid,
  booking_id  uuid,
  entry_id    uuid,
  offer_id    uuid,
  thing       uuid not null,
  revision    text not null,
  starts_at   timestamptz,
  -- When to process it next. During an attempt this is when the attempt counts as lost.
  due_at      timestamptz not null,
  expires_at  timestamptz not null,
  happened_at timestamptz not null,
  details     jsonb not null default '{}',
  -- An attempt is in progress, or its outcome was lost.
  sending     boolean not null default false,
  -- Channels that failed.
  tried       text[] not null default '{}',
  attempts    integer not null default 0,
  -- Number of attempts with an unknown outcome.
  unsure      integer not null default 0,
  created_at  timestamptz not null,
  -- When it was sent or given up.
  done_at     timestamptz,
  foreign key (tenant_id, member_id) references members
) with (fillfactor = 80);
-- However often a message is planned, it is sent once.
create unique index notices_once on notices (tenant_id, recipient, topic, thing, revision, lane);
alter table notices add primary key (tenant_id, id); -- late, see sessions
-- Comes last: only a query for due notices can use it, and that should.
create index notices_due on notices (tenant_id, due_at, id) where done_at is null;

-- The delivery log: each attempt, written before the provider is called, and the reason if there was none.
create table deliveries (
  tenant_id          uuid not null,
  id                 uuid not null,
  -- Null for a test message.
  notice_id          uuid,
  topic              text not null,
  channel            text check (channel in ('SMS', 'PUSH', 'EMAIL')),
  status             text not null check (status in ('DEFERRED', 'DROPPED', 'POSSIBLY_SENT', 'QUEUED', 'SENT', 'FAILED',
    'UNDELIVERED', 'BOUNCED', 'DELIVERED', 'READ')),
  reason             text not null default '',
  recipient          uuid not null,
  member_id          uuid,
  recipient_name     text not null default '',
  -- A number or an email address; for push the device's ID.
  address            text not null default '',
  session_id         uuid,
  booking_id         uuid,
  offer_id           uuid,
  provider           text not null default '',
  provider_id        text not null default '',
  error_code         text not null default '',
  error_message      text not null default '',
  segments           integer not null default 0,
  attempt            integer not null default 0,
  possible_duplicate boolean not null default false,
  -- It counts towards the recipient's daily limit.
  counted            boolean not null default false,
  -- Whether the platform's account sent the message, not one of the tenant's own.
  platform           boolean not null default false,
  retry_at           timestamptz,
  -- The message itself, in the local outbox only.
  content            jsonb,
  created_at         timestamptz not null,
  updated_at         timestamptz not null
) with (fillfactor = 80);
create index deliveries_time on deliveries (tenant_id, created_at, id);
create index deliveries_member on deliveries (tenant_id, member_id, created_at, id) where member_id is not null;
create index deliveries_booking on deliveries (tenant_id, booking_id, created_at, id) where booking_id is not null;
create index deliveries_offer on deliveries (tenant_id, offer_id, created_at, id) where offer_id is not null;
create index deliveries_provider on deliveries (tenant_id, provider_id) where provider_id <> '';
create index deliveries_outbox on deliveries (tenant_id, created_at, id) where content is not null;
alter table deliveries add primary key (tenant_id, id); -- late, see sessions
create index deliveries_notice on deliveries (tenant_id, notice_id) where notice_id is not null;
create index deliveries_counted on deliveries (tenant_id, recipient, created_at) where counted;

-- The tenants that have written to a phone number from the shared number, because a reply to that names no tenant.
-- It has only the SHA-256 of the number, and operators' jobs can read it, like the directory.
create table shared_contacts (
  tenant_id   uuid not null references tenants,
  number_hash bytea not null check (length(number_hash) = 32),
  primary key (tenant_id, number_hash)
);
-- The tenant does not come first, because the query looks for the tenants of a number.
create index shared_contacts_number on shared_contacts (number_hash, tenant_id);

-- +goose Down
drop table shared_contacts, deliveries, notices, sending_standings, sending_counts, notification_stops,
  notification_members, notification_preferences, notification_templates, notification_senders, notification_settings;
