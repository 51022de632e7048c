-- +goose Up

-- Senders are the owners' alone, and service accounts are not owners. Policies would hide the rows of all tenants.
alter table roles no force row level security;
update roles set permissions = array_remove(permissions, 'notification.senders') where not built_in;
alter table roles force row level security;

alter table service_account_roles no force row level security;
insert into service_account_roles (tenant_id, account_id, role)
select tenant_id, account_id, 'admin' from service_account_roles where role = 'owner'
on conflict do nothing;
delete from service_account_roles where role = 'owner';
alter table service_account_roles force row level security,
  add constraint service_account_roles_no_owner check (role <> 'owner');

-- Owners' offers to other members to be an owner in their place. Each owner has at most one.
create table ownership_transfers (
  tenant_id   uuid not null,
  id          uuid not null,
  from_member uuid not null,
  to_member   uuid not null,
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  primary key (tenant_id, id),
  constraint ownership_transfers_one unique (tenant_id, from_member),
  constraint ownership_transfers_from foreign key (tenant_id, from_member) references members,
  constraint ownership_transfers_to foreign key (tenant_id, to_member) references members,
  constraint ownership_transfers_other check (to_member <> from_member),
  constraint ownership_transfers_expires check (expires_at > created_at)
);
create index ownership_transfers_receiver on ownership_transfers (tenant_id, to_member);

alter table ownership_transfers enable row level security;
alter table ownership_transfers force row level security;
create policy tenant on ownership_transfers
  using (tenant_id = (select current_tenant())) with check (tenant_id = (select current_tenant()));
grant select, insert, update, delete on ownership_transfers to berth_app;

-- Which sign-in people need to change roles, senders and service accounts.
alter table tenants
  add column step_up_max_age_seconds integer not null default 0
    check (step_up_max_age_seconds = 0 or step_up_max_age_seconds between 60 and 86400),
  add column step_up_acr_values text[] not null default '{}' check (cardinality(step_up_acr_values) <= 10);

-- +goose Down
alter table tenants drop column step_up_max_age_seconds, drop column step_up_acr_values;
drop table ownership_transfers;
alter table service_account_roles drop constraint service_account_roles_no_owner;
