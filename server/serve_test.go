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

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/gen/berth/v1/berthv1connect"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
)

// startServe starts a server on the database and returns its address.
func startServe(t *testing.T, db *pgtest.DB, data string, more ...string) (*command, string) {
	t.Helper()
	c := start(t, append([]string{
		"serve", "--database-url", db.URL, "--data", data, "--listen", "127.0.0.1:0", "--log-format", "text",
	}, more...)...)
	address, _, _ := strings.Cut(c.err.after(t, "address="), " ")
	return c, "http://" + address
}

// newTenant creates a tenant, and returns its id and a token of its owner.
func newTenant(t *testing.T, db *pgtest.DB, data string) (id, token string) {
	t.Helper()
	id = strings.TrimSpace(must(t, "tenant", "create", "--database-url", db.URL, "--name", "Harbour Yoga", "--time-zone",
		"Europe/Berlin",
		"--owner-subject", "olga", "--owner-name", "Olga"))
	return id, strings.TrimSpace(must(t, "token", "olga", "--tenant", id, "--data", data))
}

func TestServe_WorksAfterMigrateAndTenantCreate(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	empty := emptyDatabase(t, db)
	c := start(t, "serve", "--database-url", empty, "--data", data, "--listen", "127.0.0.1:0")
	if c.wait(t) != 1 || !strings.Contains(c.err.String(), "run `berth migrate`") {
		t.Errorf("without a schema it says %s", c.err)
	}
	if said := must(t, "migrate", "--database-url", empty); !strings.Contains(said, "migrated 00001") {
		t.Errorf("migrate says %s", said)
	}
	if said := must(
		t, "migrate", "--database-url", empty,
	); strings.Contains(said, "migrated") || !strings.Contains(said, "up to date") {
		t.Errorf("the second time migrate says %s", said)
	}
	migrated := &pgtest.DB{URL: empty}
	id, token := newTenant(t, migrated, data)
	again := must(
		t, "tenant", "create", "--database-url", empty, "--id", id, "--name", "Other", "--time-zone", "UTC",
		"--owner-subject", "x", "--owner-name", "X",
	)
	if strings.TrimSpace(again) != id {
		t.Errorf("creating it again gives %s", again)
	}
	c, address := startServe(t, migrated, data)
	name, err := getTenant(t.Context(), address, token)
	if err != nil || name != "Harbour Yoga" {
		t.Errorf("%q, %v", name, err)
	}
	if status, body := get(t, address+"/readyz"); status != http.StatusOK {
		t.Errorf("not ready: %d %s", status, body)
	}
	if _, body := get(
		t, address+"/metrics",
	); !strings.Contains(body, "berth_rpc_requests_total") || !strings.Contains(body, "go_goroutines") {
		t.Errorf("metrics: %s", body)
	}
	if said := must(t, "verify", "--database-url", empty); !strings.Contains(said, "1 tenants") {
		t.Errorf("verify says %s", said)
	}
	c.stop()
	if status := c.wait(t); status != 0 {
		t.Errorf("stopped with status %d", status)
	}
}

func emptyDatabase(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	u, err := url.Parse(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/") + "_empty"
	if _, err := db.Owner.Exec(t.Context(), "create database "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = db.Owner.Exec(context.Background(), "drop database "+name+" with (force)") })
	u.Path = "/" + name
	return u.String()
}

func TestDoctor_ReportsEveryProblem(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	c := start(
		t, "doctor", "--database-url", db.URL, "--data", data, "--identity-issuer", "https://login.test", "--identity-keys",
		filepath.Join(data, "none.json"),
	)
	if c.wait(t) != 1 { // tests run without fsync, and as a superuser
		t.Error("nothing was found")
	}
	for _, want := range []string{"✓ check-in key", "✗ keys for tokens", "✗ fsync", "✓ database"} {
		if !strings.Contains(c.out.String(), want) {
			t.Errorf("no %q in %s", want, c.out)
		}
	}
}

func TestServe_ReportsAddressInUse(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, command := range []string{"serve", "dev"} {
		c := start(
			t, command, "--database-url", "postgres://nobody.invalid/x", "--data", t.TempDir(), "--listen",
			taken.Addr().String(),
		)
		if c.wait(t) != 1 || !strings.Contains(
			c.err.String(), "taken by another program",
		) || !strings.Contains(c.err.String(), "--listen 127.0.0.1:0") {
			t.Errorf("%s says %s", command, c.err)
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
	mia := strings.TrimSpace(must(t, "token", "mia", "--tenant", id, "--data", data))

	list := func(address string) error {
		_, err := berthv1connect.NewMemberServiceClient(http.DefaultClient, address).
			ListMembers(t.Context(), as(mia, &v1.ListMembersRequest{TenantId: in.String()}))
		return err
	}
	for _, address := range []string{first, second} {
		if err := list(address); connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Fatalf("a member may list members: %v", err)
		}
	}
	if _, err := berthv1connect.NewAccessServiceClient(http.DefaultClient, first).
		AssignRole(t.Context(), as(owner, &v1.AssignRoleRequest{MemberId: person, Role: tenant.RoleCoach})); err != nil {
		t.Fatal(err)
	}
	if err := list(first); err != nil {
		t.Errorf("the node that changed it: %v", err)
	}
	eventually(t, "the other node lets them in", func() bool { return list(second) == nil })
}

func createMember(t *testing.T, address, token, subject string) string {
	t.Helper()
	answer, err := berthv1connect.NewMemberServiceClient(http.DefaultClient, address).
		CreateMember(t.Context(), as(token, &v1.CreateMemberRequest{
			Member: &v1.Member{Name: subject, Subject: subject, Roles: []string{tenant.RoleMember}},
		}))
	if err != nil {
		t.Fatal(err)
	}
	return answer.Msg.GetMember().GetId()
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
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

// A request that is running when the server stops is completed, or cancelled after the drain time.
func TestStop_FinishesRunningRequestsWithinTheDrainTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
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
			c, address := startServe(t, db, data, "--drain", test.drain)
			if _, err := getTenant(t.Context(), address, token); err != nil {
				t.Fatal(err) // and now the roles are cached
			}
			// All reads of tenants wait for this lock.
			blocker, err := db.Owner.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer blocker.Rollback(context.Background())
			if _, err := blocker.Exec(t.Context(), "lock table tenants in access exclusive mode"); err != nil {
				t.Fatal(err)
			}
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
			if test.answered {
				if err := blocker.Rollback(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-answer; test.answered != (err == nil) {
				t.Errorf("the request got %v", err)
			}
			if status := c.wait(t); status != 0 {
				t.Errorf("status %d", status)
			}
		})
	}
}
