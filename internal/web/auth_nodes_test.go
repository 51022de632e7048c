package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// otherNode returns the studio as another node serves it, or the same one after a restart.
func (s *signInStudio) otherNode() *signInStudio {
	s.T.Helper()
	studio, other := *s.Studio, *s
	studio.App = app.New(s.Config())
	other.Studio = &studio
	other.pages = other.handler()
	return &other
}

// Wrong guesses at whatever addresses count together, on all nodes, also at once and after a restart. From a thousand
// on, codes are longer, and the short ones are good no more. A day later they are short again.
func TestSignIn_LongerCodesOnAllNodesWhileSomebodyGuesses(t *testing.T) {
	t.Parallel()
	a := newSignInStudio(t)
	b := a.otherNode()
	withMember(a.Studio, "Mia", "mia@example.com")
	request := a.ask("mia@example.com", nil)
	short := a.mailed()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			node := []*signInStudio{a, b}[i%2]
			nobodys, err := node.App.SignIns.SendCode(t.Context(), fmt.Sprintf("nobody%d@example.com", i), signins.Browser{})
			test.NoError(t, err)
			_, err = node.App.SignIns.SignIn(t.Context(), nobodys, "123456", signins.Browser{})
			test.EqOp(t, fault.SignInCodeInvalid, fault.ReasonOf(err))
		})
	}
	all.Wait()
	test.EqOp(t, 20, a.Count(`select sum(guesses) from sign_in_guesses`))
	a.Exec(`insert into sign_in_guesses (tenant_id, hour, place, guesses) values ($1, $2, 99, 978)`,
		tenant.Platform, a.Clock.Now().Truncate(time.Hour).Add(-23*time.Hour))
	nobodys := a.ask("noa@example.com", nil)
	guess := func(s *signInStudio) {
		s.pages = s.handler()
		test.EqOp(t, http.StatusUnauthorized, s.enter(nobodys, "123456", nil))
	}
	guess(a) // the 999th
	b.ask("mia@example.com", nil)
	test.EqOp(t, 6, len(b.mailed()))
	guess(b)
	for _, s := range []*signInStudio{a, b, a.otherNode()} {
		test.EqOp(t, http.StatusUnauthorized, s.enter(request, short, nil), test.Sprint("too short now"))
	}
	restarted := a.otherNode()
	request = restarted.ask("mia@example.com", nil)
	long := restarted.mailed()
	test.EqOp(t, 8, len(long))
	test.EqOp(t, http.StatusNoContent, b.enter(request, long, nil))
	a.Clock.Advance(26 * time.Hour)
	a.ask("mia@example.com", nil)
	test.EqOp(t, 6, len(a.mailed()))
	guess(a)
	test.EqOp(t, 1, a.Count(`select count(*) from sign_in_guesses`), test.Sprint("old ones are deleted"))
}

// statements keeps the round trips to the database, and the statements in each.
type statements struct {
	mu  sync.Mutex
	all []string
}

func (s *statements) trace(_ context.Context, _ *pgx.Conn, batch []*pgx.QueuedQuery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, "--")
	for _, q := range batch {
		s.all = append(s.all, q.SQL)
	}
}

// during returns the statements that are sent while do runs.
func (s *statements) during(do func()) string {
	s.mu.Lock()
	s.all = nil
	s.mu.Unlock()
	do()
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.all, "\n")
}

// The same is done for an address of nobody, for one that has got enough codes, and for one that no code signs in; and
// for each code that is no good. So how long an answer takes tells nothing either.
func TestSignIn_DoesTheSameWhoeverExists(t *testing.T) {
	t.Parallel()
	sent := &statements{}
	s := signInStudioOf(t, testkit.New(t, func(c *pg.Config) { c.Tracer = &pgtest.Tracer{Batch: sent.trace} }))
	withMember(s.Studio, "Mia", "mia@example.com")
	boss := withMember(s.Studio, "Boss", "boss@example.com")
	expect.OK(t)(s.App.Accounts.AssignRole(t.Context(), s.Owner, boss.Member, tenant.RoleAdmin))
	browser := map[string]string{}
	var known, fresh, nobodys string
	want := sent.during(func() { known = s.ask("mia@example.com", browser) })
	must.StrContains(t, want, "insert into sign_in_codes")
	must.StrContains(t, want, "insert into platform_mails")
	code := s.mailed()
	test.EqOp(t, want, sent.during(func() { nobodys = s.ask("nobody@example.com", nil) }), test.Sprint("nobody"))
	test.EqOp(t, want, sent.during(func() { s.ask("boss@example.com", nil) }), test.Sprint("an admin"))
	for range signin.MaxCodes - 1 {
		fresh = s.ask("mia@example.com", nil)
	}
	mailed(s.Studio)
	test.EqOp(t, want, sent.during(func() { s.ask("mia@example.com", nil) }), test.Sprint("enough"))
	test.SliceEmpty(t, mailed(s.Studio))

	enter := func(request, code string) string {
		s.pages = s.handler()
		return sent.during(func() { test.EqOp(t, http.StatusUnauthorized, s.enter(request, code, nil)) })
	}
	first := enter(nobodys, code) // sweeps what is old, once an hour
	want = enter(nobodys, code)
	test.NotEq(t, first, want)
	must.StrContains(t, want, "update sign_in_codes")
	test.EqOp(t, want, enter(known, wrong(code)), test.Sprint("wrong"))
	must.EqOp(t, http.StatusNoContent, s.enter(known, code, browser))
	test.EqOp(t, want, enter(known, code), test.Sprint("used"))
	for range signin.MaxGuesses {
		enter(fresh, "x")
	}
	test.EqOp(t, want, enter(fresh, "x"), test.Sprint("guessed at too often"))
	s.Clock.Advance(signin.CodeLife)
	test.EqOp(t, want, enter(fresh, code), test.Sprint("too old"))
}

// What one node asks for, another one takes, once.
func TestSignIn_OnTwoNodes(t *testing.T) {
	t.Parallel()
	a := newSignInStudio(t)
	b := a.otherNode()
	mia := withMember(a.Studio, "Mia", "mia@example.com")
	browser := map[string]string{}
	request := a.ask("mia@example.com", browser)
	code := a.mailed()
	for i := range signin.MaxGuesses - 1 {
		test.EqOp(t, http.StatusUnauthorized, []*signInStudio{a, b}[i%2].enter(request, wrong(code), nil))
	}
	var statuses sync.Map
	var both sync.WaitGroup
	for _, node := range []*signInStudio{a, b} {
		both.Go(func() {
			own := map[string]string{}
			if status := node.enter(request, code, own); status == http.StatusNoContent {
				statuses.Store("cookie", own["__Host-berth_sign_in"])
			} else {
				statuses.Store("refused", status)
			}
		})
	}
	both.Wait()
	cookie, _ := statuses.Load("cookie")
	_, refused := statuses.Load("refused")
	must.True(t, cookie != nil && refused, must.Sprint("one of both"))
	for _, node := range []*signInStudio{a, b} {
		test.EqOp(t, mia.Member, node.token(cookie.(string)).Members[a.Tenant]) //nolint:forcetypeassert // stored above
	}

	// Five wrong ones on both nodes together use a code up.
	request = b.ask("mia@example.com", nil)
	code = b.mailed()
	for i := range signin.MaxGuesses {
		node := []*signInStudio{a, b}[i%2]
		node.pages = node.handler()
		test.EqOp(t, http.StatusUnauthorized, node.enter(request, wrong(code), nil))
	}
	for _, node := range []*signInStudio{a, b} {
		test.EqOp(t, http.StatusUnauthorized, node.enter(request, code, nil))
	}
}

// A passkey that one node has asked for signs in at another, and its answer is good at one of them only.
func TestPasskey_OnTwoNodes(t *testing.T) {
	t.Parallel()
	a := newSignInStudio(t)
	b := a.otherNode()
	mia := withMember(a.Studio, "Mia", "mia@example.com")
	d, cookie := newDevice(t), a.signedIn(mia)
	o := a.askToAdd(cookie)
	status, reason := b.add(cookie, o.Request, d.create(o))
	must.EqOp(t, http.StatusNoContent, status, must.Sprint(reason))
	a.Clock.Advance(time.Second)
	o = b.askPasskey()
	answer := d.get(o)
	in, reason := a.usePasskey(o.Request, answer)
	must.EqOp(t, "", reason)
	test.EqOp(t, mia.Member, b.token(in).Members[a.Tenant])
	for _, node := range []*signInStudio{b, a} {
		_, reason = node.usePasskey(o.Request, answer)
		test.EqOp(t, "PASSKEY_INVALID", reason, test.Sprint("replayed"))
	}
}

// Who gave a browser cookies before its person signs in, by a code or a passkey, has nothing of the sign-in: it has a
// secret of its own, what the browser had has ended, and the browser is not known by what was planted.
func TestSignIn_GivesTheBrowserANewSecret(t *testing.T) {
	t.Parallel()
	for how, signIn := range map[string]func(s *signInStudio, d *device, browser map[string]string){
		"code": func(s *signInStudio, _ *device, browser map[string]string) {
			must.EqOp(s.T, http.StatusNoContent, s.enter(s.ask("mia@example.com", browser), s.mailed(), browser))
		},
		"passkey": func(s *signInStudio, d *device, browser map[string]string) {
			o := s.askPasskey()
			body := fmt.Sprintf(`{"request": %q, "credential": %s}`, o.Request, d.get(o))
			status, _ := s.send("/auth/passkey", body, browser)
			must.EqOp(s.T, http.StatusNoContent, status)
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newSignInStudio(t)
			mia := withMember(s.Studio, "Mia", "mia@example.com")
			withMember(s.Studio, "Eve", "eve@example.com")
			d, eves := s.withPasskey(mia), map[string]string{}
			s.Clock.Advance(time.Second)
			must.EqOp(t, http.StatusNoContent, s.enter(s.ask("eve@example.com", eves), s.mailed(), eves))
			mias := maps.Clone(eves)
			signIn(s, d, mias)
			for name, planted := range eves {
				test.NotEq(t, planted, mias[name], test.Sprint(name))
			}
			s.refused(eves["__Host-berth_sign_in"], "planted")
			test.EqOp(t, mia.Member, s.token(mias["__Host-berth_sign_in"]).Members[s.Tenant])
			for range signin.MaxCodes {
				s.ask("mia@example.com", nil)
			}
			mailed(s.Studio)
			s.ask("mia@example.com", eves)
			test.SliceEmpty(t, mailed(s.Studio), test.Sprint("the planted browser is not known at Mia's address"))
			s.ask("mia@example.com", mias)
			s.mailed()
		})
	}
}

// A code that somebody is lured to enter for another's request signs nobody in.
func TestSignIn_CodesAreForTheirOwnRequest(t *testing.T) {
	t.Parallel()
	s := newSignInStudio(t)
	withMember(s.Studio, "Mia", "mia@example.com")
	planted := s.ask("mia@example.com", nil)
	s.mailed()
	s.ask("mia@example.com", nil)
	test.EqOp(t, http.StatusUnauthorized, s.enter(planted, s.mailed(), nil))
}
