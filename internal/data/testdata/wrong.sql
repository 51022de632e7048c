-- Rows that no transaction leaves behind: what each check of the data must find, next to rows that it must not.

-- The database would refuse most of them.
do $$
declare
  r record;
begin
  for r in select conrelid::regclass as t, conname from pg_constraint
    where connamespace = 'public'::regnamespace and contype in ('c', 'f', 'u', 'x') order by contype = 'u'
  loop
    execute format('alter table %s drop constraint %I', r.t, r.conname);
  end loop;
  for r in select indexrelid::regclass as i from pg_index where indisunique and not indisprimary
    and indrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
  loop
    execute format('drop index %s', r.i);
  end loop;
end
$$;

-- Changes rows of the tenant.
create function changes(t text, name text, change text) returns void language plpgsql as $changes$
begin
  execute format('update %I set %s where tenant_id = id(''tenant'') and id = id(%L)', t, change, name);
end
$changes$;

-- Inserts a copy of a row of the tenant, after a change.
create function another(t text, name text, change text) returns void language plpgsql as $another$
declare
  columns text;
begin
  select string_agg(quote_ident(attname), ', ') into columns
  from pg_attribute where attrelid = t::regclass and attnum > 0 and attgenerated = '' and not attisdropped;
  execute format('create temp table copy as select * from %I where tenant_id = id(''tenant'') and id = id(%L)', t,
  name);
  execute 'update copy set ' || change;
  execute format('insert into %I (%s) select %s from copy', t, columns, columns);
  drop table copy;
end
$another$;

select changes('sessions', 'fifth', 'seats_taken = 9');
select changes('sessions', 'sixth', 'seats_taken = 8, waiting = 2, resource_id = id(''resource''),
  starts_at = starts_at - interval ''90 min''');
select changes('sessions', 'seventh', 'seats_taken = 5');
select changes('sessions', 'third', 'ends_at = ends_at + interval ''30 min''');
select changes('sessions', 'second', 'coach_id = id(''member''), ends_at = ends_at + interval ''3 h''');
select changes('bookings', 'code', 'session_id = id(''second'')');
select changes('bookings', 'second', 'session_id = id(''fourth''), status = ''ATTENDED''');
select changes('bookings', 'sixth', 'session_id = id(''fourth'')');
select changes('bookings', 'seventh', 'session_id = id(''second''), credits = 1');
select changes('bookings', 'line', 'status = ''EXPIRED''');
select changes('bookings', 'third', 'subscription_id = id(''third''), counted = false');
select changes('plans', 'third', 'kind = ''COURSE''');

select another('booking_items', 'unit', 'id = id(''fourth''), number = 4, booking_id = id(''other'')');
select another('booking_items', 'unit', 'id = id(''fifth''), number = 5, booking_id = id(''other''),
  status = ''PENDING''');
select another('booking_items', 'unit', 'id = id(''sixth''), number = 6, booking_id = id(''seventh'')');
select another('booking_items', 'unit', 'id = id(''seventh''), number = 7, status = ''PENDING''');
select another('booking_items', 'unit', 'id = id(''line''), number = 9, booking_id = id(''line'')');
select another('booking_items', 'unit', 'id = id(''code''), number = 10, booking_id = id(''other''),
  status = ''CANCELLED''');
select another('booking_items', 'unit', 'id = id(''key''), number = 8, out_until = out_from + interval ''4 h''');
select another('booking_items', 'unit', 'id = id(''screen''), number = 8, out_from = out_from + interval ''1 h'',
  out_until = out_from + interval ''90 min''');
select another('booking_items', 'unit', 'id = id(''display''), number = 8, out_from = out_from + interval ''2 h'',
  out_until = out_from + interval ''4 h''');
select another('booking_items', 'unit', 'id = id(''device''), number = 8, out_from = out_from + interval ''4 h'',
  out_until = out_from + interval ''5 h''');
select another('booking_items', 'unit', 'id = id(''batch''), number = 8, status = ''CANCELLED''');
select another('booking_items', 'unit', 'id = id(''round''), number = 8, item_id = id(''third'')');

select changes('bookings', 'booking', 'counted = true, subscription_id = id(''subscription'')');
select another('bookings', 'booking', 'id = id(''account''), status = ''PENDING'', credits = 1,
  starts_at = starts_at + interval ''30 min'', ends_at = ends_at + interval ''30 min''');
select another('bookings', 'booking', 'id = id(''device''), status = ''CANCELLED'', credits = 1, counted = false');
select another('bookings', 'booking', 'id = id(''screen''), session_id = id(''sixth''),
  starts_at = starts_at + interval ''90 min'',
  ends_at = ends_at + interval ''90 min''');
select another('bookings', 'booking', 'id = id(''batch''), session_id = id(''seventh''), exclusive = false,
  starts_at = starts_at + interval ''2 h'', ends_at = ends_at + interval ''12 h'', counted = false');

update waitlist_queues set waiting = waiting + 1 where tenant_id = id('tenant') and local_date = '2026-03-04';
update waitlist_places set local_date = local_date + 5 where tenant_id = id('tenant') and entry_id = id('waiting');
update waitlist_places set service_id = id('other') where tenant_id = id('tenant') and entry_id = id('other')
  and session_id = id('other');
update waitlist_places set location_id = id('other') where tenant_id = id('tenant') and entry_id = id('other')
  and session_id = id('session');
insert into waitlist_places (tenant_id, location_id, service_id, local_date, entry_id, member_id, join_key)
  values (id('tenant'), id('location'), id('service'), '2026-03-04', id('fourth'), id('member'), 1);
delete from waitlist_places where tenant_id = id('tenant') and entry_id = id('second');
select changes('waitlist_entries', 'third', 'status = ''OFFERED''');
select changes('waitlist_entries', 'waiting', 'status = ''OFFERED''');
select changes('waitlist_rounds', 'round', 'keeps = 1');
select another('waitlist_offers', 'offer', 'id = id(''fourth''), session_id = id(''fourth''),
  expires_at = timestamptz ''2026-03-02 09:00:01Z''');
select another('waitlist_offers', 'offer', 'id = id(''fifth''), session_id = id(''sixth''),
  round_id = id(''third'')');
select changes('waitlist_offers', 'third', 'session_id = id(''sixth'')');

-- Entries that were booked: with and without an offer, with and without a decision.
update bookings set promoted = true where tenant_id = id('tenant')
  and id in (id('booking'), id('second'), id('other'), id('batch'));
update members m set waiting = (select count(*) from waitlist_entries e where e.tenant_id = m.tenant_id
  and e.member_id = m.id and e.status in ('WAITING', 'OFFERED'));
update members set waiting = 4 where tenant_id = id('tenant') and id = id('third');
select another('waitlist_offers', 'third', 'id = id(''sixth''), status = ''ACCEPTED'', entry_id = id(''sixth'')');
select another('waitlist_offers', 'third', 'id = id(''seventh''), status = ''ACCEPTED'', entry_id = id(''seventh''),
  booking_id = id(''other'')');
select another('waitlist_offers', 'third', 'id = id(''line''), status = ''ACCEPTED'', entry_id = id(''line''),
  booking_id = id(''booking'')');
select another('waitlist_entries', 'fourth', 'id = id(''sixth''), status = ''BOOKED'', booking_id = id(''second''),
  closed_at = timestamptz ''2026-03-01 11:00Z''');
select another('waitlist_entries', 'fourth', 'id = id(''seventh''), status = ''BOOKED'', booking_id = id(''other''),
  closed_at = timestamptz ''2026-03-01 11:00Z''');
select another('waitlist_entries', 'fourth', 'id = id(''screen''), status = ''BOOKED'', booking_id = id(''booking''),
  closed_at = timestamptz ''2026-03-01 11:00Z'''); -- with the other of its member, which was offered the seats
select another('waitlist_entries', 'fourth', 'id = id(''line''), status = ''BOOKED'', booking_id = id(''booking''),
  closed_at = timestamptz ''2026-03-01 11:00Z''');
select another('waitlist_entries', 'fourth', 'id = id(''code''), status = ''BOOKED'', booking_id = id(''batch''),
  closed_at = timestamptz ''2026-03-01 11:00Z''');
select another('waitlist_entries', 'fourth', 'id = id(''key''), status = ''BOOKED'', booking_id = null,
  closed_at = timestamptz ''2026-03-01 11:00Z''');
select another('waitlist_decisions', 'decision', 'id = id(''third''), decided_at = timestamptz ''2026-03-01 10:00Z'',
  verdicts = jsonb_build_array(jsonb_build_object(''entry_id'', id(''line''), ''reason'', ''OFFERED''),
    jsonb_build_object(''entry_id'', id(''seventh''), ''reason'', ''PROMOTED''))');
select another('waitlist_decisions', 'decision', 'id = id(''fourth''), decided_at = timestamptz ''2026-03-01 11:00Z'',
  verdicts = jsonb_build_array(jsonb_build_object(''entry_id'', id(''code''), ''reason'', ''PROMOTED''),
    jsonb_build_object(''entry_id'', id(''sixth''), ''reason'', ''OFFERED''))');

-- Seats that were given before booking opened, and too many when it did.
select another('waitlist_decisions', 'decision', 'id = id(''unit''), decided_at = timestamptz ''2026-03-01 10:00Z'',
  facts = ''{"slot": {"opens": "2026-03-01T10:00:01Z"}}''');
select another('waitlist_decisions', 'decision', 'id = id(''item''), trigger = ''BY_HAND'',
  decided_at = timestamptz ''2026-03-01 10:00Z'', facts = ''{"slot": {"opens": "2026-03-01T10:00:01Z"}}''');
select another('waitlist_decisions', 'decision', 'id = id(''device''), trigger = ''BOOKING_OPENED'', seats = 3, given = 3,
  facts = ''{"slot": {"open": 4}}''');
select another('waitlist_decisions', 'decision', 'id = id(''display''), trigger = ''BOOKING_OPENED'', seats = 3, given = 3,
  facts = ''{"slot": {"open": 5}}''');

select another('credit_entries', 'entry', 'id = id(''third''), subscription_id = id(''other''), line = 2, amount = 3,
  balance = 3,
  booking_id = null');
select another('credit_entries', 'entry', 'id = id(''fourth''), subscription_id = id(''third''),
  booking_id = id(''device'')');
select changes('subscriptions', 'third', 'balance = -1');
update usage set used = 3 where tenant_id = id('tenant') and span = 'DAY';
update usage set used = 1 where tenant_id = id('tenant') and span = 'WEEK';

-- Payments whose lines do not add up, and one that is refunded in part.
select another('payment_entries', 'entry', 'id = id(''third''), booking_id = id(''other''), kind = ''AUTHORIZATION'',
  captured_units = 0');
select another('payment_entries', 'entry', 'id = id(''fourth''), booking_id = id(''other''), line = 2,
  amount_units = 5,
  captured_units = 6');
select another('payment_entries', 'entry', 'id = id(''fifth''), booking_id = id(''third''), amount_nanos = 7,
  captured_nanos = 7');
select another('payment_entries', 'entry', 'id = id(''sixth''), booking_id = id(''third''), line = 2,
  kind = ''REFUND'',
  captured_nanos = 7, amount_nanos = 8, refunded_units = 50, refunded_nanos = 8');
select another('payment_entries', 'entry', 'id = id(''seventh''), booking_id = id(''fourth'')');
select another('payment_entries', 'entry', 'id = id(''line''), booking_id = id(''fourth''), line = 2,
  kind = ''REFUND'',
  amount_currency = ''USD'', amount_units = 10, refunded_units = 10');
select another('payment_entries', 'entry', 'id = id(''code''), booking_id = id(''fifth''), line = 2');
select another('payment_entries', 'entry', 'id = id(''key''), booking_id = id(''sixth'')');
select another('payment_entries', 'entry', 'id = id(''screen''), booking_id = id(''sixth''), line = 2,
  kind = ''REFUND'',
  amount_units = 10, refunded_units = 9');
select another('payment_entries', 'entry', 'id = id(''device''), booking_id = id(''seventh''), kind = ''AUTHORIZATION'',
  captured_units = 0');
select another('payment_entries', 'entry', 'id = id(''batch''), booking_id = id(''seventh''), line = 2,
  kind = ''WRITE_OFF'',
  captured_units = 0');
select changes('bookings', 'other', 'payment_status = ''CAPTURED'', amount_units = 6');
select changes('bookings', 'third', 'payment_status = ''REFUNDED'', amount_units = 50, amount_nanos = 7,
  refunded_units = 50,
  refunded_nanos = 8');
select changes('bookings', 'fourth', 'payment_status = ''CAPTURED'', amount_units = 50, refunded_units = 10');
select changes('bookings', 'fifth', 'payment_status = ''CAPTURED'', amount_units = 40');
select changes('bookings', 'sixth', 'payment_status = ''CAPTURED'', amount_units = 50, refunded_units = 10');
select changes('bookings', 'seventh', 'payment_status = ''WRITTEN_OFF''');
select changes('bookings', 'booking', 'payment_status = ''REFUNDED'', amount_units = 50, refunded_units = 50');

select changes('sessions', 'session', 'has_workouts = true');
select changes('devices', 'third', 'sealed = ''sealed''');

-- Another tenant has the same rows: each check must find those of one tenant only.
set session_replication_role = replica; -- the order of tables does not matter
do $$
declare
  t text;
  columns text;
begin
  for t, columns in
    select c.relname, string_agg(quote_ident(a.attname), ', ')
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and a.attgenerated = '' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname not in ('directory', 'goose_db_version', 'past')
    group by c.relname
  loop
    execute format('delete from %I where tenant_id = id(''foreign'')', t);
    execute format('create temp table copy as select * from %I where tenant_id = id(''tenant'')', t);
    execute format('insert into %I (%s) select %s from copy', t, columns,
      replace(columns, 'tenant_id', 'id(''foreign'')'));
    drop table copy;
  end loop;
end
$$;
update payment_entries set captured_units = captured_units + 1 where tenant_id = id('foreign');
reset session_replication_role;
