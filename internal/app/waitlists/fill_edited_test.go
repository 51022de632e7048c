package waitlists_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/housekeeping"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// lockedOut is a session with an open seat that the rules give to nobody, and an entry that waits for it.
func lockedOut(h *testkit.Studio, more ...func(*testkit.Session)) (tenant.SessionID, tenant.EntryID) {
	h.T.Helper()
	class, who, booked := h.AddFullSession(1, more...)
	_, entries := h.AddWaiters(1, testkit.ForSessions(class))
	h.MustCancel(who[0], booked[0])
	return class, entries[0]
}

// letIn edits the rules, and leaves it at that.
func letIn(h *testkit.Studio) {
	h.T.Helper()
	if _, err := h.App.Settings.UpdateRules(
		context.Background(), h.Owner,
		settings.RulesEdit{Edit: func(s *waitlist.Settings) { s.EligibilityExpression = new("") }},
	); err != nil {
		h.T.Fatal(err)
	}
}

// Nobody waits for a sweep: the node on which rules are edited looks at the open seats at once.
func TestFillAfterEdits_AppliesEditedRules(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetRules(func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") })
	class, entry := lockedOut(h)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.App.Housekeeping.RunAlarms(ctx, slog.New(slog.DiscardHandler))
	}()
	h.Tick()
	letIn(h)
	testkit.Eventually(t, "somebody looks at the seat", func() bool {
		return h.Count(`select count(*) from waitlist_offers where session_id = $1`, class) > 0
	})
	stop()
	<-done
	h.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Offered})
	h.WantSound()
}

// Where the node ends before it has looked, a sweep does, once.
func TestSweep_FillsAfterEditedRules(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetRules(func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") })
	_, entry := lockedOut(h)
	h.Tick()
	letIn(h)
	if done := h.Sweep(); done != (housekeeping.SweepResult{}) {
		t.Errorf("%+v: that is no defect", done)
	}
	h.WantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Offered})
	if n := h.Count(`select count(*) from policies where rules_due`); n != 0 {
		t.Errorf("%d edits are to be looked at", n)
	}
	h.WantSound()
}

// A seat for which booking had closed is somebody's where policy closes it later.
func TestFillAfterEdits_AppliesEditedPolicies(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(h *testkit.Studio) settings.PolicyTarget{
		"the tenant's": func(*testkit.Studio) settings.PolicyTarget { return settings.PolicyTarget{} },
		"the location's": func(h *testkit.Studio) settings.PolicyTarget {
			return settings.PolicyTarget{Location: h.Location}
		},
		"the service's": func(h *testkit.Studio) settings.PolicyTarget { return settings.PolicyTarget{Service: h.Service} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetMode(waitlist.OfferInTurn)
			closing := func(before time.Duration) {
				t.Helper()
				h.Tick()
				if _, err := h.App.Settings.UpdatePolicy(
					context.Background(), h.Owner, at(h), nil, func(p *catalog.Policy) { p.BookingCloses = &before },
				); err != nil {
					t.Fatal(err)
				}
			}
			class, who, booked := h.AddFullSession(1)
			_, entries := h.AddWaiters(1, testkit.ForSessions(class))
			closing(60 * time.Hour) // it starts sooner
			h.MustCancel(who[0], booked[0])
			h.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting})
			if h.Sweep(); h.Count(`select count(*) from waitlist_offers`) != 0 {
				t.Fatal("the seat was offered after booking had closed")
			}
			closing(0)
			for range 2 { // the second time there is nothing to do
				if done := h.Sweep(); done != (housekeeping.SweepResult{}) {
					t.Errorf("%+v: that is no defect", done)
				}
			}
			h.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Offered})
			if n := h.Count(`select count(*) from policies where rules_due`); n != 0 {
				t.Errorf("%d edits are to be looked at", n)
			}
			h.WantSound()
		})
	}
}

// An edit during the look is looked at, too: of the rules or of the policy.
func TestFillAfterEdits_RepeatsForEditsDuringTheRun(t *testing.T) {
	t.Parallel()
	edits := map[string]func(h *testkit.Studio) error{
		"rules": func(h *testkit.Studio) error {
			_, err := h.App.Settings.UpdateRules(
				context.Background(), h.Owner,
				settings.RulesEdit{Edit: func(s *waitlist.Settings) { s.OfferWindow = new(time.Hour) }},
			)
			return err
		},
		"policy": func(h *testkit.Studio) error {
			_, err := h.App.Settings.UpdatePolicy(
				context.Background(), h.Owner, settings.PolicyTarget{}, nil,
				func(p *catalog.Policy) { p.BookingCloses = new(time.Hour) },
			)
			return err
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetMode(waitlist.OfferInTurn)
			if _, err := h.App.Settings.UpdatePolicy(
				context.Background(), h.Owner, settings.PolicyTarget{}, nil,
				func(p *catalog.Policy) { p.BookingCloses = new(time.Minute) },
			); err != nil {
				t.Fatal(err)
			}
			scope := pg.Scope{Tenant: h.Tenant}
			var due []waitlistdb.EditedLevel
			var batch pg.Batch
			waitlistdb.ListEditedLevels(&batch, h.Tenant, &due)
			if err := h.DB.DB.ReadBatch(context.Background(), scope, &batch); err != nil || len(due) != 1 {
				t.Fatalf("%+v, %v", due, err)
			}
			if err := edit(h); err != nil {
				t.Fatal(err)
			}
			settle := func(level waitlistdb.EditedLevel) (left int) {
				t.Helper()
				err := h.DB.DB.InTx(context.Background(), scope, "settle", func(_ context.Context, tx *pg.Tx) error {
					waitlistdb.SettleLevel(tx, h.Tenant, level)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				return h.Count(`select count(*) from policies where rules_due`)
			}
			if settle(due[0]) != 1 {
				t.Error("the second edit was lost")
			}
			if err := h.App.Waitlists.FillAfterEdits(context.Background(), h.Tenant); err != nil {
				t.Fatal(err)
			}
			if n := h.Count(`select count(*) from policies where rules_due`); n != 0 {
				t.Errorf("%d edits are to be looked at", n)
			}
		})
	}
}

// An edit that changes nothing for anybody makes no decision, and no note to staff.
func TestFillAfterEdits_RecordsNothingWithoutEffect(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetRules(func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") })
	class, _ := lockedOut(h)
	before := h.Count(`select count(*) from events`)
	edit(h, func(s *waitlist.Settings) { s.OfferWindow = new(time.Hour) })
	if n := len(h.Decisions(class)); n != 1 {
		t.Errorf("%d decisions", n)
	}
	if n := h.Count(`select count(*) from events where type <> 'rules.changed'`) + 1; n != before {
		t.Errorf("%d events, want %d", n, before)
	}
}

// Who was asked for a seat is not asked for it again because somebody edits rules; and what is not to pass on by itself
// does not.
func TestFillAfterEdits_OffersOncePerEntry(t *testing.T) {
	t.Parallel()
	for name, cascade := range map[string]bool{"cascading": true, "by hand only": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetRules(func(s *waitlist.Settings) {
				s.Mode, s.AutoCascade, s.EligibilityExpression = new(waitlist.OfferInTurn), &cascade, new(
					`"slow" in member.tags == false`,
				)
			})
			class, who, booked := h.AddFullSession(1)
			waiters, entries := h.AddWaiters(2, testkit.ForSessions(class))
			h.EditMember(waiters[1], func(m *member.Member) { m.Tags = []string{"slow"} })
			h.MustCancel(who[0], booked[0])
			if _, err := h.Decline(waiters[0], h.LiveOffer(entries[0]), false); err != nil {
				t.Fatal(err)
			}
			edit(h, func(s *waitlist.Settings) { s.OfferWindow = new(time.Hour) })
			h.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting, entries[1]: waitlist.Waiting})
			edit(h, func(s *waitlist.Settings) { s.EligibilityExpression = new("") })
			next := map[bool]waitlist.Status{true: waitlist.Offered, false: waitlist.Waiting}[cascade]
			h.WantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting, entries[1]: next})
			if last := h.LastDecision(class); cascade && last.Decision.Move != waitlist.RollOn {
				t.Errorf("the move is %s", last.Decision.Move)
			}
			h.WantSound()
			wantDecisionsFollow(h, t)
		})
	}
}

// An edit reaches the sessions under its level, those that are not over and on sale, and no others.
func TestFillAfterEdits_CoversLowerLevels(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	h.SetRules(func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") })
	other := h.AddService(catalog.Service{Name: "Tennis"})
	_, here := lockedOut(h)
	_, there := lockedOut(h, func(s *testkit.Session) { s.Service, s.Starts = other, testkit.Noon.Add(60*time.Hour) })
	blocked, off := lockedOut(h, testkit.StartingAt(testkit.Noon.Add(70*time.Hour)))
	h.Block(blocked)
	h.Tick()
	if _, err := h.App.Settings.UpdateRules(context.Background(), h.Owner, settings.RulesEdit{
		Target: settings.PolicyTarget{Service: h.Service},
		Edit:   func(s *waitlist.Settings) { s.EligibilityExpression = new("") },
	}); err != nil {
		t.Fatal(err)
	}
	if err := h.App.Waitlists.FillAfterEdits(context.Background(), h.Tenant); err != nil {
		t.Fatal(err)
	}
	h.WantEntries(map[tenant.EntryID]waitlist.Status{
		here: waitlist.Offered, there: waitlist.Waiting, off: waitlist.Waiting,
	})
	h.WantSound()
}
