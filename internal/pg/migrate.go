package pg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"github.com/pressly/goose/v3/lock"
)

// Migrate applies the pending migrations in fsys in order, each in its own transaction, and stores a digest of each. It
// connects as the role that owns the tables. Several processes may call it at once: one works, the others wait. It
// refuses a database that differs from fsys by more than pending migrations: see ErrSchemaAhead and ErrSchemaMismatch.
// progress receives one line for each applied migration. It may be nil.
func Migrate(ctx context.Context, ownerURL string, fsys fs.FS, progress func(line string)) error {
	config, err := parseURL(ownerURL)
	if err != nil {
		return err
	}
	known, err := readMigrations(fsys)
	if err != nil {
		return err
	}
	if err := checkPooler(ctx, config.ConnConfig, nil); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	db := stdlib.OpenDB(*config.ConnConfig)
	defer db.Close()

	// Wait for other migrators as long as ctx allows: retry every second, for a day.
	locker, lockErr := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 24*60*60))
	versions, storeErr := database.NewStore(database.DialectPostgres, goose.DefaultTablename)
	if err := errors.Join(lockErr, storeErr); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	extender, ok := versions.(database.StoreExtender)
	if !ok {
		return fmt.Errorf("migrate: %T cannot list migrations", versions)
	}
	migrations, err := goose.NewProvider(goose.DialectCustom, db, fsys, goose.WithStore(digestStore{extender, known}),
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	applied, err := migrations.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	for _, m := range applied {
		if progress != nil {
			progress(fmt.Sprintf("migrated %s in %s", path.Base(m.Source.Path), m.Duration.Round(time.Millisecond)))
		}
	}
	return nil
}

// digestStore is goose's table of versions with a column for the digest.
type digestStore struct {
	database.StoreExtender
	known []migration
}

// CreateVersionTable implements database.Store. A table that already exists does not get the column:
// the texts that were applied to it are unknown.
func (d digestStore) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	if err := d.StoreExtender.CreateVersionTable(ctx, db); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "alter table "+goose.DefaultTablename+" add digest bytea")
	return err
}

// Insert implements database.Store. goose calls it in the migration's own transaction.
func (d digestStore) Insert(ctx context.Context, db database.DBTxConn, applied database.InsertRequest) error {
	var digest []byte
	for _, m := range d.known {
		if m.version == applied.Version {
			digest = m.digest
		}
	}
	_, err := db.ExecContext(ctx, "insert into "+goose.DefaultTablename+
		" (version_id, is_applied, digest) values ($1, true, $2)", applied.Version, digest)
	return err
}

// ListMigrations implements database.Store. goose calls it before it takes its lock, to see whether there is anything
// to do, and again with the lock before it applies anything. So nothing is applied on top of what a migrator with
// another version of the migrations did in between.
func (d digestStore) ListMigrations(
	ctx context.Context, db database.DBTxConn,
) ([]*database.ListMigrationsResult, error) {
	rows, err := db.QueryContext(ctx, listApplied)
	if err != nil {
		return nil, listError(err)
	}
	defer rows.Close()
	var applied []migration
	for rows.Next() {
		var m migration
		if err := rows.Scan(&m.version, &m.digest); err != nil {
			return nil, listError(err)
		}
		applied = append(applied, m)
	}
	if err := rows.Err(); err != nil {
		return nil, listError(err)
	}
	if err := compareSchema(d.known, applied); err != nil && !errors.Is(err, ErrSchemaBehind) {
		return nil, err
	}
	return d.StoreExtender.ListMigrations(ctx, db)
}
