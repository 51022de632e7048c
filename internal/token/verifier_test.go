package token_test

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	a, b := tenant.MustParse[tenant.TenantID](tenantA), tenant.MustParse[tenant.TenantID](tenantB)
	r, e, d := rs("r"), es("e"), ed("d")
	v := newProvider(r, e, d).verifier(t, newClock().now)
	ann := token.Principal{
		Subject: "ann", Issuer: issuer, Tenants: []tenant.TenantID{a}, Expires: noon.Add(time.Hour),
	}
	named := ann
	named.Name, named.Email = "Ann Ó", "ann@example.com"
	both := ann
	both.Tenants = []tenant.TenantID{a, b}
	none := ann
	none.Tenants = []tenant.TenantID{}
	late := ann
	late.Expires = noon.Add(-29 * time.Second)

	for name, test := range map[string]struct {
		raw  string
		want token.Principal
	}{
		"RS256":                       {r.mint(good()), ann},
		"ES256":                       {e.mint(good()), ann},
		"EdDSA":                       {d.mint(good()), ann},
		"several audiences":           {d.mint(good().with("aud", []string{"other", audience})), ann},
		"tenants unsorted and double": {d.mint(good().with("tenants", []string{tenantB, tenantA, strings.ToUpper(tenantB)})), both},
		"no tenants":                  {d.mint(good().with("tenants", []string{})), none},
		"a name and an address":       {d.mint(good().with("name", "Ann Ó").with("email", "ann@example.com")), named},
		"claims of no concern":        {d.mint(good().with("roles", []string{"owner"}).with("Tenants", []string{tenantB}).with("SUB", "root")), ann},
		"no type":                     {d.mint(good(), claims{"typ": nil}), ann},
		"an access token":             {d.mint(good(), claims{"typ": "application/AT+jwt"}), ann},
		"no time of issue":            {d.mint(good().without("iat")), ann},
		"expired within the leeway":   {d.mint(good().with("exp", noon.Add(-29*time.Second).Unix())), late},
		"early within the leeway":     {d.mint(good().with("nbf", noon.Add(30*time.Second).Unix())), ann},
		"issued within the leeway":    {d.mint(good().with("iat", noon.Add(30*time.Second).Unix())), ann},
	} {
		for _, when := range []string{"verified", "kept"} {
			got, err := v.Verify(t.Context(), test.raw)
			if err != nil {
				t.Errorf("%s, %s: %v", name, when, err)
				continue
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, when, diff)
			}
		}
	}
	if !both.GoodFor(b) || ann.GoodFor(b) || none.GoodFor(tenant.TenantID{}) {
		t.Error("a token is good for other tenants than it lists")
	}
}

func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	r, e, d := rs("r"), es("e"), ed("d")
	const partner = "https://partner.example.com/"
	theirs := ed("theirs")
	now := newClock().now
	ours := must(token.URLKeys(keysURL, &http.Client{Transport: newProvider(r, e, d)}, now))
	others := must(token.URLKeys(keysURL, &http.Client{Transport: newProvider(theirs)}, now))
	v := newVerifier(t, now,
		token.Trust{Issuer: issuer, Audience: audience, Keys: ours},
		token.Trust{Issuer: partner, Audience: audience, Keys: others})

	thief := ed("d") // brings a key of its own under a name that is known
	header := func(s signer, more claims) string { return s.mint(good(), more) }
	hmac := func(secret []byte) string {
		h := string(must(json.Marshal(claims{"alg": "HS256", "kid": r.kid})))
		signed := b64([]byte(h)) + "." + b64(must(json.Marshal(good())))
		return signed + "." + b64(must(jwt.SigningMethodHS256.Sign(signed, secret)))
	}
	der := must(x509.MarshalPKIXPublicKey(r.private.Public()))
	fine := d.mint(good())
	parts := strings.Split(fine, ".")
	unsigned := func(alg string) string {
		return b64([]byte(`{"alg":"`+alg+`","kid":"d"}`)) + "." + parts[1] + "."
	}

	for name, test := range map[string]struct{ raw, want string }{
		"nothing":                       {"", "A token is needed"},
		"spaces":                        {"  ", "not a JSON Web Token"},
		"garbage":                       {"\x00\xff garbage", "not a JSON Web Token"},
		"two parts":                     {parts[0] + "." + parts[1], "not a JSON Web Token"},
		"four parts":                    {fine + ".x", "not a JSON Web Token"},
		"empty parts":                   {"..", "not a JSON Web Token"},
		"the scheme before it":          {"Bearer " + fine, "not a JSON Web Token"},
		"a line's end after it":         {fine + "\n", "not a JSON Web Token"},
		"padding":                       {parts[0] + "==." + parts[1] + "." + parts[2], "not a JSON Web Token"},
		"loose last bits":               {looseBits(fine), "not a JSON Web Token"},
		"truncated":                     {fine[:len(fine)-22], "signature is wrong"},
		"no signature":                  {parts[0] + "." + parts[1] + ".", "signature is wrong"},
		"huge":                          {d.mint(good().with("padding", strings.Repeat("x", 8<<10))), "longer than 8192 bytes"},
		"nested deeply":                 {d.seal(`{"alg":"EdDSA","kid":"d"}`, strings.Repeat("[", 5000)), "not a JSON Web Token"},
		"a list for a header":           {d.seal(`["EdDSA"]`, "{}"), "not a JSON Web Token"},
		"a list for claims":             {d.seal(`{"alg":"EdDSA","kid":"d"}`, "[]"), "not a JSON Web Token"},
		"null for claims":               {d.seal(`{"alg":"EdDSA","kid":"d"}`, "null"), "not trusted"},
		"claims changed":                {parts[0] + "." + b64(must(json.Marshal(good().with("sub", "root")))) + "." + parts[2], "signature is wrong"},
		"another key of that name":      {thief.mint(good()), "signature is wrong"},
		"none":                          {unsigned("none"), "not signed by RS256"},
		"None":                          {unsigned("None"), "not signed by RS256"},
		"no algorithm":                  {unsigned(""), "not signed by RS256"},
		"none with a signature":         {header(d, claims{"alg": "none"}), "not signed by RS256"},
		"HMAC by the key's DER":         {hmac(der), "not signed by RS256"},
		"HMAC by the key's PEM":         {hmac(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), "not signed by RS256"},
		"HMAC by the modulus":           {hmac(r.private.Public().(*rsa.PublicKey).N.Bytes()), "not signed by RS256"},
		"HMAC by nothing":               {hmac([]byte{}), "not signed by RS256"},
		"RS384":                         {signer{"r", jwt.SigningMethodRS384, r.private}.mint(good()), "not signed by RS256"},
		"PS256":                         {signer{"r", jwt.SigningMethodPS256, r.private}.mint(good()), "not signed by RS256"},
		"an algorithm that is a number": {header(d, claims{"alg": 7}), "not signed by RS256"},
		"EdDSA said to be ES256":        {header(d, claims{"alg": "ES256"}), "does not publish"},
		"EdDSA by the name of another":  {header(d, claims{"kid": "e"}), "does not publish"},
		"RS256 by the name of another":  {header(r, claims{"kid": "d"}), "does not publish"},
		"ES256 signature in DER":        {derSignature(e.mint(good())), "signature is wrong"},
		"ES256 signature of zeros":      {zeroSignature(e.mint(good())), "signature is wrong"},
		"an unknown key":                {header(d, claims{"kid": "unknown"}), "does not publish"},
		"no key named":                  {header(d, claims{"kid": nil}), "(kid)"},
		"an empty key name":             {header(d, claims{"kid": ""}), "(kid)"},
		"a key name that is a number":   {header(d, claims{"kid": 1}), "(kid)"},
		"its key in jwk":                {header(thief, claims{"jwk": thief.jwk()}), "header has jwk"},
		"a known key in jwk":            {header(d, claims{"jwk": d.jwk()}), "header has jwk"},
		"jwk null":                      {d.seal(`{"alg":"EdDSA","kid":"d","jwk":null}`, string(must(json.Marshal(good())))), "header has jwk"},
		"its keys in jku":               {header(thief, claims{"jku": "https://evil.example.com/keys"}), "header has jku"},
		"its chain in x5c":              {header(thief, claims{"x5c": []string{"MII"}}), "header has x5c"},
		"its chain in x5u":              {header(thief, claims{"x5u": "https://evil.example.com/chain"}), "header has x5u"},
		"a critical extension":          {header(d, claims{"crit": []string{"b64"}, "b64": false}), "header has crit"},
		"a logout notice":               {header(d, claims{"typ": "logout+jwt"}), "not an access token"},
		"a type that is a number":       {header(d, claims{"typ": 1}), "not an access token"},
		"another issuer":                {d.mint(good().with("iss", "https://evil.example.com/")), "not trusted"},
		"no issuer":                     {d.mint(good().without("iss")), "not trusted"},
		"an issuer's prefix":            {d.mint(good().with("iss", strings.TrimSuffix(issuer, "/"))), "not trusted"},
		"a list of issuers":             {d.mint(good().with("iss", []string{issuer})), "not trusted"},
		"the partner's key for ours":    {theirs.mint(good()), "does not publish"},
		"our key for the partner":       {d.mint(good().with("iss", partner)), "does not publish"},
		"another audience":              {d.mint(good().with("aud", "billing")), "somebody else"},
		"no audience":                   {d.mint(good().without("aud")), "lacks a claim"},
		"an empty audience":             {d.mint(good().with("aud", []string{})), "lacks a claim"},
		"no expiry":                     {d.mint(good().without("exp")), "lacks a claim"},
		"expiry null":                   {d.mint(good().with("exp", nil)), "not a JSON Web Token"},
		"expiry 0":                      {d.mint(good().with("exp", 0)), "lacks a claim"},
		"expiry in words":               {d.mint(good().with("exp", "tomorrow")), "not a JSON Web Token"},
		"expiry beyond all times":       {d.mint(good().with("exp", int64(1)<<60)), "era"},
		"expired":                       {d.mint(good().with("exp", noon.Add(-30*time.Second).Unix())), "has expired"},
		"not valid yet":                 {d.mint(good().with("nbf", noon.Add(31*time.Second).Unix())), "not valid yet"},
		"issued in the future":          {d.mint(good().with("iat", noon.Add(31*time.Second).Unix())), "issued in the future"},
		"nobody":                        {d.mint(good().without("sub")), "claim sub"},
		"an empty subject":              {d.mint(good().with("sub", "")), "claim sub"},
		"a subject that is a number":    {d.mint(good().with("sub", 7)), "claim sub"},
		"a subject with a NUL":          {d.mint(good().with("sub", "a\x00b")), "claim sub"},
		"a long subject":                {d.mint(good().with("sub", strings.Repeat("a", 256))), "claim sub"},
		"a foreign service account":     {d.mint(good().with("sub", "sa:"+tenantA)), "service accounts"},
		"a name with a line's end":      {d.mint(good().with("name", "a\nb")), "claim name"},
		"an address that is a list":     {d.mint(good().with("email", []string{"a@b"})), "claim email"},
		"no tenants claim":              {d.mint(good().without("tenants")), "claim tenants"},
		"tenants null":                  {d.mint(good().with("tenants", nil)), "claim tenants"},
		"tenants as a text":             {d.mint(good().with("tenants", tenantA)), "claim tenants"},
		"tenants as an object":          {d.mint(good().with("tenants", claims{tenantA: true})), "claim tenants"},
		"tenants as numbers":            {d.mint(good().with("tenants", []int{1})), "UUIDs"},
		"a wildcard tenant":             {d.mint(good().with("tenants", []string{"*"})), "UUIDs"},
		"an empty tenant":               {d.mint(good().with("tenants", []string{tenantA, ""})), "UUIDs"},
		"the zero tenant":               {d.mint(good().with("tenants", []string{strings.Map(zero, tenantA)})), "UUIDs"},
		"a list in a list":              {d.mint(good().with("tenants", [][]string{{tenantA}})), "UUIDs"},
		"a line's end within":           {parts[0] + "." + parts[1] + "." + parts[2][:9] + "\n" + parts[2][9:], "not a JSON Web Token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // a refusal is not kept as something else
				p, err := v.Verify(t.Context(), test.raw)
				var refusal *fault.Error
				if !errors.As(err, &refusal) {
					t.Fatalf("accepted as %+v (%v)", p, err)
				}
				if refusal.Kind != fault.Unauthenticated || refusal.Reason != fault.Unauthorized {
					t.Errorf("kind %v, reason %s", refusal.Kind, refusal.Reason)
				}
				if !strings.Contains(refusal.Message, test.want) {
					t.Errorf("says %q, want %q", refusal.Message, test.want)
				}
				if refusal.Metadata != nil || refusal.Field != "" {
					t.Errorf("tells more: %v %q", refusal.Metadata, refusal.Field)
				}
				for part := range strings.SplitSeq(test.raw, ".") {
					if len(part) > 8 && strings.Contains(err.Error(), part) {
						t.Errorf("repeats the token: %s", err)
					}
				}
				if p.Subject != "" || p.Tenants != nil {
					t.Errorf("gives a principal beside the refusal: %+v", p)
				}
			}
		})
	}
}

func TestTooManyTenants(t *testing.T) {
	t.Parallel()
	d := ed("d")
	v := newProvider(d).verifier(t, newClock().now)
	ids := strings.Split(strings.Repeat(tenantA+" ", 128), " ")[:128]
	if _, err := v.Verify(t.Context(), d.mint(good().with("tenants", ids))); err != nil {
		t.Errorf("128 tenants: %v", err)
	}
	if _, err := v.Verify(t.Context(), d.mint(good().with("tenants", append(ids, tenantB)))); err == nil || !strings.Contains(err.Error(), "more than 128") {
		t.Errorf("129 tenants: %v", err)
	}
}

func TestAKeptTokenExpires(t *testing.T) {
	t.Parallel()
	d, clock := ed("d"), newClock()
	v := newProvider(d).verifier(t, clock.now)
	raw := d.mint(good())
	for _, step := range []struct {
		pass time.Duration
		ok   bool
	}{{0, true}, {time.Hour + 29*time.Second, true}, {time.Second, false}, {time.Hour, false}} {
		clock.pass(step.pass)
		if _, err := v.Verify(t.Context(), raw); (err == nil) != step.ok {
			t.Errorf("%s after noon: %v", clock.now().Sub(noon), err)
		}
	}
}

//nolint:paralleltest // the allocations counted are those of the whole process
func TestAKeptTokenCostsNoVerification(t *testing.T) {
	d := ed("d")
	v := newProvider(d).verifier(t, newClock().now)
	raw := d.mint(good())
	if n := testing.AllocsPerRun(100, func() {
		if _, err := v.Verify(t.Context(), raw); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func TestNewVerifierRefuses(t *testing.T) {
	t.Parallel()
	keys := must(token.URLKeys(keysURL, http.DefaultClient, time.Now))
	fine := token.Trust{Issuer: issuer, Audience: audience, Keys: keys}
	for name, trusts := range map[string][]token.Trust{
		"no issuer":        {{Audience: audience, Keys: keys}},
		"no audience":      {{Issuer: issuer, Keys: keys}},
		"no keys":          {{Issuer: issuer, Audience: audience}},
		"one issuer twice": {fine, fine},
	} {
		if _, err := token.NewVerifier(time.Now, trusts...); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func zero(r rune) rune {
	if r == '-' {
		return r
	}
	return '0'
}

// looseBits changes the bits of the last character that stand for no byte, so
// that a lenient decoder reads the same signature.
func looseBits(raw string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, raw[len(raw)-1])
	return raw[:len(raw)-1] + string(alphabet[last^1])
}

func derSignature(raw string) string {
	return resign(raw, func(signature []byte) []byte {
		r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
		return must(asn1.Marshal(struct{ R, S *big.Int }{r, s}))
	})
}

func zeroSignature(raw string) string {
	return resign(raw, func(signature []byte) []byte { return bytes.Repeat([]byte{0}, len(signature)) })
}

func resign(raw string, change func([]byte) []byte) string {
	dot := strings.LastIndexByte(raw, '.')
	signature := must(jwt.NewParser().DecodeSegment(raw[dot+1:]))
	return raw[:dot+1] + b64(change(signature))
}
