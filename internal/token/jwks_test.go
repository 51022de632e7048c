package token

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestParseKeys_SelectsUsableKeys(t *testing.T) {
	t.Parallel()
	const (
		// RFC 7515, appendix A.3; RFC 8037, appendix A.2.
		ec = `"kid":"k","kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",` +
			`"y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"`
		okp = `"kid":"k","kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"`
	)
	modulus := func(bits int) string {
		n := make([]byte, bits/8)
		n[0], n[len(n)-1] = 0x80, 1
		return encode(n)
	}
	rsaKey := func(n, e string) string { return `"kid":"k","kty":"RSA","n":"` + n + `","e":"` + e + `"` }
	for name, tt := range map[string]struct{ key, alg string }{
		"EC":                           {ec, es256},
		"EC for signatures":            {ec + `,"use":"sig","alg":"ES256","key_ops":["verify"]`, es256},
		"EC with a chain":              {ec + `,"x5c":["MII"],"x5t":"x"`, es256},
		"Ed25519":                      {okp, eddsa},
		"RSA":                          {rsaKey(modulus(2048), "AQAB"), rs256},
		"RSA of 8192 bits":             {rsaKey(modulus(8192), "AQAB"), rs256},
		"RSA with leading zeros":       {rsaKey(encode(append([]byte{0}, decode(modulus(2048))...)), "AQAB"), rs256},
		"RSA, exponent 3":              {rsaKey(modulus(2048), "Aw"), rs256},
		"RSA, exponent of 31 bits":     {rsaKey(modulus(2048), "f____w"), rs256},
		"no name":                      {strings.Replace(ec, `"kid":"k"`, `"kid":""`, 1), ""},
		"for encryption":               {ec + `,"use":"enc"`, ""},
		"for signing alone":            {ec + `,"key_ops":["sign"]`, ""},
		"EC for another algorithm":     {ec + `,"alg":"ES384"`, ""},
		"EC said to be RSA's":          {ec + `,"alg":"RS256"`, ""},
		"EC said to be a secret's":     {ec + `,"alg":"HS256"`, ""},
		"RSA for another hash":         {rsaKey(modulus(2048), "AQAB") + `,"alg":"RS512"`, ""},
		"RSA of 2040 bits":             {rsaKey(modulus(2040), "AQAB"), ""},
		"RSA of 1024 bits":             {rsaKey(modulus(1024), "AQAB"), ""},
		"RSA of 8200 bits":             {rsaKey(modulus(8200), "AQAB"), ""},
		"RSA, 1024 bits padded":        {rsaKey(encode(append(make([]byte, 128), decode(modulus(1024))...)), "AQAB"), ""},
		"RSA, even modulus":            {rsaKey(modulus(2048)[:340]+"AA", "AQAB"), ""},
		"RSA, exponent 1":              {rsaKey(modulus(2048), "AQ"), ""},
		"RSA, even exponent":           {rsaKey(modulus(2048), "AQAA"), ""},
		"RSA, no exponent":             {rsaKey(modulus(2048), ""), ""},
		"RSA, huge exponent":           {rsaKey(modulus(2048), "AQAAAAE"), ""},
		"RSA, not base64url":           {rsaKey("++++", "AQAB"), ""},
		"EC on another curve":          {strings.Replace(ec, "P-256", "P-384", 1), ""},
		"EC off its curve":             {strings.Replace(ec, `"x":"f`, `"x":"g`, 1), ""},
		"EC at infinity":               {`"kid":"k","kty":"EC","crv":"P-256","x":"","y":""`, ""},
		"EC, digits moved from y to x": {shifted(ec), ""},
		"X25519":                       {strings.Replace(okp, "Ed25519", "X25519", 1), ""},
		"Ed25519, too short":           {`"kid":"k","kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg"`, ""},
		"a secret":                     {`"kid":"k","kty":"oct","k":"c2VjcmV0","alg":"HS256"`, ""},
		"a kind of the future":         {`"kid":"k","kty":"AKP","pub":"x"`, ""},
		"a number for a coordinate":    {`"kid":"k","kty":"EC","crv":"P-256","x":1,"y":2`, ""},
	} {
		keys, err := parseKeys([]byte(`{"keys":[{` + tt.key + `}]}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		test.False(t, tt.alg == "" && len(keys) != 0, test.Sprintf("%s was accepted", name))
		test.False(t, tt.alg != "" && keys[keyID{"k", tt.alg}] == nil, test.Sprintf("%s was ignored", name))
	}

	keys := expect.Value(parseKeys([]byte(`{"keys":[{` + ec + `},{` + okp + `},{"kty":"oct","kid":"k"}]}`)))(t)
	test.EqOp(t, 2, len(keys), test.Sprintf("keys of two types with one ID: %d", len(keys)))
}

func TestNewWebKey_RoundTrips(t *testing.T) {
	t.Parallel()
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	must.NoError(t, err)
	ecKey := valueOf(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	for alg, public := range map[string]any{es256: ecKey.Public(), eddsa: edKey.Public()} {
		k := valueOf(newWebKey(public))
		keys := expect.Value(parseKeys(valueOf(json.Marshal(map[string]any{"keys": []webKey{k}}))))(t)
		must.NotNil(t, keys[keyID{k.ID, alg}])
		test.True(t, equal(keys[keyID{k.ID, alg}].public, public), test.Sprintf("%s: %v", alg, keys))
	}
	// RFC 8037, appendix A.3.
	known := valueOf(newWebKey(ed25519.PublicKey(decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))))
	test.EqOp(t, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", known.ID, test.Sprint("thumbprint"))
	p384 := valueOf(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	for name, public := range map[string]any{"P-384": p384.Public(), "RSA": &rsa.PublicKey{}, "nothing": nil} {
		test.Error(t, expect.Error(newWebKey(public)), test.Sprintf("%s was described", name))
	}
}

func TestKeySet_KeepsUnchangedKey(t *testing.T) {
	t.Parallel()
	const set = `{"keys":[{"kid":"k","kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`
	s := newKeySet(time.Now, 0, 0)
	s.replace(valueOf(parseKeys([]byte(set))))
	before := (*s.current.Load())[keyID{"k", eddsa}]
	s.replace(valueOf(parseKeys([]byte(set))))
	after := (*s.current.Load())[keyID{"k", eddsa}]
	test.EqOp(t, before, after, test.Sprint("the key was replaced, so its tokens would have to be verified again"))
	test.False(t, before.withdrawn.Load(),
		test.Sprint("the key was replaced, so its tokens would have to be verified again"))
}

func TestCache_DropsExpiredAndWithdrawn(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	k := new(key)
	var c cache
	var d digest
	c.put(d, &verified{until: now.Add(time.Second), key: k})
	_, ok := c.get(d, now)
	test.True(t, ok, test.Sprint("not cached"))
	_, ok = c.get(d, now.Add(time.Second))
	test.False(t, ok, test.Sprint("cached beyond its expiry"))
	k.withdrawn.Store(true)
	_, ok = c.get(d, now)
	test.False(t, ok, test.Sprint("still cached after its key was withdrawn"))
	c.put(d, &verified{until: now.Add(time.Second), key: k}) // as if verified at the same time
	_, ok = c.get(d, now)
	test.False(t, ok, test.Sprint("added after its key was withdrawn, and accepted"))
}

func TestCache_IsBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	k := new(key)
	var c cache
	for i := range 3 * perShard {
		d := digest{0, byte(i), byte(i >> 8)} // all in one shard
		c.put(d, &verified{until: now.Add(time.Duration(i) * time.Second), key: k})
		_, ok := c.get(d, now.Add(-time.Hour))
		must.True(t, ok, must.Sprintf("token %d was not cached", i))
	}
	test.EqOp(t, perShard, len(c[0].tokens), test.Sprintf("tokens are cached, want %d", perShard))
	old := 0
	for _, v := range c[0].tokens {
		if v.until.Before(now.Add(perShard * time.Second)) {
			old++
		}
	}
	// Random eviction would leave a seventh of them.
	test.True(t, old <= perShard/20, test.Sprintf("%d of the first to expire are still cached", old))
}

// shifted moves the first byte of y to the end of x, so the concatenated bytes stay the same.
func shifted(ec string) string {
	var k webKey
	if err := json.Unmarshal([]byte("{"+ec+"}"), &k); err != nil {
		panic(err)
	}
	x, y := decode(k.X), decode(k.Y)
	k.X, k.Y = encode(append(x, y[0])), encode(y[1:])
	text := valueOf(json.Marshal(k))
	return string(text[1 : len(text)-1])
}

func valueOf[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
