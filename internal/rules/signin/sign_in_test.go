package signin

import (
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func started() SignIn {
	return Start(tenant.SignInID{}, tenant.MemberID{}, ByCode, "Firefox", "192.0.2.1", noon)
}

func TestUse_IsWrittenOnceAnHour(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]bool{
		-time.Hour: false, 0: false, time.Hour - 1: false, time.Hour: true, 29 * 24 * time.Hour: true,
	} {
		used, changed := started().Use(noon.Add(after))
		test.EqOp(t, want, changed, test.Sprint(after))
		if want {
			test.Eq(t, noon.Add(after), used.UsedAt)
			test.Eq(t, noon.Add(after+Idle), used.ExpiresAt)
		} else {
			test.Eq(t, started(), used)
		}
	}
}

// However it is used, a sign-in ends 30 days after its last use and 180 days after it began, and began when it did.
func TestUse_NeverLastsLongerThanItMay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, now := started(), noon
		for _, pause := range rapid.SliceOf(rapid.Int64Range(0, int64(40*24*time.Hour))).Draw(t, "pauses") {
			now = now.Add(time.Duration(pause))
			if !(SignedIn{SignIn: s, Status: member.Active}).IsGood(false, now) {
				break
			}
			s, _ = s.Use(now)
			must.Eq(t, noon, s.CreatedAt)
			must.False(t, s.ExpiresAt.After(noon.Add(Longest)))
			must.False(t, s.ExpiresAt.After(now.Add(Idle)))
			must.True(t, s.ExpiresAt.After(now))
		}
	})
}

func TestIsGood_ForActiveMembersWhoAreNotLinked(t *testing.T) {
	t.Parallel()
	good := SignedIn{SignIn: started(), Status: member.Active}
	inactive, linked := good, good
	inactive.Status, linked.Linked = member.Inactive, true
	for name, tt := range map[string]struct {
		of       SignedIn
		provider bool
		at       time.Time
		want     bool
	}{
		"at once":                     {good, false, noon, true},
		"with a provider":             {good, true, noon, true},
		"to the last moment":          {good, false, noon.Add(Idle - 1), true},
		"not after it":                {good, false, noon.Add(Idle), false},
		"not inactive":                {inactive, false, noon, false},
		"linked, without a provider":  {linked, false, noon, true},
		"not linked, with a provider": {linked, true, noon, false},
	} {
		test.EqOp(t, tt.want, tt.of.IsGood(tt.provider, tt.at), test.Sprint(name))
	}
}
