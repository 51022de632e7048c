package sending

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault/faulttest"
)

var monday = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

// Tenants use domains that can be registered, and none of the platform's.
func TestNewDomain_AcceptsRegisteredDomains(t *testing.T) {
	t.Parallel()
	const (
		noAddress = "INVALID_FIELD @senders.domain.from_address"
		refused   = "SENDING_DOMAIN_INVALID @senders.domain.from_address"
	)
	long := strings.Repeat("a.", (maxName-len("studio.com"))/2) + "studio.com"
	for address, want := range map[string]string{
		"hello@studio.com":                "studio.com",
		"Hello.There+1@Mail.Studio.CO.UK": "mail.studio.co.uk",
		"hello@studio.github.io":          "studio.github.io",
		"hello@xn--mller-kva.de":          "xn--mller-kva.de",
		"hello@notberth.app":              "notberth.app",

		"":                                 noAddress,
		"hello":                            noAddress,
		"@studio.com":                      noAddress,
		"hello@":                           noAddress,
		"a..b@studio.com":                  noAddress,
		"Mia <hello@studio.com>":           noAddress,
		"hello@studio.com\r\nBcc: a@b.com": noAddress,
		"hello\r\n@studio.com":             noAddress,
		"hello@studio.com ":                noAddress,
		"a@studio.com, b@studio.com":       noAddress,
		"hello@com":                        refused,
		"hello@co.uk":                      refused,
		"hello@github.io":                  refused,
		"hello@localhost":                  refused,
		"hello@studio.internal":            refused,
		"hello@127.0.0.1":                  refused,
		"hello@[127.0.0.1]":                noAddress,
		"hello@studio..com":                noAddress,
		"hello@studio.com.":                noAddress,
		"hello@berth.app":                  refused,
		"hello@mail.Berth.app":             refused,
		"hello@post.example":               refused,
		"a@" + long:                        long,
		"a@a" + long:                       refused,
	} {
		d, err := NewDomain(address, "berth.app", "mx.post.example", "")
		if err != nil {
			test.EqOp(t, want, faulttest.Text(err), test.Sprintf("%q", address))
			continue
		}
		test.EqOp(t, want, d.Name(), test.Sprintf("%q", address))
		test.True(t, strings.EqualFold(address, d.Address), test.Sprint(d.Address))
	}
}

// Each key has a name of its own, so that tenants can share a domain.
func TestRecords_NameTheKey(t *testing.T) {
	t.Parallel()
	d := Domain{Address: "hello@studio.com", Token: "token", Public: []byte("one")}
	test.Eq(t, []DNSRecord{
		{Name: "_berth.studio.com", Value: "berth=token"},
		{Name: "berth-7692c3ad35._domainkey.studio.com", Value: "v=DKIM1; k=rsa; p=b25l", alone: true},
	}, d.Records())
	test.NotEqOp(t, d.Selector(), Domain{Public: []byte("two")}.Selector())
}

// What editors of DNS records add or remove does not matter. Everything else does.
func TestCheck_ComparesRecords(t *testing.T) {
	t.Parallel()
	records := Domain{Address: "hello@studio.com", Token: "token", Public: []byte("one")}.Records()
	different := func(name, found string) string {
		return "DNS_RECORD_DIFFERENT found=" + found + " name=" + name + ".studio.com"
	}
	const proof, key = "_berth", "berth-7692c3ad35._domainkey"
	long := strings.Repeat("é", 300)
	for name, c := range map[string]struct {
		record int
		found  []string
		want   string
	}{
		"none":              {0, nil, "DNS_RECORD_MISSING name=_berth.studio.com"},
		"the proof":         {0, []string{"berth=token"}, ""},
		"among others":      {0, []string{"v=spf1 -all", "berth=other", " berth=token "}, ""},
		"another's proof":   {0, []string{"berth=other"}, different(proof, "berth=other")},
		"more than that":    {0, []string{"berth=token2"}, different(proof, "berth=token2")},
		"not a text":        {0, []string{"\xff" + long}, different(proof, "?"+long[:2*249]+"…")},
		"the key":           {1, []string{"v=DKIM1; k=rsa; p=b25l"}, ""},
		"with other spaces": {1, []string{"v=DKIM1;k=rsa;  p=b2 5l; "}, ""},
		"another key":       {1, []string{"v=DKIM1; k=rsa; p=b25m"}, different(key, "v=DKIM1; k=rsa; p=b25m")},
		"a withdrawn key":   {1, []string{"v=DKIM1; k=rsa; p="}, different(key, "v=DKIM1; k=rsa; p=")},
		"two keys":          {1, []string{"v=DKIM1; k=rsa; p=b25l", "x"}, different(key, "v=DKIM1; k=rsa; p=b25l\nx")},
	} {
		got := ""
		if err := records[c.record].Check(c.found); err != nil {
			got = faulttest.Text(err)
		}
		test.EqOp(t, c.want, got, test.Sprint(name))
	}
}

// A domain lapses once its records were not found for three days without a break, and never before.
func TestLooked_LapsesAfterThreeDays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d, now := Domain{}, monday
		var missing time.Time
		for range rapid.IntRange(1, 100).Draw(t, "look-ups") {
			found := rapid.IntRange(0, 9).Draw(t, "found") == 0
			before := d
			after, lapsed := d.Looked(found, now)
			switch {
			case found:
				missing = time.Time{}
				must.EqOp(t, now.Add(24*time.Hour), after.CheckAt)
			case missing.IsZero():
				missing = now
			}
			must.EqOp(t, missing, after.MissingSince)
			must.EqOp(t, !found && now.Sub(missing) >= 72*time.Hour, lapsed)
			must.EqOp(t, found || !before.VerifiedAt.IsZero() && !lapsed, !after.VerifiedAt.IsZero())
			if !found && !lapsed {
				must.EqOp(t, now.Add(time.Hour), after.CheckAt)
			}
			must.EqOp(t, lapsed, after.CheckAt.IsZero())
			d, now = after, now.Add(time.Duration(rapid.IntRange(1, 24).Draw(t, "hours"))*time.Hour)
		}
	})
}

// Another look at a verified domain does not verify it anew.
func TestLooked_KeepsTheFirstTime(t *testing.T) {
	t.Parallel()
	d, _ := Domain{}.Looked(true, monday)
	d, _ = d.Looked(true, monday.Add(time.Hour))
	test.EqOp(t, monday, d.VerifiedAt)
}
