package checkin_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

var (
	club    = tenant.MustParse[tenant.TenantID]("0192d3f0-0000-7000-8000-000000000001")
	other   = tenant.MustParse[tenant.TenantID]("0192d3f0-0000-7000-8000-000000000002")
	yoga    = tenant.MustParse[tenant.SessionID]("0192d3f0-0000-7000-8000-000000000011")
	pilates = tenant.MustParse[tenant.SessionID]("0192d3f0-0000-7000-8000-000000000012")

	// wall is what a screen's token gives access to.
	wall = checkin.Display{
		Tenant: club, Session: yoga, Link: tenant.MustParse[tenant.DisplayLinkID]("0192d3f0-0000-7000-8000-000000000021"),
		Screen:  tenant.MustParse[tenant.ScreenID]("0192d3f0-0000-7000-8000-000000000031"),
		Expires: starts.Add(checkin.DisplayTTL),
	}

	oldSecret = bytes.Repeat([]byte{1}, checkin.MinSecretLength)
	newSecret = bytes.Repeat([]byte{2}, checkin.MinSecretLength)
)

func keys(t must.T, current []byte, previous ...[]byte) checkin.Keys {
	t.Helper()
	return expect.Value(checkin.NewKeys(current, previous...))(t)
}

func TestVerifyQR_AcceptsOnlyValidCodesOfThisSession(t *testing.T) {
	t.Parallel()
	k := keys(t, oldSecret)
	text, expires := k.SignQR(club, yoga, starts, checkin.QRTTL)
	test.True(
		t, len(text) == 87 && expires.Equal(starts.Add(checkin.QRTTL)),
		test.Sprintf("%q has %d characters and expires %s", text, len(text), expires),
	)
	display, _ := k.SignDisplay(wall, starts)
	for _, c := range []struct {
		name    string
		keys    checkin.Keys
		text    string
		tenant  tenant.TenantID
		session tenant.SessionID
		at      time.Duration // after it was signed
		good    bool
	}{
		{"fresh", k, text, club, yoga, 0, true},
		{"last second", k, text, club, yoga, checkin.QRTTL - time.Second, true},
		{"expired", k, text, club, yoga, checkin.QRTTL, false},
		{"from a node whose clock is ahead", k, text, club, yoga, -checkin.MaxClockSkew, true},
		{"from the future", k, text, club, yoga, -checkin.MaxClockSkew - time.Second, false},
		{"another session", k, text, club, pilates, 0, false},
		{"another tenant", k, text, other, yoga, 0, false},
		{"no session", k, text, club, tenant.SessionID{}, 0, false},
		{"after the secret was replaced", keys(t, newSecret, oldSecret), text, club, yoga, 0, true},
		{"after it was withdrawn", keys(t, newSecret), text, club, yoga, 0, false},
		{"without secrets", checkin.Keys{}, text, club, yoga, 0, false},
		{"a display link", k, display, club, yoga, 0, false},
		{"empty", k, "", club, yoga, 0, false},
		{"cut short", k, text[:86], club, yoga, 0, false},
		{"longer", k, text + "A", club, yoga, 0, false},
		{"padded", k, text + "=", club, yoga, 0, false},
		{"with a line break", k, text[:40] + "\n" + text[40:], club, yoga, 0, false},
		{"with a line break in place of a character", k, text[:40] + "\n" + text[41:], club, yoga, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := c.keys.VerifyQR(c.text, c.tenant, c.session, starts.Add(c.at))
			if c.good {
				test.NoError(t, err)
				return
			}
			var refusal *fault.Error
			test.True(
				t, errors.As(err, &refusal) && refusal.Reason == fault.QRInvalid &&
					refusal.Message == "Invalid or expired QR code." && refusal.Metadata == nil,
				test.Sprintf("%#v", err),
			)
		})
	}
}

func TestSignQR_LimitsTheLifetime(t *testing.T) {
	t.Parallel()
	k := keys(t, oldSecret)
	for _, c := range []struct{ asked, given time.Duration }{
		{checkin.QRTTL, checkin.QRTTL},
		{checkin.MaxQRTTL, checkin.MaxQRTTL},
		{time.Hour, checkin.MaxQRTTL},
		{0, time.Second},
		{-time.Hour, time.Second},
		{1500 * time.Millisecond, time.Second},
	} {
		text, expires := k.SignQR(club, yoga, starts, c.asked)
		test.True(
			t, expires.Equal(starts.Add(c.given)), test.Sprintf("a life of %s ends after %s", c.asked, expires.Sub(starts)),
		)
		test.True(
			t, k.VerifyQR(text, club, yoga, expires.Add(-time.Second)) == nil && k.VerifyQR(text, club, yoga, expires) != nil,
			test.Sprintf("a life of %s does not end at %s", c.asked, expires),
		)
	}
}

func TestVerifyDisplay_AcceptsOnlyValidLinks(t *testing.T) {
	t.Parallel()
	k := keys(t, oldSecret)
	text, expires := k.SignDisplay(wall, starts)
	got := expect.Value(k.VerifyDisplay(text, starts))(t)
	test.True(t, got == wall && expires.Equal(wall.Expires), test.Sprintf("%+v", got))
	rotated := keys(t, newSecret, oldSecret)
	if got, err := rotated.VerifyDisplay(text, expires.Add(-time.Second)); err != nil || got != wall {
		t.Errorf("%+v, %v", got, err)
	}
	long := wall
	long.Expires = starts.Add(time.Hour)
	_, expires = k.SignDisplay(long, starts)
	test.EqOp(t, wall.Expires, expires, test.Sprint("longer than a link lives:"))
	_, expires = k.SignDisplay(wall, wall.Expires)
	test.EqOp(t, wall.Expires.Add(time.Second), expires, test.Sprint("expired:"))
	code, _ := k.SignQR(club, yoga, starts, checkin.MaxQRTTL)
	for name, c := range map[string]struct {
		keys checkin.Keys
		text string
		at   time.Time
	}{
		"expired":         {k, text, expires},
		"from the future": {k, text, starts.Add(-checkin.MaxClockSkew - time.Second)},
		"another secret":  {keys(t, newSecret), text, starts},
		"a QR code":       {k, code, starts},
		"empty":           {k, "", starts},
	} {
		got, err := c.keys.VerifyDisplay(c.text, c.at)
		test.True(
			t, fault.ReasonOf(err) == fault.LinkInvalid && got == (checkin.Display{}),
			test.Sprintf("%s: %+v, %v", name, got, err),
		)
	}
}

// Editing a code does not turn it into one for another session or tenant, or extend its lifetime.
func TestVerifyQR_RejectsEditedCodes(t *testing.T) {
	t.Parallel()
	k := keys(t, oldSecret)
	text, expires := k.SignQR(club, yoga, starts, checkin.QRTTL)
	for name, edit := range map[string]func([]byte){
		"version": func(b []byte) { b[0] = 2 },
		"tenant":  func(b []byte) { copy(b[1:], other.UUID[:]) },
		"session": func(b []byte) { copy(b[17:], pilates.UUID[:]) },
		"issued":  func(b []byte) { binary.BigEndian.PutUint64(b[33:], uint64(starts.Unix()-1)) },
		"expires": func(b []byte) { binary.BigEndian.PutUint64(b[41:], uint64(expires.Unix()+60)) },
	} {
		b := expect.Value(base64.RawURLEncoding.DecodeString(text))(t)
		edit(b)
		forged := base64.RawURLEncoding.EncodeToString(b)
		for _, in := range []tenant.TenantID{club, other} {
			for _, session := range []tenant.SessionID{yoga, pilates} {
				test.Error(t, k.VerifyQR(forged, in, session, starts), test.Sprintf("a forged %s passed", name))
			}
		}
	}
}

func TestNewKeys_RejectsShortSecretsAndCopiesThem(t *testing.T) {
	t.Parallel()
	_, err := checkin.NewKeys(newSecret[1:])
	test.ErrorIs(t, err, checkin.ErrSecretTooShort)
	_, err = checkin.NewKeys(newSecret, nil)
	test.ErrorIs(t, err, checkin.ErrSecretTooShort)
	secret := bytes.Clone(newSecret)
	k := keys(t, secret)
	text, _ := k.SignQR(club, yoga, starts, checkin.QRTTL)
	clear(secret)
	test.NoError(t, k.VerifyQR(text, club, yoga, starts), test.Sprint("the keys share their caller's memory"))
}

func TestVerifyQR_AcceptsExactlyItsTenantSessionAndTime(t *testing.T) {
	t.Parallel()
	k := keys(t, oldSecret)
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SampledFrom([]tenant.TenantID{club, other})
		session := rapid.SampledFrom([]tenant.SessionID{yoga, pilates})
		second := rapid.Int64Range(0, 1500)
		signedFor, signedSession, life := in.Draw(t, "signed for"), session.Draw(t, "signed session"), second.Draw(t, "life")
		issued := starts.Add(time.Duration(second.Draw(t, "issued")) * time.Second)
		text, expires := k.SignQR(signedFor, signedSession, issued, time.Duration(life)*time.Second)

		askedFor, askedSession := in.Draw(t, "asked for"), session.Draw(t, "asked session")
		now := starts.Add(time.Duration(second.Draw(t, "now")) * time.Second)
		good := askedFor == signedFor && askedSession == signedSession &&
			now.Before(expires) && !now.Before(issued.Add(-checkin.MaxClockSkew))
		err := k.VerifyQR(text, askedFor, askedSession, now)
		must.True(
			t, (err == nil) == good && expires.Sub(issued) <= checkin.MaxQRTTL,
			must.Sprintf("signed %s until %s, now %s: %v", issued, expires, now, err),
		)
	})
}

func TestVerify_RejectsAnyFlippedBit(t *testing.T) {
	t.Parallel()
	k := keys(t, oldSecret, newSecret)
	text, _ := k.SignQR(club, yoga, starts, checkin.QRTTL)
	link, _ := k.SignDisplay(wall, starts)
	for n := range len(link) * 8 {
		flip := func(text string) string {
			b := []byte(text)
			b[n/8%len(b)] ^= 1 << (n % 8)
			return string(b)
		}
		test.Error(t, k.VerifyQR(flip(text), club, yoga, starts), test.Sprintf("bit %d of a code does not matter", n))
		_, err := k.VerifyDisplay(flip(link), starts)
		test.Error(t, err, test.Sprintf("bit %d of a link does not matter", n))
	}
}

func FuzzVerifyQR(f *testing.F) {
	k := keys(f, oldSecret)
	good, _ := k.SignQR(club, yoga, starts, checkin.QRTTL)
	link, _ := k.SignDisplay(wall, starts)
	foreign, _ := keys(f, newSecret).SignQR(club, yoga, starts, checkin.QRTTL)
	zeros := base64.RawURLEncoding.EncodeToString(make([]byte, 65))
	for _, text := range []string{good, link, foreign, "", "AQ", good[1:] + "\n", zeros} {
		f.Add(text, int64(0))
	}
	f.Fuzz(func(t *testing.T, text string, second int64) {
		now := time.Unix(starts.Unix()+second%100_000, 0)
		err := k.VerifyQR(text, club, yoga, now)
		must.False(
			t, err == nil && (text != good || second%100_000 >= 90 || second%100_000 < -30),
			must.Sprintf("%q passed at %s", text, now),
		)
		must.False(t, err != nil && fault.ReasonOf(err) != fault.QRInvalid, must.Sprint(err))
		if _, err := k.VerifyDisplay(text, now); err == nil && text != link {
			t.Fatalf("%q opened a display", text)
		}
	})
}

func BenchmarkVerifyQR(b *testing.B) {
	k := keys(b, newSecret, oldSecret)
	text, _ := k.SignQR(club, yoga, starts, checkin.QRTTL)
	for b.Loop() {
		must.NoError(b, k.VerifyQR(text, club, yoga, starts))
	}
}

// The current secret signs. The previous ones only verify.
func TestNewKeys_SignsWithTheCurrentSecret(t *testing.T) {
	t.Parallel()
	far := tenant.MustParse[tenant.TenantID]("f192d3f0-0000-7000-8000-000000000001")
	text, _ := keys(t, newSecret, oldSecret).SignQR(far, yoga, starts, checkin.QRTTL)
	test.NoError(t, keys(t, newSecret).VerifyQR(text, far, yoga, starts))
	test.Error(t, keys(t, oldSecret).VerifyQR(text, far, yoga, starts))
	text = text[:20] + strings.Repeat("\n", len(text)-20)
	test.Error(t, keys(t, newSecret).VerifyQR(text, far, yoga, starts))
}
