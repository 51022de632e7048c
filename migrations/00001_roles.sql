-- +goose Up
-- The service connects as berth_app, which owns no table and cannot bypass row-level security,
-- so the policies apply to every statement that it sends.

create extension if not exists btree_gist;

-- +goose StatementBegin
do $$
begin
  if not exists (select from pg_roles where rolname = 'berth_app') then
    create role berth_app nologin nosuperuser nobypassrls nocreatedb nocreaterole;
  end if;
exception
  -- Roles are shared by all databases of a server, and another one may be migrating at the same time.
  when duplicate_object or unique_violation then null;
end
$$;
-- +goose StatementEnd

-- +goose StatementBegin
do $$
begin
  execute format('grant berth_app to %I', current_user);
end
$$;
-- +goose StatementEnd

grant usage on schema public to berth_app;
-- Nodes compare the applied migrations with those they were built with.
grant select on goose_db_version to berth_app;

-- The tenant of the current transaction; null outside of one, and null equals nothing.
-- A setting that was set and rolled back reads as an empty text.
create function current_tenant() returns uuid
  language sql stable parallel safe
  return nullif(current_setting('app.tenant_id', true), '')::uuid;

-- +goose Down
drop function current_tenant();
