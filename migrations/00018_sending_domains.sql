-- +goose Up

-- When the records of the tenant's sending domain, which is in the sealed text, are looked up. Null: it has none that is
-- verified.
alter table notification_senders add column domain_check_at timestamptz;

-- +goose Down
alter table notification_senders drop column domain_check_at;
