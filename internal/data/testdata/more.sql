-- Other rows for those of migrations/testdata/rows.sql, which each query must tell from them.

select again('locations', $$id = id('other'), name = 'dock', active = false, time_zone = 'Europe/Paris'$$);
select again('resources', $$id = id('other'), name = 'bay', active = false$$);
select again('resources', $$id = id('third'), name = 'Bay', location_id = id('other')$$);
select again('services', $$id = id('other'), name = 'archery', active = false, category = 'sport'$$);
select again('items', $$id = id('other'), name = 'boat', active = false$$);
select again('items', $$id = id('third'), name = 'Boat', location_id = id('other')$$);
select again('plans', $$id = id('other'), name = 'five', active = false, kind = 'UNLIMITED', credits = 0$$);
select again('plans', $$id = id('third'), name = 'Day', daily_limit = 1, weekly_limit = 2, period_seconds = 60$$);
select again('workouts', $$id = id('other'), name = 'rest'$$);
select again('workouts', $$id = id('third'), name = 'Aside', inline = true$$);
select again('workouts', $$id = id('fourth'), name = 'Away', deleted_at = created_at$$);
select again('benefit_providers', $$code = 'ARMY', name = 'Army'$$);
select again('benefit_numbers', $$number = '2'$$);
select again('benefit_numbers', $$provider_code = 'ARMY', number = '3'$$);
select again('members', $$id = id('other'), subject = 'bo', issuer = 'https://id.example', name = 'bo', name_key = 'bo', email = 'Bo@example.com', phone = '+4412',
  tier = 'gold', tags = '{vip}', status = 'INACTIVE', locale = 'fr'$$);
select again('members', $$id = id('third'), subject = '', name = 'Cy', name_key = 'cy', email = '', phone = '+4413', locale = 'de'$$);
update members set name = 'CY', name_key = 'cy', phone = '+4413', email = 'Zed@example.com' where id = id('receiver');
update members set time_zone = 'Nowhere' where id = id('other');
update members set phone = '+4413', locale = 'it' where id = id('member');
update tenants set time_zone = 'Africa/Cairo';
select again('benefit_memberships', $$member_id = id('other'), number = '0', entered = '0-', shared = true$$);
select again('benefit_memberships', $$provider_code = 'ARMY', member_id = id('third')$$);
select again('roles', $$name = 'owner', built_in = true$$);
select again('roles', $$name = 'zoo'$$);
select again('roles', $$name = 'spare'$$);
select again('member_roles', $$member_id = id('other'), role = 'owner'$$);
select again('member_roles', $$member_id = id('third'), role = 'zoo'$$);
select again('member_roles', $$member_id = id('third'), role = 'owner'$$);
select again('member_roles', $$member_id = id('receiver'), role = 'zoo'$$);
select again('ownership_transfers', $$id = id('other'), from_member = id('other')$$);
select again('ownership_transfers', $$id = id('third'), from_member = id('third')$$);
select again('devices', $$id = id('other'), token_hash = hash('other'), seen_at = seen_at + interval '1 s'$$);
select again('devices', $$id = id('notice'), token_hash = hash('notice'), member_id = id('third'),
  seen_at = seen_at - interval '1 s'$$);
select again('devices', $$id = id('fourth'), token_hash = hash('fourth'), token = null, sealed = 'sealed', member_id = id('third'),
  seen_at = seen_at - interval '1 s'$$);
select again('devices', $$id = id('third'), token_hash = hash('third'), member_id = id('third'),
  seen_at = seen_at - interval '1 s'$$);
select again('pending_contacts', $$kind = 'PHONE', address = '+4414', code_id = id('other')$$);
select again('pending_contacts', $$member_id = id('third'), kind = 'PHONE', address = '+4415', code_id = id('fifth')$$);
select again('pending_contacts', $$member_id = id('third'), code_id = id('third')$$);
select again('contact_codes', $$id = id('other'), kind = 'PHONE', sent = false, guesses = 3$$);
select again('contact_codes', $$id = id('third'), created_at = created_at + interval '1 s', guesses = 1$$);
select again('contact_codes', $$id = id('fourth'), member_id = id('third'), address_hash = hash('other')$$);
select again('invitations', $$id = id('other'), sent_at = sent_at + interval '1 s', revoked_at = sent_at$$);
select again('invitations', $$id = id('third'), member_id = id('third'), sent_at = sent_at - interval '1 s'$$);
update members set sign_in_email = email where id = id('member');
select again('address_changes', $$id = id('other'), created_at = created_at - interval '1 s', ended_at = created_at$$);
select again('address_changes', $$id = id('third'), member_id = id('third'), told_at = created_at$$);
select again('platform_mails', $$id = id('fourth'), about = id('entry'), due_at = due_at + interval '1 s'$$);
select again('platform_mails', $$id = id('other'), due_at = due_at - interval '1 s', attempts = 2$$);
select again('platform_mails', $$id = id('third'), due_at = due_at + interval '1 s', about = id('other')$$);
select again('sign_ins', $$id = id('other'), token_hash = hash('other'), used_at = used_at + interval '1 s'$$);
select again('sign_ins', $$id = id('third'), token_hash = hash('x'), member_id = id('third')$$);
select again('service_accounts', $$id = id('other'), name = 'door', revoked_at = created_at$$);
select again('service_accounts', $$id = id('third'), name = 'Bell'$$);
select again('service_account_roles', $$account_id = id('other'), role = 'zoo'$$);
select again('service_account_keys', $$id = id('other'), account_id = id('other')$$);

select again('display_links', $$id = id('other'), created_at = created_at + interval '1 s', screen = null,
  opened_at = null, revoked_by = null, revoked_at = null$$);
select again('series', $$id = id('other'), open_ended = true, materialized_until = '2026-03-09'$$);
select again('series', $$id = id('third'), open_ended = true, materialized_until = '2026-03-10'$$);
select again('sessions', $$id = id('other'), resource_id = null, coach_id = null, series_id = null, state = 'DRAFT',
  starts_at = starts_at + interval '1 d', ends_at = ends_at + interval '1 d', local_date = local_date + 1,
  title = 'Later', seats_taken = 2, waiting = 1$$);
select again('sessions', $$id = id('third'), service_id = id('other'), location_id = id('other'), resource_id = null,
  series_id = null, starts_at = starts_at - interval '1 h', ends_at = ends_at - interval '1 h', title = 'Earlier'$$);
select again('sessions', $$id = id('fourth'), resource_id = null, series_id = null, title = 'Gone',
  deleted_at = created_at$$);
select again('sessions', $$id = id('fifth'), resource_id = null, coach_id = null, series_id = null, title = 'Next',
  starts_at = starts_at + interval '1 h', ends_at = ends_at + interval '1 h'$$);
select again('sessions', $$id = id('sixth'), resource_id = null, coach_id = null, series_id = null, title = 'Closed',
  starts_at = starts_at + interval '2 h', ends_at = ends_at + interval '2 h', blocked = true$$);
select again('sessions', $$id = id('seventh'), resource_id = null, coach_id = null, series_id = null, title = 'Night',
  starts_at = starts_at + interval '12 h', ends_at = ends_at + interval '12 h', capacity = null$$);
select again('sessions', $$id = id('second'), resource_id = null, coach_id = id('third'), series_id = null, title = 'Twin',
  starts_at = starts_at - interval '1 h', ends_at = ends_at - interval '1 h', state = 'CANCELLED'$$);
select again('sessions', $$id = id('code'), resource_id = null, coach_id = null, series_id = null, title = 'Free',
  starts_at = starts_at + interval '13 h', ends_at = ends_at + interval '13 h'$$);
select again('sessions', $$id = id('audit'), location_id = id('other'), resource_id = null, coach_id = id('third'),
  series_id = null, starts_at = starts_at + interval '3 h', ends_at = ends_at + interval '3 h', title = 'Dusk', waiting = 1$$);
select again('sessions', $$id = id('device'), location_id = id('other'), resource_id = id('third'), coach_id = null,
  series_id = null, starts_at = starts_at + interval '3 h', ends_at = ends_at + interval '3 h', title = 'Dawn', waiting = 1$$);
select again('sessions', $$id = id('waiting'), location_id = id('other'), resource_id = null, coach_id = id('third'),
  starts_at = starts_at + interval '2 h', ends_at = ends_at + interval '2 h', occurs_at = occurs_at + interval '2 h',
  title = 'Noon', waiting = 1$$);
select again('sessions', $$id = id('transfer'), location_id = id('other'), resource_id = null, coach_id = null,
  series_id = null, starts_at = starts_at + interval '1 d', ends_at = ends_at + interval '1 d', local_date = local_date + 1,
  title = 'Tomorrow'$$);
select again('session_workouts', $$position = 1, workout_id = id('other')$$);
select again('session_workouts', $$session_id = id('other'), workout_id = id('third')$$);

select again('subscriptions', $$id = id('other'), plan_id = id('other'), status = 'PAUSED',
  ends_at = timestamptz '2026-03-01 12:00Z'$$);
select again('subscriptions', $$id = id('third'), member_id = id('third'), plan_id = id('third'),
  period_ends_at = timestamptz '2026-03-01 12:00Z'$$);
select again('subscriptions', $$id = id('fourth'), status = 'EXPIRED', ends_at = timestamptz '2026-03-01 12:00Z'$$);
select again('usage', $$span = 'WEEK', used = 3$$);
select again('usage', $$starts_on = starts_on + 1, used = 2$$);
select again('usage', $$subscription_id = id('third'), used = 4$$);
select again('usage', $$subscription_id = id('third'), span = 'WEEK', used = 4$$);
update plans set daily_limit = 5, weekly_limit = 6 where id = id('plan');
update bookings set has_items = true;
select again('bookings', $$id = id('other'), member_id = id('other'), status = 'PENDING', external_ref = '',
  subscription_id = id('other'), hold_expires_at = timestamptz '2026-03-01 13:00Z'$$);
select again('bookings', $$id = id('third'), member_id = id('third'), status = 'CANCELLED', external_ref = 'ref3',
  late_cancelled = true, counted = true, exclusive = false$$);
select again('bookings', $$id = id('fourth'), session_id = id('other'), status = 'NO_SHOW', external_ref = '',
  starts_at = starts_at + interval '1 d', ends_at = ends_at + interval '1 d', created_by = 'sa:1', party_size = 2, exclusive = false, counted = true$$);
select again('bookings', $$id = id('fifth'), session_id = id('third'), external_ref = '', status = 'ATTENDED',
  subscription_id = id('subscription'),
  checked_in_at = starts_at, check_in_method = 'QR', starts_at = starts_at - interval '1 h',
  ends_at = ends_at - interval '1 h', created_by = 'sa:1', exclusive = false$$);
select again('bookings', $$id = id('line'), session_id = id('third'), member_id = null, contact_name = 'Quinn',
  external_ref = '', status = 'ATTENDED', checked_in_at = starts_at, check_in_method = 'QR',
  starts_at = starts_at - interval '1 h', ends_at = ends_at - interval '1 h', exclusive = false$$);
select again('bookings', $$id = id('code'), session_id = id('third'), member_id = null, contact_name = 'Sol',
  external_ref = '', starts_at = starts_at - interval '1 h', ends_at = ends_at - interval '1 h', exclusive = false$$);
select again('bookings', $$id = id('second'), session_id = id('third'), member_id = null, contact_name = 'Rae',
  external_ref = '', starts_at = starts_at - interval '1 h', ends_at = ends_at - interval '1 h', exclusive = false$$);
select again('bookings', $$id = id('sixth'), member_id = null, contact_name = 'Pat', status = 'PENDING', external_ref = '',
  hold_expires_at = timestamptz '2026-03-01 12:30Z', exclusive = false, has_items = true$$);
update bookings set status = 'PENDING', hold_expires_at = timestamptz '2026-03-01 12:00Z', session_id = id('fifth'),
  exclusive = false where id = id('third');
select again('bookings', $$id = id('seventh'), member_id = id('third'), status = 'CANCELLED', external_ref = '',
  late_cancelled = true, exclusive = false, hold_expires_at = timestamptz '2026-03-01 12:00Z'$$);
select again('booking_items', $$id = id('other'), number = 2, out_from = out_until, out_until = out_until + interval '1 h',
  item_id = id('other')$$);
select again('booking_items', $$id = id('third'), number = 3, status = 'CANCELLED', line_id = id('booking')$$);
select again('credit_entries', $$id = id('other'), line = 2, kind = 'GRANT', amount = 5, balance = 14, booking_id = null$$);
select again('payment_entries', $$id = id('other'), line = 2, kind = 'REFUND', refunded_units = 50$$);
update payment_entries set actor = 'bo' where line = 1; -- moves it behind the other

select again('waitlist_entries', $$id = id('other'), member_id = id('third'), external_ref = 'ref2', join_key = 2,
  session_id = null, any_of = array[id('session'), id('other')]$$);
select again('waitlist_entries', $$id = id('third'), external_ref = '', join_key = 3, session_id = null,
  service_id = id('service'), location_id = id('location'), first_date = '2026-03-02', last_date = '2026-03-04',
  earliest = '06:00', latest = '12:00', resource_id = id('resource')$$);
select again('waitlist_entries', $$id = id('fourth'), external_ref = '', join_key = 4, status = 'EXPIRED',
  closed_at = created_at$$);
select again('waitlist_entries', $$id = id('unit'), external_ref = '', join_key = 5, session_id = id('seventh'),
  status = 'OFFERED'$$);
select again('waitlist_entries', $$id = id('second'), external_ref = '', member_id = id('receiver'),
  created_at = created_at + interval '1 min'$$);
select again('waitlist_places', $$entry_id = id('second'), member_id = id('receiver')$$);
select again('waitlist_queues', $$location_id = id('other')$$);
select again('waitlist_queues', $$service_id = id('other')$$);
select again('waitlist_queues', $$local_date = local_date + 2$$);
select again('waitlist_places', $$entry_id = id('other'), member_id = id('third'), join_key = 2$$);
select again('waitlist_queues', $$local_date = local_date + 1$$);
select again('waitlist_places', $$entry_id = id('other'), member_id = id('third'), join_key = 2, session_id = id('other'),
  local_date = local_date + 1$$);
select again('waitlist_rounds', $$id = id('other'), session_id = id('other'), keeps = 1, opened_at = opened_at + interval '1 s'$$);
select again('waitlist_rounds', $$id = id('third'), session_id = id('third')$$);
select again('waitlist_offers', $$id = id('other'), entry_id = id('other'), member_id = id('third'),
  code_hash = hash('34'), claim_hash = hash('other'), expires_at = expires_at - interval '1 h', session_id = id('other'), round_id = id('other')$$);
select again('waitlist_offers', $$id = id('third'), status = 'DECLINED', created_at = timestamptz '2026-03-01 10:00Z',
  expires_at = timestamptz '2026-03-01 11:00Z', closed_at = timestamptz '2026-03-01 10:30Z',
  claim_hash = hash('third')$$);
select again('waitlist_offers', $$id = id('second'), entry_id = id('third'), try = 2, claim_hash = hash('second'),
  code_hash = hash('56'), shared = true$$);
update waitlist_queues set waiting = 4 where local_date = '2026-03-02' and location_id = id('location') and service_id = id('service');
update waitlist_queues set waiting = 2 where local_date = '2026-03-03';
select again('waitlist_places', $$entry_id = id('third'), join_key = 3, session_id = null, local_date = local_date + 1$$);
update sessions set waiting = 3, has_workouts = true where id = id('session');
select again('waitlist_places', $$entry_id = id('second'), member_id = id('receiver'), session_id = id('second')$$);
select again('waitlist_places', $$entry_id = id('second'), member_id = id('receiver'), session_id = id('sixth')$$);
select again('waitlist_places', $$entry_id = id('second'), member_id = id('receiver'), session_id = id('fourth')$$);
select again('waitlist_places', $$entry_id = id('fourth'), session_id = id('fifth')$$);
select again('waitlist_places', $$entry_id = id('other'), member_id = id('third'), session_id = id('seventh'), join_key = 2$$);
select again('waitlist_places', $$entry_id = id('fourth'), location_id = id('other'), session_id = null$$);
select again('waitlist_places', $$entry_id = id('fourth'), service_id = id('other'), session_id = null$$);
update waitlist_queues set waiting = 1 where service_id = id('other');
update waitlist_entries set party_size = 8;
update sessions set waiting = 1 where id = any(array[id('fifth'), id('seventh')]) or id in (id('second'), id('sixth'), id('fourth'));
update waitlist_places set flagged = true where entry_id = id('third');
update waitlist_decisions set round_id = id('round');
select again('waitlist_decisions', $$id = id('other'), round_id = id('other'), session_id = id('other'), move = 'ROLL_ON', note = 'short',
  location_id = id('other'), service_id = id('other'), local_date = local_date + 1,
  verdicts = jsonb_build_array(jsonb_build_object('entry_id', id('waiting'))),
  decided_at = decided_at + interval '1 h'$$);
select again('waitlist_decisions', $$id = id('fifth'), round_id = id('third')$$);
select again('waitlist_decisions', $$id = id('sixth'), session_id = id('seventh')$$);
select again('waitlist_rules_versions', $$version = 2$$);

select again('notices', $$id = id('other'), revision = '2', due_at = due_at - interval '1 h'$$);
select again('notices', $$id = id('third'), revision = '3', due_at = due_at - interval '3 h', done_at = created_at$$);
select again('notices', $$id = id('fourth'), revision = '4', done_at = created_at$$);
select again('notices', $$id = id('fifth'), revision = '5', due_at = due_at - interval '1 h'$$);
select again('deliveries', $$id = id('other'), member_id = id('member'), booking_id = id('booking'), offer_id = id('offer'),
  status = 'FAILED', channel = 'SMS', topic = 'MOVED', content = '{}', created_at = created_at + interval '1 h',
  provider_id = 'p2'$$);
select again('deliveries', $$id = id('third'), member_id = id('third'), booking_id = id('third'), offer_id = id('third'),
  topic = 'OFFER', channel = 'EMAIL', created_at = created_at + interval '1 h'$$);
select again('deliveries', $$id = id('fourth'), offer_id = id('other'), topic = 'OFFER', status = 'DROPPED',
  channel = 'SMS'$$);
select again('deliveries', $$id = id('fifth'), notice_id = id('fourth'), status = 'DELIVERED'$$);
select again('deliveries', $$id = id('key'), notice_id = id('other'), status = 'FAILED',
  created_at = created_at - interval '3 h'$$);
select again('deliveries', $$id = id('code'), notice_id = id('other'), status = 'QUEUED',
  created_at = created_at - interval '3 h'$$);
select again('deliveries', $$id = id('line'), notice_id = id('other'), status = 'READ',
  created_at = created_at - interval '4 h'$$);
select again('deliveries', $$id = id('batch'), notice_id = id('third'), channel = 'SMS', member_id = id('third'),
  created_at = created_at - interval '5 h'$$);
select again('deliveries', $$id = id('item'), notice_id = id('third'), channel = 'SMS', status = 'FAILED',
  created_at = created_at - interval '4 h'$$);
select again('deliveries', $$id = id('display'), notice_id = id('other'), attempt = 1, status = 'BOUNCED',
  created_at = created_at - interval '2 h'$$);
select again('deliveries', $$id = id('account'), notice_id = id('fifth'), attempt = 1, channel = 'SMS', status = 'QUEUED',
  reason = 'NO_CONTACT', created_at = created_at - interval '2 h'$$);
select again('deliveries', $$id = id('screen'), notice_id = id('fifth'), attempt = 1, channel = 'PUSH',
  created_at = created_at - interval '1 h'$$);
update notices set sending = true where id = id('other');
update notices set sending = true, attempts = 1, tried = '{PUSH}' where id = id('fifth');
update locations set latitude = 1.5, longitude = 2.5 where id = id('other');
update deliveries set platform = (id <> id('third')), counted = id in (id('other'), id('fourth'));
select again('sending_counts', $$country = 'DE', hour = hour + interval '1 h', sent = 5$$);
select again('sending_counts', $$channel = 'EMAIL'$$);
select again('sending_counts', $$hour = hour - interval '1 h'$$);
select again('sending_counts', $$channel = 'EMAIL', country = '', hour = hour - interval '1 h'$$);
select again('notification_members', $$member_id = id('third'), feed_hash = hash('third')$$);
select again('notification_members', $$member_id = id('other'), feed_hash = hash('other')$$);
update notification_members set quiet_hours_start = '21:00', quiet_hours_end = '06:00' where member_id = id('third');
update audit_entries set actor = id('member')::text;
select again('audit_entries', $$id = id('other'), actor = 'sa:' || id('account'), action = 'CANCEL', target_kind = 'session',
  target_id = 'x', batch_id = id('batch'), occurred_at = occurred_at + interval '1 h'$$);
select again('audit_entries', $$id = id('third'), actor = 'system', occurred_at = occurred_at - interval '1 h'$$);
select again('notification_stops', $$channel = 'EMAIL', address = 'ana@example.com', reason = 'UNSUBSCRIBED'$$);
select again('notification_stops', $$address = 'ana@example.com', reason = 'UNSUBSCRIBED'$$);
select again('notification_stops', $$channel = 'EMAIL', address = 'Bo@example.com', reason = 'BOUNCED'$$);
select again('notification_stops', $$address = '+4413', reason = 'UNSUBSCRIBED'$$);
select again('notification_stops', $$channel = 'EMAIL', address = 'zed@example.com', reason = 'BOUNCED'$$);
update policies set rules_due = true, rules_version = 3;
update policies set version = 1;
select again('policies', $$level = 'SERVICE', scope_id = id('service'), rules_due = false, rules_version = 4,
  check_in_opens_before_seconds = 7200,
  waitlist_rules = '{"expire_stale": true}'$$);
select again('policies', $$level = 'LOCATION', scope_id = id('location'), rules_version = 5, waitlist_enabled = false$$);
select again('policies', $$level = 'LOCATION', scope_id = id('other'), rules_version = 6, version = 0,
  auto_no_show_after_seconds = 60$$);
update sessions set seats_taken = 4 where id = id('third');
select again('idempotency_keys', $$key = 'old', created_at = created_at - interval '1 h'$$);
update idempotency_keys set answer = '1';
update service_account_keys set expires_at = timestamptz '2026-03-03 12:00Z' where id = id('key');
select again('service_account_keys', $$id = id('third'), expires_at = timestamptz '2026-03-01 12:00Z', used_at = timestamptz '2026-03-01 12:00Z'$$);

-- Rows that come before or after others only by their ids, or whose ids come in another order than what they are
-- listed by. Each comes later in its table than the ones that it comes before.
select again('service_account_keys', $$id = id('decision'), created_at = created_at + interval '1 s'$$);
select again('service_accounts', $$id = id('round'), name = 'bell', revoked_at = created_at$$);
select again('locations', $$id = id('fifth'), name = 'wharf'$$);
select again('items', $$id = id('fifth'), name = 'BOAT', location_id = id('fifth')$$);
select again('resources', $$id = id('fifth'), name = 'BAY', location_id = id('fifth')$$);
select again('workouts', $$id = id('fifth'), name = 'zen'$$);
select again('workouts', $$id = id('entry'), name = 'REST'$$);
select again('benefit_memberships', $$member_id = id('third'), number = '0', shared = true$$);
select again('benefit_memberships', $$member_id = id('receiver'), number = '0', shared = true$$);
update devices set seen_at = seen_at + interval '1 s' where id = id('notice');
select again('display_links', $$id = id('notice')$$);
select again('series', $$id = id('fifth'), open_ended = true, materialized_until = '2026-03-10'$$);
select again('subscriptions', $$id = id('key')$$);
update waitlist_queues set waiting = 3 where location_id = id('other');
select again('bookings', $$id = id('key'), member_id = null, contact_name = 'Una', external_ref = '', status = 'PENDING',
  hold_expires_at = timestamptz '2026-03-01 12:30Z', exclusive = false$$);
select again('bookings', $$id = id('item'), session_id = id('third'), member_id = null, contact_name = 'Ugo',
  external_ref = '', status = 'ATTENDED', checked_in_at = starts_at + interval '1 min', check_in_method = 'QR',
  starts_at = starts_at - interval '1 h', ends_at = ends_at - interval '1 h', exclusive = false$$);
select again('bookings', $$id = id('workout'), session_id = id('audit'), external_ref = '', exclusive = false,
  starts_at = starts_at + interval '3 h', ends_at = ends_at + interval '3 h'$$);
select again('bookings', $$id = id('entry'), session_id = id('device'), external_ref = '', exclusive = false,
  starts_at = starts_at + interval '3 h', ends_at = ends_at + interval '3 h'$$);
select again('booking_items', $$id = id('decision'), number = 4, booking_id = id('sixth'), line_id = id('fifth'),
  status = 'CANCELLED'$$);
select again('waitlist_entries', $$id = id('device'), external_ref = '', join_key = 6$$);
select again('waitlist_entries', $$id = id('item'), external_ref = '', join_key = 7, session_id = id('audit'),
  status = 'OFFERED'$$);
select again('waitlist_places', $$entry_id = id('device'), session_id = id('audit'), location_id = id('other'), join_key = 6$$);
select again('waitlist_places', $$entry_id = id('device'), session_id = id('waiting'), location_id = id('other'), join_key = 6$$);
select again('waitlist_rounds', $$id = id('key'), session_id = id('audit'), keeps = 1$$);
select again('waitlist_offers', $$id = id('unit'), entry_id = id('device'), member_id = id('third'),
  code_hash = hash('34'), claim_hash = hash('code'), session_id = id('third'), round_id = id('third')$$);
select again('notices', $$id = id('round'), revision = '6', due_at = due_at - interval '2 h'$$);
select again('audit_entries', $$id = id('notice'), actor = id('member')::text$$);
select again('sending_counts', $$country = 'AR'$$);

-- Two other tenants, one whose id sorts before this tenant's and one after, have the same rows with the same ids, but
-- other names and time zones. No policy separates them: the statements must.
set session_replication_role = replica; -- the order of tables does not matter
do $$
declare
  t text;
  n int;
  renamed text;
begin
  for t in select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'directory'
  loop
    execute format('select count(*) from %I', t) into n;
    renamed = case when t = any('{items,locations,members,plans,resources,services,workouts}')
      then ', name = name || '' abroad''' else '' end || case t
      when 'locations' then ', time_zone = ''Asia/Tokyo'''
      when 'members' then ', email = case email when '''' then '''' else ''abroad-'' || email end,
        phone = case phone when '''' then '''' else ''+9'' || substr(phone, 3) end'
      when 'sessions' then ', starts_at = starts_at + interval ''400 d'', ends_at = ends_at + interval ''400 d'',
        local_date = local_date + 400' else '' end;
    perform again(t, 'tenant_id = id(''foreign'')' || renamed, n);
    perform again(t, 'tenant_id = id(''away'')' || renamed, n);
    perform again(t, 'tenant_id = id(''changed'')', n);
    execute format('alter table %I disable row level security', t);
  end loop;
  perform again('notification_stops', $row$tenant_id = id('foreign'), channel = 'EMAIL', address = 'foreign@example.com'$row$);
  perform again('member_roles', $row$tenant_id = id('foreign'), member_id = id('receiver')$row$);
  perform again('members', $row$tenant_id = id('foreign'), id = id('foreign'), subject = 'foreign', email = '',
    phone = '+99', locale = 'fr'$row$);
  perform again('devices', $row$tenant_id = id('foreign'), id = id('second'), token_hash = hash('abroad')$row$);
end
$$;

-- A fourth tenant has the same rows as the first one, except for these changes.
create function change(t text, change text, variadic names text[]) returns void language plpgsql as $change$
begin
  execute format('update %I set %s where tenant_id = id(''changed'') and id = any($1)', t, change)
    using array(select id(n) from unnest(names) n);
end
$change$;
select change('sessions', $$seats_taken = 1$$, 'session', 'waiting', 'device', 'audit');
select change('sessions', $$seats_taken = 1, location_id = id('other'), local_date = '2026-03-10'$$, 'fourth');
select change('sessions', $$seats_taken = capacity$$, 'fifth');
select change('sessions', $$local_date = '2026-03-03'$$, 'code');
select change('sessions', $$resource_id = id('fifth')$$, 'audit');
select again('services', $$tenant_id = id('changed'), id = id('third'), name = 'boxing'$$);
update services set name = 'Zen' where tenant_id = id('changed') and id = id('other');
update locations set name = 'Quay' where tenant_id = id('changed') and id = id('other');
update policies set scope_id = tenant_id where tenant_id = id('changed') and level = 'TENANT';
update policies set auto_no_show = true where tenant_id = id('changed') and scope_id = id('other');
update policies set rules_version = 0, waitlist_rules = '{}' where tenant_id = id('changed') and level = 'SERVICE';
select again('usage', $$tenant_id = id('changed'), span = 'WEEK', starts_on = starts_on + 7, used = 9$$);
select change('subscriptions', $$period_ends_at = timestamptz '2026-03-01 12:00Z'$$, 'key');
select change('bookings', $$has_items = false$$, 'booking');
select change('bookings', $$subscription_id = id('third')$$, 'third', 'seventh');
select change('bookings', $$hold_expires_at = timestamptz '2026-03-01 11:00Z'$$, 'seventh');
select change('bookings', $$status = 'CANCELLED', exclusive = true$$, 'fourth');
select change('bookings', $$late_cancelled = true$$, 'fifth');
select change('bookings', $$session_id = id('seventh')$$, 'line');
select change('bookings', $$session_id = id('second'), status = 'CANCELLED', late_cancelled = true, checked_in_at = null,
  check_in_method = null$$, 'item');
select change('bookings', $$session_id = id('fourth')$$, 'code');
select change('bookings', $$auto_no_show_at = starts_at - interval '1 s'$$, 'second');
select change('bookings', $$session_id = id('third'), status = 'CONFIRMED', hold_expires_at = null,
  auto_no_show_at = ends_at$$, 'key');
select change('bookings', $$status = 'CANCELLED', hold_expires_at = null$$, 'sixth');
update bookings set id = '019ca945-0a00-7000-8000-000000000000' -- made now
  where tenant_id = id('changed') and id = id('entry');
select change('members', $$status = 'INACTIVE'$$, 'receiver');
select change('sessions', $$opening_due = true$$, 'device', 'transfer');
update waitlist_queues set waiting = 0 where tenant_id = id('changed') and location_id = id('other');
select change('waitlist_entries', $$status = 'BOOKED', booking_id = id('booking'), closed_at = created_at$$,
  'other', 'third', 'device');
delete from waitlist_places where tenant_id = id('changed') and session_id = id('fourth');
update waitlist_places set session_id = id('fourth')
  where tenant_id = id('changed') and session_id = id('fifth') and entry_id = id('fourth');
select change('waitlist_entries', $$status = 'WAITING', closed_at = null$$, 'fourth');
update waitlist_places set flagged = true
  where tenant_id = id('changed') and entry_id = id('other') and session_id = id('session');
select change('waitlist_offers', $$status = 'ACCEPTED', shared = true, try = 2, booking_id = id('booking'), closed_at = created_at$$,
  'other');
select change('waitlist_offers', $$status = 'WITHDRAWN', withdraw_cause = 'ENTRY_LEFT', closed_at = created_at + interval '1 h', void = true,
  round_id = id('round'), try = 3$$, 'unit');
select change('waitlist_offers', $$member_id = id('receiver'), code_hash = hash('34')$$, 'second');
select change('waitlist_offers', $$entry_id = id('unit')$$, 'third');
select again('waitlist_offers', format(
    $$tenant_id = id('changed'), id = id(%1$L), entry_id = id(%1$L), member_id = id('third'), round_id = id('third'),
    claim_hash = hash(%1$L)$$, n))
  from unnest('{account,key,series,session,subscription,booking,line,entry,round,fourth,fifth}'::text[]) n;
select change('waitlist_offers', $$status = 'EXPIRED', closed_at = created_at$$, 'account');
update waitlist_offers set code_hash = hash('34') where tenant_id = id('changed') and member_id = id('third');
update waitlist_rules_versions set enabled = true where tenant_id = id('changed') and version = 1;
update deliveries set status = 'SENT' where tenant_id = id('changed') and id = id('other');
reset session_replication_role;

-- What a transaction changes: everything that is there, and everything that was there before.
do $$
declare
  parts text;
begin
  select string_agg(format('select %L as t, concat_ws('' '', case x.tenant_id when id(''foreign'') then ''foreign'' when id(''away'') then ''away''
    when id(''changed'') then ''changed'' end, %s) as k, to_jsonb(x) as r from %I x', c.relname,
    coalesce((select string_agg('x.' || quote_ident(a.attname), ', ' order by array_position(p.conkey, a.attnum))
      from pg_constraint p join pg_attribute a on a.attrelid = p.conrelid and a.attnum = any(p.conkey)
      where p.conrelid = c.oid and p.contype = 'p' and a.attname <> 'tenant_id'), 
      case c.relname when 'waitlist_places' then 'x.entry_id, x.session_id, case when x.session_id is null
        then concat_ws('' '', x.location_id, x.service_id, x.local_date) end' else 'null' end), c.relname),
    ' union all ')
  into parts from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname not in ('directory', 'goose_db_version');
  execute 'create view present with (security_invoker) as ' || parts;
end
$$;
create table past as select * from present;
grant select on present, past to berth_app;
create view changed with (security_invoker) as
select t || case when p.r is null then ' -' when o.r is null then ' +' else ' ' end || k || coalesce(' {' || (
    select string_agg(key || '=' || coalesce(n.value, 'null'), ' ' order by key)
    from jsonb_each_text(p.r) n left join jsonb_each_text(o.r) b using (key)
    where case when o.r is null
      then n.value not in ('', '0', 'false', '{}', '[]') and key not in ('tenant_id', 'id')
      else n.value is distinct from b.value end) || '}', '') as change
from past o full join present p using (t, k) where o.r is distinct from p.r;
grant select on changed to berth_app;
