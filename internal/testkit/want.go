package testkit

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Timeout is how long a test waits for something to happen. Only a failing test waits that long.
const Timeout = 10 * time.Minute

// Eventually waits until a condition holds that another goroutine is about to fulfil.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Timeout)
	defer cancel()
	poll := time.NewTicker(5 * time.Millisecond) //nolint:forbidigo // it polls
	defer poll.Stop()
	for !condition() {
		select {
		case <-poll.C:
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		}
	}
}

// FaultOf returns the fault in an error, or nil.
func FaultOf(err error) *fault.Error {
	f, _ := errors.AsType[*fault.Error](err)
	return f
}

// Meta returns a value from the metadata of a fault.
func Meta(t testing.TB, err error, key string) string {
	t.Helper()
	f := FaultOf(err)
	must.NotNil(t, f, must.Sprintf("no fault: %v", err))
	return f.Metadata[key]
}

// CountReasons counts errors by reason. Success counts as "", and other errors by their text.
func CountReasons(errs []error) map[fault.Reason]int {
	count := make(map[fault.Reason]int)
	for _, err := range errs {
		reason := fault.ReasonOf(err)
		if err != nil && reason == "" {
			reason = fault.Reason(err.Error())
		}
		count[reason]++
	}
	return count
}

// WantSound fails the test unless every invariant holds for every tenant of the database.
func (s *Studio) WantSound() {
	s.T.Helper()
	for _, v := range s.violations() {
		s.T.Errorf("%s: %s: %s", v.Check, v.Row, v.Detail)
	}
	for _, record := range []string{namelessEntries, namelessEvents} {
		test.EqOp(s.T, "", s.Text(`select coalesce(string_agg(x.says, '; '), '') from (`+record+`) x`))
	}
}

// What is written for others to read has names: an action and what it was done to, a type of event, and what changed.
const (
	namelessEntries = `select action || ' of ' || target_kind || ' ' || changes::text as says from audit_entries
where action !~ '^[a-z_]+\.[a-z_]+$' or target_kind !~ '^[a-z_]+$' or changes::text like '%"": %'`
	namelessEvents = `select type || ' ' || data::text as says from events
where type !~ '^[a-z_]+\.[a-z_]+$' or data::text like '%"": %' or actor = ''`
)

// Violations returns the violated invariants of all tenants of the database. The test then says itself what must hold
// at its end.
func (s *Studio) Violations() []housekeeping.Violation {
	s.T.Helper()
	s.Damage()
	return s.violations()
}

// WantOnce ends a race that one call may win: the query counts those that did. If more than one did, without a guard,
// the invariants are violated.
func (s *Studio) WantOnce(won int, sql string, args ...any) {
	s.T.Helper()
	test.EqOp(s.T, won, s.Count(sql, args...))
	test.EqOp(s.T, won == 1, len(s.Violations()) == 0)
}

func (s *Studio) violations() []housekeeping.Violation {
	s.T.Helper()
	ctx := context.Background()
	tenants := expect.Value(s.App.Engine.Tenants(ctx))(s.T)
	must.True(s.T, slices.Contains(tenants, s.Tenant), must.Sprintf("the directory %v lacks %s", tenants, s.Tenant))
	var all []housekeeping.Violation
	for _, id := range tenants {
		found := expect.Value(s.App.Housekeeping.Verify(ctx, id))(s.T)
		all = append(all, found...)
	}
	return all
}
