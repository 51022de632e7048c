package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Finding is a setting of the server that an operator should change.
type Finding struct {
	// Setting is a server setting or an attribute of a role.
	Setting string
	// Have is the actual value, Want the recommended one.
	Have, Want string
	// Why says in one sentence what happens otherwise.
	Why string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s is %s, want %s: %s", f.Setting, f.Have, f.Want, f.Why)
}

// Doctor checks the server and the roles, for a number of connections. No findings means that all is well.
func (db *DB) Doctor(ctx context.Context, connections int) ([]Finding, error) {
	const examine = `
select setting, have, want, why from (
select 'max_pred_locks_per_transaction', current_setting('max_pred_locks_per_transaction'), 'at least 1024',
       'Otherwise batches lock whole tables and fail with false conflicts. The slowest take ten times as long.',
       current_setting('max_pred_locks_per_transaction')::int >= 1024
union all
select 'max_pred_locks_per_page', current_setting('max_pred_locks_per_page'), 'at least 64',
       'Otherwise bookings of sessions that are neighbours on disk fail with false conflicts, at half the speed.',
       current_setting('max_pred_locks_per_page')::int >= 64
union all
select 'server_version', current_setting('server_version'), 'at least 15',
       'Older servers are not tested.',
       current_setting('server_version_num')::int >= 150000
union all
select 'fsync', current_setting('fsync'), 'on',
       'A crash of the machine can corrupt the database.',
       current_setting('fsync') = 'on'
union all
select 'full_page_writes', current_setting('full_page_writes'), 'on',
       'A crash of the machine can corrupt the database.',
       current_setting('full_page_writes') = 'on'
union all
select 'synchronous_commit', current_setting('synchronous_commit'), 'on',
       'A crash can lose bookings that were acknowledged, for a gain of two per cent.',
       current_setting('synchronous_commit') not in ('off', 'local')
union all
select 'max_connections', current_setting('max_connections'), 'at least ' || $1::int + reserved,
       'All nodes, and one more during an upgrade, need that many, and more if other clients share the server.',
       current_setting('max_connections')::int >= $1::int + reserved
from (select sum(setting::int) reserved from pg_settings
      where name in ('superuser_reserved_connections', 'reserved_connections')) s
union all
select 'role ' || rolname,
       case when rolsuper then 'superuser' else 'bypassing row-level security' end,
       'neither superuser nor bypassing row-level security',
       'Row-level security keeps tenants apart, and it does not apply to this role.',
       not (rolsuper or rolbypassrls)
from pg_roles where rolname = current_user
union all
select 'login role ' || rolname, 'superuser', 'a plain member of ' || current_user,
       'The service should not be able to become more than ' || current_user || '.',
       not rolsuper
from pg_roles where rolname = session_user and session_user <> current_user
) s (setting, have, want, why, fine) where not fine`
	// CollectRows returns the error of Query, too.
	rows, _ := db.reads.Query(ctx, examine, connections)
	findings, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Finding])
	if err != nil {
		return nil, fmt.Errorf("examine the server: %w", err)
	}
	return findings, nil
}
