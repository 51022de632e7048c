package main

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// startServe starts a server on the database and returns its address.
func startServe(t *testing.T, db *pgtest.DB, data string, more ...string) (*command, string) {
	t.Helper()
	makeKeys(t, data)
	c := start(t, append([]string{
		"serve", "--database-url", db.URL, "--data", data, "--listen", "127.0.0.1:0", "--log-format", "text",
		"--lame-duck", "0s",
	}, more...)...)
	address, _, _ := strings.Cut(c.err.after(t, "address="), " ")
	return c, "http://" + address
}

// makeKeys makes the keys in a data folder, if it has none.
func makeKeys(t *testing.T, data string) {
	t.Helper()
	runBerth(t, "keys", "new", "--data", data)
}

// newTenant creates a tenant, and returns its id and a token of its owner.
func newTenant(t *testing.T, db *pgtest.DB, data string) (id, token string) {
	t.Helper()
	makeKeys(t, data)
	id = strings.TrimSpace(runBerth(
		t, "tenant", "create", "--database-url", db.URL, "--name", "Harbour Yoga", "--time-zone", "Europe/Berlin",
		"--owner-subject", "olga", "--owner-name", "Olga",
	))
	return id, strings.TrimSpace(runBerth(t, "token", "olga", "--tenant", id, "--data", data))
}

func TestServe_WorksAfterMigrateAndTenantCreate(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	empty := emptyDatabase(t, db)
	makeKeys(t, data)
	c := start(t, "serve", "--database-url", empty, "--data", data, "--listen", "127.0.0.1:0")
	test.EqOp(t, 1, c.wait(t), test.Sprintf("without a schema it says %s", c.err))
	test.StrContains(t, c.err.String(), "run `berth migrate`", test.Sprintf("without a schema it says %s", c.err))
	test.StrContains(t, runBerth(t, "migrate", "--database-url", empty), "migrated 00001", test.Sprint("migrate says"))
	said := runBerth(
		t, "migrate", "--database-url", empty,
	)
	test.StrNotContains(t, said, "migrated", test.Sprintf("the second time migrate says %s", said))
	test.StrContains(t, said, "up to date", test.Sprintf("the second time migrate says %s", said))
	migrated := &pgtest.DB{URL: empty}
	id, token := newTenant(t, migrated, data)
	again := runBerth(
		t, "tenant", "create", "--database-url", empty, "--id", id, "--name", "Other", "--time-zone", "UTC",
		"--owner-subject", "x", "--owner-name", "X",
	)
	test.EqOp(t, id, strings.TrimSpace(again), test.Sprintf("creating it again gives %s", again))
	c, address := startServe(t, migrated, data)
	name := expect.Value(getTenant(t.Context(), address, token))(t)
	test.EqOp(t, "Harbour Yoga", name, test.Sprintf("%q", name))
	status, body := get(t, address+"/readyz")
	test.EqOp(t, http.StatusOK, status, test.Sprintf("not ready: %d %s", status, body))
	admin, _, _ := strings.Cut(c.err.after(t, "admin_address="), " ")
	for path, want := range map[string]string{
		"/metrics": `berth_build_info{commit="`, "/healthz": "ok", "/readyz": "ready", "/": "404",
	} {
		_, body := get(t, "http://"+admin+path)
		test.StrContains(t, body, want, test.Sprint(path))
	}
	_, body = get(t, address+"/metrics") // a page of the console
	test.StrNotContains(t, body, "go_goroutines", test.Sprint("strangers read metrics"))
	test.StrContains(t, runBerth(t, "verify", "--database-url", empty), "1 tenants", test.Sprint("verify says"))
	c.stop()
	test.EqOp(t, 0, c.wait(t), test.Sprint("stopped with status"))
}

func emptyDatabase(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	u := expect.Value(url.Parse(db.URL))(t)
	name := strings.TrimPrefix(u.Path, "/") + "_empty"
	expect.OK(t)(db.Owner.Exec(t.Context(), "create database "+name))
	t.Cleanup(func() { _, _ = db.Owner.Exec(context.Background(), "drop database "+name+" with (force)") })
	u.Path = "/" + name
	return u.String()
}

func TestDoctor_ReportsEveryProblem(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), filepath.Join(t.TempDir(), "new") // the first command on a machine
	c := start(t, "doctor", "--database-url", db.URL, "--data", data)
	test.EqOp(t, 1, c.wait(t))
	test.StrContains(t, c.out.String(), "✗ check-in and message keys")
	test.StrContains(t, c.out.String(), filepath.Join(data, "check-in.key"))
	test.StrContains(t, c.out.String(), "berth keys new")

	made := strings.Fields(runBerth(t, "keys", "new", "--data", data))
	test.SliceLen(t, 3, made)
	again := start(t, "keys", "new", "--data", data)
	test.EqOp(t, 0, again.wait(t))
	test.EqOp(t, "", again.out.String())
	c = start(
		t, "doctor", "--database-url", db.URL, "--data", data, "--identity-issuer", "https://login.test", "--identity-keys",
		filepath.Join(data, "none.json"),
	)
	test.EqOp(t, 1, c.wait(t)) // tests run without fsync, and as a superuser
	test.StrNotContains(t, c.out.String(), "max_connections")
	for nodes, want := range map[string]string{
		"20": "✗ max_connections is 400, want at least 591: ", "0": "✗ database: --nodes is 0; it must be from 1 to 1000",
	} {
		many := start(t, "doctor", "--database-url", db.URL, "--data", data, "--nodes", nodes)
		test.EqOp(t, 1, many.wait(t))
		test.StrContains(t, many.out.String(), want)
	}
	for _, want := range []string{"✓ check-in and message keys", "✗ keys for tokens", "✗ fsync", "✓ database"} {
		test.StrContains(t, c.out.String(), want, test.Sprintf("no %q in %s", want, c.out))
	}
}

func TestServe_ReportsAddressInUse(t *testing.T) {
	t.Parallel()
	taken := expect.Value(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	for _, command := range []string{"serve", "dev"} {
		for _, flag := range []string{"--listen", "--admin-listen"} {
			c := start(
				t, command, "--database-url", "postgres://nobody.invalid/x", "--data", t.TempDir(), "--listen", "127.0.0.1:0",
				flag, taken.Addr().String(),
			)
			test.EqOp(t, 1, c.wait(t))
			test.StrContains(t, c.err.String(), "taken by another program")
			test.StrContains(t, c.err.String(), flag+" 127.0.0.1:0")
		}
	}
}

// A change of roles on one node applies on the other.
func TestRoleChange_AppliesOnEveryNode(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	id, owner := newTenant(t, db, data)
	in := tenant.MustParse[tenant.TenantID](id)
	_, first := startServe(t, db, data)
	_, second := startServe(t, db, data)
	person := createMember(t, first, owner, "mia")
	mia := strings.TrimSpace(runBerth(t, "token", "mia", "--tenant", id, "--data", data))

	list := func(address string) error {
		_, err := berthv1connect.NewMemberServiceClient(http.DefaultClient, address).
			ListMembers(t.Context(), as(mia, &v1.ListMembersRequest{TenantId: in.String()}))
		return err
	}
	for _, address := range []string{first, second} {
		err := list(address)
		must.EqOp(t, connect.CodePermissionDenied, connect.CodeOf(err), must.Sprintf("a member may list members: %v", err))
	}
	expect.OK(t)(berthv1connect.NewAccessServiceClient(http.DefaultClient, first).
		AssignRole(t.Context(), as(owner, &v1.AssignRoleRequest{MemberId: person, Role: tenant.RoleCoach})))
	test.NoError(t, list(first), test.Sprint("the node that changed it"))
	eventually(t, "the other node lets them in", func() bool { return list(second) == nil })
}

func createMember(t *testing.T, address, token, subject string) string {
	t.Helper()
	return expect.Value(berthv1connect.NewMemberServiceClient(http.DefaultClient, address).
		CreateMember(t.Context(), as(token, &v1.CreateMemberRequest{
			Member: &v1.MemberInput{Name: subject, Subject: subject},
		})))(t).Msg.GetMember().GetId()
}

func as[T any](token string, message *T) *connect.Request[T] {
	request := connect.NewRequest(message)
	request.Header().Set("Authorization", "Bearer "+token)
	return request
}

// eventually waits until a condition holds that another process or goroutine fulfils.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(waitTimeout)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		must.False(t, time.Now().After(deadline), must.Sprintf("never: %s", what))
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

// A server that stops says so before it closes its port, so that load balancers lose no request.
func TestStop_ServesUntilLoadBalancersKnow(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	_, token := newTenant(t, db, data)
	c, address := startServe(t, db, data, "--lame-duck", "6s")
	c.stop()
	eventually(t, "it is not ready", func() bool {
		status, _ := sendHTTP(t, http.MethodGet, address+"/readyz", nil, "")
		return status == http.StatusServiceUnavailable
	})
	expect.OK(t)(getTenant(t.Context(), address, token))
	test.EqOp(t, 0, c.wait(t))
	test.StrContains(t, c.err.String(), "lame_duck=6s")
}

// A request that is running when the server stops is completed, or cancelled after the drain time.
func TestStop_FinishesRunningRequestsWithinTheDrainTime(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		drain    string
		answered bool
	}{
		"patiently":   {"30s", true},
		"impatiently": {"10ms", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, data := pgtest.New(t), t.TempDir()
			_, token := newTenant(t, db, data)
			c, address := startServe(t, db, data, "--drain", tc.drain)
			expect.OK(t)(getTenant(t.Context(), address, token)) // and now the roles are cached
			// All reads of tenants wait for this lock.
			blocker := expect.Value(db.Owner.Begin(t.Context()))(t)
			defer blocker.Rollback(context.Background())
			expect.OK(t)(blocker.Exec(t.Context(), "lock table tenants in access exclusive mode"))
			answer := make(chan error, 1)
			go func() {
				_, err := getTenant(context.WithoutCancel(t.Context()), address, token)
				answer <- err
			}()
			eventually(t, "the request waits", func() bool {
				var waiting int
				// Other reads of tenants may wait too. Only the request reads these columns.
				err := db.Owner.QueryRow(t.Context(), `
					select count(*) from pg_stat_activity
					where datname = current_database() and wait_event_type = 'Lock'
					  and query like '%t.currency, t.takes_payments%from tenants t%'`).Scan(&waiting)
				return err == nil && waiting > 0
			})
			c.stop()
			c.err.after(t, "msg=stopping")
			if tc.answered {
				must.NoError(t, blocker.Rollback(t.Context()))
			}
			err := <-answer
			test.EqOp(t, (err == nil), tc.answered, test.Sprintf("the request got %v", err))
			test.EqOp(t, 0, c.wait(t))
		})
	}
}
