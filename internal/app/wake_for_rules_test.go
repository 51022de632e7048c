package app_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// lockedOut is a session with an open seat that the rules give to nobody, and an entry that waits for it.
func (h *house) lockedOut(more ...func(*slot)) (tenant.SessionID, tenant.EntryID) {
	h.t.Helper()
	class, who, booked := h.full(1, more...)
	_, entries := h.waiters(1, names(class))
	h.mustCancel(who[0], booked[0])
	return class, entries[0]
}

// letIn edits the rules, and leaves it at that.
func (h *house) letIn() {
	h.t.Helper()
	if _, err := h.app.UpdateRules(context.Background(), h.Owner, app.RulesEdit{Edit: func(s *waitlist.Settings) { s.EligibilityExpression = new("") }}); err != nil {
		h.t.Fatal(err)
	}
}

// Nobody waits for a sweep: the node on which rules are edited looks at the open seats at once.
func TestEditedRulesHoldAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.rules(func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") })
	class, entry := h.lockedOut()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.app.RunAlarms(ctx, slog.New(slog.DiscardHandler))
	}()
	h.tick()
	h.letIn()
	eventually(t, "somebody looks at the seat", func() bool {
		return h.count(`select count(*) from waitlist_offers where session_id = $1`, class) > 0
	})
	stop()
	<-done
	h.wantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Offered})
	h.wantSound()
}

// Where the node ends before it has looked, a sweep does, once.
func TestASweepFollowsEditedRules(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.rules(func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") })
	_, entry := h.lockedOut()
	h.tick()
	h.letIn()
	if done := h.sweep(); done != (app.Swept{}) {
		t.Errorf("%+v: that is no defect", done)
	}
	h.wantEntries(map[tenant.EntryID]waitlist.Status{entry: waitlist.Offered})
	if n := h.count(`select count(*) from policies where rules_due`); n != 0 {
		t.Errorf("%d edits are to be looked at", n)
	}
	h.wantSound()
}

// A seat for which booking had closed is somebody's where policy closes it later.
func TestAnEditedPolicyWakesThoseWhoWait(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(h *house) app.PolicyTarget{
		"the tenant's":   func(*house) app.PolicyTarget { return app.PolicyTarget{} },
		"the location's": func(h *house) app.PolicyTarget { return app.PolicyTarget{Location: h.Location} },
		"the service's":  func(h *house) app.PolicyTarget { return app.PolicyTarget{Service: h.Service} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.mode(waitlist.OfferInTurn)
			closing := func(before time.Duration) {
				t.Helper()
				h.tick()
				if _, err := h.app.UpdatePolicy(context.Background(), h.Owner, at(h), nil, func(p *catalog.Policy) { p.BookingCloses = &before }); err != nil {
					t.Fatal(err)
				}
			}
			class, who, booked := h.full(1)
			_, entries := h.waiters(1, names(class))
			closing(60 * time.Hour) // it starts sooner
			h.mustCancel(who[0], booked[0])
			h.wantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting})
			if h.sweep(); h.count(`select count(*) from waitlist_offers`) != 0 {
				t.Fatal("the seat was offered after booking had closed")
			}
			closing(0)
			for range 2 { // the second time there is nothing to do
				if done := h.sweep(); done != (app.Swept{}) {
					t.Errorf("%+v: that is no defect", done)
				}
			}
			h.wantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Offered})
			if n := h.count(`select count(*) from policies where rules_due`); n != 0 {
				t.Errorf("%d edits are to be looked at", n)
			}
			h.wantSound()
		})
	}
}

// An edit during the look is looked at, too: of the rules or of the policy.
func TestALevelThatIsEditedDuringTheLookStaysDue(t *testing.T) {
	t.Parallel()
	edits := map[string]func(h *house) error{
		"rules": func(h *house) error {
			_, err := h.app.UpdateRules(context.Background(), h.Owner, app.RulesEdit{Edit: func(s *waitlist.Settings) { s.OfferWindow = new(time.Hour) }})
			return err
		},
		"policy": func(h *house) error {
			_, err := h.app.UpdatePolicy(context.Background(), h.Owner, app.PolicyTarget{}, nil, func(p *catalog.Policy) { p.BookingCloses = new(time.Hour) })
			return err
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.mode(waitlist.OfferInTurn)
			if _, err := h.app.UpdatePolicy(context.Background(), h.Owner, app.PolicyTarget{}, nil, func(p *catalog.Policy) { p.BookingCloses = new(time.Minute) }); err != nil {
				t.Fatal(err)
			}
			scope := pg.Scope{Tenant: h.Tenant}
			var due []waitlistdb.EditedLevel
			var batch pg.Batch
			waitlistdb.ListEditedLevels(&batch, h.Tenant, &due)
			if err := h.db.DB.ReadBatch(context.Background(), scope, &batch); err != nil || len(due) != 1 {
				t.Fatalf("%+v, %v", due, err)
			}
			if err := edit(h); err != nil {
				t.Fatal(err)
			}
			settle := func(level waitlistdb.EditedLevel) (left int) {
				t.Helper()
				err := h.db.DB.InTx(context.Background(), scope, "settle", func(_ context.Context, tx *pg.Tx) error {
					waitlistdb.SettleLevel(tx, h.Tenant, level)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				return h.count(`select count(*) from policies where rules_due`)
			}
			if settle(due[0]) != 1 {
				t.Error("the second edit was lost")
			}
			if err := h.app.WakeForRules(context.Background(), h.Tenant); err != nil {
				t.Fatal(err)
			}
			if n := h.count(`select count(*) from policies where rules_due`); n != 0 {
				t.Errorf("%d edits are to be looked at", n)
			}
		})
	}
}

// An edit that changes nothing for anybody makes no decision, and no note to staff.
func TestAnEditThatHelpsNobodyIsSilent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.rules(func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") })
	class, _ := h.lockedOut()
	before := h.count(`select count(*) from events`)
	h.edit(func(s *waitlist.Settings) { s.OfferWindow = new(time.Hour) })
	if n := len(h.decisions(class)); n != 1 {
		t.Errorf("%d decisions", n)
	}
	if n := h.count(`select count(*) from events where type <> 'rules.changed'`) + 1; n != before {
		t.Errorf("%d events, want %d", n, before)
	}
}

// Who was asked for a seat is not asked for it again because somebody edits rules; and what is not to pass on by itself does not.
func TestAnEditAsksNobodyTwice(t *testing.T) {
	t.Parallel()
	for name, cascade := range map[string]bool{"cascading": true, "by hand only": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.rules(func(s *waitlist.Settings) {
				s.Mode, s.AutoCascade, s.EligibilityExpression = new(waitlist.OfferInTurn), &cascade, new(`"slow" in member.tags == false`)
			})
			class, who, booked := h.full(1)
			waiters, entries := h.waiters(2, names(class))
			h.exec(`update members set tags = '{slow}' where id = $1`, waiters[1].Member)
			h.mustCancel(who[0], booked[0])
			if _, err := h.decline(waiters[0], h.live(entries[0]), false); err != nil {
				t.Fatal(err)
			}
			h.edit(func(s *waitlist.Settings) { s.OfferWindow = new(time.Hour) })
			h.wantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting, entries[1]: waitlist.Waiting})
			h.edit(func(s *waitlist.Settings) { s.EligibilityExpression = new("") })
			next := map[bool]waitlist.Status{true: waitlist.Offered, false: waitlist.Waiting}[cascade]
			h.wantEntries(map[tenant.EntryID]waitlist.Status{entries[0]: waitlist.Waiting, entries[1]: next})
			if last := h.last(class); cascade && last.Decision.Move != waitlist.RollOn {
				t.Errorf("the move is %s", last.Decision.Move)
			}
			h.wantSound()
			h.wantDecisionsFollow(t)
		})
	}
}

// An edit reaches the sessions under its level, those that are not over and on sale, and no others.
func TestAnEditReachesWhatIsUnderIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.rules(func(s *waitlist.Settings) { s.Mode, s.EligibilityExpression = new(waitlist.OfferInTurn), new("false") })
	other := newID[tenant.ServiceID]()
	h.exec(`insert into services (tenant_id, id, name, duration_seconds, created_at, updated_at) values ($1, $2, 'Tennis', 3600, $3, $3)`, h.Tenant, other, noon)
	_, here := h.lockedOut()
	_, there := h.lockedOut(func(s *slot) { s.Service, s.Starts = other, noon.Add(60*time.Hour) })
	blocked, off := h.lockedOut(starting(noon.Add(70 * time.Hour)))
	h.exec(`update sessions set blocked = true where id = $1`, blocked)
	h.tick()
	if _, err := h.app.UpdateRules(context.Background(), h.Owner, app.RulesEdit{
		Target: app.PolicyTarget{Service: h.Service}, Edit: func(s *waitlist.Settings) { s.EligibilityExpression = new("") },
	}); err != nil {
		t.Fatal(err)
	}
	if err := h.app.WakeForRules(context.Background(), h.Tenant); err != nil {
		t.Fatal(err)
	}
	h.wantEntries(map[tenant.EntryID]waitlist.Status{here: waitlist.Offered, there: waitlist.Waiting, off: waitlist.Waiting})
	h.wantSound()
}
