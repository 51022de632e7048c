package pg

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

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
	var applied appliedMigrations
	if err := db.reads.QueryRow(ctx, listApplied).Scan(&applied); err != nil {
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

// listApplied returns a JSON array of migrations. It leaves out version 0, the empty database.
const listApplied = "select coalesce(json_agg(json_build_object('version', version_id, 'digest', " +
	"encode(digest, 'base64')) order by version_id), '[]')::text from " + goose.DefaultTablename + " where version_id > 0"

// migration is one of a program's migrations, or one that was applied to a database, which stores no name.
type migration struct {
	Version int64  `json:"version"`
	Name    string `json:"-"`
	Digest  []byte `json:"digest"` // SHA-256 of the text; nil if another tool applied it
}

// appliedMigrations are scanned from listApplied.
type appliedMigrations []migration

// Scan implements sql.Scanner.
func (a *appliedMigrations) Scan(value any) error {
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("the applied migrations are a %T, not a text", value)
	}
	return json.Unmarshal([]byte(text), (*[]migration)(a))
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
		all = append(all, migration{Version: version, Name: name, Digest: sum[:]})
	}
	slices.SortFunc(all, func(a, b migration) int { return cmp.Compare(a.Version, b.Version) })
	return all, nil
}

// compareSchema returns nil if both lists are the same, ErrSchemaBehind or ErrSchemaAhead if one is a prefix of
// the other, else ErrSchemaMismatch.
func compareSchema(known, applied []migration) error {
	for i := range min(len(known), len(applied)) {
		switch k, a := known[i], applied[i]; {
		case a.Version > k.Version:
			return fmt.Errorf("%w: %s was skipped, %d has been applied", ErrSchemaMismatch, k.Name, a.Version)
		case a.Version < k.Version:
			return fmt.Errorf("%w: it has migration %d, which this program does not know", ErrSchemaMismatch, a.Version)
		case a.Digest == nil:
			return fmt.Errorf("%w: it has no digest of %s", ErrSchemaMismatch, k.Name)
		case !bytes.Equal(a.Digest, k.Digest):
			return fmt.Errorf("%w: %s was applied with different text", ErrSchemaMismatch, k.Name)
		}
	}
	switch {
	case len(applied) < len(known):
		return fmt.Errorf("%w: %s has not been applied", ErrSchemaBehind, known[len(applied)].Name)
	case len(applied) > len(known):
		return fmt.Errorf("%w: it has migration %d, which this program does not know",
			ErrSchemaAhead, applied[len(known)].Version)
	default:
		return nil
	}
}
