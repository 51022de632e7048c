package waitlist_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestClaimKey_DerivesTokensAndCodes(t *testing.T) {
	t.Parallel()
	in, offer := id[tenant.TenantID](7), id[tenant.OfferID](1)
	key := func(secret string) waitlist.ClaimKey {
		return expect.Value(waitlist.NewClaimKey(bytes.Repeat([]byte(secret), 32)))(t)
	}
	token := key("s").Token(in, offer)
	test.EqOp(t, token, key("s").Token(in, offer))
	for _, other := range []string{key("t").Token(in, offer), key("s").Token(in, id[tenant.OfferID](2))} {
		test.NotEqOp(t, token, other)
		test.NotEq(t, waitlist.HashClaim(token), waitlist.HashClaim(other))
	}
	test.Len(t, 32, waitlist.HashClaim(token))
	for text, want := range map[string]tenant.TenantID{
		token: in, "": {}, "x": {}, token + "A": {}, token[1:]: {}, token + "=": {}, "!" + token[1:]: {},
		"\n\n\n\n" + token[4:]: {}, key("s").Token(tenant.TenantID{}, offer): {},
	} {
		got, err := waitlist.ReadClaim(text)
		test.EqOp(t, want, got, test.Sprintf("%q", text))
		refused := ""
		if want.IsZero() {
			refused = "LINK_INVALID"
		}
		expect.Fault(t, refused, text)(err)
	}
	test.ErrorIs(t, expect.Error(waitlist.NewClaimKey(make([]byte, 31))), waitlist.ErrClaimSecret)
	// Links and codes that were sent stay valid, and nodes of two versions agree on them.
	test.EqOp(t, "AAAAAAAAcACAAAAAAAAAB1QxB1XldBe5iyS0wmeWy4Q", token)
	test.EqOp(t, "250222", key("s").Code(offer))
	test.Panic(t, func() { waitlist.ClaimKey{}.Code(offer) })
}

// A code is found by the hash that was stored, also after the secret has changed, and in its own tenant only.
func TestClaimKey_HashesCodesUnderEachSecret(t *testing.T) {
	t.Parallel()
	in, secrets := id[tenant.TenantID](7), [][]byte{bytes.Repeat([]byte("s"), 32)}
	key := waitlist.RotatingClaimKey(
		func(time.Time) []byte { return secrets[0] }, func() [][]byte { return secrets },
	)
	stored := key.HashCode(in, "250222")
	test.Len(t, 1, stored)
	test.Len(t, 32, stored[0])
	for _, other := range [][][]byte{
		key.HashCode(id[tenant.TenantID](8), "250222"), key.HashCode(in, "250223"),
		expect.Value(waitlist.NewClaimKey(bytes.Repeat([]byte("t"), 32)))(t).HashCode(in, "250222"),
	} {
		test.NotEq(t, stored, other)
	}
	secrets = [][]byte{bytes.Repeat([]byte("t"), 32), secrets[0]}
	found := key.HashCode(in, "250222")
	test.Len(t, 2, found)
	test.NotEq(t, stored[0], found[0])
	test.Eq(t, stored[0], found[1])
	test.Panic(t, func() { waitlist.ClaimKey{}.HashCode(in, "250222") })
}

// A token that was made is told from one that was invented, also after the secret was rotated.
func TestClaimKey_KnowsWhatItMade(t *testing.T) {
	t.Parallel()
	former, current := bytes.Repeat([]byte("f"), 32), bytes.Repeat([]byte("c"), 32)
	key := waitlist.RotatingClaimKey(
		func(time.Time) []byte { return current }, func() [][]byte { return [][]byte{current, former} })
	for _, secret := range [][]byte{former, current} {
		token := expect.Value(waitlist.NewClaimKey(secret))(t).Token(id[tenant.TenantID](7), id[tenant.OfferID](1))
		test.True(t, key.Made(token))
		for i := range token {
			changed := []byte(token)
			changed[i] = map[bool]byte{true: 'B', false: 'A'}[token[i] == 'A']
			test.False(t, key.Made(string(changed)), test.Sprint(i))
		}
	}
	other := expect.Value(waitlist.NewClaimKey(bytes.Repeat([]byte("o"), 32)))(t)
	for _, token := range []string{"", "x", other.Token(id[tenant.TenantID](7), id[tenant.OfferID](1))} {
		test.False(t, key.Made(token), test.Sprint(token))
	}
	test.False(t, waitlist.ClaimKey{}.Made(other.Token(id[tenant.TenantID](7), id[tenant.OfferID](1))))
}
