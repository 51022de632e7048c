package waitlists_test

import (
	"fmt"
	"testing"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// What staff do by hand is on record: who did what to which thing, why, and what changed.
func TestAudit_RecordsChangesByStaff(t *testing.T) {
	t.Parallel()
	for action, tt := range map[string]struct {
		kind string
		// act gives what it was done to. There is a session with a live offer to the first of three entries.
		act func(studio *testkit.Studio, class tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error)
		has []string // in what changed
	}{
		"waitlist_offer.created": {"waitlist_offer",
			func(studio *testkit.Studio, class tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error) {
				studio.Exec(`update sessions set capacity = 2 where id = $1`, class) // damage: no entry was asked for the seat
				o, err := studio.App.Waitlists.CreateWaitlistOffer(
					t.Context(), studio.Coach, waitlists.OfferRequest{Session: class, Entry: entries[2], Reason: why},
				)
				return o.ID, err
			}, []string{"entry_id", "member_id", "session_id", "expire_time"}},
		"waitlist_offer.expired": {"waitlist_offer",
			func(studio *testkit.Studio, _ tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error) {
				o, err := studio.App.Waitlists.ExpireWaitlistOffer(t.Context(), studio.Coach, studio.LiveOffer(entries[0]).ID, why)
				return o.ID, err
			}, []string{"entry_id", "member_id"}},
		"waitlist_entry.removed": {"waitlist_entry",
			func(studio *testkit.Studio, _ tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error) {
				e, err := studio.App.Waitlists.LeaveWaitlist(t.Context(), studio.Coach, entries[1], why, false)
				return e.ID, err
			}, []string{"member_id"}},
		"waitlist_entry.prioritized": {"waitlist_entry",
			func(studio *testkit.Studio, _ tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error) {
				e, err := studio.App.Waitlists.SetWaitlistPriority(
					t.Context(), studio.Coach, entries[2], waitlists.PriorityEdit{Flagged: new(true), Reason: why},
				)
				return e.ID, err
			}, []string{"flagged", "score", "position", "position_before"}},
		"waitlist_entry.moved": {"waitlist_entry",
			func(studio *testkit.Studio, _ tenant.SessionID, entries []tenant.EntryID, why string) (fmt.Stringer, error) {
				e, err := studio.App.Waitlists.MoveWaitlistEntry(t.Context(), studio.Coach, entries[2], entries[1], why)
				return e.ID, err
			}, []string{"position", "position_before"}},
		"waitlist_rules.updated": {"waitlist_rules",
			func(studio *testkit.Studio, _ tenant.SessionID, _ []tenant.EntryID, why string) (fmt.Stringer, error) {
				_, err := studio.App.Settings.UpdateWaitlistRules(
					t.Context(), studio.Coach,
					settings.RulesEdit{Reason: why, Edit: func(s *waitlist.Settings) { s.MaxQueueSize = new(7) }},
				)
				return studio.Tenant, err
			}, []string{"before", "after"}},
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			studio := testkit.New(t)
			studio.SetMode(waitlist.OfferInTurn)
			class, who, booked := studio.AddFullSession(1)
			_, entries := studio.AddWaiters(3, testkit.ForSessions(class))
			studio.MustCancel(who[0], booked[0])
			before := studio.Count(`select count(*) from audit_entries`)
			studio.Tick()
			why := "because of " + action
			target := expect.Value(tt.act(studio, class, entries, why))(t)
			want := fmt.Sprint(
				action, " ", tt.kind, " ", target, " by ", studio.Coach.Member, " (", studio.Coach.Subject, "): ", why,
			)
			test.EqOp(t, want, studio.Text(`
select action || ' ' || target_kind || ' ' || target_id || ' by ' || actor || ' (' || actor_subject || '): ' || reason
from audit_entries where action = $1 and reason = $2`, action, why), test.Sprint("on record"))
			if n := studio.Count(
				`select count(*) from audit_entries where action = $1 and reason = $2 and changes ?& $3`, action, why, tt.has,
			); n == 0 {
				t.Errorf(
					"what changed is %s",
					studio.Text(`select changes::text from audit_entries where action = $1 and reason = $2`, action, why),
				)
			}
			test.EqOp(t, before+1, studio.Count(`select count(*) from audit_entries`), test.Sprint("acts on record"))
		})
	}
	// What members do themselves is no act of administration.
	studio := testkit.New(t)
	studio.SetMode(waitlist.OfferInTurn)
	_, waiters, o := offered(studio)
	before := studio.Count(`select count(*) from audit_entries`)
	expect.OK(t)(studio.Decline(waiters[0], o, false))
	expect.OK(t)(studio.App.Waitlists.LeaveWaitlist(
		t.Context(), testkit.SelfOnly(waiters[1]), studio.Offers(o.Session)[1].Entry, "", true,
	))
	test.EqOp(t, before, studio.Count(`select count(*) from audit_entries`), test.Sprint("acts on record, after members'"))
}
