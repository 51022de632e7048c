package pg

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
)

// The ways in which a database's schema can differ from the program's migrations. Each needs another remedy.
var (
	// ErrSchemaBehind says that some or all migrations are still to be applied.
	ErrSchemaBehind = errors.New("the schema is not complete")
	// ErrSchemaAhead says that all migrations have been applied, and later ones, too.
	ErrSchemaAhead = errors.New("the schema is newer than this program")
	// ErrSchemaMismatch says that the migrations that were applied are not this program's. It cannot be migrated.
	ErrSchemaMismatch = errors.New("the schema was made by another version of the migrations")
)

// CheckSchema compares the migrations applied to the database with those in fsys. It returns ErrSchemaBehind,
// ErrSchemaAhead or ErrSchemaMismatch with details, or the database's error.
func (db *DB) CheckSchema(ctx context.Context, fsys fs.FS) error {
	known, err := readMigrations(fsys)
	if err != nil {
		return err
	}
	rows, err := db.reads.Query(ctx, listApplied)
	if err != nil {
		return checkError(err)
	}
	applied, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m migration, err error) {
		return m, row.Scan(&m.version, &m.digest)
	})
	if err != nil {
		return checkError(err)
	}
	return compareSchema(known, applied)
}

// checkError recognizes a database without even the first migration. That one creates the role and lets it read the
// table of versions. The role may exist without it, because roles are shared by all databases of a server.
func checkError(err error) error {
	switch Code(err) {
	case codeInvalidValue, codeNoTable, codeNoPrivilege:
		return fmt.Errorf("%w: no migration has been applied", ErrSchemaBehind)
	default:
		return listError(err)
	}
}

// listError recognizes a table of versions without digests.
func listError(err error) error {
	if Code(err) == codeNoColumn {
		return fmt.Errorf("%w: it has no digests of them", ErrSchemaMismatch)
	}
	return fmt.Errorf("read the applied migrations: %w", err)
}

// listApplied leaves out version 0, the empty database.
const listApplied = "select version_id, digest from " + goose.DefaultTablename +
	" where version_id > 0 order by version_id"

// migration is one of a program's migrations, or one that was applied to a database, which stores no name.
type migration struct {
	version int64
	name    string
	digest  []byte // SHA-256 of the text; nil if another tool applied it
}

// readMigrations returns the migrations of a folder, ordered by version.
func readMigrations(fsys fs.FS) ([]migration, error) {
	names, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return nil, err
	}
	all := make([]migration, 0, len(names))
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", name, err)
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		// Git may convert line endings on checkout.
		sum := sha256.Sum256(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
		all = append(all, migration{version: version, name: name, digest: sum[:]})
	}
	slices.SortFunc(all, func(a, b migration) int { return cmp.Compare(a.version, b.version) })
	return all, nil
}

// compareSchema returns nil if both lists are the same, ErrSchemaBehind or ErrSchemaAhead if one is a prefix of
// the other, else ErrSchemaMismatch.
func compareSchema(known, applied []migration) error {
	for i := range min(len(known), len(applied)) {
		switch k, a := known[i], applied[i]; {
		case a.version > k.version:
			return fmt.Errorf("%w: %s was skipped, %d has been applied", ErrSchemaMismatch, k.name, a.version)
		case a.version < k.version:
			return fmt.Errorf("%w: it has migration %d, which this program does not know", ErrSchemaMismatch, a.version)
		case a.digest == nil:
			return fmt.Errorf("%w: it has no digest of %s", ErrSchemaMismatch, k.name)
		case !bytes.Equal(a.digest, k.digest):
			return fmt.Errorf("%w: %s was applied with different text", ErrSchemaMismatch, k.name)
		}
	}
	switch {
	case len(applied) < len(known):
		return fmt.Errorf("%w: %s has not been applied", ErrSchemaBehind, known[len(applied)].name)
	case len(applied) > len(known):
		return fmt.Errorf("%w: it has migration %d, which this program does not know",
			ErrSchemaAhead, applied[len(known)].version)
	default:
		return nil
	}
}
