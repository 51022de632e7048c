package checkin_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
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
	const refused = "QR_INVALID"
	k := keys(t, oldSecret)
	code, expires := k.SignQR(club, yoga, starts, checkin.QRTTL)
	test.EqOp(t, 87, len(code))
	test.EqOp(t, starts.Add(checkin.QRTTL), expires)
	display, _ := k.SignDisplay(wall, starts)
	for name, tt := range map[string]struct {
		differ set // from a fresh code
		want   string
	}{
		"fresh":                            {nil, ""},
		"last second":                      {set{"At": expires.Add(-time.Second)}, ""},
		"expired":                          {set{"At": expires}, refused},
		"from a node whose clock is ahead": {set{"At": starts.Add(-checkin.MaxClockSkew)}, ""},
		"from the future":                  {set{"At": starts.Add(-checkin.MaxClockSkew - time.Second)}, refused},
		"another session":                  {set{"Session": pilates}, refused},
		"another tenant":                   {set{"Tenant": other}, refused},
		"no session":                       {set{"Session": nil}, refused},
		"after the secret was replaced":    {set{"Keys": keys(t, newSecret, oldSecret)}, ""},
		"after it was withdrawn":           {set{"Keys": keys(t, newSecret)}, refused},
		"without secrets":                  {set{"Keys": nil}, refused},
		"a display link":                   {set{"Text": display}, refused},
		"empty":                            {set{"Text": ""}, refused},
		"cut short":                        {set{"Text": code[:86]}, refused},
		"longer":                           {set{"Text": code + "A"}, refused},
		"padded":                           {set{"Text": code + "="}, refused},
		"with a line break":                {set{"Text": code[:40] + "\n" + code[40:]}, refused},
		"with a line break in place of a character":   {set{"Text": code[:40] + "\n" + code[41:]}, refused},
		"with line breaks in place of all of its end": {set{"Text": code[:20] + strings.Repeat("\n", 67)}, refused},
	} {
		c := vary.From(struct {
			checkin.Keys
			Text    string
			Tenant  tenant.TenantID
			Session tenant.SessionID
			At      time.Time
		}{k, code, club, yoga, starts}, tt.differ)
		expect.Fault(t, tt.want, name)(c.VerifyQR(c.Text, c.Tenant, c.Session, c.At))
	}
}

func TestSignQR_LimitsTheLifetime(t *testing.T) {
	t.Parallel()
	k := keys(t, oldSecret)
	for asked, given := range map[time.Duration]time.Duration{
		checkin.QRTTL: checkin.QRTTL, checkin.MaxQRTTL: checkin.MaxQRTTL, time.Hour: checkin.MaxQRTTL, 0: time.Second,
		-time.Hour: time.Second, 1500 * time.Millisecond: time.Second,
	} {
		text, expires := k.SignQR(club, yoga, starts, asked)
		test.EqOp(t, starts.Add(given), expires, test.Sprint(asked))
		test.NoError(t, k.VerifyQR(text, club, yoga, expires.Add(-time.Second)), test.Sprint(asked))
		test.Error(t, k.VerifyQR(text, club, yoga, expires), test.Sprint(asked))
	}
}

func TestVerifyDisplay_AcceptsOnlyValidLinks(t *testing.T) {
	t.Parallel()
	k := keys(t, oldSecret)
	text, expires := k.SignDisplay(wall, starts)
	code, _ := k.SignQR(club, yoga, starts, checkin.MaxQRTTL)
	for name, tt := range map[string]struct {
		keys checkin.Keys
		text string
		at   time.Time
		good bool
	}{
		"fresh":                         {k, text, starts, true},
		"after the secret was replaced": {keys(t, newSecret, oldSecret), text, expires.Add(-time.Second), true},
		"expired":                       {k, text, expires, false},
		"from the future":               {k, text, starts.Add(-checkin.MaxClockSkew - time.Second), false},
		"another secret":                {keys(t, newSecret), text, starts, false},
		"a QR code":                     {k, code, starts, false},
		"empty":                         {k, "", starts, false},
	} {
		want, refused := wall, ""
		if !tt.good {
			want, refused = checkin.Display{}, "LINK_INVALID"
		}
		got, err := tt.keys.VerifyDisplay(tt.text, tt.at)
		test.EqOp(t, want, got, test.Sprint(name))
		test.EqOp(t, refused, faulttest.Text(err), test.Sprint(name))
	}
	for asked, given := range map[time.Time]time.Time{ // a link lives as long as asked, but at most ten minutes
		wall.Expires: wall.Expires, starts.Add(time.Hour): wall.Expires, starts.Add(-time.Hour): starts.Add(time.Second),
	} {
		_, expires := k.SignDisplay(vary.From(wall, set{"Expires": asked}), starts)
		test.EqOp(t, given, expires)
	}
}

// Editing a code does not turn it into one for another session or tenant, or extend its lifetime.
func TestVerifyQR_RejectsEditedCodes(t *testing.T) {
	t.Parallel()
	k := keys(t, oldSecret)
	text, expires := k.SignQR(club, yoga, starts, checkin.QRTTL)
	later := func(at time.Time) []byte { return binary.BigEndian.AppendUint64(nil, uint64(at.Unix())) }
	for at, edit := range map[int][]byte{ // of the version, the tenant, the session, the times of issue and end
		0: {2}, 1: other.UUID[:], 17: pilates.UUID[:], 33: later(starts.Add(-time.Second)),
		41: later(expires.Add(time.Minute)),
	} {
		b := expect.Value(base64.RawURLEncoding.DecodeString(text))(t)
		copy(b[at:], edit)
		forged := base64.RawURLEncoding.EncodeToString(b)
		for _, in := range []tenant.TenantID{club, other} {
			for _, session := range []tenant.SessionID{yoga, pilates} {
				test.Error(t, k.VerifyQR(forged, in, session, starts), test.Sprintf("forged at %d", at))
			}
		}
	}
}

func TestNewKeys_RejectsShortSecretsAndCopiesThem(t *testing.T) {
	t.Parallel()
	for _, secrets := range [][][]byte{{newSecret[1:]}, {newSecret, nil}} {
		_, err := checkin.NewKeys(secrets[0], secrets[1:]...)
		test.ErrorIs(t, err, checkin.ErrSecretTooShort)
	}
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
		must.EqOp(t, good, (err == nil), must.Sprintf("signed %s until %s, now %s: %v", issued, expires, now, err))
		must.LessEq(t, checkin.MaxQRTTL, expires.Sub(issued),
			must.Sprintf("signed %s until %s, now %s: %v", issued, expires, now, err))
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
}
