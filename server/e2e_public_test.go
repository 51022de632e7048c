package main

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/tenant"
)

// A tenant that is not in the token is forbidden, whether it exists or not. Without a valid token every call fails.
// Neither changes anything.
func TestEveryRPC_NeedsATokenForTheTenant(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	ours, theirs := newWorld(t, live), newWorld(t, live)
	built := make(map[string]proto.Message)
	for _, p := range procedures() {
		if !p.IsPublic() {
			built[p.Short()] = requests[p.Short()][0](theirs)
		}
	}
	before := []map[string]string{live.rows(t, ours.ID), live.rows(t, theirs.ID)}
	good := ours.token(tenant.RoleOwner)
	unknown := tenant.New[tenant.TenantID](time.Now())
	forbidden := outcome{
		Code: codes.PermissionDenied, Reason: "TENANT_FORBIDDEN", Message: "The token is not valid for this tenant.",
	}
	for _, p := range procedures() {
		if p.IsPublic() {
			continue
		}
		for _, id := range []tenant.TenantID{theirs.ID, unknown} {
			request := proto.Clone(built[p.Short()])
			setTenantID(request, id)
			test.EqOp(
				t, "", cmp.Diff(forbidden, live.try(t.Context(), good, p, request)), test.Sprintf("%s in %s", p.Short(), id),
			)
		}
		for _, raw := range []string{"", "nonsense", strings.Repeat("x", 10_000), good + "x", good[:len(good)-20]} {
			live.try(t.Context(), raw, p, built[p.Short()]).
				has(t, "Unauthenticated UNAUTHENTICATED", p.Short(), " with the token ", raw[:min(len(raw), 20)])
		}
	}
	test.Eq(t, before, []map[string]string{live.rows(t, ours.ID), live.rows(t, theirs.ID)},
		test.Sprint("strangers have changed something"))
}

// checkClaimLinks checks that a claim link opens its offer, and that no other text does.
func checkClaimLinks(t *testing.T, live *liveNode, ours, theirs *world) {
	t.Helper()
	get, answer := procedureNamed(
		t,
		"WaitlistService/GetWaitlistClaim",
	), procedureNamed(
		t,
		"WaitlistService/AnswerWaitlistClaim",
	)
	invalid := live.try(t.Context(), "", get, &v1.GetWaitlistClaimRequest{Token: "nonsense"})
	invalid.has(t, "FailedPrecondition LINK_INVALID", "a link that is none")
	our, their := ours.claim(ours.newOffer(ours.newMember())), theirs.claim(theirs.newOffer(theirs.newMember()))
	ourRaw, _ := base64.RawURLEncoding.DecodeString(our)
	theirRaw, _ := base64.RawURLEncoding.DecodeString(their)
	for name, raw := range map[string][]byte{
		"their offer in our tenant": append(slices.Clone(ourRaw[:16]), theirRaw[16:]...),
		"our offer in theirs":       append(slices.Clone(theirRaw[:16]), ourRaw[16:]...),
		"another last bit":          append(slices.Clone(ourRaw[:31]), ourRaw[31]^1),
		"too short":                 ourRaw[:31],
		"too long":                  append(slices.Clone(ourRaw), 0),
	} {
		token := base64.RawURLEncoding.EncodeToString(raw)
		for _, got := range []outcome{
			live.try(t.Context(), "", get, &v1.GetWaitlistClaimRequest{Token: token}),
			live.try(t.Context(), "", answer, &v1.AnswerWaitlistClaimRequest{
				Token: token, Action: v1.WaitlistClaimAction_WAITLIST_CLAIM_ACTION_ACCEPT,
			}),
		} {
			test.Eq(t, invalid, got, test.Sprint(name))
		}
	}
	live.try(t.Context(), "", get, &v1.GetWaitlistClaimRequest{Token: our}).has(t, "OK", "the link itself")
}

// A link without a token gives access to one object of one tenant, and to nothing else.
func TestPublicLinks_OpenOneObjectOnly(t *testing.T) {
	t.Parallel()
	live := newLive(t)
	ours, theirs := newWorld(t, live), newWorld(t, live)
	exchange, display := procedureNamed(
		t,
		"AccessService/ExchangeKey",
	), procedureNamed(
		t,
		"CheckInService/GetCheckInDisplay",
	)
	public := 0
	for _, p := range procedures() {
		if p.IsPublic() {
			public++
		}
	}
	test.EqOp(t, 4, public, test.Sprintf("%d RPCs are public; this test knows four", public))
	checkClaimLinks(t, live, ours, theirs)

	ourAccount, ourKey := ours.newKey()
	_, theirKey := theirs.newKey()
	invalid := live.try(t.Context(), "", exchange, &v1.ExchangeKeyRequest{Key: "berth_x"})
	invalid.has(t, "Unauthenticated KEY_INVALID", "a key that is none")
	for name, request := range map[string]*v1.ExchangeKeyRequest{
		"their key in our tenant":        {TenantId: text(ours.ID), Key: theirKey},
		"our key in theirs":              {TenantId: text(theirs.ID), Key: ourKey},
		"their key's id and our secret":  {Key: theirKey[:50] + ourKey[50:]},
		"a key with another last letter": {Key: ourKey[:len(ourKey)-1] + string('a'+(ourKey[len(ourKey)-1]+1)%8)},
		"a key in no tenant":             {TenantId: text(tenant.New[tenant.TenantID](time.Now())), Key: ourKey},
	} {
		test.Eq(t, invalid, live.try(t.Context(), "", exchange, request), test.Sprint(name))
	}
	got := call[*v1.ExchangeKeyResponse](t, live, "", "AccessService/ExchangeKey", &v1.ExchangeKeyRequest{Key: ourKey})
	test.EqOp(t, text(ours.ID), got.GetTenantId(), test.Sprint("our key opens"))
	call[*v1.ListSessionsResponse](
		t, live, got.GetAccessToken(), "SessionService/ListSessions",
		&v1.ListSessionsRequest{Filter: &v1.SessionFilter{StartsWithin: ours.month()}},
	)
	tenants := procedureNamed(t, "TenantService/GetTenant")
	live.try(t.Context(), got.GetAccessToken(), tenants, &v1.GetTenantRequest{TenantId: text(theirs.ID)}).
		has(t, "TENANT_FORBIDDEN", "our key's token in their tenant")
	call[*v1.RevokeServiceAccountResponse](t, live, ours.token(tenant.RoleOwner), "AccessService/RevokeServiceAccount",
		&v1.RevokeServiceAccountRequest{ServiceAccountId: text(ourAccount)})
	live.try(t.Context(), got.GetAccessToken(), tenants, &v1.GetTenantRequest{}).
		has(t, "PERMISSION_DENIED", "the token of an account that was revoked")
	test.Eq(t, invalid, live.try(t.Context(), "", exchange, &v1.ExchangeKeyRequest{Key: ourKey}),
		test.Sprint("the key of an account that was revoked"))

	link := requests["CheckInService/GetCheckInDisplay"][0](theirs).(*v1.GetCheckInDisplayRequest).GetToken()
	call[*v1.GetCheckInDisplayResponse](
		t,
		live,
		"",
		"CheckInService/GetCheckInDisplay",
		&v1.GetCheckInDisplayRequest{Token: link},
	)
	for i := range link {
		for _, forged := range []string{link[:i], link[:i] + string(link[i]^1) + link[i+1:]} {
			if forged == "" {
				continue
			}
			got := live.try(t.Context(), "", display, &v1.GetCheckInDisplayRequest{Token: forged})
			must.NotEqOp(t, codes.OK, got.Code, must.Sprintf("a link forged at %d: %s", i, got))
			must.True(t, got.Reason == "LINK_INVALID" || got.Reason == "INVALID_FIELD",
				must.Sprintf("a link forged at %d: %s", i, got))
		}
	}
}
