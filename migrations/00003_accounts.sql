-- +goose Up
-- Who is who in a tenant, and who may sign in as what.

-- Built-in roles have rows, too, so that member_roles refers to a row that exists.
-- Their permissions are in the program, not here.
create table roles (
  tenant_id   uuid not null references tenants,
  name        text not null check (name ~ '^[a-z][a-z0-9_]{0,49}$'),
  title       text not null default '',
  description text not null default '',
  built_in    boolean not null default false,
  permissions text[] not null default '{}',
  version     integer not null default 1,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  primary key (tenant_id, name)
);

create table members (
  tenant_id       uuid not null references tenants,
  id              uuid not null,
  subject         text not null default '',
  name            text not null check (name <> ''),
  -- The name without case and accents, as people search it.
  name_key        text not null,
  -- The issuer whose tokens have the member's subject. Empty until the member signs in with the sign-in service.
  issuer          text not null default '' check (length(issuer) <= 500),
  email           text not null default '',
  -- Under row-level security only plain columns can use an index: lower() is not leakproof.
  email_key       text not null generated always as (lower(email)) stored,
  phone           text not null default '',
  -- The address and the number that are known to be the member's: by a code, a link, or the issuer of their tokens. A
  -- contact is confirmed as long as it equals them.
  confirmed_email text not null default '',
  confirmed_phone text not null default '',
  -- The address with which the member has signed in, by a code or a link to it. It stays when others enter another one:
  -- they must not sign in with that.
  sign_in_email   text not null default '',
  -- Who entered the address, or invited the member to it: an actor. Empty if nobody is known to.
  email_by        text not null default '',
  -- Only an invitation signs the member in: they have got permissions that email_by lacks.
  by_invitation   boolean not null default false,
  -- The subject was linked by the address.
  linked_by_email boolean not null default false,
  tier            text not null default '',
  tags            text[] not null default '{}',
  status          text not null default 'ACTIVE' check (status in ('ACTIVE', 'INACTIVE')),
  locale          text not null default '',
  time_zone       text not null default '',
  notes           text not null default '',
  -- The number of their active waitlist entries.
  waiting         integer not null default 0 check (waiting >= 0),
  -- Since when these are to be checked again, because a reason for which they were passed over may be gone.
  recheck_at      timestamptz,
  version         integer not null default 1,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  constraint members_issuer check (issuer = '' or subject <> '')
);
create unique index members_subject on members (tenant_id, subject) where subject <> '';
create unique index members_email on members (tenant_id, email_key) where email_key <> '';
create index members_name on members (tenant_id, name_key, id);
create index members_waiting on members (tenant_id, id) where waiting > 0;
create index members_recheck on members (tenant_id, id) where recheck_at is not null;
alter table members add primary key (tenant_id, id); -- late, see sessions
-- Comes last: only a query for a number can use it, and that should. It finds the member who sent an SMS.
create index members_phone on members (tenant_id, phone) where phone <> '';

create table member_roles (
  tenant_id  uuid not null,
  member_id  uuid not null,
  role       text not null,
  created_at timestamptz not null,
  primary key (tenant_id, member_id, role),
  foreign key (tenant_id, member_id) references members,
  constraint member_roles_role foreign key (tenant_id, role) references roles
);
create index member_roles_by_role on member_roles (tenant_id, role);

create table devices (
  tenant_id  uuid not null,
  id         uuid not null,
  member_id  uuid not null,
  kind       text not null check (kind in ('IOS', 'ANDROID', 'WEB')),
  -- The token of a device, sealed with a key that the database never sees, and bound to the tenant. Devices of older
  -- services have it in clear, until the service seals it: SQL has no key.
  token      text,
  sealed     bytea check (length(sealed) between 1 and 8192),
  -- A keyed hash of the token, because tokens can exceed the size of an index entry.
  token_hash bytea not null check (length(token_hash) = 32),
  created_at timestamptz not null,
  seen_at    timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, member_id) references members,
  constraint devices_one_token check ((token is null) <> (sealed is null))
);
create unique index devices_token on devices (tenant_id, token_hash);
create index devices_member on devices (tenant_id, member_id);
create index devices_unsealed on devices (tenant_id, id) where sealed is null;

-- Contacts that members entered and have not confirmed. They are not unique: whether another member has one shows only
-- to those who confirm it.
create table pending_contacts (
  tenant_id  uuid not null,
  member_id  uuid not null,
  kind       text not null check (kind in ('EMAIL', 'PHONE')),
  address    text not null check (address <> ''),
  -- The newest code. Its hash has a key that the database never sees.
  code_id    uuid not null,
  code_hash  bytea not null check (length(code_hash) = 32),
  guesses    integer not null default 0 check (guesses between 0 and 5),
  expires_at timestamptz not null,
  primary key (tenant_id, member_id, kind),
  foreign key (tenant_id, member_id) references members
);

-- The codes of the last day, to count them and the guesses.
create table contact_codes (
  tenant_id    uuid not null,
  id           uuid not null,
  member_id    uuid not null,
  kind         text not null check (kind in ('EMAIL', 'PHONE')),
  -- A keyed hash.
  address_hash bytea not null check (length(address_hash) = 32),
  -- False: the address had got too many.
  sent         boolean not null,
  -- Wrong ones. They count at the address, also after the member has another code.
  guesses      integer not null default 0 check (guesses between 0 and 5),
  created_at   timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, member_id) references members
);
create index contact_codes_member on contact_codes (tenant_id, member_id, kind, created_at);
create index contact_codes_time on contact_codes (tenant_id, created_at);
create index contact_codes_address on contact_codes (tenant_id, address_hash, created_at);

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

-- Sign-ins with Berth itself. A browser has one secret, and a row in each tenant that it signs in to. Such a row begins
-- with created_at, whoever renews it.
create table sign_ins (
  tenant_id  uuid not null,
  id         uuid not null,
  member_id  uuid not null,
  -- SHA-256 of the secret, which has 256 random bits, so it needs no password hash.
  token_hash bytea not null check (length(token_hash) = 32),
  method     text not null check (method in ('CODE', 'PASSKEY', 'INVITATION')),
  -- The program and the address that signed in.
  browser    text not null default '' check (length(browser) <= 200),
  address    text not null default '' check (length(address) <= 45),
  created_at timestamptz not null,
  used_at    timestamptz not null,
  expires_at timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, member_id) references members,
  constraint sign_ins_used check (used_at >= created_at),
  constraint sign_ins_expires check (expires_at > created_at and expires_at <= created_at + interval '4320 hours')
);
create unique index sign_ins_token on sign_ins (tenant_id, token_hash);
create index sign_ins_member on sign_ins (tenant_id, member_id, used_at);
create index sign_ins_expiry on sign_ins (tenant_id, expires_at);

-- By which address a member may ask for a code to sign in, as a keyed hash without the tenant: it finds the tenants of an
-- address. It has nothing else, because operators' jobs can read it, like the directory.
create table sign_in_addresses (
  tenant_id    uuid not null,
  member_id    uuid not null,
  address_hash bytea not null check (length(address_hash) = 32),
  -- A checksum of the key, to find what an older one made.
  key_check    bytea not null check (length(key_check) = 8),
  primary key (tenant_id, member_id),
  foreign key (tenant_id, member_id) references members
);
create index sign_in_addresses_hash on sign_in_addresses (address_hash);
create index sign_in_addresses_key on sign_in_addresses (tenant_id, key_check);

-- The codes of the last day with which browsers sign in, to count them. They stand in one tenant of their address.
create table sign_in_codes (
  tenant_id    uuid not null,
  id           uuid not null,
  member_id    uuid not null,
  -- Keyed hashes. The browser is one that has signed in to the address before; null: any other.
  address_hash bytea not null check (length(address_hash) = 32),
  browser_hash bytea check (length(browser_hash) = 32),
  code_hash    bytea not null check (length(code_hash) = 32),
  digits       integer not null check (digits between 6 and 10),
  -- Wrong ones.
  guesses      integer not null default 0 check (guesses between 0 and 5),
  used         boolean not null default false,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, member_id) references members,
  constraint sign_in_codes_expires check (expires_at > created_at)
);
create index sign_in_codes_address on sign_in_codes (tenant_id, address_hash, created_at);
create index sign_in_codes_time on sign_in_codes (tenant_id, created_at);

-- How many wrong codes were entered in an hour, at whatever addresses, counted by all nodes in a few places, so that
-- they do not wait for each other. The rows are the platform's: their tenant is no tenant's id.
create table sign_in_guesses (
  tenant_id uuid not null,
  hour      timestamptz not null,
  place     integer not null,
  guesses   integer not null check (guesses > 0),
  primary key (tenant_id, hour, place)
);

create table passkeys (
  tenant_id     uuid not null,
  id            uuid not null,
  member_id     uuid not null,
  credential_id bytea not null check (length(credential_id) between 1 and 1023),
  -- The public key and what else the authenticator has said of itself, as JSON.
  credential    bytea not null check (length(credential) between 1 and 8192),
  name          text not null check (length(name) <= 200),
  created_at    timestamptz not null,
  used_at       timestamptz not null,
  -- When the browser asked for the newest sign-in. An answer to an older question is one that is replayed.
  asked_at      timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, member_id) references members,
  constraint passkeys_used check (used_at >= created_at)
);
create unique index passkeys_credential on passkeys (tenant_id, credential_id);
create index passkeys_member on passkeys (tenant_id, member_id, created_at);

create table service_accounts (
  tenant_id   uuid not null references tenants,
  id          uuid not null,
  name        text not null check (name <> ''),
  name_key    text not null generated always as (lower(name)) stored,
  description text not null default '',
  created_at  timestamptz not null,
  revoked_at  timestamptz,
  primary key (tenant_id, id)
);
-- The name of a revoked account can be used again.
create unique index service_accounts_name on service_accounts (tenant_id, name_key) where revoked_at is null;
create index service_accounts_by_name on service_accounts (tenant_id, name_key, id);

create table service_account_roles (
  tenant_id  uuid not null,
  account_id uuid not null,
  role       text not null,
  primary key (tenant_id, account_id, role),
  foreign key (tenant_id, account_id) references service_accounts,
  constraint service_account_roles_role foreign key (tenant_id, role) references roles,
  constraint service_account_roles_no_owner check (role <> 'owner')
);
create index service_account_roles_by_role on service_account_roles (tenant_id, role);

create table service_account_keys (
  tenant_id  uuid not null,
  id         uuid not null,
  account_id uuid not null,
  -- SHA-256 of the secret. The secret has 256 random bits, so it needs no password hash.
  hash       bytea not null check (length(hash) = 32),
  created_at timestamptz not null,
  expires_at timestamptz,
  used_at    timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, account_id) references service_accounts
);
create index service_account_keys_account on service_account_keys (tenant_id, account_id);

-- Links by which members confirm their address and sign in. Another one to a member ends the one before.
create table invitations (
  tenant_id   uuid not null,
  id          uuid not null,
  member_id   uuid not null,
  -- Where the link was sent, and the roles that the member had then: it is good for no other address, and no more roles.
  address     text not null check (address <> ''),
  roles       text[] not null,
  invited_by  text not null,
  created_at  timestamptz not null,
  -- When the mail leaves. That can be later: only so many leave in a day.
  sent_at     timestamptz not null,
  expires_at  timestamptz not null,
  accepted_at timestamptz,
  revoked_at  timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, member_id) references members,
  constraint invitations_one_end check (accepted_at is null or revoked_at is null)
);
create unique index invitations_open on invitations (tenant_id, member_id)
  where accepted_at is null and revoked_at is null;
create index invitations_member on invitations (tenant_id, member_id);
create index invitations_sent on invitations (tenant_id, sent_at);
create index invitations_expiry on invitations (tenant_id, expires_at);

-- Changes of addresses with which members have signed in, by others. The old address is told, agrees or refuses.
create table address_changes (
  tenant_id     uuid not null,
  id            uuid not null,
  member_id     uuid not null,
  from_address  text not null check (from_address <> ''),
  to_address    text not null check (to_address <> ''),
  changed_by    text not null,
  created_at    timestamptz not null,
  -- When the mails to the old address have left.
  told_at       timestamptz,
  told_again_at timestamptz,
  agreed_at     timestamptz,
  refused_at    timestamptz,
  ended_at      timestamptz,
  primary key (tenant_id, id),
  foreign key (tenant_id, member_id) references members,
  constraint address_changes_told check (told_again_at is null or told_at is not null),
  constraint address_changes_refused check (refused_at is null or ended_at is not null)
);
create unique index address_changes_open on address_changes (tenant_id, member_id) where ended_at is null;
create index address_changes_member on address_changes (tenant_id, member_id, created_at);
create index address_changes_ended on address_changes (tenant_id, ended_at) where ended_at is not null;

-- Mails about signing in, until they have left or are worth nothing any more. They leave by the platform's account, and
-- no RPC reads them: what a tenant could read, its staff could sign in with.
create table platform_mails (
  tenant_id  uuid not null references tenants,
  id         uuid not null,
  kind       text not null
    check (kind in ('SIGN_IN_CODE', 'INVITATION', 'PASSKEY_ADDED', 'ADDRESS_CHANGED', 'ACCOUNT_LINKED')),
  -- What the mail is about, such as an invitation: it is withdrawn with that.
  about      uuid not null,
  -- The address and what the mail says, sealed with a key that the database never sees, and bound to the tenant.
  sealed     bytea not null check (length(sealed) between 1 and 8192),
  attempts   integer not null default 0 check (attempts >= 0),
  due_at     timestamptz not null,
  expires_at timestamptz not null,
  primary key (tenant_id, id)
);
create index platform_mails_due on platform_mails (tenant_id, due_at, id);
create index platform_mails_about on platform_mails (tenant_id, about);

-- +goose Down
drop table platform_mails, address_changes, invitations, service_account_keys, service_account_roles,
  service_accounts, sign_in_guesses, sign_in_codes, sign_in_addresses, passkeys, sign_ins, ownership_transfers, contact_codes,
  pending_contacts, devices, member_roles, members, roles;
