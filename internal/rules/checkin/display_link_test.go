package checkin_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

// screens are numbers of screens; the first is none.
var screens = []tenant.ScreenID{{}, wall.Screen, {UUID: tenant.UUID{1}}, {UUID: tenant.UUID{2}}}

func TestNewDisplayLink_LimitsTheLinksOfASession(t *testing.T) {
	t.Parallel()
	want := checkin.DisplayLink{ID: wall.Link, Session: yoga, CreatedBy: "ana", CreatedAt: starts}
	test.Eq(t, want, expect.Value(checkin.NewDisplayLink(wall.Link, yoga, 99, "ana", starts))(t))
	expect.Fault(t, "QUOTA_EXCEEDED limit=100 quota=display_links")(
		checkin.NewDisplayLink(wall.Link, yoga, 100, "ana", starts))
}

func TestDisplayLink_RenewsForItsScreenOnly(t *testing.T) {
	t.Parallel()
	now := starts.Add(3 * time.Minute)
	unopened := checkin.DisplayLink{ID: wall.Link, Session: yoga, CreatedAt: starts}
	opened := unopened.Open(wall.Screen, starts)
	revoked, _ := opened.Revoke("ana", now)
	gone, _ := unopened.Revoke("ana", now)
	for name, tt := range map[string]struct {
		link   checkin.DisplayLink
		screen tenant.ScreenID // of the token
		opens  bool
		next   tenant.ScreenID
		more   bool // the next token lives longer
	}{
		"the link itself, unopened":      {unopened, screens[0], false, screens[3], false},
		"a screen that comes back first": {unopened, screens[2], true, screens[3], false},
		"the link itself, opened":        {opened, screens[0], false, screens[0], false},
		"its screen":                     {opened, wall.Screen, false, wall.Screen, true},
		"another screen":                 {opened, screens[2], false, screens[2], false},
		"its screen, revoked":            {revoked, wall.Screen, false, screens[0], false},
		"a screen, revoked before":       {gone, wall.Screen, false, screens[0], false},
	} {
		shown := vary.From(wall, set{"Screen": tt.screen})
		test.EqOp(t, tt.opens, tt.link.Opens(shown), test.Sprint(name))
		want, refused := vary.From(shown, set{"Screen": tt.next}), error(nil)
		switch {
		case !tt.link.RevokedAt.IsZero():
			want, refused = checkin.Display{}, checkin.ErrLinkInvalid
		case tt.more:
			want.Expires = now.Add(checkin.DisplayTTL)
		}
		next, err := tt.link.Renew(shown, screens[3], now)
		test.ErrorIs(t, err, refused, test.Sprint(name))
		test.Eq(t, want, next, test.Sprint(name))
	}
}

func TestDisplayLink_IsRevokedOnce(t *testing.T) {
	t.Parallel()
	link := checkin.DisplayLink{CreatedAt: starts}
	test.EqOp(t, starts.Add(10*time.Minute), link.Expires())
	revoked, changed := link.Revoke("ana", starts)
	test.True(t, changed)
	test.Eq(t, vary.From(link, set{"RevokedBy": "ana", "RevokedAt": starts}), revoked)
	again, changed := revoked.Revoke("bo", ends)
	test.False(t, changed)
	test.Eq(t, revoked, again)
}

// Whatever is read in whatever order, at most one screen has a token that outlives the link, and none after it is
// revoked.
func TestDisplayLink_HasOneScreenAtMost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := starts
		link := checkin.DisplayLink{ID: wall.Link, Session: yoga, CreatedAt: now}
		tokens := []checkin.Display{{Tenant: club, Session: yoga, Link: wall.Link, Expires: link.Expires()}}
		renewed := make(map[tenant.ScreenID]bool)
		candidates := byte(10)
		t.Repeat(map[string]func(*rapid.T){
			"read": func(t *rapid.T) {
				d := rapid.SampledFrom(tokens).Draw(t, "token")
				if !now.Before(d.Expires) {
					return
				}
				if link.Opens(d) {
					link = link.Open(d.Screen, now)
				}
				candidates++
				next, err := link.Renew(d, tenant.ScreenID{UUID: tenant.UUID{candidates}}, now)
				if err != nil {
					must.False(t, link.RevokedAt.IsZero())
					return
				}
				if next.Expires.After(link.Expires()) {
					renewed[next.Screen] = true
				}
				tokens = append(tokens, next)
			},
			"wait":   func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "s")) * time.Second) },
			"revoke": func(*rapid.T) { link, _ = link.Revoke("ana", now) },
			"": func(t *rapid.T) {
				must.LessEq(t, 1, len(renewed), must.Sprintf("%d screens renew", len(renewed)))
				must.False(t, renewed[tenant.ScreenID{}], must.Sprintf("%d screens renew", len(renewed)))
			},
		})
	})
}
