package housekeeping_test

import (
	"testing"
	"time"

	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Each step of a sweep has something to do, and whatever fails is reported.
func TestFaults_FailTheSweep(t *testing.T) {
	t.Parallel()
	s := testkit.NewFaults(t)
	s.SetRules(func(r *waitlist.Settings) {
		r.Mode, r.ExpireStale, r.StaleAfter = new(waitlist.OfferInTurn), new(true), new(72*time.Hour)
	})
	markNoShows(s.Studio, 0)
	ana := s.AddMember("Ana")
	s.Subscribe(ana, s.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 4, Period: new(48 * time.Hour)}))
	s.CreateEndlessSeries("FREQ=WEEKLY")
	class, who, booked := s.AddFullSession(2)
	s.AddWaiters(3, testkit.ForSessions(class))
	s.MustCancel(who[0], booked[0])
	s.MustHold(ana, s.AddSession(testkit.Session{}))
	expect.OK(t)(s.App.Bookings.CreateDisplayLink(t.Context(), s.Coach, class))
	s.WantErrors(func() error { return expect.Error(s.App.Housekeeping.Verify(t.Context(), s.Tenant)) })
	s.Exec(
		`update waitlist_offers set status = 'WITHDRAWN', withdraw_cause = 'SESSION_MOVED', closed_at = $1`,
		testkit.Noon,
	) // damage, which it mends
	// Every sweep looks at the entries that wait for long, and ends none of them.
	s.Clock.Advance(waitlist.MinStale)
	s.Exec(`insert into idempotency_keys (tenant_id, principal, key, request_hash, created_at)
		values ($1, 'ana', 'k', sha256(''), $2)`, s.Tenant, testkit.Noon)
	s.Exec(`insert into contact_codes (tenant_id, id, member_id, kind, address_hash, sent, created_at)
		values ($1, $1, $2, 'EMAIL', sha256(''), true, $3)`, s.Tenant, ana.Member, testkit.Noon)
	s.Exec(`insert into devices (tenant_id, id, member_id, kind, token, token_hash, created_at, seen_at)
		values ($1, $1, $2, 'IOS', 'phone', sha256('phone'), $3, $3)`, s.Tenant, ana.Member, testkit.Noon)
	sweep := func() error { return expect.Error(s.App.Housekeeping.SweepTenant(t.Context(), s.Tenant)) }
	s.WantErrors(sweep)
	for _, later := range []time.Duration{time.Hour, 50 * time.Hour, 4 * 24 * time.Hour, 500 * 24 * time.Hour} {
		s.Clock.Advance(later)
		s.WantErrors(
			sweep,
			func() error { return expect.Error(s.App.Housekeeping.ExpireDue(t.Context(), s.Tenant)) },
		)
	}
}
