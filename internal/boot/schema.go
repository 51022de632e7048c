package boot

import (
	"context"
	"errors"
	"fmt"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/migrations"
)

// OpenDatabase connects to the database for a command that does one thing and ends. It rejects a pooler that changes
// sessions, and a schema of another version than this binary's. The caller closes it.
func OpenDatabase(ctx context.Context, config pg.Config) (*pg.DB, error) {
	db, err := pg.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	if err = db.CheckPooler(ctx); err == nil {
		err = CheckSchema(ctx, db)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// CheckSchema compares the database with the migrations that this binary was built with.
func CheckSchema(ctx context.Context, db *pg.DB) error {
	return AdviseOnSchema(db.CheckSchema(ctx, migrations.FS))
}

const (
	adviceBehind  = "run `berth migrate` with the URL of the role that owns the tables"
	adviceAhead   = "use the berth version that migrated this database, or a newer one"
	adviceAltered = "this database cannot be upgraded in place: start with an empty one, " +
		"or dump its data and restore it into a database " +
		"that this version has migrated (docs/operations.md, Upgrading)"
)

// AdviseOnSchema adds advice for the operator to an error about the schema. It returns other errors unchanged.
func AdviseOnSchema(err error) error {
	switch {
	case errors.Is(err, pg.ErrSchemaBehind):
		return fmt.Errorf("%w; %s", err, adviceBehind)
	case errors.Is(err, pg.ErrSchemaAhead):
		return fmt.Errorf("%w; %s", err, adviceAhead)
	case errors.Is(err, pg.ErrSchemaMismatch):
		return fmt.Errorf("%w; %s", err, adviceAltered)
	default:
		return err
	}
}
