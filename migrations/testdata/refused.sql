-- For each constraint a statement that only it refuses. Each runs alone on the rows of rows.sql.
-- What another constraint implies is tested without that.

update address_changes set from_address = ''; -- address_changes_from_address_check
update address_changes set to_address = ''; -- address_changes_to_address_check
update address_changes set told_again_at = created_at; -- address_changes_told
update address_changes set refused_at = created_at; -- address_changes_refused
update address_changes set member_id = id('other'); -- address_changes_tenant_id_member_id_fkey
select again('address_changes', $$ended_at = created_at$$); -- address_changes_pkey
select again('address_changes', $$id = id('other')$$); -- address_changes_open

select again('audit_entries', ''); -- audit_entries_pkey
update audit_entries set address = repeat('1', 46); -- audit_entries_address_check
update audit_entries set client = repeat('c', 201); -- audit_entries_client_check

update benefit_memberships set entered = ''; -- benefit_memberships_entered_check
update benefit_memberships set number = ''; -- benefit_memberships_number_check
update benefit_memberships set member_id = id('other'); -- benefit_memberships_tenant_id_member_id_fkey
update benefit_memberships set provider_code = 'NONE'; -- benefit_memberships_tenant_id_provider_code_fkey
select again('benefit_memberships', $$number = '2'$$); -- benefit_memberships_pkey
select again('benefit_memberships', $$member_id = id('receiver')$$); -- benefit_memberships_one

update benefit_numbers set number = ''; -- benefit_numbers_number_check
update benefit_numbers set provider_code = 'NONE'; -- benefit_numbers_tenant_id_provider_code_fkey
select again('benefit_numbers', ''); -- benefit_numbers_pkey

update benefit_providers set code = 'club'; -- benefit_providers_code_check
update benefit_providers set discount_percent = 101; -- benefit_providers_discount_percent_check
update benefit_providers set name = ''; -- benefit_providers_name_check
update benefit_providers set numbers = -1; -- benefit_providers_numbers_check
update benefit_providers set verification = 'GUESS'; -- benefit_providers_verification_check
select again('benefit_providers', $$tenant_id = id('other')$$); -- benefit_providers_tenant_id_fkey
select again('benefit_providers', ''); -- benefit_providers_pkey

update booking_items set out_until = out_from; -- booking_items_check
update booking_items set number = 0; -- booking_items_number_check
update booking_items set status = 'EXPIRED'; -- booking_items_status_check
update booking_items set booking_id = id('other'); -- booking_items_tenant_id_booking_id_fkey
update booking_items set item_id = id('other'); -- booking_items_tenant_id_item_id_fkey
select again('booking_items', ''); -- booking_items_pkey
select again('booking_items', $$id = id('other'), out_from = out_until - interval '1 s', out_until = out_until + interval '1 h'$$); -- booking_items_out

update bookings set channel = 'FAX'; -- bookings_channel_check
update bookings set member_id = null; -- bookings_check
update bookings set guest_tier = 'visitor'; -- bookings_check1
update bookings set status = 'PENDING'; -- bookings_check2
update bookings set status = 'ATTENDED'; -- bookings_check3
update bookings set check_in_method = 'QR'; -- bookings_check4
update bookings set status = 'ATTENDED', checked_in_at = starts_at, check_in_method = 'NFC'; -- bookings_check_in_method_check
update bookings set credits = -1; -- bookings_credits_check
update bookings set party_size = 0; -- bookings_party_size_check
update bookings set payment_status = 'LOST'; -- bookings_payment_status_check
update bookings set status = 'LOST'; -- bookings_status_check
update bookings set benefit_code = 'other'; -- bookings_tenant_id_benefit_code_fkey
update bookings set member_id = id('other'); -- bookings_tenant_id_member_id_fkey
update bookings set session_id = id('other'); -- bookings_tenant_id_session_id_fkey
update bookings set subscription_id = id('other'); -- bookings_tenant_id_subscription_id_fkey
select again('bookings', $$external_ref = '', status = 'CANCELLED'$$); -- bookings_pkey
select again('bookings', $$id = id('other'), external_ref = '', exclusive = false$$); -- bookings_active
select again('bookings', $$id = id('other'), status = 'CANCELLED'$$); -- bookings_external_ref
select again('bookings', $$id = id('other'), external_ref = '', session_id = id('other'), starts_at = ends_at - interval '1 s', ends_at = ends_at + interval '1 h'$$); -- bookings_overlap

update contact_codes set address_hash = 'short'; -- contact_codes_address_hash_check
update contact_codes set guesses = 6; -- contact_codes_guesses_check
update contact_codes set kind = 'FAX'; -- contact_codes_kind_check
update contact_codes set member_id = id('other'); -- contact_codes_tenant_id_member_id_fkey
select again('contact_codes', ''); -- contact_codes_pkey

update credit_entries set kind = 'GRANT', booking_id = null, amount = 0; -- credit_entries_amount_check
update credit_entries set balance = -1; -- credit_entries_balance_check
update credit_entries set booking_id = null; -- credit_entries_check
update credit_entries set amount = 1; -- credit_entries_check1
update credit_entries set kind = 'GIFT', booking_id = null; -- credit_entries_kind_check
update credit_entries set line = 0; -- credit_entries_line_check
update credit_entries set booking_id = id('other'); -- credit_entries_tenant_id_booking_id_fkey
update credit_entries set subscription_id = id('other'); -- credit_entries_tenant_id_subscription_id_fkey
select again('credit_entries', $$kind = 'REFUND', amount = 1, line = 2$$); -- credit_entries_pkey
select again('credit_entries', $$id = id('other'), kind = 'REFUND', amount = 1$$); -- credit_entries_line
select again('credit_entries', $$id = id('other'), line = 2$$); -- credit_entries_once

update deliveries set channel = 'FAX'; -- deliveries_channel_check
update deliveries set status = 'LOST'; -- deliveries_status_check
select again('deliveries', ''); -- deliveries_pkey

update devices set token = null, sealed = ''; -- devices_sealed_check
update devices set token = null; -- devices_one_token
update devices set kind = 'PHONE'; -- devices_kind_check
update devices set token_hash = 'short'; -- devices_token_hash_check
update devices set member_id = id('other'); -- devices_tenant_id_member_id_fkey
select again('devices', $$token_hash = hash('other')$$); -- devices_pkey
select again('devices', $$id = id('other')$$); -- devices_token

update display_links set created_by = ''; -- display_links_created_by_check
update display_links set revoked_by = ''; -- display_links_revoked_by_check
update display_links set screen = null; -- display_links_opened
update display_links set revoked_by = null; -- display_links_revoked
update display_links set screen = null, opened_at = null, second_at = now(); -- display_links_second
update display_links set session_id = id('other'); -- display_links_tenant_id_session_id_fkey
select again('display_links', ''); -- display_links_pkey

select again('directory', ''); -- directory_pkey

update event_consumers set name = ''; -- event_consumers_name_check
select again('event_consumers', $$tenant_id = id('other')$$); -- event_consumers_tenant_id_fkey
select again('event_consumers', ''); -- event_consumers_pkey

select again('events', ''); -- events_pkey

update idempotency_keys set used = true; -- idempotency_keys_once
select again('idempotency_keys', ''); -- idempotency_keys_pkey

update imports set kind = 'PLANS'; -- imports_kind_check
update imports set status = 'DONE'; -- imports_status_check
update imports set rows_done = 2; -- imports_progress
update imports set rows_invalid = -1; -- imports_rows_invalid_check
update imports set total = '{"file": 1, "ledger": 2}'; -- imports_total
update imports set created = -1; -- imports_created_check
update imports set created_ids = array[id('import')]; -- imports_created_ids
update imports set undo_by = 'ana'; -- imports_undo
update imports set undone_at = created_at; -- imports_undone
update imports set attempts = -1; -- imports_attempts_check
update imports set file = null; -- imports_file
update imports set left_out = 'x'; -- imports_left_out
update imports set due_at = null; -- imports_due_until_end
update imports set ended_at = created_at; -- imports_end
select again('imports', $$tenant_id = id('other')$$); -- imports_tenant_id_fkey
select again('imports', ''); -- imports_pkey

update invitations set address = ''; -- invitations_address_check
update invitations set accepted_at = sent_at, revoked_at = sent_at; -- invitations_one_end
update invitations set member_id = id('other'); -- invitations_tenant_id_member_id_fkey
select again('invitations', $$revoked_at = sent_at$$); -- invitations_pkey
select again('invitations', $$id = id('other')$$); -- invitations_open

update items set name = ''; -- items_name_check
update items set use_seconds = 0; -- items_use_seconds_check
update items set stock = -1; -- items_stock_check
update items set location_id = id('other'); -- items_tenant_id_location_id_fkey
select again('items', $$name = 'Paddle'$$); -- items_pkey
select again('items', $$id = id('other'), name = 'OAR'$$); -- items_name

update locations set channels = '{FAX}'; -- locations_channels_check
update locations set latitude = 1; -- locations_check
update locations set latitude = 91, longitude = 0; -- locations_latitude_check
update locations set latitude = 0, longitude = -181; -- locations_longitude_check
update locations set name = ''; -- locations_name_check
select again('locations', $$tenant_id = id('other')$$); -- locations_tenant_id_fkey
select again('locations', $$name = 'Dock'$$); -- locations_pkey
select again('locations', $$id = id('other'), name = 'PIER'$$); -- locations_name

update member_roles set role = 'other'; -- member_roles_role
update member_roles set member_id = id('other'); -- member_roles_tenant_id_member_id_fkey
select again('member_roles', ''); -- member_roles_pkey

update members set name = ''; -- members_name_check
update members set status = 'LOST'; -- members_status_check
update members set waiting = -1; -- members_waiting_check
select again('members', $$tenant_id = id('other')$$); -- members_tenant_id_fkey
select again('members', $$subject = '', email = ''$$); -- members_pkey
select again('members', $$id = id('other'), subject = '', email = 'ANA@example.com'$$); -- members_email
update members set subject = '', issuer = 'https://id.example' where id = id('member'); -- members_issuer
update members set issuer = repeat('i', 501); -- members_issuer_check
select again('members', $$id = id('other'), email = ''$$); -- members_subject

update notices set lane = 'FAX'; -- notices_lane_check
update notices set member_id = id('other'); -- notices_tenant_id_member_id_fkey
select again('notices', $$revision = '2'$$); -- notices_pkey
select again('notices', $$id = id('other')$$); -- notices_once

update notification_members set quiet_hours_start = '22:00'; -- notification_members_check
update notification_members set feed_hash = 'short'; -- notification_members_feed_hash_check
update notification_members set member_id = id('other'); -- notification_members_tenant_id_member_id_fkey
select again('notification_members', $$feed_hash = null$$); -- notification_members_pkey
select again('notification_members', $$member_id = id('other')$$); -- notification_members_feed

update notification_preferences set channel = 'FAX'; -- notification_preferences_channel_check
update notification_preferences set member_id = id('other'); -- notification_preferences_tenant_id_member_id_fkey
select again('notification_preferences', ''); -- notification_preferences_pkey

select again('notification_senders', $$tenant_id = id('other')$$); -- notification_senders_tenant_id_fkey
select again('notification_senders', ''); -- notification_senders_pkey

update notification_settings set credits_low_at = -1; -- notification_settings_credits_low_at_check
update notification_settings set email_per_day = 0; -- notification_settings_email_per_day_check
update notification_settings set phone_countries = array_fill('PT'::text, '{51}'); -- notification_settings_phone_countries_check
update notification_settings set push_per_day = 0; -- notification_settings_push_per_day_check
update notification_settings set sms_per_day = 0; -- notification_settings_sms_per_day_check
select again('notification_settings', $$tenant_id = id('other')$$); -- notification_settings_tenant_id_fkey
select again('notification_settings', ''); -- notification_settings_pkey

update notification_stops set channel = 'PUSH'; -- notification_stops_channel_check
update notification_stops set reason = 'OTHER'; -- notification_stops_reason_check
select again('notification_stops', $$tenant_id = id('other')$$); -- notification_stops_tenant_id_fkey
select again('notification_stops', ''); -- notification_stops_pkey

update notification_templates set body = ''; -- notification_templates_body_check
update notification_templates set channel = 'FAX'; -- notification_templates_channel_check
update notification_templates set locale = ''; -- notification_templates_locale_check
select again('notification_templates', $$tenant_id = id('other')$$); -- notification_templates_tenant_id_fkey
select again('notification_templates', ''); -- notification_templates_pkey

update ownership_transfers set to_member = from_member; -- ownership_transfers_other
update ownership_transfers set expires_at = created_at; -- ownership_transfers_expires
update ownership_transfers set from_member = id('other'); -- ownership_transfers_from
update ownership_transfers set to_member = id('other'); -- ownership_transfers_to
select again('ownership_transfers', $$from_member = to_member, to_member = from_member$$); -- ownership_transfers_pkey
select again('ownership_transfers', $$id = id('other')$$); -- ownership_transfers_one

update payment_entries set amount_currency = 'eur'; -- payment_entries_amount_currency_check
update payment_entries set amount_units = -1; -- payment_entries_amounts
update payment_entries set kind = 'GIFT'; -- payment_entries_kind_check
update payment_entries set line = 0; -- payment_entries_line_check
update payment_entries set refunded_units = 50, refunded_nanos = 1; -- payment_entries_refunds
update payment_entries set booking_id = id('other'); -- payment_entries_tenant_id_booking_id_fkey
select again('payment_entries', $$line = 2$$); -- payment_entries_pkey
select again('payment_entries', $$id = id('other')$$); -- payment_entries_line

update pending_contacts set address = ''; -- pending_contacts_address_check
update pending_contacts set code_hash = 'short'; -- pending_contacts_code_hash_check
update pending_contacts set guesses = 6; -- pending_contacts_guesses_check
update pending_contacts set kind = 'FAX'; -- pending_contacts_kind_check
update pending_contacts set member_id = id('other'); -- pending_contacts_tenant_id_member_id_fkey
select again('pending_contacts', ''); -- pending_contacts_pkey

update plans set credits = 0; -- plans_check
update plans set kind = 'COURSE', credits = 0, period_seconds = 1; -- plans_check1
update plans set kind = 'COURSE', credits = -1; -- plans_credits_check
update plans set daily_limit = 0; -- plans_daily_limit_check
update plans set kind = 'GIFT', credits = 0; -- plans_kind_check
update plans set name = ''; -- plans_name_check
update plans set period_seconds = 0; -- plans_period_seconds_check
update plans set term_seconds = 0; -- plans_term_seconds_check
update plans set weekly_limit = 0; -- plans_weekly_limit_check
select again('plans', $$tenant_id = id('other')$$); -- plans_tenant_id_fkey
select again('plans', $$name = 'Two'$$); -- plans_pkey
select again('plans', $$id = id('other'), name = 'TEN'$$); -- plans_name

update platform_mails set attempts = -1; -- platform_mails_attempts_check
update platform_mails set kind = 'LOTTERY'; -- platform_mails_kind_check
update platform_mails set sealed = ''; -- platform_mails_sealed_check
select again('platform_mails', $$tenant_id = id('other')$$); -- platform_mails_tenant_id_fkey
select again('platform_mails', ''); -- platform_mails_pkey

update policies set advance_window_seconds = -1; -- policies_advance_window_seconds_check
update policies set auto_no_show_after_seconds = -1; -- policies_auto_no_show_after_seconds_check
update policies set auto_no_show_after_start_seconds = -1; -- policies_auto_no_show_after_start_seconds_check
update policies set booking_closes_before_seconds = -1; -- policies_booking_closes_before_seconds_check
update policies set cancellation_window_seconds = -1; -- policies_cancellation_window_seconds_check
update policies set check_in_closes_after_end_seconds = -1; -- policies_check_in_closes_after_end_seconds_check
update policies set check_in_opens_before_seconds = -1; -- policies_check_in_opens_before_seconds_check
update policies set gps_max_meters = 0; -- policies_gps_max_meters_check
update policies set hold_ttl_seconds = 0; -- policies_hold_ttl_seconds_check
update policies set level = 'SESSION'; -- policies_level_check
select again('policies', $$tenant_id = id('other')$$); -- policies_tenant_id_fkey
select again('policies', ''); -- policies_pkey

update resources set name = ''; -- resources_name_check
select again('resources', $$id = id('other'), location_id = id('other')$$); -- resources_tenant_id_location_id_fkey
select again('resources', $$location_id = id('other')$$); -- resources_pkey
select again('resources', $$id = id('other'), name = 'COURT 1'$$); -- resources_name
alter table resources drop constraint resources_pkey; select again('resources', $$name = 'Court 2'$$); -- resources_tenant_id_location_id_id_key

update roles set name = 'Coach'; -- roles_name_check
select again('roles', $$tenant_id = id('other')$$); -- roles_tenant_id_fkey
select again('roles', ''); -- roles_pkey

update sending_counts set alarm = -1; -- sending_counts_alarm_check
update sending_counts set channel = 'PUSH'; -- sending_counts_channel_check
update sending_counts set country = 'at'; -- sending_counts_country_check
update sending_counts set sent = -1; -- sending_counts_sent_check
select again('sending_counts', $$tenant_id = id('other')$$); -- sending_counts_tenant_id_fkey
update sending_counts set waiting = -1; -- sending_counts_waiting_check
select again('sending_counts', ''); -- sending_counts_pkey

update sending_standings set channel = 'PUSH'; -- sending_standings_channel_check
update sending_standings set level = -1; -- sending_standings_level_check
select again('sending_standings', $$tenant_id = id('other')$$); -- sending_standings_tenant_id_fkey
select again('sending_standings', ''); -- sending_standings_pkey

update series set capacity = -1; -- series_capacity_check
update series set duration_seconds = 0; -- series_duration_seconds_check
update series set waitlist_capacity = -1; -- series_waitlist_capacity_check
select again('series', $$tenant_id = id('other')$$); -- series_tenant_id_fkey
update series set location_id = id('other'); -- series_tenant_id_location_id_fkey
update series set service_id = id('other'); -- series_tenant_id_service_id_fkey
select again('series', ''); -- series_pkey

update service_account_keys set hash = 'short'; -- service_account_keys_hash_check
update service_account_keys set account_id = id('other'); -- service_account_keys_tenant_id_account_id_fkey
select again('service_account_keys', ''); -- service_account_keys_pkey

update service_account_roles set role = 'other'; -- service_account_roles_role
update service_account_roles set account_id = id('other'); -- service_account_roles_tenant_id_account_id_fkey
update service_account_roles set role = 'owner'; -- service_account_roles_no_owner
select again('service_account_roles', ''); -- service_account_roles_pkey

update service_accounts set name = ''; -- service_accounts_name_check
select again('service_accounts', $$tenant_id = id('other')$$); -- service_accounts_tenant_id_fkey
select again('service_accounts', $$name = 'Door'$$); -- service_accounts_pkey
select again('service_accounts', $$id = id('other'), name = 'KIOSK'$$); -- service_accounts_name

update services set max_party = 0; -- services_check
update services set default_capacity = -1; -- services_default_capacity_check
update services set default_waitlist_capacity = -1; -- services_default_waitlist_capacity_check
update services set delivery = 'FAX'; -- services_delivery_check
update services set duration_seconds = 0; -- services_duration_seconds_check
update services set min_party = 0; -- services_min_party_check
update services set name = ''; -- services_name_check
select again('services', $$tenant_id = id('other')$$); -- services_tenant_id_fkey
select again('services', $$name = 'Sailing'$$); -- services_pkey
select again('services', $$id = id('other'), name = 'ROWING'$$); -- services_name

update session_workouts set session_id = id('other'); -- session_workouts_tenant_id_session_id_fkey
update session_workouts set workout_id = id('other'); -- session_workouts_tenant_id_workout_id_fkey
select again('session_workouts', $$workout_id = id('other')$$); -- session_workouts_pkey
select again('session_workouts', 'position = 1'); -- session_workouts_tenant_id_session_id_workout_id_key

update sessions set seats_taken = 9; -- sessions_capacity
alter table sessions drop constraint sessions_capacity; update sessions set capacity = -1; -- sessions_capacity_check
update sessions set occurs_on = null; -- sessions_check
update sessions set holds = -1; -- sessions_holds_check
update sessions set seats_taken = -1; -- sessions_seats_taken_check
update sessions set ends_at = starts_at; -- sessions_span
update sessions set state = 'LOST'; -- sessions_state_check
update sessions set title = ''; -- sessions_title_check
update sessions set waiting = -1; -- sessions_waiting_check
update sessions set waiting = 9; -- sessions_waitlist
update sessions set coach_id = id('other'); -- sessions_tenant_id_coach_id_fkey
select again('sessions', $$tenant_id = id('other')$$); -- sessions_tenant_id_fkey
update sessions set resource_id = null, location_id = id('other'); -- sessions_tenant_id_location_id_fkey
update sessions set resource_id = id('other'); -- sessions_tenant_id_location_id_resource_id_fkey
update sessions set series_id = id('other'); -- sessions_tenant_id_series_id_fkey
update sessions set service_id = id('other'); -- sessions_tenant_id_service_id_fkey
select again('sessions', $$series_id = null, resource_id = null, coach_id = null$$); -- sessions_pkey
select again('sessions', $$id = id('other'), resource_id = null, coach_id = null$$); -- sessions_occurrence
select again('sessions', $$id = id('other'), series_id = null, coach_id = null, starts_at = ends_at - interval '1 s', ends_at = ends_at + interval '1 h'$$); -- sessions_resource_busy
select again('sessions', $$id = id('other'), series_id = null, resource_id = null, starts_at = ends_at - interval '1 s', ends_at = ends_at + interval '1 h'$$); -- sessions_staff_busy

update shared_contacts set number_hash = 'short'; -- shared_contacts_number_hash_check
select again('shared_contacts', $$tenant_id = id('other')$$); -- shared_contacts_tenant_id_fkey
select again('shared_contacts', ''); -- shared_contacts_pkey

update passkeys set credential_id = ''; -- passkeys_credential_id_check
update passkeys set credential = ''; -- passkeys_credential_check
update passkeys set name = repeat('x', 201); -- passkeys_name_check
update passkeys set used_at = created_at - interval '1 s'; -- passkeys_used
update passkeys set member_id = id('other'); -- passkeys_tenant_id_member_id_fkey
select again('passkeys', $$credential_id = hash('other')$$); -- passkeys_pkey
select again('passkeys', $$id = id('other')$$); -- passkeys_credential

update sign_in_addresses set address_hash = 'short'; -- sign_in_addresses_address_hash_check
update sign_in_addresses set key_check = 'short'; -- sign_in_addresses_key_check_check
update sign_in_addresses set member_id = id('other'); -- sign_in_addresses_tenant_id_member_id_fkey
select again('sign_in_addresses', ''); -- sign_in_addresses_pkey

update sign_in_codes set address_hash = 'short'; -- sign_in_codes_address_hash_check
update sign_in_codes set browser_hash = 'short'; -- sign_in_codes_browser_hash_check
update sign_in_codes set code_hash = 'short'; -- sign_in_codes_code_hash_check
update sign_in_codes set digits = 5; -- sign_in_codes_digits_check
update sign_in_codes set guesses = 6; -- sign_in_codes_guesses_check
update sign_in_codes set expires_at = created_at; -- sign_in_codes_expires
update sign_in_codes set member_id = id('other'); -- sign_in_codes_tenant_id_member_id_fkey
select again('sign_in_codes', ''); -- sign_in_codes_pkey
update sign_in_guesses set guesses = 0; -- sign_in_guesses_guesses_check
select again('sign_in_guesses', ''); -- sign_in_guesses_pkey

update sign_ins set token_hash = 'short'; -- sign_ins_token_hash_check
update sign_ins set method = 'PASSWORD'; -- sign_ins_method_check
update sign_ins set browser = repeat('x', 201); -- sign_ins_browser_check
update sign_ins set address = repeat('x', 46); -- sign_ins_address_check
update sign_ins set used_at = created_at - interval '1 s'; -- sign_ins_used
update sign_ins set expires_at = created_at + interval '4321 hours'; -- sign_ins_expires
update sign_ins set member_id = id('other'); -- sign_ins_tenant_id_member_id_fkey
select again('sign_ins', $$token_hash = hash('other')$$); -- sign_ins_pkey
select again('sign_ins', $$id = id('other')$$); -- sign_ins_token

update subscriptions set balance = -1; -- subscriptions_balance
update subscriptions set status = 'LOST'; -- subscriptions_status_check
update subscriptions set member_id = id('other'); -- subscriptions_tenant_id_member_id_fkey
update subscriptions set plan_id = id('other'); -- subscriptions_tenant_id_plan_id_fkey
select again('subscriptions', ''); -- subscriptions_pkey

update tenants set accent_color = 'red'; -- tenants_accent_color_check
update tenants set currency = 'eur'; -- tenants_currency_check
update tenants set logo_url = 'http://example.com/logo.png'; -- tenants_logo_url_check
update tenants set name = ''; -- tenants_name_check
update tenants set step_up_max_age_seconds = 59; -- tenants_step_up_max_age_seconds_check
update tenants set step_up_acr_values = array_fill('mfa'::text, '{11}'); -- tenants_step_up_acr_values_check
select again('tenants', ''); -- tenants_pkey

update usage set span = 'MONTH'; -- usage_span_check
update usage set used = -1; -- usage_used_check
update usage set subscription_id = id('other'); -- usage_tenant_id_subscription_id_fkey
select again('usage', ''); -- usage_pkey

update waitlist_decisions set given = 2; -- waitlist_decisions_check
update waitlist_decisions set left_move = 'HAND_BACK'; -- waitlist_decisions_check1
update waitlist_decisions set given = -1, left_move = 'HAND_BACK'; -- waitlist_decisions_given_check
update waitlist_decisions set seats = 2, left_move = 'OFFER'; -- waitlist_decisions_left_move_check
update waitlist_decisions set move = 'LOST'; -- waitlist_decisions_move_check
alter table waitlist_decisions drop constraint waitlist_decisions_check; update waitlist_decisions set seats = -1, given = 0; -- waitlist_decisions_seats_check
update waitlist_decisions set session_id = id('other'); -- waitlist_decisions_tenant_id_session_id_fkey
select again('waitlist_decisions', ''); -- waitlist_decisions_pkey

update waitlist_entries set channel = 'FAX'; -- waitlist_entries_channel_check
update waitlist_entries set session_id = null; -- waitlist_entries_check
update waitlist_entries set first_date = '2026-03-02'; -- waitlist_entries_check1
update waitlist_entries set session_id = null, service_id = id('service'), location_id = id('location'), first_date = '2026-03-03', last_date = '2026-03-02', earliest = '08:00', latest = '09:00'; -- waitlist_entries_check2
update waitlist_entries set booking_id = id('booking'); -- waitlist_entries_check3
update waitlist_entries set closed_at = created_at; -- waitlist_entries_check4
update waitlist_entries set party_size = 0; -- waitlist_entries_party_size_check
update waitlist_entries set score = 1000001; -- waitlist_entries_score_check
update waitlist_entries set status = 'LOST', closed_at = created_at; -- waitlist_entries_status_check
update waitlist_entries set tries = -1; -- waitlist_entries_tries_check
update waitlist_entries set status = 'BOOKED', closed_at = created_at, booking_id = id('other'); -- waitlist_entries_tenant_id_booking_id_fkey
update waitlist_entries set coach_id = id('other'); -- waitlist_entries_tenant_id_coach_id_fkey
update waitlist_entries set session_id = null, service_id = id('service'), location_id = id('other'), first_date = '2026-03-02', last_date = '2026-03-02', earliest = '08:00', latest = '09:00'; -- waitlist_entries_tenant_id_location_id_fkey
update waitlist_entries set session_id = null, service_id = id('service'), location_id = id('location'), resource_id = id('other'), first_date = '2026-03-02', last_date = '2026-03-02', earliest = '08:00', latest = '09:00'; -- waitlist_entries_tenant_id_location_id_resource_id_fkey
update waitlist_entries set member_id = id('other'); -- waitlist_entries_tenant_id_member_id_fkey
update waitlist_entries set session_id = null, service_id = id('other'), location_id = id('location'), first_date = '2026-03-02', last_date = '2026-03-02', earliest = '08:00', latest = '09:00'; -- waitlist_entries_tenant_id_service_id_fkey
update waitlist_entries set session_id = id('other'); -- waitlist_entries_tenant_id_session_id_fkey
update waitlist_entries set subscription_id = id('other'); -- waitlist_entries_tenant_id_subscription_id_fkey
select again('waitlist_entries', $$external_ref = ''$$); -- waitlist_entries_pkey
select again('waitlist_entries', $$id = id('other')$$); -- waitlist_entries_external_ref

update waitlist_offers set expires_at = created_at; -- waitlist_offers_check
update waitlist_offers set booking_id = id('booking'); -- waitlist_offers_check1
update waitlist_offers set closed_at = created_at; -- waitlist_offers_check2
update waitlist_offers set withdraw_cause = 'FEWER_SEATS'; -- waitlist_offers_check3
update waitlist_offers set void = true; -- waitlist_offers_check4
update waitlist_offers set code_hash = '12'; -- waitlist_offers_code_hash_check
update waitlist_offers set seats = 0; -- waitlist_offers_seats_check
update waitlist_offers set status = 'LOST', closed_at = created_at; -- waitlist_offers_status_check
update waitlist_offers set try = 0; -- waitlist_offers_try_check
update waitlist_offers set withdraw_cause = 'LOST', status = 'WITHDRAWN', closed_at = created_at; -- waitlist_offers_withdraw_cause_check
update waitlist_offers set status = 'ACCEPTED', closed_at = created_at, booking_id = id('other'); -- waitlist_offers_tenant_id_booking_id_fkey
update waitlist_offers set entry_id = id('other'); -- waitlist_offers_tenant_id_entry_id_fkey
update waitlist_offers set member_id = id('other'); -- waitlist_offers_tenant_id_member_id_fkey
update waitlist_offers set round_id = id('other'); -- waitlist_offers_tenant_id_round_id_fkey
update waitlist_offers set session_id = id('other'); -- waitlist_offers_tenant_id_session_id_fkey
select again('waitlist_offers', $$claim_hash = hash('other'), status = 'EXPIRED', closed_at = created_at$$); -- waitlist_offers_pkey
select again('waitlist_offers', $$id = id('other'), status = 'EXPIRED', closed_at = created_at$$); -- waitlist_offers_claim
select again('waitlist_offers', $$id = id('other'), claim_hash = hash('other')$$); -- waitlist_offers_live

update waitlist_places set entry_id = id('other'); -- waitlist_places_tenant_id_entry_id_fkey
update waitlist_places set local_date = '2026-03-03'; -- waitlist_places_tenant_id_location_id_service_id_local_dat_fkey
update waitlist_places set session_id = id('other'); -- waitlist_places_tenant_id_session_id_fkey
select again('waitlist_places', $$entry_id = id('other')$$); -- waitlist_places_active
select again('waitlist_places', $$member_id = id('other')$$); -- waitlist_places_once

update waitlist_queues set waiting = -1; -- waitlist_queues_waiting_check
select again('waitlist_queues', $$location_id = id('other')$$); -- waitlist_queues_tenant_id_location_id_fkey
select again('waitlist_queues', $$service_id = id('other')$$); -- waitlist_queues_tenant_id_service_id_fkey
select again('waitlist_queues', ''); -- waitlist_queues_pkey

update waitlist_rounds set keeps = 1, closed_at = opened_at; -- waitlist_rounds_check
update waitlist_rounds set freed = -1; -- waitlist_rounds_freed_check
update waitlist_rounds set keeps = -1; -- waitlist_rounds_keeps_check
update waitlist_rounds set session_id = id('other'); -- waitlist_rounds_tenant_id_session_id_fkey
select again('waitlist_rounds', ''); -- waitlist_rounds_pkey

update waitlist_rules_versions set level = 'SESSION'; -- waitlist_rules_versions_level_check
update waitlist_rules_versions set version = 0; -- waitlist_rules_versions_version_check
select again('waitlist_rules_versions', $$tenant_id = id('other')$$); -- waitlist_rules_versions_tenant_id_fkey
select again('waitlist_rules_versions', ''); -- waitlist_rules_versions_pkey

update workouts set name = ''; -- workouts_name_check
select again('workouts', $$tenant_id = id('other')$$); -- workouts_tenant_id_fkey
select again('workouts', ''); -- workouts_pkey
