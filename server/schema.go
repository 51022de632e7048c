package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/migrations"
)

// checkSchema compares the database with the migrations that this binary was built with.
func checkSchema(ctx context.Context, db *pg.DB) error {
	return advised(db.CheckSchema(ctx, migrations.FS))
}

// openDatabase is for commands that do one thing with the data, and then end. The caller closes it.
func openDatabase(ctx context.Context, config pg.Config) (*pg.DB, error) {
	db, err := pg.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := checkSchema(ctx, db); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

const (
	adviceBehind  = "run `berth migrate` with the URL of the role that is to own it"
	adviceAhead   = "use the berth that migrated this database, or a newer one"
	adviceAltered = "this database cannot be upgraded in place: start with an empty one, or dump the data of this one and restore them into one " +
		"that this berth has migrated (docs/operations.md, Upgrading)"
)

// advised adds to what is wrong with the schema what can be done about it.
func advised(err error) error {
	switch {
	case errors.Is(err, pg.ErrSchemaBehind):
		return fmt.Errorf("%w; %s", err, adviceBehind)
	case errors.Is(err, pg.ErrSchemaAhead):
		return fmt.Errorf("%w; %s", err, adviceAhead)
	case errors.Is(err, pg.ErrSchemaAltered):
		return fmt.Errorf("%w; %s", err, adviceAltered)
	default:
		return err
	}
}
