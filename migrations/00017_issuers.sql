-- +goose Up

-- The issuer whose tokens have the member's subject. Empty until the member signs in with the sign-in service.
alter table members
  add column issuer text not null default '' check (length(issuer) <= 500),
  add constraint members_issuer check (issuer = '' or subject <> '');

-- +goose Down
alter table members drop column issuer;
