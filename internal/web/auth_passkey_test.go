package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// device is an authenticator, as far as Web Authentication Level 3 makes a server see it: it has one key, and verifies
// its user unless it is lax.
type device struct {
	t      testing.TB
	key    *ecdsa.PrivateKey
	id     []byte
	handle []byte
	count  uint32
	origin string
	flags  byte // user present, user verified
}

func newDevice(t testing.TB) *device {
	t.Helper()
	key := expect.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	return &device{t: t, key: key, id: []byte(rand.Text()), origin: "https://berth.example", flags: 0x05}
}

// keyOptions are the options of either ceremony.
type keyOptions struct {
	Request string
	Options struct {
		Challenge   string
		RPID        string `json:"rpId"`
		RP          struct{ ID string }
		User        struct{ ID, Name string }
		Attestation string

		AuthenticatorSelection struct{ ResidentKey, UserVerification string }
		ExcludeCredentials     []struct{ ID string }
		UserVerification       string
		AllowCredentials       []any
	}
}

var raw = base64.RawURLEncoding

func (d *device) clientData(kind, challenge string) []byte {
	return fmt.Appendf(nil, `{"type":%q,"challenge":%q,"origin":%q,"crossOrigin":false}`, kind, challenge, d.origin)
}

func (d *device) data(host string, flags byte) []byte {
	sum := sha256.Sum256([]byte(host))
	d.count++
	return binary.BigEndian.AppendUint32(append(sum[:], flags), d.count)
}

// create makes the key, and answers with it.
func (d *device) create(o keyOptions) string {
	d.t.Helper()
	d.handle = expect.Value(raw.DecodeString(o.Options.User.ID))(d.t)
	public := expect.Value(d.key.PublicKey.Bytes())(d.t)
	key := expect.Value(webauthncbor.Marshal(webauthncose.EC2PublicKeyData{
		PublicKeyData: webauthncose.PublicKeyData{
			KeyType: int64(webauthncose.EllipticKey), Algorithm: int64(webauthncose.AlgES256),
		},
		Curve: int64(webauthncose.P256), XCoord: public[1:33], YCoord: public[33:],
	}))(d.t)
	data := d.data(o.Options.RP.ID, d.flags|0x40)
	data = append(data, make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(d.id)))
	data = slices.Concat(data, d.id, key)
	attestation := expect.Value(webauthncbor.Marshal(map[string]any{
		"fmt": "none", "attStmt": map[string]any{}, "authData": data,
	}))(d.t)
	return d.answer(map[string]string{
		"clientDataJSON":    raw.EncodeToString(d.clientData("webauthn.create", o.Options.Challenge)),
		"attestationObject": raw.EncodeToString(attestation),
	})
}

// get signs.
func (d *device) get(o keyOptions) string {
	d.t.Helper()
	client := d.clientData("webauthn.get", o.Options.Challenge)
	data, hash := d.data(o.Options.RPID, d.flags), sha256.Sum256(client)
	signed := sha256.Sum256(slices.Concat(data, hash[:]))
	return d.answer(map[string]string{
		"clientDataJSON": raw.EncodeToString(client), "authenticatorData": raw.EncodeToString(data),
		"signature":  raw.EncodeToString(expect.Value(ecdsa.SignASN1(rand.Reader, d.key, signed[:]))(d.t)),
		"userHandle": raw.EncodeToString(d.handle),
	})
}

func (d *device) answer(response map[string]string) string {
	return string(expect.Value(json.Marshal(map[string]any{
		"id": raw.EncodeToString(d.id), "rawId": raw.EncodeToString(d.id), "type": "public-key", "response": response,
	}))(d.t))
}

// keys sends a request about passkeys, and returns the status and the reason or the options.
func (s *signInStudio) keys(
	path, body, cookie string,
) (status int, reason string, o keyOptions, cookies []*http.Cookie) {
	s.T.Helper()
	r := httptest.NewRequestWithContext(s.T.Context(), http.MethodPost, "https://berth.example/auth/"+path,
		strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", "https://berth.example")
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	if cookie != "" {
		r.AddCookie(&http.Cookie{Name: "__Host-berth_sign_in", Value: cookie})
	}
	w := httptest.NewRecorder()
	s.pages.ServeHTTP(w, r)
	result := w.Result()
	text := expect.Value(io.ReadAll(result.Body))(s.T)
	if len(text) > 0 {
		var refused struct{ Reason string }
		must.NoError(s.T, json.Unmarshal(text, &refused), must.Sprint(string(text)))
		must.NoError(s.T, json.Unmarshal(text, &o))
		reason = refused.Reason
	}
	return result.StatusCode, reason, o, result.Cookies()
}

func (s *signInStudio) askToAdd(cookie string) keyOptions {
	s.T.Helper()
	status, reason, o, _ := s.keys("passkeys/options", fmt.Sprintf(`{"tenant": %q}`, s.Tenant), cookie)
	must.EqOp(s.T, http.StatusOK, status, must.Sprint(reason))
	return o
}

func (s *signInStudio) add(cookie, request, credential string) (status int, reason string) {
	s.T.Helper()
	body := fmt.Sprintf(`{"request": %q, "credential": %s}`, request, credential)
	status, reason, _, _ = s.keys("passkeys", body, cookie)
	return status, reason
}

func (s *signInStudio) askPasskey() keyOptions {
	s.T.Helper()
	status, _, o, _ := s.keys("passkey/options", "{}", "")
	must.EqOp(s.T, http.StatusOK, status)
	return o
}

// usePasskey signs in with a passkey, and returns the cookie, or the reason why not.
func (s *signInStudio) usePasskey(request, credential string) (cookie, reason string) {
	s.T.Helper()
	body := fmt.Sprintf(`{"request": %q, "credential": %s}`, request, credential)
	status, reason, _, cookies := s.keys("passkey", body, "")
	if status != http.StatusNoContent {
		must.SliceEmpty(s.T, cookies)
		return "", reason
	}
	return cookies[0].Value, ""
}

// withPasskey adds a passkey of a member.
func (s *signInStudio) withPasskey(as tenant.Caller) *device {
	s.T.Helper()
	d, cookie := newDevice(s.T), s.signedIn(as)
	o := s.askToAdd(cookie)
	status, reason := s.add(cookie, o.Request, d.create(o))
	must.EqOp(s.T, http.StatusNoContent, status, must.Sprint(reason))
	return d
}

func TestPasskey_SignsInToItsTenantAlone(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	other := s.OtherTenant()
	mia, abroad := withMember(s.Studio, "Mia", "mia@example.com"), withMember(other, "Mia", "mia@example.com")
	cookie, d := s.signedIn(mia, abroad), newDevice(t)
	o := s.askToAdd(cookie)
	test.EqOp(t, "berth.example", o.Options.RP.ID)
	test.EqOp(t, "mia@example.com", o.Options.User.Name)
	test.EqOp(t, "required", o.Options.AuthenticatorSelection.ResidentKey)
	test.EqOp(t, "required", o.Options.AuthenticatorSelection.UserVerification)
	status, reason := s.add(cookie, o.Request, d.create(o))
	must.EqOp(t, http.StatusNoContent, status, must.Sprint(reason))
	told := expect.Value(s.App.Mails.Take(t.Context(), s.Tenant))(t).Out
	must.SliceLen(t, 1, told)
	test.StrContains(t, told[0].Message.Subject, "passkey")
	test.StrContains(t, s.Text(`select name from passkeys`), "Firefox/140.0")
	must.SliceLen(t, 1, s.askToAdd(cookie).Options.ExcludeCredentials)

	for range 2 {
		s.Clock.Advance(time.Hour)
		o = s.askPasskey()
		test.SliceEmpty(t, o.Options.AllowCredentials, test.Sprint("it would tell who has one"))
		in, reason := s.usePasskey(o.Request, d.get(o))
		must.EqOp(t, "", reason)
		p := s.token(in)
		test.Eq(t, map[tenant.TenantID]tenant.MemberID{s.Tenant: mia.Member}, p.Members)
		test.Eq(t, s.Clock.Now(), p.SignedInAt)
	}
	test.EqOp(t, 1, s.Count(`select count(*) from audit_entries where action = 'passkey.added' and actor = $1`,
		mia.Member.String()))
	test.EqOp(t, 2, s.Count(`select count(*) from audit_entries where action = 'sign_in.started'
		and changes = '{"method": "PASSKEY"}'`))
}

// Every way in that is not the member with their device is refused in the same way.
func TestPasskey_RefusesAttacks(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	mia, noa := withMember(s.Studio, "Mia", "mia@example.com"), withMember(s.Studio, "Noa", "noa@example.com")
	d, noas := s.withPasskey(mia), s.withPasskey(noa)
	s.Clock.Advance(time.Minute)
	refused := func(why, request, credential string) {
		t.Helper()
		s.pages = s.handler()
		_, reason := s.usePasskey(request, credential)
		test.EqOp(t, "PASSKEY_INVALID", reason, test.Sprint(why))
	}
	with := func(change func(d *device)) *device {
		changed := *d
		change(&changed)
		return &changed
	}
	o, older := s.askPasskey(), s.askPasskey()
	refused("another origin", o.Request, with(func(d *device) { d.origin = "https://evil.example" }).get(o))
	refused("another key", o.Request, with(func(d *device) { d.key = noas.key }).get(o))
	refused("another member's key", o.Request, with(func(d *device) { d.handle = noas.handle }).get(o))
	refused("nobody's", o.Request, newDevice(t).get(o))
	refused("the user was not verified", o.Request, with(func(d *device) { d.flags = 0x01 }).get(o))
	refused("another question", older.Request, d.get(o))
	refused("an invented question", "invented", d.get(o))
	refused("no credential", o.Request, "{}")
	adding := s.askToAdd(s.signedIn(mia))
	refused("the question of an addition", adding.Request, d.get(o))
	d.count += 10
	answer := d.get(o)
	cookie, reason := s.usePasskey(o.Request, answer)
	must.EqOp(t, "", reason)
	s.token(cookie)
	refused("replayed", o.Request, answer)
	refused("an older question, kept", older.Request, d.get(older))
	s.Clock.Advance(time.Minute)
	o = s.askPasskey()
	refused("a copy of the key, whose counter is behind", o.Request, with(func(d *device) { d.count = 3 }).get(o))
	s.Clock.Advance(signin.PasskeyAnswer + time.Second)
	refused("too late", o.Request, d.get(o))
}

// Passkeys end like sign-ins: when the member is deactivated, and when staff change the address.
func TestPasskey_EndsWithWhatEndsSignIns(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	mia, noa := withMember(s.Studio, "Mia", "mia@example.com"), withMember(s.Studio, "Noa", "noa@example.com")
	mias, noas := s.withPasskey(mia), s.withPasskey(noa)
	s.Clock.Advance(time.Minute)
	s.Deactivate(mia)
	expect.OK(t)(s.App.Accounts.ReactivateMember(t.Context(), s.Owner, mia.Member))
	s.EditMember(noa, func(m *member.Member) { m.Email = "staff@example.com" })
	for _, d := range []*device{mias, noas} {
		o := s.askPasskey()
		_, reason := s.usePasskey(o.Request, d.get(o))
		test.EqOp(t, "PASSKEY_INVALID", reason)
	}
}

// Whom the identity provider knows signs in there: a passkey must not replace its second factor.
func TestPasskey_IsNotForThoseWhomAProviderKnows(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t, func(c *app.Config) { c.HasIdentityProvider = true })
	mia := withMember(s.Studio, "Mia", "mia@example.com")
	d := s.withPasskey(mia)
	s.EditMember(mia, func(m *member.Member) { m.Subject = "provider|mia" })
	s.Clock.Advance(time.Minute)
	o := s.askPasskey()
	_, reason := s.usePasskey(o.Request, d.get(o))
	test.EqOp(t, "PASSKEY_INVALID", reason)
}

// A passkey is added within ten minutes of signing in, by whom the browser is signed in as, and to no other tenant.
func TestAddPasskey_SoonAfterSigningIn(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	other := s.OtherTenant()
	mia, noa := withMember(s.Studio, "Mia", "mia@example.com"), withMember(s.Studio, "Noa", "noa@example.com")
	cookie, d := s.signedIn(mia), newDevice(t)
	tenantOf := func(id tenant.TenantID) string { return fmt.Sprintf(`{"tenant": %q}`, id) }
	_, reason, _, _ := s.keys("passkeys/options", tenantOf(other.Tenant), cookie)
	test.EqOp(t, "SIGN_IN_ENDED", reason)
	_, reason, _, _ = s.keys("passkeys/options", tenantOf(s.Tenant), "")
	test.EqOp(t, "SIGN_IN_ENDED", reason)
	_, reason, _, _ = s.keys("passkeys/options", `{"tenant": "x"}`, cookie)
	test.EqOp(t, "SIGN_IN_ENDED", reason)
	o := s.askToAdd(cookie)
	_, reason = s.add(s.signedIn(noa), o.Request, d.create(o))
	test.EqOp(t, "SIGN_IN_ENDED", reason, test.Sprint("another member's browser"))
	d.origin = "https://evil.example"
	_, reason = s.add(cookie, o.Request, d.create(o))
	test.EqOp(t, "PASSKEY_INVALID", reason)
	d.origin = "https://berth.example"
	status, _ := s.add(cookie, o.Request, d.create(o))
	test.EqOp(t, http.StatusNoContent, status)
	s.pages = s.handler()
	_, reason = s.add(cookie, o.Request, d.create(o))
	test.EqOp(t, "PASSKEY_INVALID", reason, test.Sprint("twice"))
	for range signin.MaxPasskeys - 1 {
		more, o := newDevice(t), s.askToAdd(cookie)
		status, _ := s.add(cookie, o.Request, more.create(o))
		must.EqOp(t, http.StatusNoContent, status)
	}
	_, reason, _, _ = s.keys("passkeys/options", tenantOf(s.Tenant), cookie)
	test.EqOp(t, "QUOTA_EXCEEDED", reason)
	noas := s.signedIn(noa)
	o = s.askToAdd(noas)
	s.Clock.Advance(signin.PasskeyAnswer - time.Second)
	_ = s.token(noas)
	s.Clock.Advance(signin.PasskeyWithin - signin.PasskeyAnswer + 2*time.Second)
	_, reason, _, _ = s.keys("passkeys/options", tenantOf(s.Tenant), noas)
	test.EqOp(t, "STEP_UP_REQUIRED", reason, test.Sprint("a renewal is no sign-in"))
	_, reason = s.add(noas, o.Request, newDevice(t).create(o))
	test.EqOp(t, "PASSKEY_INVALID", reason, test.Sprint("the question is too old"))
}
