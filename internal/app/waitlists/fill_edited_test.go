package waitlists_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// lockedOut creates a session with an open seat for which the rules allow no entry, and an entry that waits for it.
func lockedOut(studio *testkit.Studio, more ...func(*testkit.Session)) (tenant.SessionID, tenant.EntryID) {
	studio.T.Helper()
	class, who, booked := studio.AddFullSession(1, more...)
	_, entries := studio.AddWaiters(1, testkit.ForSessions(class))
	studio.MustCancel(who[0], booked[0])
	return class, entries[0]
}

// letIn edits the rules, and leaves it at that.
func letIn(studio *testkit.Studio) {
	studio.T.Helper()
	expect.OK(studio.T)(studio.App.Settings.UpdateWaitlistRules(
		context.Background(), studio.Owner,
		settings.RulesEdit{Edit: func(s *waitlist.Settings) { s.EligibilityExpression = new("") }},
	))
}

// The node on which rules are edited fills the open seats immediately, without waiting for a sweep.
func TestFillAfterEdits_AppliesEditedRules(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(
		func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") },
	)
	class, entry := lockedOut(studio)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		studio.App.Housekeeping.RunAlarms(ctx, slog.New(slog.DiscardHandler))
	}()
	studio.Tick()
	letIn(studio)
	testkit.Eventually(t, "the node fills the seat", func() bool {
		return studio.Count(`select count(*) from waitlist_offers where session_id = $1`, class) > 0
	})
	stop()
	<-done
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Offered})
}

// Where the node ends before it has looked, a sweep does, once.
func TestSweep_FillsAfterEditedRules(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(
		func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") },
	)
	_, entry := lockedOut(studio)
	studio.Tick()
	letIn(studio)
	test.EqOp(t, (housekeeping.SweepResult{}), studio.Sweep(), test.Sprint("that is no defect"))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Offered})
	test.EqOp(t, 0, studio.Count(`select count(*) from policies where rules_due`),
		test.Sprint("edits are to be looked at"))
}

// A seat for which booking had closed goes to an entry once a policy closes booking later.
func TestFillAfterEdits_AppliesEditedPolicies(t *testing.T) {
	t.Parallel()
	testkit.Each(t, map[string]func(studio *testkit.Studio) settings.PolicyTarget{
		"the tenant's": func(*testkit.Studio) settings.PolicyTarget { return settings.PolicyTarget{} },
		"the location's": func(studio *testkit.Studio) settings.PolicyTarget {
			return settings.PolicyTarget{Location: studio.Location}
		},
		"the service's": func(studio *testkit.Studio) settings.PolicyTarget {
			return settings.PolicyTarget{Service: studio.Service}
		},
	}, func(studio *testkit.Studio, at func(studio *testkit.Studio) settings.PolicyTarget) {
		studio.SetMode(waitlist.OfferInTurn)
		closing := func(before time.Duration) {
			studio.T.Helper()
			studio.Tick()
			expect.OK(studio.T)(studio.App.Settings.UpdatePolicy(
				context.Background(), studio.Owner, at(studio), nil, func(p *catalog.PolicyLayer) {
					p.BookingClosesBefore = &before
				},
			))
		}
		class, who, booked := studio.AddFullSession(1)
		_, entries := studio.AddWaiters(1, testkit.ForSessions(class))
		closing(60 * time.Hour) // it starts sooner
		studio.MustCancel(who[0], booked[0])
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting})
		studio.Sweep()
		must.EqOp(studio.T, 0, studio.Count(`select count(*) from waitlist_offers`),
			must.Sprint("the seat was offered after booking had closed"))
		closing(0)
		for range 2 { // the second time there is nothing to do
			test.EqOp(studio.T, (housekeeping.SweepResult{}), studio.Sweep(), test.Sprint("that is no defect"))
		}
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Offered})
		test.EqOp(studio.T, 0, studio.Count(`select count(*) from policies where rules_due`),
			test.Sprint("edits are to be looked at"))
	})
}

// An edit during the look is looked at, too: of the rules or of the policy.
func TestFillAfterEdits_RepeatsForEditsDuringTheRun(t *testing.T) {
	t.Parallel()
	edits := map[string]func(studio *testkit.Studio) error{
		"rules": func(studio *testkit.Studio) error {
			return expect.Error(studio.App.Settings.UpdateWaitlistRules(
				context.Background(), studio.Owner,
				settings.RulesEdit{Edit: func(s *waitlist.Settings) { s.OfferWindow = new(time.Hour) }},
			))
		},
		"policy": func(studio *testkit.Studio) error {
			return expect.Error(studio.App.Settings.UpdatePolicy(
				context.Background(), studio.Owner, settings.PolicyTarget{}, nil,
				func(p *catalog.PolicyLayer) { p.BookingClosesBefore = new(time.Hour) },
			))
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			studio.SetMode(waitlist.OfferInTurn)
			expect.OK(t)(studio.App.Settings.UpdatePolicy(
				context.Background(), studio.Owner, settings.PolicyTarget{}, nil,
				func(p *catalog.PolicyLayer) { p.BookingClosesBefore = new(time.Minute) },
			))
			scope := pg.Scope{Tenant: studio.Tenant}
			var (
				due   []waitlistdb.EditedLevel
				batch pg.Batch
			)
			waitlistdb.ListEditedLevels(&batch, studio.Tenant, &due)
			err := studio.DB.DB.ReadBatch(context.Background(), scope, &batch)
			must.NoError(t, err)
			must.SliceLen(t, 1, due)
			must.NoError(t, edit(studio))
			settle := func(level waitlistdb.EditedLevel) (left int) {
				t.Helper()
				must.NoError(t, studio.DB.DB.InTx(context.Background(), scope, "settle", func(_ context.Context, tx *pg.Tx) error {
					waitlistdb.SettleLevel(tx, studio.Tenant, level)
					return nil
				}))
				return studio.Count(`select count(*) from policies where rules_due`)
			}
			test.EqOp(t, 1, settle(due[0]), test.Sprint("the second edit was lost"))
			must.NoError(t, studio.App.Waitlists.FillAfterEdits(context.Background(), studio.Tenant))
			test.EqOp(t, 0, studio.Count(`select count(*) from policies where rules_due`),
				test.Sprint("edits are to be looked at"))
		})
	}
}

// An edit without an effect on any entry makes no decision, and no note to staff.
func TestFillAfterEdits_RecordsNothingWithoutEffect(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(
		func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") },
	)
	class, _ := lockedOut(studio)
	before := studio.Count(`select count(*) from events`)
	edit(studio, func(s *waitlist.Settings) { s.OfferWindow = new(time.Hour) })
	test.EqOp(t, 1, len(studio.Decisions(class)), test.Sprint("decisions"))
	test.EqOp(t, before, studio.Count(`select count(*) from events where type <> 'rules.changed'`)+1,
		test.Sprintf("events, want %d", before))
}

// Editing rules does not offer a seat again to an entry that had an offer of it. Without auto_cascade, the edit offers
// it to no other entry either.
func TestFillAfterEdits_OffersOncePerEntry(t *testing.T) {
	t.Parallel()
	testkit.Each(t, map[string]bool{"cascading": true, "by hand only": false}, func(studio *testkit.Studio, cascade bool) {
		studio.SetRules(func(s *waitlist.Settings) {
			s.Mode, s.AutoCascade, s.EligibilityExpression = new(waitlist.OfferInTurn), &cascade, new(
				`"slow" in member.tags == false`,
			)
		})
		class, who, booked := studio.AddFullSession(1)
		waiters, entries := studio.AddWaiters(2, testkit.ForSessions(class))
		studio.EditMember(waiters[1], func(m *member.Member) { m.Tags = []string{"slow"} })
		studio.MustCancel(who[0], booked[0])
		expect.OK(studio.T)(studio.Decline(waiters[0], studio.LiveOffer(entries[0]), false))
		edit(studio, func(s *waitlist.Settings) { s.OfferWindow = new(time.Hour) })
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting, entries[1]: waitlist.Waiting})
		edit(studio, func(s *waitlist.Settings) { s.EligibilityExpression = new("") })
		next := map[bool]waitlist.Status{true: waitlist.Offered, false: waitlist.Waiting}[cascade]
		studio.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting, entries[1]: next})
		last := studio.LastDecision(class)
		test.False(
			studio.T, cascade && last.Decision.Move != waitlist.RollOn, test.Sprintf("the move is %s", last.Decision.Move),
		)
		wantDecisionsFollow(studio, studio.T)
	})
}

// An edit reaches the sessions under its level, those that are not over and on sale, and no others.
func TestFillAfterEdits_CoversLowerLevels(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetRules(
		func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") },
	)
	other := studio.AddService(catalog.Service{Name: "Tennis"})
	_, here := lockedOut(studio)
	_, there := lockedOut(studio, func(s *testkit.Session) { s.Service, s.Starts = other, testkit.Noon.Add(60*time.Hour) })
	blocked, off := lockedOut(studio, testkit.StartingAt(testkit.Noon.Add(70*time.Hour)))
	studio.Block(blocked)
	studio.Tick()
	expect.OK(t)(studio.App.Settings.UpdateWaitlistRules(context.Background(), studio.Owner, settings.RulesEdit{
		Target: settings.PolicyTarget{Service: studio.Service},
		Edit:   func(s *waitlist.Settings) { s.EligibilityExpression = new("") },
	}))
	must.NoError(t, studio.App.Waitlists.FillAfterEdits(context.Background(), studio.Tenant))
	studio.WantEntries(map[tenant.EntryID]waitlist.Status{
		here: waitlist.Offered, there: waitlist.Waiting, off: waitlist.Waiting,
	})
}
