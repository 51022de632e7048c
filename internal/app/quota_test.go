package app_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/idempotency"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// limited returns a studio with quotas.
func limited(t *testing.T, quotas app.Quotas) *testkit.Studio {
	t.Helper()
	studio := testkit.New(t)
	config := studio.Config()
	config.Quotas = quotas
	studio.App = app.New(config)
	return studio
}

// exceeded fails the test unless a call was rejected because of a quota.
func exceeded(t *testing.T, quota, limit string, err error) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	must.True(t, ok, must.Sprint(err))
	must.EqOp(t, fault.QuotaExceeded, f.Reason)
	test.Eq(t, map[string]string{"quota": quota, "limit": limit}, f.Metadata)
}

func TestQuota_LimitsMembers(t *testing.T) {
	t.Parallel()
	const limit = 5
	studio := limited(t, app.Quotas{Members: limit})
	there := studio.Count(`select count(*) from members where tenant_id = $1`, studio.Tenant)
	add := func(name string) error {
		_, err := studio.App.Accounts.CreateMember(t.Context(), studio.Owner, member.Member{Name: name})
		return err
	}
	importTwo := func() error {
		parsed := expect.Value(member.ParseImport([]byte("name,email\nAnn,ann@example.com\nBo,bo@example.com\n")))(t)
		_, err := studio.App.Accounts.ImportMembers(t.Context(), studio.Owner, parsed, false, nil)
		return err
	}
	for i := range limit - there - 1 {
		must.NoError(t, add(fmt.Sprint(i)))
	}
	exceeded(t, "members", "5", importTwo())
	must.NoError(t, add("the last one"))
	exceeded(t, "members", "5", add("one too many"))
	must.EqOp(t, limit, studio.Count(`select count(*) from members where tenant_id = $1`, studio.Tenant))
}

// Many at once do not get past a quota of a node.
func TestQuota_HoldsWhileManyAdd(t *testing.T) {
	t.Parallel()
	const limit, callers = 10, 16
	studio := limited(t, app.Quotas{Members: limit})
	errs := make(chan error, callers)
	for i := range callers {
		go func() {
			_, err := studio.App.Accounts.CreateMember(t.Context(), studio.Owner, member.Member{Name: fmt.Sprint(i)})
			errs <- err
		}()
	}
	refused := 0
	there := studio.Count(`select count(*) from members where tenant_id = $1 and name !~ '^[0-9]+$'`, studio.Tenant)
	for range callers {
		if err := <-errs; err != nil {
			exceeded(t, "members", "10", err)
			refused++
		}
	}
	test.EqOp(t, callers-(limit-there), refused)
	test.EqOp(t, limit, studio.Count(`select count(*) from members where tenant_id = $1`, studio.Tenant))
}

func TestQuota_LimitsSessions(t *testing.T) {
	t.Parallel()
	studio := limited(t, app.Quotas{Sessions: 8})
	series, _ := studio.CreateSeries(studio.SeriesInput()) // of six sessions
	_, _, err := studio.App.Schedules.CreateSeries(t.Context(), studio.Owner, studio.SeriesInput())
	exceeded(t, "sessions", "8", err)
	_, err = studio.App.Schedules.UpdateSeries(t.Context(), studio.Owner, schedules.SeriesEdit{
		Series: series.ID, Scope: schedules.All, Pattern: session.Pattern{Rule: "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=9"},
		PatternFields: session.RuleField,
	})
	exceeded(t, "sessions", "8", err)
	rows := strings.Repeat("Vinyasa,Pier 1,2026-03-18,18:00,,60,,,2,3,,,published\n", 3)
	parsed := expect.Value(session.ParseImport([]byte(testkit.ImportHeader + rows)))(t)
	_, err = studio.App.Schedules.ImportSessions(t.Context(), studio.Owner, parsed, false, nil)
	exceeded(t, "sessions", "8", err)
	studio.AddSession(testkit.Session{})
	studio.AddSession(testkit.Session{Starts: testkit.InTwoDays.Add(time.Hour)})
	_, err = studio.App.Schedules.CreateSession(t.Context(), studio.Owner, studio.SessionInput(testkit.InTwoDays), false)
	exceeded(t, "sessions", "8", err)
}

func TestQuota_LimitsIdempotencyKeysOfACaller(t *testing.T) {
	t.Parallel()
	studio := limited(t, app.Quotas{Keys: 1})
	keyed := func(text string) (context.Context, *idempotency.Key) {
		key := &idempotency.Key{Text: text, Hash: make([]byte, 32)}
		return idempotency.With(t.Context(), key), key
	}
	add := func(text string) (bool, error) {
		ctx, key := keyed(text)
		_, err := studio.App.Accounts.CreateMember(ctx, studio.Owner, member.Member{Name: text})
		return key.Repeated, err
	}
	expect.OK(t)(add("a"))
	_, err := add("b")
	exceeded(t, "idempotency_keys", "1", err)
	test.True(t, expect.Value(add("a"))(t))
	ctx, _ := keyed("b")
	expect.OK(t)(studio.App.Accounts.CreateMember(ctx, studio.Coach, member.Member{Name: "another caller's"}))
	studio.Clock.Advance(idempotency.Lifetime)
	expect.OK(t)(add("b"))
}
