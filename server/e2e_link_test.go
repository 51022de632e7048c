package main

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/boot"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

// An address that the issuer of the token has verified is the member's without a code, if the operator trusts the
// issuer's addresses. Otherwise the claim counts for nothing, and nor does it in Berth's own tokens.
func TestUpdateMe_TakesVerifiedAddressesOfTrustedIssuers(t *testing.T) {
	t.Parallel()
	idp := identity{t, filepath.Join(t.TempDir(), "keys.json")}
	key := idp.key("a.pem", time.Now)
	idp.publish(key)
	db, data := pgtest.New(t), t.TempDir()
	node := func(link bool) *liveNode {
		return openLive(t, db, db.URL, data, func(k *boot.KeyConfig) {
			k.IdentityIssuer, k.IdentityKeys, k.LinkByEmail = identityIssuer, idp.path, link
			k.Senders.Send = "off"
		})
	}
	off, on := node(false), node(true)
	w := newWorld(t, on)
	get, update := procedureNamed(t, "MemberService/GetMe"), procedureNamed(t, "MemberService/UpdateMe")
	const address = "mia@example.com"
	for name, c := range map[string]struct {
		on       *liveNode
		by       *token.Issuer
		verified bool
		want     bool
	}{
		"an issuer that the operator trusts":     {on, key, true, true},
		"an address that it has not verified":    {on, key, false, false},
		"an issuer that the operator trusts not": {off, key, true, false},
		"a token of Berth's own":                 {on, on.Issuer, true, false},
	} {
		mia := expect.Value(w.app.Accounts.CreateMember(w.ctx(), w.owner, member.Member{
			Name: "Mia", Subject: "idp|" + name,
		}))(t)
		raw, _, err := c.by.Issue(token.Claims{
			Subject: "idp|" + name, Email: "Mia@Example.com", Verified: c.verified, Tenants: []tenant.TenantID{w.ID},
		}, time.Hour)
		must.NoError(t, err)
		stored := func() (text string) {
			must.NoError(t, db.Owner.QueryRow(t.Context(), `select email || ' ' || confirmed_email || ' ' || sign_in_email
				from members where tenant_id = $1 and id = $2`, w.ID, mia.ID).Scan(&text))
			return text
		}
		eventually(t, "the node knows the member", func() bool {
			return c.on.try(t.Context(), raw, get, &v1.GetMeRequest{}).Code == codes.OK
		})
		answer := c.on.try(t.Context(), raw, update, &v1.UpdateMeRequest{
			Member: &v1.MeInput{Email: address}, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"email"}},
		})
		answer.has(t, "OK", name)
		want := map[bool]string{true: address + " " + address + " " + address, false: "  "}
		test.EqOp(t, want[c.want], stored(), test.Sprint(name))
		var edited v1.UpdateMeResponse
		must.NoError(t, protojson.Unmarshal([]byte(answer.Response), &edited))
		test.EqOp(t, c.want, edited.GetMember().GetEmailConfirmed(), test.Sprint(name))
		expect.OK(t)(db.Owner.Exec(t.Context(), `update members set email = $3, confirmed_email = '', sign_in_email = ''
			where tenant_id = $1 and id = $2`, w.ID, mia.ID, address))
		var me v1.GetMeResponse
		must.NoError(t, protojson.Unmarshal([]byte(c.on.try(t.Context(), raw, get, &v1.GetMeRequest{}).Response), &me))
		test.EqOp(t, c.want, me.GetMember().GetEmailConfirmed(), test.Sprint(name, ": entered by staff"))
		expect.OK(t)(db.Owner.Exec(t.Context(), `update members set email = ''
			where tenant_id = $1 and id = $2`, w.ID, mia.ID))
	}
}

// Who signs in with an address that the sign-in service has verified becomes the member with that address, once, if
// the operator trusts the service. Nobody else does.
func TestLinkMe_TakesVerifiedAddresses(t *testing.T) {
	t.Parallel()
	idp := identity{t, filepath.Join(t.TempDir(), "keys.json")}
	key := idp.key("a.pem", time.Now)
	idp.publish(key)
	db, data := pgtest.New(t), t.TempDir()
	node := func(link bool) *liveNode {
		return openLive(t, db, db.URL, data, func(k *boot.KeyConfig) {
			k.IdentityIssuer, k.IdentityKeys, k.LinkByEmail = identityIssuer, idp.path, link
			k.Senders.Send = "off" // so that mails stay in the queue
		})
	}
	off, live, second := node(false), node(true), node(true)
	w := newWorld(t, live)
	get, link := procedureNamed(t, "MemberService/GetMe"), procedureNamed(t, "MemberService/LinkMe")
	sign := func(by *token.Issuer, c token.Claims) string {
		c.Tenants = []tenant.TenantID{w.ID}
		raw, _, err := by.Issue(c, time.Hour)
		must.NoError(t, err)
		return raw
	}
	add := func(name, role string) member.Member {
		m := expect.Value(w.app.Accounts.CreateMember(
			w.ctx(), w.owner, member.Member{Name: name, Email: name + "@example.com"},
		))(t)
		if role != "" {
			expect.OK(t)(w.app.Accounts.AssignRole(w.ctx(), w.owner, m.ID, role))
		}
		return m
	}
	me := func(on *liveNode, raw string) outcome { return on.try(t.Context(), raw, get, &v1.GetMeRequest{}) }
	linkOn := func(on *liveNode, raw string) outcome { return on.try(t.Context(), raw, link, &v1.LinkMeRequest{}) }
	const refused = "PermissionDenied NOT_A_MEMBER"

	mia := add("mia", "")
	raw := sign(key, token.Claims{Subject: "auth0|mia", Email: "Mia@Example.com", Verified: true})
	me(live, raw).has(t, refused, "before")
	me(second, raw).has(t, refused, "before, on the other node")
	linkOn(off, raw).has(t, refused, "the operator does not trust the addresses")
	linkOn(live, sign(key, token.Claims{Subject: "auth0|mia", Email: "mia@example.com"})).
		has(t, refused, "an address that nobody verified")
	linkOn(live, sign(live.Issuer, token.Claims{Subject: "auth0|mia", Email: "mia@example.com", Verified: true})).
		has(t, refused, "Berth's own token")
	linkOn(live, sign(key, token.Claims{Subject: "auth0|eve", Email: "eve@example.com", Verified: true})).
		has(t, refused, "nobody's address")
	me(live, raw).has(t, refused, "nothing has happened yet")
	for range 2 {
		linkOn(live, raw).has(t, "OK", "the member")
	}
	me(live, raw).has(t, "OK", "the member afterwards")
	eventually(t, "the other node knows", func() bool { return me(second, raw).Code == codes.OK })
	linkOn(live, sign(key, token.Claims{Subject: "google|mia", Email: "mia@example.com", Verified: true})).
		has(t, refused, "another account with the address")
	var subject, issuer, confirmed string
	must.NoError(t, db.Owner.QueryRow(t.Context(),
		`select subject, issuer, confirmed_email from members where tenant_id = $1 and id = $2`, w.ID, mia.ID,
	).Scan(&subject, &issuer, &confirmed))
	test.EqOp(t, "auth0|mia", subject)
	test.EqOp(t, identityIssuer, issuer)
	test.EqOp(t, "mia@example.com", confirmed)
	var entries int
	must.NoError(t, db.Owner.QueryRow(t.Context(), `select count(*) from audit_entries
		where tenant_id = $1 and action = 'member.linked' and target_id = $2 and actor = $2`,
		w.ID, mia.ID.String()).Scan(&entries))
	test.EqOp(t, 1, entries, test.Sprint("entries in the audit log"))
	var mails int
	must.NoError(t, db.Owner.QueryRow(t.Context(), `select count(*) from platform_mails
		where tenant_id = $1 and kind = 'ACCOUNT_LINKED' and about = $2`, w.ID, mia.ID).Scan(&mails))
	test.EqOp(t, 1, mails, test.Sprint("mails to the member"))

	for role, want := range map[string]string{
		"": "OK", tenant.RoleCoach: "OK", tenant.RoleAdmin: "PermissionDenied INVITATION_REQUIRED",
		tenant.RoleOwner: "PermissionDenied INVITATION_REQUIRED",
	} {
		m := add("new"+role, role)
		linkOn(live, sign(key, token.Claims{Subject: "auth0|" + m.Name, Email: m.Email, Verified: true})).
			has(t, want, "role "+role)
	}
	gone := add("gone", "")
	expect.OK(t)(w.app.Accounts.DeactivateMember(w.ctx(), w.owner, gone.ID))
	linkOn(live, sign(key, token.Claims{Subject: "auth0|gone", Email: gone.Email, Verified: true})).
		has(t, refused, "an inactive member")
	expect.OK(t)(w.app.Accounts.DeactivateMember(w.ctx(), w.owner, mia.ID))
	other := add("other", "")
	linkOn(live, sign(key, token.Claims{Subject: "auth0|mia", Email: other.Email, Verified: true})).
		has(t, refused, "an account of an inactive member")

	// Two accounts with one address at the same moment: one of them is the member's.
	both := add("both", "")
	var wait sync.WaitGroup
	outcomes := make([]string, 2)
	for i := range outcomes {
		wait.Go(func() {
			raw := sign(key, token.Claims{Subject: strings.Repeat("x", i+1), Email: both.Email, Verified: true})
			outcomes[i] = linkOn([]*liveNode{live, second}[i], raw).Reason
		})
	}
	wait.Wait()
	test.SliceContainsAll(t, []string{"", "NOT_A_MEMBER"}, outcomes)
}
