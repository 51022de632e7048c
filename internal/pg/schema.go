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

// How a database's schema can differ from a program's migrations, by what can be done about it.
var (
	// ErrSchemaBehind says that migrations have yet to be applied: perhaps some, perhaps all.
	ErrSchemaBehind = errors.New("the schema is not complete")
	// ErrSchemaAhead says that all migrations were applied, and others after them.
	ErrSchemaAhead = errors.New("the schema is newer than this program")
	// ErrSchemaAltered says that what was applied is not what this program would have applied. No migration leads from
	// there to here.
	ErrSchemaAltered = errors.New("the schema was made by another draft of the migrations")
)

// CheckSchema compares what was applied to the database with the migrations in fsys. Its errors are ErrSchemaBehind,
// ErrSchemaAhead and ErrSchemaAltered, each with what was found, or the database's own.
func (db *DB) CheckSchema(ctx context.Context, fsys fs.FS) error {
	known, err := readMigrations(fsys)
	if err != nil {
		return err
	}
	rows, err := db.reads.Query(ctx, listApplied)
	if err != nil {
		return unmigrated(err)
	}
	applied, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m migration, err error) {
		return m, row.Scan(&m.version, &m.digest)
	})
	if err != nil {
		return unmigrated(err)
	}
	return compareSchema(known, applied)
}

// unmigrated recognizes the answers of a database in which not even the first migration was applied. That one makes the role
// and lets it read the list; another database of the same server may have made the role before.
func unmigrated(err error) error {
	switch Code(err) {
	case codeNoRole, codeNoTable, codeNoPrivilege:
		return fmt.Errorf("%w: nothing has been migrated yet", ErrSchemaBehind)
	default:
		return undigested(err)
	}
}

// undigested recognizes a list of migrations from before digests were kept.
func undigested(err error) error {
	if Code(err) == codeNoColumn {
		return fmt.Errorf("%w, one that kept no digests of them", ErrSchemaAltered)
	}
	return fmt.Errorf("read what was migrated: %w", err)
}

// listApplied leaves out version 0, which stands for the empty database.
const listApplied = "select version_id, digest from " + goose.DefaultTablename + " where version_id > 0 order by version_id"

// migration is one that a program has, or one that was applied to a database, which remembers no names.
type migration struct {
	version int64
	name    string
	digest  []byte // SHA-256 of the text; nil if it was applied by something that keeps none
}

// readMigrations gives the migrations of a folder in the order of their versions.
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
		// Git may have written the lines' ends as the system likes them.
		sum := sha256.Sum256(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
		all = append(all, migration{version: version, name: name, digest: sum[:]})
	}
	slices.SortFunc(all, func(a, b migration) int { return cmp.Compare(a.version, b.version) })
	return all, nil
}

// compareSchema wants both lists to be the same. Otherwise one of them has to be the beginning of the other, or nothing leads from
// one to the other.
func compareSchema(known, applied []migration) error {
	for i := range min(len(known), len(applied)) {
		switch k, a := known[i], applied[i]; {
		case a.version > k.version:
			return fmt.Errorf("%w: %s was left out before %d was applied", ErrSchemaAltered, k.name, a.version)
		case a.version < k.version:
			return fmt.Errorf("%w: it has migration %d, which is not known here", ErrSchemaAltered, a.version)
		case a.digest == nil:
			return fmt.Errorf("%w: of %s it keeps no digest", ErrSchemaAltered, k.name)
		case !bytes.Equal(a.digest, k.digest):
			return fmt.Errorf("%w: %s was applied with another text", ErrSchemaAltered, k.name)
		}
	}
	switch {
	case len(applied) < len(known):
		return fmt.Errorf("%w: %s has not been applied", ErrSchemaBehind, known[len(applied)].name)
	case len(applied) > len(known):
		return fmt.Errorf("%w: it has migration %d, which is not known here", ErrSchemaAhead, applied[len(known)].version)
	default:
		return nil
	}
}
