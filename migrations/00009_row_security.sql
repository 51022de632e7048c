-- +goose Up
-- The last barrier between tenants: whatever a statement says, it only sees and changes rows of its transaction's
-- tenant. Policies are forced, so that they apply to the owner of the tables, too.

-- +goose StatementBegin
do $$
declare
  t text;
begin
  for t in
    select c.relname from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'goose_db_version'
    order by c.relname
  loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format(
      'create policy tenant on %I '
      'using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()))', t);
    execute format('grant select, insert, update, delete on %I to berth_app', t);
  end loop;
end
$$;
-- +goose StatementEnd

-- Operators' jobs that visit tenants start with reading their IDs: all, or those that share a number with a contact.
-- No other table is readable with this setting.
create policy operator on directory for select using (current_setting('app.operator', true) = 'on');
create policy operator on sign_in_addresses for select using (current_setting('app.operator', true) = 'on');
create policy operator on shared_contacts for select using (current_setting('app.operator', true) = 'on');

-- History is append-only.
revoke update, delete on credit_entries, payment_entries, events, audit_entries, waitlist_decisions,
  waitlist_rules_versions from berth_app;

-- +goose Down
-- +goose StatementBegin
do $$
declare
  t text;
begin
  for t in
    select c.relname from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'goose_db_version'
  loop
    execute format('drop policy if exists tenant on %I', t);
    execute format('alter table %I disable row level security', t);
  end loop;
end
$$;
-- +goose StatementEnd
drop policy operator on directory;
drop policy operator on sign_in_addresses;
drop policy operator on shared_contacts;
