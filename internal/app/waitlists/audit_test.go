package waitlists_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
)

// What staff do by hand is on record: who did what to which thing, why, and what changed.
func TestAudit_RecordsChangesByStaff(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for action, tt := range map[string]struct {
		kind string
		// act gives what it was done to. There is a session with a live offer to the first of three entries.
		act func(h *testkit.Studio, class tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error)
		has []string // in what changed
	}{
		"offer.made": {"offer",
			func(h *testkit.Studio, class tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error) {
				h.Exec(`update sessions set capacity = 2 where id = $1`, class) // damage: no entry was asked for the seat
				o, err := h.App.Waitlists.OfferPlace(
					ctx, h.Coach, waitlists.OfferRequest{Session: class, Entry: entries[2], Reason: why},
				)
				return o.ID, err
			}, []string{"entry_id", "member_id", "session_id", "expire_time"}},
		"offer.expired": {"offer",
			func(h *testkit.Studio, _ tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error) {
				o, err := h.App.Waitlists.ExpireOffer(ctx, h.Coach, h.LiveOffer(entries[0]).ID, why)
				return o.ID, err
			}, []string{"entry_id", "member_id"}},
		"waitlist.removed": {"waitlist_entry",
			func(h *testkit.Studio, _ tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error) {
				e, err := h.App.Waitlists.LeaveWaitlist(ctx, h.Coach, entries[1], why, false)
				return e.ID, err
			}, []string{"member_id"}},
		"waitlist.prioritized": {"waitlist_entry",
			func(h *testkit.Studio, _ tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error) {
				e, err := h.App.Waitlists.SetPriority(
					ctx, h.Coach, entries[2], waitlists.PriorityEdit{Flagged: new(true), Reason: why},
				)
				return e.ID, err
			}, []string{"flagged", "position", "position_before"}},
		"waitlist.moved": {"waitlist_entry",
			func(h *testkit.Studio, _ tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error) {
				e, err := h.App.Waitlists.MoveEntry(ctx, h.Coach, entries[2], entries[1], why)
				return e.ID, err
			}, []string{"position", "position_before"}},
		"rules.updated": {"waitlist_rules",
			func(h *testkit.Studio, _ tenant.SessionID, _ []tenant.EntryID, why string) (fmt.Stringer, error) {
				_, err := h.App.Settings.UpdateRules(
					ctx, h.Coach, settings.RulesEdit{Reason: why, Edit: func(s *waitlist.Settings) { s.MaxQueueSize = new(7) }},
				)
				return h.Tenant, err
			}, []string{"before", "after"}},
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			h := testkit.New(t)
			h.SetMode(waitlist.OfferInTurn)
			class, who, booked := h.AddFullSession(1)
			_, entries := h.AddWaiters(3, testkit.ForSessions(class))
			h.MustCancel(who[0], booked[0])
			before := h.Count(`select count(*) from audit_entries`)
			h.Tick()
			why := "because of " + action
			target, err := tt.act(h, class, entries, why)
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprint(action, " ", tt.kind, " ", target, " by ", h.Coach.Member, " (", h.Coach.Subject, "): ", why)
			got := h.Text(`
select action || ' ' || target_kind || ' ' || target_id || ' by ' || actor || ' (' || actor_subject || '): ' || reason
from audit_entries where action = $1 and reason = $2`, action, why)
			if got != want {
				t.Errorf("on record is %q, want %q", got, want)
			}
			if n := h.Count(
				`select count(*) from audit_entries where action = $1 and reason = $2 and changes ?& $3`, action, why, tt.has,
			); n == 0 {
				t.Errorf(
					"what changed is %s",
					h.Text(`select changes::text from audit_entries where action = $1 and reason = $2`, action, why),
				)
			}
			if n := h.Count(`select count(*) from audit_entries`); n != before+1 {
				t.Errorf("%d acts are on record", n-before)
			}
		})
	}
	// What members do themselves is no act of administration.
	h := testkit.New(t)
	h.SetMode(waitlist.OfferInTurn)
	_, waiters, o := offered(h)
	before := h.Count(`select count(*) from audit_entries`)
	if _, err := h.Decline(waiters[0], o, false); err != nil {
		t.Fatal(err)
	}
	if _, err := h.App.Waitlists.LeaveWaitlist(
		ctx, testkit.SelfOnly(waiters[1]), h.Offers(o.Session)[1].Entry, "", true,
	); err != nil {
		t.Fatal(err)
	}
	if n := h.Count(`select count(*) from audit_entries`); n != before {
		t.Errorf("%d acts of members are on record", n-before)
	}
}
