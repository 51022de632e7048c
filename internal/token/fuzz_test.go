package token_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/token"
)

// For any input: Verify does not panic, returns the one kind of error, and accepts only tokens that were issued,
// down to the last bit.
func FuzzVerify(f *testing.F) {
	d := ed("d")
	v := newProvider(d).verifier(f, newClock().now)
	issued := []string{
		d.sign(valid()),
		d.sign(valid().with("tenants", []string{tenantB, tenantA}).with("name", "Ann")),
		d.sign(valid(), claims{"typ": nil}),
	}
	for _, raw := range issued {
		f.Add(raw)
		f.Add(looseBits(raw))
		f.Add(strings.ReplaceAll(raw, ".", ".."))
		f.Add(raw[:len(raw)/2])
	}
	f.Add(rs("d").sign(valid()))
	f.Add(es("d").sign(valid(), claims{"jwk": d.jwk(), "crit": []string{"exp"}}))
	f.Add(d.sign(valid().with("exp", 1e300).with("tenants", claims{"": []any{nil}})))
	f.Add(b64([]byte(`{"alg":"none","kid":"d"}`)) + "." + b64([]byte(`{"iss":"`+issuer+`"}`)) + ".")
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := v.Verify(t.Context(), raw)
		if err == nil {
			must.True(t, slices.Contains(issued, raw), must.Sprintf("%q was accepted as %+v", raw, p))
			return
		}
		var refusal *fault.Error
		must.True(t, errors.As(err, &refusal), must.Sprintf("%q: %v", raw, err))
		must.EqOp(t, fault.Unauthenticated, refusal.Kind, must.Sprintf("%q: %v", raw, err))
		must.EqOp(t, fault.UnauthenticatedReason, refusal.Reason, must.Sprintf("%q: %v", raw, err))
		must.NotEqOp(t, "", refusal.Message, must.Sprintf("%q: %v", raw, err))
	})
}

func BenchmarkVerify(b *testing.B) {
	r, e, d := rs("r"), es("e"), ed("d")
	idp := newProvider(r, e, d)
	for _, s := range []signer{r, e, d} {
		b.Run("first/"+s.method.Alg(), func(b *testing.B) {
			v := idp.verifier(b, newClock().now)
			raws := make([]string, 512)
			for i := range raws {
				raws[i] = s.sign(valid().with("jti", fmt.Sprint(i)))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%len(raws) == 0 {
					b.StopTimer()
					v = idp.verifier(b, newClock().now) // with an empty cache
					must.NoError(b, v.Refresh(b.Context()))
					b.StartTimer()
				}
				expect.OK(b)(v.Verify(b.Context(), raws[i%len(raws)]))
			}
		})
	}
	v := idp.verifier(b, time.Now)
	raw := e.sign(valid().with("iat", 0).with("exp", time.Now().Add(time.Hour).Unix()))
	again := func(b *testing.B) {
		b.Helper()
		expect.OK(b)(v.Verify(b.Context(), raw))
	}
	b.Run("cached", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			again(b)
		}
	})
	b.Run("cached/parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				again(b)
			}
		})
	})
}

func BenchmarkIssue(b *testing.B) {
	i := openIssuer(b, filepath.Join(b.TempDir(), "signing.pem"), newClock())
	for b.Loop() {
		expect.OK(b)(i.Issue(token.Claims{Subject: "ann"}, time.Hour))
	}
}
