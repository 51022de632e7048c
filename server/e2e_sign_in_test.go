package main

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// signIn signs a browser in as a member, and returns the cookie that it has from then on.
func (l *liveNode) signIn(t *testing.T, as tenant.Caller) string {
	t.Helper()
	secret := signins.NewSecret(as.Tenant)
	expect.OK(t)(engine.Transact(t.Context(), l.App.Engine, as, engine.Transaction{Name: "test"},
		func(ctx context.Context, tx *engine.Tx) (signin.SignIn, error) {
			return signins.Start(tx, secret, as.Member, signin.ByCode), ctx.Err()
		}))
	return l.App.SignIns.Write(secret)
}

// auth sends a request as the browser apps do, and returns the status and the access token of the answer.
func (l *liveNode) auth(t *testing.T, path, cookie, origin string) (int, string) {
	t.Helper()
	status, body := sendHTTP(t, http.MethodPost, "http://"+l.Address+path, http.Header{
		"Content-Type": {"application/json"}, "Origin": {origin}, "Cookie": {"__Host-berth_sign_in=" + cookie},
	}, "{}")
	var answer struct {
		Token string `json:"access_token"`
	}
	_ = json.Unmarshal([]byte(body), &answer) // not every answer has one
	return status, answer.Token
}

// A sign-in works on every node and after all were started again, and what is signed out on one of them is over on all.
func TestSignIn_IsGoodOnEveryNode(t *testing.T) {
	t.Parallel()
	const own = "https://berth.test"
	db, data := pgtest.New(t), t.TempDir()
	first := openLive(t, db, db.URL, data)
	w := newWorld(t, first)
	cookie := first.signIn(t, w.member)
	getMe := func(l *liveNode, raw string) string {
		answer, err := invoke(withToken(t.Context(), raw), l.conn, procedureNamed(t, "MemberService/GetMe"),
			&v1.GetMeRequest{})
		must.NoError(t, err)
		me, _ := answer.(*v1.GetMeResponse)
		return me.GetMember().GetId()
	}
	_, raw := first.auth(t, "/auth/token", cookie, own)
	test.EqOp(t, w.member.Member.String(), getMe(first, raw))

	second := openLive(t, db, db.URL, data) // as the first one would be, started again
	test.EqOp(t, w.member.Member.String(), getMe(second, raw))
	_, raw = second.auth(t, "/auth/token", cookie, own)
	test.EqOp(t, w.member.Member.String(), getMe(first, raw))

	status, _ := second.auth(t, "/auth/sign-out", cookie, own)
	test.EqOp(t, http.StatusNoContent, status)
	for _, l := range []*liveNode{first, second} {
		status, raw = l.auth(t, "/auth/token", cookie, own)
		test.EqOp(t, http.StatusUnauthorized, status)
		test.EqOp(t, "", raw)
	}
}

// Pages that may call the RPCs still get no token of whoever opens them.
func TestSignIn_IsNotForOriginsThatMayCall(t *testing.T) {
	t.Parallel()
	const shop = "https://shop.example"
	db, data := pgtest.New(t), t.TempDir()
	c, address := startServe(t, db, data, "--public-url", "https://berth.test", "--origins", shop)
	defer c.stop()
	id, _ := newTenant(t, db, data)
	l := openLive(t, db, db.URL, data)
	people := expect.Value(l.App.Accounts.ListMembers(t.Context(), tenant.System(tenant.MustParse[tenant.TenantID](id)),
		member.Search{Limit: 1}))(t)
	cookie := l.signIn(t, tenant.Caller{Tenant: tenant.MustParse[tenant.TenantID](id), Member: people[0].ID})
	l.Address = address[len("http://"):]
	status, _ := l.auth(t, "/auth/token", cookie, shop)
	test.EqOp(t, http.StatusForbidden, status)
	status, raw := l.auth(t, "/auth/token", cookie, "https://berth.test")
	test.EqOp(t, http.StatusOK, status)
	test.NotEqOp(t, "", raw)
}

// The page to which a sign-in service returns people is the console's, whether or not the node signs people in itself.
func TestSignIn_LeavesThePageOfTheProvider(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for _, own := range []bool{true, false} {
		live := openLive(t, db, db.URL, t.TempDir(), func(k *boot.KeyConfig) {
			k.IdentityIssuer, k.IdentityKeys, k.OwnSignIn = identityIssuer, filepath.Join(t.TempDir(), "keys.json"), own
		})
		status, page := sendHTTP(t, http.MethodGet, "http://"+live.Address+"/auth/callback?code=x", nil, "")
		test.EqOp(t, http.StatusOK, status)
		test.StrContains(t, page, "<!doctype html>")
	}
}

// Without a sign-in service, the command that creates a tenant prints the link with which its first owner signs in,
// once.
func TestTenantCreate_PrintsTheInvitationOfTheFirstOwner(t *testing.T) {
	t.Parallel()
	db, data := pgtest.New(t), t.TempDir()
	makeKeys(t, data)
	create := func(more ...string) []string {
		return append([]string{
			"tenant", "create", "--database-url", db.URL, "--data", data, "--name", "Harbour Yoga",
			"--time-zone", "Europe/Berlin", "--owner-name", "Olga",
		}, more...)
	}
	invite := []string{"--owner-email", "olga@example.com", "--public-url", "https://berth.test/"}
	lines := strings.Split(strings.TrimSpace(runBerth(t, create(invite...)...)), "\n")
	must.SliceLen(t, 2, lines)
	id, link := lines[0], lines[1]
	again := runBerth(t, create(append([]string{"--id", id}, invite...)...)...)
	test.EqOp(t, id, strings.TrimSpace(again))

	live := openLive(t, db, db.URL, data)
	path, found := strings.CutPrefix(link, "https://berth.test")
	must.True(t, found, must.Sprint(link))
	status, page := sendHTTP(t, http.MethodGet, "http://"+live.Address+path, nil, "")
	test.EqOp(t, http.StatusOK, status)
	test.StrContains(t, page, "olga@example.com")

	// A lost link is replaced.
	newer := strings.TrimSpace(runBerth(t, append([]string{
		"tenant", "invite", "--database-url", db.URL, "--data", data, "--id", id,
	}, invite...)...))
	for address, want := range map[string]int{newer: http.StatusOK, link: http.StatusNotFound} {
		path, _ := strings.CutPrefix(address, "https://berth.test")
		status, _ := sendHTTP(t, http.MethodGet, "http://"+live.Address+path, nil, "")
		test.EqOp(t, want, status, test.Sprint(address))
	}

	for says, args := range map[string][]string{
		"--owner-email is missing":    {"--public-url", "https://berth.test"},
		"BERTH_PUBLIC_URL is not set": {"--owner-email", "olga@example.com"},
		"--owner-subject is missing":  append([]string{"--identity-issuer", "https://login.example"}, invite...),
	} {
		c := start(t, create(args...)...)
		test.NotEqOp(t, 0, c.wait(t), test.Sprint(says))
		test.StrContains(t, c.err.String(), says)
	}
	lines = strings.Fields(runBerth(t, create("--owner-subject", "olga")...))
	test.SliceLen(t, 1, lines, test.Sprint("with a subject there is no invitation"))
}
