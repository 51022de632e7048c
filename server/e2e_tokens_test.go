package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/grpc/codes"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

// maxDelay is how soon a change of roles must apply on every node of an idle machine. On a busy machine, up to
// maxStaleCalls calls may see the old roles.
const (
	maxDelay      = time.Second
	maxStaleCalls = 100
)

// A role, a membership or a service account that is revoked on one node is revoked on the other within a second.
func TestRevocation_AppliesOnEveryNode(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	first := openLive(t, db, db.URL, data)
	known := listeners(t, db, []int{})
	second := openLive(t, db, db.URL, data)
	listeners(t, db, known)
	w := newWorld(t, first)
	owner := w.token(tenant.RoleOwner)
	account, key := w.newKey()
	partner := call[*v1.ExchangeKeyResponse](
		t, second, "", "AccessService/ExchangeKey", &v1.ExchangeKeyRequest{Key: key},
	).GetAccessToken()
	list, week := procedureNamed(
		t, "MemberService/ListMembers",
	), &v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: w.month()}}

	for name, tc := range map[string]struct {
		may    func(l *liveNode) outcome
		revoke func()
	}{
		"role": {
			func(l *liveNode) outcome {
				return l.try(t.Context(), w.token(tenant.RoleCoach), list, &v1.ListMembersRequest{})
			},
			func() {
				call[*v1.RevokeRoleResponse](
					t, first, owner, "AccessService/RevokeRole",
					&v1.RevokeRoleRequest{MemberId: text(w.coach.Member), Role: tenant.RoleCoach},
				)
			},
		},
		"membership": {
			func(l *liveNode) outcome {
				return l.try(t.Context(), w.token(tenant.RoleAdmin), list, &v1.ListMembersRequest{})
			},
			func() {
				call[*v1.DeactivateMemberResponse](t, first, owner, "MemberService/DeactivateMember",
					&v1.DeactivateMemberRequest{MemberId: text(w.admin.Member)})
			},
		},
		"service account": {
			func(l *liveNode) outcome {
				return l.try(t.Context(), partner, procedureNamed(t, "SessionService/ListSessions"), week)
			},
			func() {
				call[*v1.RevokeServiceAccountResponse](
					t, first, owner, "AccessService/RevokeServiceAccount",
					&v1.RevokeServiceAccountRequest{ServiceAccountId: text(account)},
				)
			},
		},
	} {
		for _, l := range []*liveNode{first, second} { // and both nodes have cached it
			tc.may(l).has(t, "OK", name)
		}
		tc.revoke()
		revoked := time.Now()
		tc.may(first).has(t, codes.PermissionDenied.String(), name, ": at the node that revoked it")
		calls := 0
		eventually(t, "the other node refuses them", func() bool {
			calls++
			return tc.may(second).Code == codes.PermissionDenied
		})
		took := time.Since(revoked)
		t.Logf("%s: the other node has heard of it after %v and %d calls", name, took.Round(10*time.Microsecond), calls)
		test.True(t, took <= maxDelay || calls <= maxStaleCalls)
	}
}

// listeners waits until a new connection listens for changes of roles, and returns all such connections. A new
// connection does nothing else for a while.
func listeners(t *testing.T, db *pgtest.DB, known []int) []int {
	t.Helper()
	now := slices.Clone(known)
	eventually(t, "a node listens", func() bool {
		rows := expect.Value(db.Owner.Query(t.Context(), `
			select pid from pg_stat_activity
			where datname = current_database() and state = 'idle' and query = $1 and pid <> all ($2::integer[])`,
			"listen "+pgx.Identifier{accounts.AccessChannel}.Sanitize(), known))(t)
		more := expect.Value(pgx.CollectRows(rows, pgx.RowTo[int]))(t)
		now = append(now, more...)
		return len(more) > 0
	})
	return now
}

// identity is a sign-in service that publishes its keys in a file.
type identity struct {
	t    *testing.T
	path string
}

const identityIssuer = "https://login.test"

// key creates a key and returns its issuer.
func (i identity) key(name string, now func() time.Time) *token.Issuer {
	i.t.Helper()
	return expect.Value(token.OpenIssuer(filepath.Join(filepath.Dir(i.path), name), identityIssuer, "berth", now))(i.t)
}

// publish replaces all keys in the file by one key.
func (i identity) publish(issuer *token.Issuer) {
	i.t.Helper()
	answer := httptest.NewRecorder()
	issuer.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	draft := i.path + ".draft"
	must.NoError(i.t, os.WriteFile(draft, answer.Body.Bytes(), 0o600))
	must.NoError(i.t, os.Rename(draft, i.path))
}

func TestTokens_AreRejectedWhenInvalid(t *testing.T) {
	t.Parallel()
	idp := identity{t, filepath.Join(t.TempDir(), "keys.json")}
	key := idp.key("first.pem", time.Now)
	idp.publish(key)
	db, data := pgtest.New(t), t.TempDir()
	live := openLive(
		t, db, db.URL, data, func(k *boot.KeyConfig) { k.IdentityIssuer, k.IdentityKeys = identityIssuer, idp.path },
	)
	w := newWorld(t, live)
	p := procedureNamed(t, "MemberService/GetMe")
	try := func(raw string) outcome { return live.try(t.Context(), raw, p, &v1.GetMeRequest{}) }
	block, _ := pem.Decode(expect.Value(os.ReadFile(filepath.Join(data, "signing-key.pem")))(t))
	private := expect.Value(x509.ParsePKCS8PrivateKey(block.Bytes))(t).(ed25519.PrivateKey)
	_, strange, err := ed25519.GenerateKey(rand.Reader)
	must.NoError(t, err)
	var header struct{ Kid string }
	good := w.token(tenant.RoleOwner)
	raw := expect.Value(base64.RawURLEncoding.DecodeString(good[:strings.IndexByte(good, '.')]))(t)
	must.NoError(t, json.Unmarshal(raw, &header))
	// signed returns a token of the server's own issuer with other claims, or without those that are nil.
	signed := func(method jwt.SigningMethod, key any, differ jwt.MapClaims) string {
		claims := jwt.MapClaims{
			"iss": "berth", "aud": "berth", "sub": tenant.RoleOwner, "tenants": []tenant.TenantID{w.ID},
			"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		}
		maps.Copy(claims, differ)
		maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
		created := jwt.NewWithClaims(method, claims)
		created.Header["kid"] = header.Kid
		return expect.Value(created.SignedString(key))(t)
	}
	for name, raw := range map[string]string{
		"ours":                    good,
		"ours, made by this test": signed(jwt.SigningMethodEdDSA, private, nil),
		"of the sign-in service":  issue(t, key, tenant.RoleOwner, w.ID),
		"just expired, within leeway": signed(
			jwt.SigningMethodEdDSA, private, jwt.MapClaims{"exp": time.Now().Add(-time.Second).Unix()},
		),
	} {
		try(raw).has(t, "OK", name)
	}
	parts := strings.Split(good, ".")
	for name, raw := range map[string]string{
		"expired": signed(
			jwt.SigningMethodEdDSA, private, jwt.MapClaims{"exp": time.Now().Add(-time.Minute).Unix()},
		),
		"without an end": signed(jwt.SigningMethodEdDSA, private, jwt.MapClaims{"exp": nil}),
		"not good yet": signed(
			jwt.SigningMethodEdDSA, private, jwt.MapClaims{"nbf": time.Now().Add(time.Hour).Unix()},
		),
		"for others":                   signed(jwt.SigningMethodEdDSA, private, jwt.MapClaims{"aud": "others"}),
		"of another issuer":            signed(jwt.SigningMethodEdDSA, private, jwt.MapClaims{"iss": "https://evil.test"}),
		"of the other issuer, our key": signed(jwt.SigningMethodEdDSA, private, jwt.MapClaims{"iss": identityIssuer}),
		"without a subject":            signed(jwt.SigningMethodEdDSA, private, jwt.MapClaims{"sub": nil}),
		"signed by a stranger":         signed(jwt.SigningMethodEdDSA, strange, nil),
		"unsigned":                     signed(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil),
		"signed with the public key":   signed(jwt.SigningMethodHS256, []byte(private.Public().(ed25519.PublicKey)), nil),
		"another's claims, our key's": strings.Join(
			[]string{parts[0], strings.Split(issue(t, key, "admin", w.ID), ".")[1], parts[2]}, ".",
		),
		"cut off":                        parts[0] + "." + parts[1] + ".",
		"a service account by the other": issue(t, key, w.partner, w.ID),
	} {
		try(raw).has(t, "Unauthenticated UNAUTHENTICATED", name)
	}
}

// After the sign-in service has changed its key, the new one is accepted and the old one is not, without a restart.
func TestIdentityKeys_RotateWithoutRestart(t *testing.T) {
	t.Parallel()
	idp := identity{t, filepath.Join(t.TempDir(), "keys.json")}
	keys := []*token.Issuer{idp.key("a.pem", time.Now), idp.key("b.pem", time.Now), idp.key("c.pem", time.Now)}
	idp.publish(keys[0])
	db := pgtest.New(t)
	live := openLive(
		t, db, db.URL, t.TempDir(), func(k *boot.KeyConfig) { k.IdentityIssuer, k.IdentityKeys = identityIssuer, idp.path },
	)
	w := newWorld(t, live)
	try := func(issuer *token.Issuer) codes.Code {
		return live.try(t.Context(), issue(t, issuer, tenant.RoleOwner, w.ID),
			procedureNamed(t, "MemberService/GetMe"), &v1.GetMeRequest{}).Code
	}
	for i, key := range keys {
		idp.publish(key)
		eventually(t, "the new key counts", func() bool { return try(key) == codes.OK })
		for j, other := range keys {
			got := try(other)
			test.EqOp(t, (i == j), (got == codes.OK), test.Sprintf("with key %d published, key %d gives %s", i, j, got))
		}
	}
	live.try(t.Context(), w.token(tenant.RoleOwner), procedureNamed(t, "MemberService/GetMe"), &v1.GetMeRequest{}).
		has(t, "OK", "our own token")
}

// A member belongs to the issuer of their first token. After the sign-in service has changed, the same subject is
// another person's, unless the former issuer is named. Berth's own tokens are for any member.
func TestTokens_OfAnotherIssuerBelongToOthers(t *testing.T) {
	t.Parallel()
	idp := identity{t, filepath.Join(t.TempDir(), "keys.json")}
	key := idp.key("a.pem", time.Now)
	idp.publish(key)
	db, data := pgtest.New(t), t.TempDir()
	trust := func(issuer string, former ...string) func(*boot.KeyConfig) {
		return func(k *boot.KeyConfig) {
			k.IdentityIssuer, k.IdentityKeys, k.FormerIssuers = issuer, idp.path, former
		}
	}
	live := openLive(t, db, db.URL, data, trust(identityIssuer))
	w := newWorld(t, live)
	raw := issue(t, key, tenant.RoleOwner, w.ID)
	try := func(on *liveNode, raw string) codes.Code {
		return on.try(t.Context(), raw, procedureNamed(t, "MemberService/GetMe"), &v1.GetMeRequest{}).Code
	}
	bound := func() (issuer string) {
		must.NoError(t, db.Owner.QueryRow(t.Context(),
			`select issuer from members where tenant_id = $1 and subject = 'owner'`, w.ID).Scan(&issuer))
		return issuer
	}
	test.EqOp(t, codes.OK, try(live, w.token(tenant.RoleOwner)))
	test.EqOp(t, "", bound())
	for range 2 {
		test.EqOp(t, codes.OK, try(live, raw))
		test.EqOp(t, identityIssuer, bound())
	}
	expect.OK(t)(db.Owner.Exec(
		t.Context(), `update members set issuer = 'https://former.example' where subject = 'owner'`,
	))
	other := openLive(t, db, db.URL, data, trust(identityIssuer))
	test.EqOp(t, codes.PermissionDenied, try(other, raw))
	test.EqOp(t, codes.OK, try(other, w.token(tenant.RoleOwner)))
	test.EqOp(t, codes.OK, try(openLive(t, db, db.URL, data, trust(identityIssuer, "https://former.example")), raw))
	test.EqOp(t, identityIssuer, bound())
	eventually(t, "the other node knows", func() bool { return try(other, raw) == codes.OK })
}
