package pg

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// Migrate applies the migrations in fsys that the database has not seen, in
// order, each in its own transaction. It connects as the role that owns the
// tables. Several processes may call it at once: one works, the others wait.
// progress hears a line about each applied migration; it may be nil.
func Migrate(ctx context.Context, ownerURL string, fsys fs.FS, progress func(line string)) error {
	config, err := parseURL(ownerURL)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config.ConnConfig)
	defer db.Close()

	// Others are waited for as long as ctx allows: asked every second, for a day.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 24*60*60))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	migrations, err := goose.NewProvider(goose.DialectPostgres, db, fsys,
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
