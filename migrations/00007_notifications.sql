-- +goose Up

-- What a tenant has chosen for all its messages; without a row there are the defaults.
create table notification_settings (
  tenant_id      uuid primary key references tenants,
  -- Equal: there are no quiet hours.
  quiet_start    time not null,
  quiet_end      time not null,
  email_in_quiet boolean not null,
  sms_per_day    integer not null check (sms_per_day > 0),
  push_per_day   integer not null check (push_per_day > 0),
  email_per_day  integer not null check (email_per_day > 0),
  -- How long before the start, in seconds.
  reminders      bigint[] not null,
  reply_to       text not null default '',
  sender_name    text not null default '',
  credits_low_at integer not null check (credits_low_at >= 0),
  locale         text not null default '',
  version        integer not null,
  updated_at     timestamptz not null
);

-- Who carries a tenant's messages where it isn't the platform. With its secrets, encrypted with a key that the
-- database never sees, and bound to the tenant.
create table notification_senders (
  tenant_id  uuid primary key references tenants,
  sealed     bytea not null,
  version    integer not null,
  updated_at timestamptz not null
);

-- A tenant's own wording. Where there is none, the default that comes with the service is used.
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

-- What members have chosen; what is not here is as the topic has it.
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

-- What else a member has chosen.
create table notification_members (
  tenant_id   uuid not null,
  member_id   uuid not null,
  -- The member's own quiet hours; null takes the tenant's.
  quiet_start time,
  quiet_end   time,
  -- SHA-256 of the secret in the address of the member's calendar feed, which has 128 bits of its own: there is nothing to stretch.
  feed_hash   bytea check (length(feed_hash) = 32),
  updated_at  timestamptz not null,
  primary key (tenant_id, member_id),
  foreign key (tenant_id, member_id) references members,
  check ((quiet_start is null) = (quiet_end is null))
);
create unique index notification_members_feed on notification_members (tenant_id, feed_hash) where feed_hash is not null;

-- Numbers and addresses that must not be written to over a channel, whoever has them.
create table notification_stops (
  tenant_id  uuid not null references tenants,
  channel    text not null check (channel in ('SMS', 'EMAIL')),
  -- A number in E.164, or an email address in lower case.
  address    text not null,
  reason     text not null check (reason in ('OPTED_OUT', 'UNSUBSCRIBED', 'BOUNCED')),
  created_at timestamptz not null,
  primary key (tenant_id, channel, address)
);

-- What one recipient is to hear through one lane.
create table notices (
  tenant_id   uuid not null,
  id          uuid not null,
  topic       text not null,
  lane        text not null check (lane in ('ALERT', 'MAIL')),
  -- The member, or for a guest the booking.
  recipient   uuid not null,
  member_id   uuid,
  session_id  uuid,
  booking_id  uuid,
  entry_id    uuid,
  offer_id    uuid,
  thing       uuid not null,
  revision    text not null,
  starts_at   timestamptz,
  -- When to look at it next. While an attempt is under way that is when it counts as lost.
  due_at      timestamptz not null,
  expires_at  timestamptz not null,
  happened_at timestamptz not null,
  details     jsonb not null default '{}',
  -- An attempt is under way, or its outcome was lost.
  sending     boolean not null default false,
  -- Channels that have failed.
  tried       text[] not null default '{}',
  attempts    integer not null default 0,
  -- Attempts of which nobody knows whether they arrived.
  unsure      integer not null default 0,
  created_at  timestamptz not null,
  -- Sent, or given up.
  done_at     timestamptz,
  foreign key (tenant_id, member_id) references members
) with (fillfactor = 80);
-- However often something is planned, one message leaves.
create unique index notices_once on notices (tenant_id, recipient, topic, thing, revision, lane);
alter table notices add primary key (tenant_id, id); -- late, as with sessions
-- The last one: only what looks for it can use it, and then should.
create index notices_due on notices (tenant_id, due_at, id) where done_at is null;

-- The delivery log: each attempt, written before the provider is called, and why there was none.
create table deliveries (
  tenant_id          uuid not null,
  id                 uuid not null,
  -- Null for a test.
  notice_id          uuid,
  topic              text not null,
  channel            text check (channel in ('SMS', 'PUSH', 'EMAIL')),
  status             text not null check (status in ('DEFERRED', 'DROPPED', 'POSSIBLY_SENT', 'QUEUED', 'SENT', 'FAILED', 'UNDELIVERED', 'BOUNCED', 'DELIVERED', 'READ')),
  reason             text not null default '',
  recipient          uuid not null,
  member_id          uuid,
  recipient_name     text not null default '',
  -- A number or an email address; for push the device's id.
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
  -- It counts against the recipient's daily number of messages.
  counted            boolean not null default false,
  retry_at           timestamptz,
  -- The message itself: in the local outbox alone.
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
alter table deliveries add primary key (tenant_id, id); -- late, as with sessions
create index deliveries_notice on deliveries (tenant_id, notice_id) where notice_id is not null;
create index deliveries_counted on deliveries (tenant_id, recipient, created_at) where counted;

-- Which tenants have written to a phone number from the one that they share: an answer to it names no tenant. It has the
-- number's SHA-256 alone, and opens to operators' tasks, as the directory does.
create table shared_contacts (
  tenant_id   uuid not null references tenants,
  number_hash bytea not null check (length(number_hash) = 32),
  primary key (tenant_id, number_hash)
);
-- No tenant leads it: the tenants are what is looked for.
create index shared_contacts_number on shared_contacts (number_hash, tenant_id);

-- An SMS comes from a number.
create index members_phone on members (tenant_id, phone) where phone <> '';

-- +goose Down
drop index members_phone;
drop table shared_contacts, deliveries, notices, notification_stops, notification_members, notification_preferences, notification_templates,
  notification_senders, notification_settings;
