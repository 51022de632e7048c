-- One row in each table, the functions that name and copy rows, and nothing else.

create function id(name text) returns uuid language sql immutable return md5(name)::uuid;
create function hash(name text) returns bytea language sql immutable return sha256(name::bytea);

-- Inserts a copy of the first row of a table, or of more, after a change.
create function again(t text, change text, rows int default 1) returns void language plpgsql as $again$
declare
  columns text;
begin
  select string_agg(quote_ident(attname), ', ') into columns
  from pg_attribute where attrelid = t::regclass and attnum > 0 and attgenerated = '' and not attisdropped;
  execute format('create temp table copy as select * from %I order by ctid limit %s', t, rows);
  if change <> '' then
    execute 'update copy set ' || change;
  end if;
  execute format('insert into %I (%s) select %s from copy', t, columns, columns);
  drop table copy;
end
$again$;

create temp table given as select
  id('tenant') as tenant_id, timestamptz '2026-03-02 08:00Z' as starts_at, timestamptz '2026-03-02 09:00Z' as ends_at,
  timestamptz '2026-03-01 12:00Z' as now, date '2026-03-02' as day;

insert into directory select tenant_id, now from given;
insert into tenants (tenant_id, name, time_zone, locale, currency, created_at, updated_at)
  select tenant_id, 'Harbour', 'Europe/Vienna', 'en', 'EUR', now, now from given;
insert into locations (tenant_id, id, name, time_zone, created_at, updated_at)
  select tenant_id, id('location'), 'Pier', 'Europe/Vienna', now, now from given;
insert into resources (tenant_id, id, location_id, name, created_at, updated_at)
  select tenant_id, id('resource'), id('location'), 'Court 1', now, now from given;
insert into services (tenant_id, id, name, duration_seconds, created_at, updated_at)
  select tenant_id, id('service'), 'Rowing', 3600, now, now from given;
insert into policies (tenant_id, level, scope_id, updated_at) select tenant_id, 'TENANT', tenant_id, now from given;
insert into roles (tenant_id, name, created_at, updated_at) select tenant_id, 'coach', now, now from given;
insert into members (tenant_id, id, name, name_key, subject, email, created_at, updated_at)
  select tenant_id, id('member'), 'Ana', 'ana', 'ana', 'ana@example.com', now, now from given;
insert into member_roles select tenant_id, id('member'), 'coach', now from given;
insert into members (tenant_id, id, name, name_key, created_at, updated_at)
  select tenant_id, id('receiver'), 'Zed', 'zed', now, now from given;
insert into ownership_transfers (tenant_id, id, from_member, to_member, created_at, expires_at)
  select tenant_id, id('transfer'), id('member'), id('receiver'), now, starts_at from given;
insert into devices (tenant_id, id, member_id, kind, token, token_hash, created_at, seen_at)
  select tenant_id, id('device'), id('member'), 'IOS', 'token', hash('token'), now, now from given;
insert into pending_contacts (tenant_id, member_id, kind, address, code_id, code_hash, expires_at)
  select tenant_id, id('member'), 'EMAIL', 'new@example.com', id('code'), hash('code'), now from given;
insert into contact_codes (tenant_id, id, member_id, kind, address_hash, sent, created_at)
  select tenant_id, id('code'), id('member'), 'EMAIL', hash('address'), true, now from given;
insert into invitations (tenant_id, id, member_id, address, roles, invited_by, created_at, sent_at, expires_at)
  select tenant_id, id('entry'), id('member'), 'ana@example.com', '{coach}', 'desk', now, now, starts_at from given;
insert into address_changes (tenant_id, id, member_id, from_address, to_address, changed_by, created_at)
  select tenant_id, id('entry'), id('member'), 'ana@example.org', 'ana@example.com', 'desk', now from given;
insert into platform_mails (tenant_id, id, kind, about, sealed, due_at, expires_at)
  select tenant_id, id('batch'), 'INVITATION', id('member'), 'sealed', now, starts_at from given;
insert into sign_ins (tenant_id, id, member_id, token_hash, method, browser, address, created_at, used_at, expires_at)
  select tenant_id, id('sign_in'), id('member'), hash('secret'), 'CODE', 'Firefox', '192.0.2.1', now, now, starts_at
  from given;
insert into sign_in_addresses (tenant_id, member_id, address_hash, key_check)
  select tenant_id, id('member'), hash('address'), substr(hash('key'), 1, 8) from given;
insert into sign_in_codes (tenant_id, id, member_id, address_hash, browser_hash, code_hash, digits, created_at, expires_at)
  select tenant_id, id('sign_in'), id('member'), hash('address'), hash('browser'), hash('code'), 6, now, starts_at
  from given;
insert into sign_in_guesses select tenant_id, '2026-03-01 12:00Z', 1, 2 from given;
insert into passkeys (tenant_id, id, member_id, credential_id, credential, name, created_at, used_at, asked_at)
  select tenant_id, id('sign_in'), id('member'), hash('credential'), '{}', 'Firefox', now, now, now from given;
insert into service_accounts (tenant_id, id, name, created_at) select tenant_id, id('account'), 'Kiosk', now from given;
insert into service_account_roles select tenant_id, id('account'), 'coach' from given;
insert into service_account_keys (tenant_id, id, account_id, hash, created_at)
  select tenant_id, id('key'), id('account'), hash('key'), now from given;

insert into series (tenant_id, id, service_id, location_id, rule, start_date, start_time, duration_seconds,
    materialized_until, created_at, updated_at)
  select tenant_id, id('series'), id('service'), id('location'), 'FREQ=DAILY', day, '09:00', 3600, day, now, now
  from given;
insert into sessions (tenant_id, id, service_id, location_id, resource_id, coach_id, series_id, occurs_on, occurs_at,
    title, starts_at, ends_at, local_date, capacity, waitlist_capacity, state, created_at, updated_at)
  select tenant_id, id('session'), id('service'), id('location'), id('resource'), id('member'), id('series'), day,
    starts_at, 'Rowing', starts_at, ends_at, day, 8, 8, 'PUBLISHED', now, now
  from given;
insert into display_links (tenant_id, id, session_id, created_by, created_at, screen, opened_at, revoked_by, revoked_at)
  select tenant_id, id('display'), id('session'), 'ana', now, id('screen'), now, 'ana', now from given;
insert into workouts (tenant_id, id, name, created_at, updated_at)
  select tenant_id, id('workout'), 'Sprints', now, now from given;
insert into session_workouts select tenant_id, id('session'), 0, id('workout') from given;

insert into plans (tenant_id, id, name, kind, credits, created_at, updated_at)
  select tenant_id, id('plan'), 'Ten', 'CREDITS', 10, now, now from given;
insert into subscriptions (tenant_id, id, member_id, plan_id, status, starts_at, created_at, updated_at)
  select tenant_id, id('subscription'), id('member'), id('plan'), 'ACTIVE', now, now, now from given;
insert into usage select tenant_id, id('subscription'), 'DAY', day, 1 from given;
insert into benefit_providers (tenant_id, code, name, number_pattern, created_at, updated_at)
  select tenant_id, 'CLUB', 'Club', '[0-9]+', now, now from given;
insert into benefit_numbers (tenant_id, provider_code, number) select tenant_id, 'CLUB', '1' from given;
insert into benefit_memberships (tenant_id, provider_code, member_id, number, entered, shared, created_at)
  select tenant_id, 'CLUB', id('member'), '1', '1', false, now from given;
insert into items (tenant_id, id, location_id, name, stock, created_at, updated_at)
  select tenant_id, id('item'), id('location'), 'Oar', 4, now, now from given;
insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, external_ref, starts_at,
    ends_at, exclusive, created_by, created_at, updated_at)
  select tenant_id, id('booking'), id('session'), id('member'), 1, 'CONFIRMED', 'ONLINE', 'ref', starts_at, ends_at,
    true, 'ana', now, now
  from given;
insert into booking_items (tenant_id, id, booking_id, line_id, item_id, number, status, out_from, out_until)
  select tenant_id, id('unit'), id('booking'), id('line'), id('item'), 1, 'CONFIRMED', starts_at, ends_at from given;
insert into credit_entries (tenant_id, id, subscription_id, line, kind, amount, balance, booking_id, actor, created_at)
  select tenant_id, id('entry'), id('subscription'), 1, 'BOOKING', -1, 9, id('booking'), 'ana', now from given;
insert into payment_entries (tenant_id, id, booking_id, line, kind, amount_currency, amount_units, amount_nanos,
    captured_units, captured_nanos, refunded_units, refunded_nanos, actor, created_at)
  select tenant_id, id('entry'), id('booking'), 1, 'CAPTURE', 'EUR', 50, 0, 50, 0, 0, 0, 'ana', now from given;
insert into events (tenant_id, id, type, actor, occurred_at) select tenant_id, id('event'), 'BOOKED', 'ana', now from given;
insert into audit_entries (tenant_id, id, actor, action, target_kind, occurred_at)
  select tenant_id, id('audit'), 'ana', 'BOOK', 'booking', now from given;
insert into idempotency_keys (tenant_id, principal, key, request_hash, created_at)
  select tenant_id, 'ana', 'key', hash('request'), now from given;
insert into imports (tenant_id, id, kind, status, dry_run, leave_out, may_publish, created_by, subject, columns, rows_total,
    rows_done, rows_invalid, created, problems, notes, attempts, file, due_at, created_at)
  select tenant_id, id('import'), 'SESSIONS', 'PENDING', false, false, false, 'ana', 'ana', '[]', 1, 0, 0, 0, '[]', '[]', 0, 'x', now,
    now from given;
insert into event_consumers (tenant_id, name) select tenant_id, 'notices' from given;

insert into waitlist_entries (tenant_id, id, member_id, session_id, party_size, status, join_key, channel,
    external_ref, created_by, created_at, updated_at)
  select tenant_id, id('waiting'), id('member'), id('session'), 1, 'WAITING', 1, 'ONLINE', 'ref', 'ana', now, now
  from given;
insert into waitlist_queues (tenant_id, location_id, service_id, local_date)
  select tenant_id, id('location'), id('service'), day from given;
insert into waitlist_places (tenant_id, location_id, service_id, local_date, entry_id, member_id, session_id, join_key)
  select tenant_id, id('location'), id('service'), day, id('waiting'), id('member'), id('session'), 1 from given;
insert into waitlist_rounds (tenant_id, id, session_id, freed, opened_at)
  select tenant_id, id('round'), id('session'), 1, now from given;
insert into waitlist_offers (tenant_id, id, round_id, session_id, entry_id, member_id, seats, status, try, created_at,
    expires_at, claim_hash, code_hash)
  select tenant_id, id('offer'), id('round'), id('session'), id('waiting'), id('member'), 1, 'LIVE', 1, now, starts_at,
    hash('claim'), hash('12')
  from given;
insert into waitlist_decisions (tenant_id, id, session_id, location_id, service_id, local_date, trigger, mode, move,
    left_move, seats, given, tried, rules_version, verdicts, grants, facts, decided_at)
  select tenant_id, id('decision'), id('session'), id('location'), id('service'), day, 'CANCELLED', 'OFFER', 'OFFER', '',
    1, 1, 1, 1, '[]', '[]', '{}', now
  from given;
insert into waitlist_rules_versions (tenant_id, version, level, scope_id, rules, actor, created_at)
  select tenant_id, 1, 'TENANT', tenant_id, '{}', 'ana', now from given;

insert into notification_settings (tenant_id, quiet_hours_start, quiet_hours_end, sms_per_day, push_per_day,
    email_per_day, reminders, credits_low_at, version, updated_at)
  select tenant_id, '22:00', '07:00', 1, 1, 1, '{}', 0, 1, now from given;
insert into notification_senders (tenant_id, sealed, version, updated_at, domain_check_at)
  select tenant_id, 'sealed', 1, now, now from given;
insert into notification_templates (tenant_id, topic, channel, locale, body, version, updated_at)
  select tenant_id, 'BOOKED', 'SMS', 'en', 'Hello', 1, now from given;
insert into notification_preferences select tenant_id, id('member'), 'BOOKED', 'SMS', true, now from given;
insert into notification_members (tenant_id, member_id, feed_hash, updated_at)
  select tenant_id, id('member'), hash('feed'), now from given;
insert into notification_stops select tenant_id, 'SMS', '+43', 'OPTED_OUT', now from given;
insert into notices (tenant_id, id, topic, lane, recipient, thing, revision, due_at, expires_at, happened_at, created_at)
  select tenant_id, id('notice'), 'BOOKED', 'ALERT', id('member'), id('booking'), '1', now, starts_at, now, now from given;
insert into deliveries (tenant_id, id, topic, status, recipient, created_at, updated_at)
  select tenant_id, id('delivery'), 'BOOKED', 'SENT', id('member'), now, now from given;
insert into shared_contacts select tenant_id, hash('+43') from given;
insert into sending_counts select tenant_id, 'SMS', 'AT', now, 1, 0, 80 from given;
insert into sending_standings select tenant_id, 'SMS', 1, now, now from given;
