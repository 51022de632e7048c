// Package pgtest gives each test its own migrated database on a real Postgres server. A test only calls New.
// Each test process starts its server on the first call, and the server ends with the process, however it ends.
//
// If TEST_DATABASE_URL has the URL of a superuser, the databases are created on that server instead.
//
// If BERTH_TEST_SCHEMA_EDIT has a statement, the databases of this process are as if it followed the migrations.
// Tools measure with it what tests notice. Nothing of it is kept or shared with other processes.
//
// If BERTH_TEST_MARKS has a text, comments of statements that begin with it are printed when the statement is sent, so
// that tools know which tests send it.
package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/migrations"
)

// DB is one test's database.
type DB struct {
	// DB is the database as the service sees it: as the runtime role, under row-level security.
	*pg.DB
	// Owner can read and change everything, for fixtures and assertions.
	Owner *pgxpool.Pool
	// URL connects as the owner, a superuser. It may use a Unix socket; TCP is for a proxy in between.
	URL, TCP string
}

// New returns a database with the real schema. It is dropped when the test ends.
// adapt may change the configuration.
func New(t testing.TB, adapt ...func(*pg.Config)) *DB {
	t.Helper()
	return NewFrom(t, migrations.FS, adapt...)
}

// NewFrom is like New with another schema.
func NewFrom(t testing.TB, schema fs.FS, adapt ...func(*pg.Config)) *DB {
	t.Helper()
	s, err := serverFor(schema)
	must.NoError(t, err, must.Sprint("pgtest"))
	return s.newDB(t, s.template, adapt...)
}

// A Template is a database with data that many tests begin with. It is filled once in each test process.
type Template struct {
	once sync.Once
	name string
	err  error
}

// New returns a copy of the template. Fill fills the template when it is first needed.
func (template *Template) New(t testing.TB, fill func(*DB), adapt ...func(*pg.Config)) *DB {
	t.Helper()
	s, err := serverFor(migrations.FS)
	must.NoError(t, err, must.Sprint("pgtest"))
	template.once.Do(func() {
		template.err = errors.New("the template was not filled") // stays if fill fails the test
		template.name, template.err = s.fillTemplate(t.Context(), fill)
	})
	must.NoError(t, template.err, must.Sprint("pgtest"))
	return s.newDB(t, template.name, adapt...)
}

// newDB copies a database and opens the copy.
func (s *server) newDB(t testing.TB, template string, adapt ...func(*pg.Config)) *DB {
	t.Helper()
	ctx := t.Context()
	name, err := s.copyDB(ctx, template)
	must.NoError(t, err, must.Sprint("pgtest"))
	t.Cleanup(func() {
		_, err := s.admin.Exec(context.WithoutCancel(ctx), "drop database "+name+" with (force)")
		test.NoError(t, err, test.Sprint("pgtest"))
	})
	db, err := s.open(ctx, name, adapt...)
	must.NoError(t, err, must.Sprint("pgtest"))
	t.Cleanup(db.close)
	return db
}

// copyDB creates a database as a copy of a template.
func (s *server) copyDB(ctx context.Context, template string) (string, error) {
	name := fmt.Sprintf("%s_%d", s.prefix, s.count.Add(1))
	_, err := s.admin.Exec(ctx, "create database "+name+" template "+template+s.strategy)
	return name, err
}

// fillTemplate creates a database and fills it. Postgres copies only databases without connections, so they are closed.
func (s *server) fillTemplate(ctx context.Context, fill func(*DB)) (string, error) {
	name, err := s.copyDB(ctx, s.template)
	if err != nil {
		return "", err
	}
	db, err := s.open(ctx, name)
	if err != nil {
		return "", err
	}
	defer db.close()
	fill(db)
	return name, nil
}

func (s *server) open(ctx context.Context, name string, adapt ...func(*pg.Config)) (*DB, error) {
	config := pg.Config{
		URL: s.urlOf(name), CommandConns: 8, ReadConns: 4,
		// Tests run on a busy machine and are not about timeouts.
		StatementTimeout: timeout, LockTimeout: timeout, IdleTimeout: timeout,
	}
	for _, change := range adapt {
		change(&config)
	}
	traceMarks(&config)
	db, err := pg.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	owner, err := db.OpenPool(ctx, 4, map[string]string{"role": "none"}) // the role that logged in
	if err != nil {
		db.Close()
		return nil, err
	}
	return &DB{DB: db, Owner: owner, URL: config.URL, TCP: urlIn(s.tcp, name)}, nil
}

func (db *DB) close() {
	db.Owner.Close()
	db.DB.Close()
}

// timeout is far longer than any statement of a test takes.
const timeout = 10 * time.Minute

// server is where a test process creates its databases.
type server struct {
	admin    *pgxpool.Pool
	url, tcp *url.URL
	template string
	strategy string
	prefix   string
	count    atomic.Int64
}

func (s *server) urlOf(database string) string { return urlIn(s.url, database) }

// urlIn returns the URL of another database of the same server.
func urlIn(server *url.URL, database string) string {
	u := *server
	u.Path = "/" + database
	return u.String()
}

var servers sync.Map // hash of the schema → func() (*server, error), run once

func serverFor(schema fs.FS) (*server, error) {
	hash, err := hashOf(schema)
	if err != nil {
		return nil, err
	}
	start, _ := servers.LoadOrStore(hash, sync.OnceValues(func() (*server, error) {
		given, edit := os.Getenv("TEST_DATABASE_URL"), os.Getenv(schemaEdit)
		if schema != fs.FS(migrations.FS) {
			edit = "" // another schema has other tables
		}
		switch {
		case given != "" && edit != "":
			return nil, errors.New(schemaEdit + " needs a server of its own, and TEST_DATABASE_URL is set")
		case given != "":
			return external(given, schema, hash)
		}
		s, err := local(schema, hash)
		if err == nil && edit != "" {
			err = s.edit(edit)
		}
		return s, err
	}))
	return start.(func() (*server, error))()
}

// schemaEdit is the environment variable with a statement that changes the schema.
const schemaEdit = "BERTH_TEST_SCHEMA_EDIT"

// edit changes the template. It belongs to this process.
func (s *server) edit(statement string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.urlOf(s.template))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("%s: %w", schemaEdit, err)
	}
	return nil
}

// hashOf identifies a schema by the content of its files.
func hashOf(schema fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(schema, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := schema.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		fmt.Fprintf(sum, "%s\x00", path)
		_, err = io.Copy(sum, file)
		return err
	})
	fmt.Fprintf(sum, "\x00%s", os.Getenv("PG_BIN"))
	return hex.EncodeToString(sum.Sum(nil))[:12], err
}

// connect opens the pool that creates and drops databases.
func (s *server) connect(ctx context.Context, given string) (err error) {
	if s.url, err = url.Parse(given); err != nil {
		return err
	}
	config, err := pgxpool.ParseConfig(s.urlOf("postgres"))
	if err != nil {
		return err
	}
	config.MaxConns = 4
	config.ConnConfig.RuntimeParams["application_name"] = s.prefix
	s.admin, err = pgxpool.NewWithConfig(ctx, config)
	return err
}

// makeTemplate creates the database that is copied for each test. It works under another name,
// so an interrupted attempt is never used.
func (s *server) makeTemplate(ctx context.Context, schema fs.FS) error {
	draft := s.template + "_draft"
	for _, sql := range []string{
		"drop database if exists " + draft + " with (force)",
		"create database " + draft,
	} {
		if _, err := s.admin.Exec(ctx, sql); err != nil {
			return err
		}
	}
	if err := pg.Migrate(ctx, s.urlOf(draft), schema, nil); err != nil {
		return err
	}
	_, err := s.admin.Exec(ctx, "alter database "+draft+" rename to "+pgx.Identifier{s.template}.Sanitize())
	return err
}
