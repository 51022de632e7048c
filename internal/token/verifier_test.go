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
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

func TestVerify_AcceptsValidTokens(t *testing.T) {
	t.Parallel()
	a, b := tenant.MustParse[tenant.TenantID](tenantA), tenant.MustParse[tenant.TenantID](tenantB)
	r, e, d := rs("r"), es("e"), ed("d")
	v := newProvider(r, e, d).verifier(t, newClock().now)
	ann := token.Principal{
		Subject: "ann", Issuer: issuer, Tenants: []tenant.TenantID{a}, Expires: noon.Add(time.Hour),
	}
	named := ann
	named.Name, named.Email = "Ann Ó", "ann@example.com"
	verified := named
	verified.Name, verified.Verified = "", true
	unverified := verified
	unverified.Verified = false
	both := ann
	both.Tenants = []tenant.TenantID{a, b}
	none := ann
	none.Tenants = []tenant.TenantID{}
	late := ann
	late.Expires = noon.Add(-29 * time.Second)
	signedIn := ann
	signedIn.SignedInAt = noon.Add(30 * time.Second)

	for name, tc := range map[string]struct {
		raw  string
		want token.Principal
	}{
		"RS256":             {r.sign(valid()), ann},
		"ES256":             {e.sign(valid()), ann},
		"EdDSA":             {d.sign(valid()), ann},
		"several audiences": {d.sign(valid().with("aud", []string{"other", audience})), ann},
		"tenants unsorted and double": {
			d.sign(valid().with("tenants", []string{tenantB, tenantA, strings.ToUpper(tenantB)})), both},
		"members, of a foreign issuer": {d.sign(valid().with("members", map[string]string{tenantA: tenantB})), ann},
		"no tenants":                   {d.sign(valid().with("tenants", []string{})), none},
		"a name and an address":        {d.sign(valid().with("name", "Ann Ó").with("email", "ann@example.com")), named},
		"a verified address": {
			d.sign(valid().with("email", "ann@example.com").with("email_verified", true)), verified,
		},
		"an address that is verified in a text": {
			d.sign(valid().with("email", "ann@example.com").with("email_verified", "true")), unverified,
		},
		"other claims": {
			d.sign(valid().with("roles", []string{"owner"}).with("Tenants", []string{tenantB}).with("SUB", "root")), ann},
		"no type":                   {d.sign(valid(), claims{"typ": nil}), ann},
		"an access token":           {d.sign(valid(), claims{"typ": "application/AT+jwt"}), ann},
		"no time of issue":          {d.sign(valid().without("iat")), ann},
		"expired within the leeway": {d.sign(valid().with("exp", noon.Add(-29*time.Second).Unix())), late},
		"early within the leeway":   {d.sign(valid().with("nbf", noon.Add(30*time.Second).Unix())), ann},
		"signed in within the leeway": {
			d.sign(valid().with("auth_time", noon.Add(30*time.Second).Unix())), signedIn,
		},
		"issued within the leeway": {d.sign(valid().with("iat", noon.Add(30*time.Second).Unix())), ann},
	} {
		for _, when := range []string{"verified", "cached"} {
			got, err := v.Verify(t.Context(), tc.raw)
			if err != nil {
				t.Errorf("%s, %s: %v", name, when, err)
				continue
			}
			test.Eq(t, tc.want, got, test.Sprintf("%s, %s", name, when))
		}
	}
	test.True(t, both.ValidFor(b), test.Sprint("a token is valid for a tenant that it does not list"))
	test.False(t, ann.ValidFor(b), test.Sprint("a token is valid for a tenant that it does not list"))
	test.False(t, none.ValidFor(tenant.TenantID{}), test.Sprint("a token is valid for a tenant that it does not list"))
}

func TestVerify_RejectsInvalidTokens(t *testing.T) {
	t.Parallel()
	r, e, d := rs("r"), es("e"), ed("d")
	const (
		partner   = "https://partner.example.com/"
		malformed = "not a valid JSON Web Token"
		algorithm = "not signed with RS256"
		signature = "signature is wrong"
	)
	theirs := ed("theirs")
	now := newClock().now
	ours := valueOf(token.URLKeys(keysURL, &http.Client{Transport: newProvider(r, e, d)}, now))
	others := valueOf(token.URLKeys(keysURL, &http.Client{Transport: newProvider(theirs)}, now))
	v := newVerifier(t, now,
		token.TrustedIssuer{Issuer: issuer, Audience: audience, Keys: ours},
		token.TrustedIssuer{Issuer: partner, Audience: audience, Keys: others})

	thief := ed("d") // another key with a known ID
	header := func(s signer, more claims) string { return s.sign(valid(), more) }
	hmac := func(secret []byte) string {
		h := string(valueOf(json.Marshal(claims{"alg": "HS256", "kid": r.kid})))
		signed := b64([]byte(h)) + "." + b64(valueOf(json.Marshal(valid())))
		return signed + "." + b64(valueOf(jwt.SigningMethodHS256.Sign(signed, secret)))
	}
	der := valueOf(x509.MarshalPKIXPublicKey(r.private.Public()))
	fine := d.sign(valid())
	parts := strings.Split(fine, ".")
	root := b64(valueOf(json.Marshal(valid().with("sub", "root"))))
	claimsJSON := string(valueOf(json.Marshal(valid())))
	unsigned := func(alg string) string {
		return b64([]byte(`{"alg":"`+alg+`","kid":"d"}`)) + "." + parts[1] + "."
	}

	for name, tc := range map[string]struct{ raw, want string }{
		"nothing":                       {"", "A token is needed"},
		"spaces":                        {"  ", malformed},
		"garbage":                       {"\x00\xff garbage", malformed},
		"two parts":                     {parts[0] + "." + parts[1], malformed},
		"four parts":                    {fine + ".x", malformed},
		"empty parts":                   {"..", malformed},
		"the scheme before it":          {"Bearer " + fine, malformed},
		"a line's end after it":         {fine + "\n", malformed},
		"padding":                       {parts[0] + "==." + parts[1] + "." + parts[2], malformed},
		"loose last bits":               {looseBits(fine), malformed},
		"truncated":                     {fine[:len(fine)-22], signature},
		"no signature":                  {parts[0] + "." + parts[1] + ".", signature},
		"huge":                          {d.sign(valid().with("padding", strings.Repeat("x", 8<<10))), "longer than 8192"},
		"nested deeply":                 {d.signText(`{"alg":"EdDSA","kid":"d"}`, strings.Repeat("[", 5000)), malformed},
		"a list for a header":           {d.signText(`["EdDSA"]`, "{}"), malformed},
		"a list for claims":             {d.signText(`{"alg":"EdDSA","kid":"d"}`, "[]"), malformed},
		"null for claims":               {d.signText(`{"alg":"EdDSA","kid":"d"}`, "null"), "not trusted"},
		"claims changed":                {parts[0] + "." + root + "." + parts[2], signature},
		"another key of that name":      {thief.sign(valid()), signature},
		"none":                          {unsigned("none"), algorithm},
		"None":                          {unsigned("None"), algorithm},
		"no algorithm":                  {unsigned(""), algorithm},
		"none with a signature":         {header(d, claims{"alg": "none"}), algorithm},
		"HMAC by the key's DER":         {hmac(der), algorithm},
		"HMAC by the key's PEM":         {hmac(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), algorithm},
		"HMAC by the modulus":           {hmac(r.private.Public().(*rsa.PublicKey).N.Bytes()), algorithm},
		"HMAC by nothing":               {hmac([]byte{}), algorithm},
		"RS384":                         {signer{"r", jwt.SigningMethodRS384, r.private}.sign(valid()), algorithm},
		"PS256":                         {signer{"r", jwt.SigningMethodPS256, r.private}.sign(valid()), algorithm},
		"an algorithm that is a number": {header(d, claims{"alg": 7}), algorithm},
		"EdDSA said to be ES256":        {header(d, claims{"alg": "ES256"}), "does not publish"},
		"EdDSA by the name of another":  {header(d, claims{"kid": "e"}), "does not publish"},
		"RS256 by the name of another":  {header(r, claims{"kid": "d"}), "does not publish"},
		"ES256 signature in DER":        {derSignature(e.sign(valid())), signature},
		"ES256 signature of zeros":      {zeroSignature(e.sign(valid())), signature},
		"an unknown key":                {header(d, claims{"kid": "unknown"}), "does not publish"},
		"no key named":                  {header(d, claims{"kid": nil}), "(kid)"},
		"an empty key name":             {header(d, claims{"kid": ""}), "(kid)"},
		"a key name that is a number":   {header(d, claims{"kid": 1}), "(kid)"},
		"its key in jwk":                {header(thief, claims{"jwk": thief.jwk()}), "header has jwk"},
		"a known key in jwk":            {header(d, claims{"jwk": d.jwk()}), "header has jwk"},
		"jwk null":                      {d.signText(`{"alg":"EdDSA","kid":"d","jwk":null}`, claimsJSON), "header has jwk"},
		"its keys in jku":               {header(thief, claims{"jku": "https://evil.example.com/keys"}), "header has jku"},
		"its chain in x5c":              {header(thief, claims{"x5c": []string{"MII"}}), "header has x5c"},
		"its chain in x5u":              {header(thief, claims{"x5u": "https://evil.example.com/chain"}), "header has x5u"},
		"a critical extension":          {header(d, claims{"crit": []string{"b64"}, "b64": false}), "header has crit"},
		"a logout notice":               {header(d, claims{"typ": "logout+jwt"}), "not an access token"},
		"a type that is a number":       {header(d, claims{"typ": 1}), "not an access token"},
		"another issuer":                {d.sign(valid().with("iss", "https://evil.example.com/")), "not trusted"},
		"no issuer":                     {d.sign(valid().without("iss")), "not trusted"},
		"an issuer's prefix":            {d.sign(valid().with("iss", strings.TrimSuffix(issuer, "/"))), "not trusted"},
		"a list of issuers":             {d.sign(valid().with("iss", []string{issuer})), "not trusted"},
		"the partner's key for ours":    {theirs.sign(valid()), "does not publish"},
		"our key for the partner":       {d.sign(valid().with("iss", partner)), "does not publish"},
		"another audience":              {d.sign(valid().with("aud", "billing")), "another audience"},
		"no audience":                   {d.sign(valid().without("aud")), "lacks a claim"},
		"an empty audience":             {d.sign(valid().with("aud", []string{})), "lacks a claim"},
		"no expiry":                     {d.sign(valid().without("exp")), "lacks a claim"},
		"expiry null":                   {d.sign(valid().with("exp", nil)), malformed},
		"expiry 0":                      {d.sign(valid().with("exp", 0)), "lacks a claim"},
		"expiry in words":               {d.sign(valid().with("exp", "tomorrow")), malformed},
		"expiry beyond all times":       {d.sign(valid().with("exp", int64(1)<<60)), "exp must be a time between"},
		"expiry in the year 9999":       {d.sign(valid().with("exp", 253402300799)), "exp must be a time between"},
		"valid from the end of time":    {d.sign(valid().with("nbf", 1e308)), "nbf must be a time between"},
		"valid from before 1970":        {d.sign(valid().with("nbf", -1)), "nbf must be a time between"},
		"issued at the end of time":     {d.sign(valid().with("iat", 1e308)), "iat must be a time between"},
		"signed in at the end of time":  {d.sign(valid().with("auth_time", 1e308)), "auth_time must be a time between"},
		"expired":                       {d.sign(valid().with("exp", noon.Add(-30*time.Second).Unix())), "has expired"},
		"not valid yet":                 {d.sign(valid().with("nbf", noon.Add(31*time.Second).Unix())), "not valid yet"},
		"a sign-in in the future":       {d.sign(valid().with("auth_time", noon.Add(31*time.Second).Unix())), "auth_time"},
		"issued in the future":          {d.sign(valid().with("iat", noon.Add(31*time.Second).Unix())), "in the future"},
		"no subject":                    {d.sign(valid().without("sub")), "claim sub"},
		"an empty subject":              {d.sign(valid().with("sub", "")), "claim sub"},
		"a subject that is a number":    {d.sign(valid().with("sub", 7)), "claim sub"},
		"a subject with a NUL":          {d.sign(valid().with("sub", "a\x00b")), "claim sub"},
		"a long subject":                {d.sign(valid().with("sub", strings.Repeat("a", 256))), "claim sub"},
		"a foreign member by id":        {d.sign(valid().with("sub", "member:"+tenantA)), "reserved"},
		"a foreign background worker":   {d.sign(valid().with("sub", "system")), "reserved"},
		"a foreign service account":     {d.sign(valid().with("sub", "sa:"+tenantA)), "service accounts"},
		"a name with a line's end":      {d.sign(valid().with("name", "a\nb")), "claim name"},
		"an address that is a list":     {d.sign(valid().with("email", []string{"a@b"})), "claim email"},
		"no tenants claim":              {d.sign(valid().without("tenants")), "claim tenants"},
		"tenants null":                  {d.sign(valid().with("tenants", nil)), "claim tenants"},
		"tenants as a text":             {d.sign(valid().with("tenants", tenantA)), "claim tenants"},
		"tenants as an object":          {d.sign(valid().with("tenants", claims{tenantA: true})), "claim tenants"},
		"tenants as numbers":            {d.sign(valid().with("tenants", []int{1})), "UUIDs"},
		"a wildcard tenant":             {d.sign(valid().with("tenants", []string{"*"})), "UUIDs"},
		"an empty tenant":               {d.sign(valid().with("tenants", []string{tenantA, ""})), "UUIDs"},
		"the zero tenant":               {d.sign(valid().with("tenants", []string{strings.Map(zero, tenantA)})), "UUIDs"},
		"a list in a list":              {d.sign(valid().with("tenants", [][]string{{tenantA}})), "UUIDs"},
		"a line's end within":           {parts[0] + "." + parts[1] + "." + parts[2][:9] + "\n" + parts[2][9:], malformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // a rejection must not be cached as something else
				p, err := v.Verify(t.Context(), tc.raw)
				var refusal *fault.Error
				must.True(t, errors.As(err, &refusal), must.Sprintf("accepted as %+v (%v)", p, err))
				test.EqOp(t, fault.Unauthenticated, refusal.Kind,
					test.Sprintf("kind %v, reason %s", refusal.Kind, refusal.Reason))
				test.EqOp(t, fault.UnauthenticatedReason, refusal.Reason,
					test.Sprintf("kind %v, reason %s", refusal.Kind, refusal.Reason))
				test.StrContains(t, refusal.Message, tc.want, test.Sprint("says"))
				must.Nil(t, refusal.Metadata, must.Sprintf("reveals more: %v %q", refusal.Metadata, refusal.Field))
				test.EqOp(t, "", refusal.Field, test.Sprintf("reveals more: %v %q", refusal.Metadata, refusal.Field))
				for part := range strings.SplitSeq(tc.raw, ".") {
					test.False(t, len(part) > 8 && strings.Contains(err.Error(), part), test.Sprintf("repeats the token: %s", err))
				}
				test.EqOp(t, "", p.Subject, test.Sprintf("returns a principal with the error: %+v", p))
				test.Nil(t, p.Tenants, test.Sprintf("returns a principal with the error: %+v", p))
			}
		})
	}
}

func TestVerify_LimitsLifetime(t *testing.T) {
	t.Parallel()
	d, now := ed("d"), newClock().now
	limited := valueOf(token.URLKeys(keysURL, &http.Client{Transport: newProvider(d)}, now))
	v := newVerifier(t, now, token.TrustedIssuer{
		Issuer: issuer, Audience: audience, Keys: limited, MaxLifetime: 2 * time.Hour,
	})
	for name, tc := range map[string]struct {
		issued, expires time.Duration // after noon
		ok              bool
	}{
		"longest":     {-time.Hour, time.Hour, true},
		"too long":    {-time.Hour, time.Hour + time.Second, false},
		"not started": {0, 3 * time.Hour, false},
	} {
		raw := valid().with("iat", noon.Add(tc.issued).Unix()).with("exp", noon.Add(tc.expires).Unix())
		_, err := v.Verify(t.Context(), d.sign(raw))
		test.EqOp(t, tc.ok, err == nil, test.Sprint(name, err))
	}
	long := d.sign(valid().without("iat").with("exp", noon.Add(2*time.Hour+time.Second).Unix()))
	test.ErrorContains(t, expect.Error(v.Verify(t.Context(), long)), "longer than 2h0m0s")
}

func TestVerify_LimitsTenants(t *testing.T) {
	t.Parallel()
	d := ed("d")
	v := newProvider(d).verifier(t, newClock().now)
	ids := strings.Split(strings.Repeat(tenantA+" ", 128), " ")[:128]
	expect.OK(t)(v.Verify(t.Context(), d.sign(valid().with("tenants", ids))))
	test.ErrorContains(t, expect.Error(v.Verify(t.Context(), d.sign(valid().with("tenants", append(ids, tenantB))))),
		"more than 128")
}

func TestVerify_CachedTokenExpires(t *testing.T) {
	t.Parallel()
	d, clock := ed("d"), newClock()
	v := newProvider(d).verifier(t, clock.now)
	raw := d.sign(valid())
	for _, step := range []struct {
		pass time.Duration
		ok   bool
	}{{0, true}, {time.Hour + 29*time.Second, true}, {time.Second, false}, {time.Hour, false}} {
		clock.advance(step.pass)
		_, err := v.Verify(t.Context(), raw)
		test.EqOp(t, step.ok, err == nil, test.Sprintf("%s after noon: %v", clock.now().Sub(noon), err))
	}
}

//nolint:paralleltest // it counts the allocations of the whole process
func TestVerify_DoesNotVerifyCachedTokenAgain(t *testing.T) {
	d := ed("d")
	v := newProvider(d).verifier(t, newClock().now)
	raw := d.sign(valid())
	n := testing.AllocsPerRun(100, func() {
		if _, err := v.Verify(t.Context(), raw); err != nil {
			t.Fatal(err)
		}
	})
	test.True(t, n <= 1, test.Sprintf("%v allocations", n))
}

func TestNewVerifier_RejectsIncompleteTrust(t *testing.T) {
	t.Parallel()
	keys := valueOf(token.URLKeys(keysURL, http.DefaultClient, time.Now))
	fine := token.TrustedIssuer{Issuer: issuer, Audience: audience, Keys: keys}
	for name, trusts := range map[string][]token.TrustedIssuer{
		"no issuer":        {{Audience: audience, Keys: keys}},
		"no audience":      {{Issuer: issuer, Keys: keys}},
		"no keys":          {{Issuer: issuer, Audience: audience}},
		"one issuer twice": {fine, fine},
	} {
		test.Error(t, expect.Error(token.NewVerifier(time.Now, trusts...)), test.Sprintf("%s was accepted", name))
	}
}

func zero(r rune) rune {
	if r == '-' {
		return r
	}
	return '0'
}

// looseBits changes the bits of the last character that encode no byte,
// so a lenient decoder reads the same signature.
func looseBits(raw string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return raw[:len(raw)-1] + string(alphabet[strings.IndexByte(alphabet, raw[len(raw)-1])^1])
}

func derSignature(raw string) string {
	return resign(raw, func(signature []byte) []byte {
		r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
		return valueOf(asn1.Marshal(struct{ R, S *big.Int }{r, s}))
	})
}

func zeroSignature(raw string) string {
	return resign(raw, func(signature []byte) []byte { return bytes.Repeat([]byte{0}, len(signature)) })
}

func resign(raw string, change func([]byte) []byte) string {
	dot := strings.LastIndexByte(raw, '.')
	return raw[:dot+1] + b64(change(valueOf(jwt.NewParser().DecodeSegment(raw[dot+1:]))))
}
