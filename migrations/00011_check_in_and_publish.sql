-- +goose Up

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
  revoked_by text check (revoked_by <> ''),
  revoked_at timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, session_id) references sessions,
  constraint display_links_opened check ((screen is null) = (opened_at is null)),
  constraint display_links_revoked check ((revoked_by is null) = (revoked_at is null))
);
create index display_links_session on display_links (tenant_id, session_id, created_at);

alter table display_links enable row level security;
alter table display_links force row level security;
create policy tenant on display_links
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert, update, delete on display_links to berth_app;

alter table policies add column check_in_requires_qr boolean;

-- Who may create and publish sessions may do both at once. The policies of roles would hide the rows of all tenants.
alter table roles no force row level security;
update roles set permissions = array_append(permissions, 'session.create_published')
where not built_in and permissions @> '{session.create,session.publish}';
alter table roles force row level security;

-- +goose Down
alter table policies drop column check_in_requires_qr;
drop table display_links;
