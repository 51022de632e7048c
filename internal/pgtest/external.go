package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
)

// external uses a server that is already running, which several test processes share. Only one of them at a time
// creates the template and sweeps, under an advisory lock. Each holds another lock until it ends,
// which tells the sweeper whose databases are left over.
func external(given string, schema fs.FS, hash string) (_ *server, err error) {
	ctx := context.Background()
	run := strings.ToLower(rand.Text()[:10])
	s := &server{template: "berth_template_" + hash, prefix: "berth_test_" + run}
	if err := s.connect(ctx, given); err != nil {
		return nil, err
	}
	s.tcp = s.url
	life, err := s.admin.Acquire(ctx) // never released: it ends with the process
	if err != nil {
		return nil, fmt.Errorf("TEST_DATABASE_URL: %w", err)
	}
	const lock = "select pg_advisory_lock(hashtext($1)), pg_advisory_lock(hashtext('berth_template'))"
	if _, err := life.Exec(ctx, lock, run); err != nil {
		return nil, err
	}
	defer func() {
		if _, unlock := life.Exec(ctx, "select pg_advisory_unlock(hashtext('berth_template'))"); err == nil {
			err = unlock
		}
	}()
	rows, err := s.admin.Query(ctx, `
		select datname from pg_database
		where datname ~ '^berth_test_[a-z0-9]{10}_'
		  and pg_try_advisory_xact_lock(hashtext(split_part(datname, '_', 3)))`)
	if err != nil {
		return nil, err
	}
	abandoned, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	for _, name := range abandoned {
		if _, err := s.admin.Exec(ctx, "drop database if exists "+name+" with (force)"); err != nil {
			return nil, err
		}
	}
	var ready bool
	row := s.admin.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", s.template)
	if err := row.Scan(&ready); err != nil {
		return nil, err
	}
	if !ready {
		err = s.makeTemplate(ctx, schema)
	}
	return s, err
}
