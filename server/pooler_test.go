package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// A node, a worker and commands work behind PgBouncer in session mode, and all refuse to start in transaction mode.
func TestServe_BehindPgBouncer(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	makeKeys(t, data)
	empty := emptyDatabase(t, db)

	pooled := pgBouncer(t, db, "transaction")
	commands := [][]string{
		{"migrate", "--database-url", inDatabase(t, pooled, empty)},
		{"serve", "--database-url", pooled, "--data", data, "--listen", "127.0.0.1:0"},
		{"worker", "--database-url", pooled, "--data", data, "--listen", "127.0.0.1:0", "--public-url", "http://berth.test"},
		{"verify", "--database-url", pooled},
		{
			"tenant", "create", "--database-url", pooled, "--data", data, "--name", "Harbour Yoga", "--time-zone", "UTC",
			"--owner-subject", "olga", "--owner-name", "Olga",
		},
	}
	for _, args := range commands {
		c := start(t, args...)
		test.EqOp(t, 1, c.wait(t), test.Sprint(args))
		test.StrContains(t, c.err.String(), "set its pool_mode to session", test.Sprint(args))
	}
	c := start(t, "doctor", "--database-url", pooled, "--data", data)
	test.EqOp(t, 1, c.wait(t))
	test.StrContains(t, c.out.String(), "✗ database: a connection pooler")

	session := &pgtest.DB{DB: db.DB, Owner: db.Owner, URL: pgBouncer(t, db, "session")}
	runBerth(t, "migrate", "--database-url", inDatabase(t, session.URL, empty))
	id, token := newTenant(t, session, data)
	test.NotEqOp(t, "", id)
	_, address := startServe(t, session, data)
	test.EqOp(t, "Harbour Yoga", expect.Value(getTenant(t.Context(), address, token))(t))
	var roles string
	expect.OK(t)(db.Owner.QueryRow(t.Context(), `select string_agg(distinct application_name, ',')
		from pg_stat_activity where datname = current_database() and query like '%listen%'`).Scan(&roles))
	test.StrContains(t, roles, "berth", test.Sprint("it listens through the pooler"))
	test.StrContains(t, runBerth(t, "verify", "--database-url", session.URL), "1 tenants")
}

// inDatabase returns a URL with the database of another one.
func inDatabase(t *testing.T, pooler, database string) string {
	t.Helper()
	u, other := expect.Value(url.Parse(pooler))(t), expect.Value(url.Parse(database))(t)
	u.Path = other.Path
	return u.String()
}

// pgBouncer starts PgBouncer in front of the server of a database, and returns the URL of the database there.
func pgBouncer(t *testing.T, db *pgtest.DB, mode string) string {
	t.Helper()
	binary, err := exec.LookPath("pgbouncer")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("install pgbouncer")
		}
		t.Skip("install pgbouncer to run this test")
	}
	at := expect.Value(url.Parse(db.TCP))(t)
	free := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	port := free.Addr().(*net.TCPAddr).Port
	must.NoError(t, free.Close())
	password, _ := at.User.Password()
	config := filepath.Join(t.TempDir(), "pgbouncer.ini")
	must.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `[databases]
* = host=%s port=%s user=%s password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = 60
max_client_conn = 200
`, at.Hostname(), at.Port(), at.User.Username(), password, port, mode), 0o600))
	args := []string{config}
	if os.Geteuid() == 0 {
		args = append(args, "-u", "nobody") // it does not run as root
	}
	c := exec.CommandContext(t.Context(), binary, args...)
	log := expect.Value(c.StderrPipe())(t)
	must.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
	})
	lines := make(chan string, 1)
	go func() {
		defer close(lines)
		buffer := make([]byte, 1<<16)
		var all strings.Builder
		for {
			n, err := log.Read(buffer)
			all.Write(buffer[:n])
			if err != nil || strings.Contains(all.String(), "process up") {
				lines <- all.String()
				_, _ = io.Copy(io.Discard, log) // until it ends
				return
			}
		}
	}()
	must.StrContains(t, <-lines, "process up")
	return (&url.URL{
		Scheme: "postgres", User: at.User, Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: at.Path,
		RawQuery: "sslmode=disable",
	}).String()
}
