package waitlist_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Decisions are stored for years with their inputs, and decided again under other rules. So the stored names must not
// change when Go names do.
func TestRecord_KeepsItsStoredForm(t *testing.T) {
	t.Parallel()
	all := entries(queueOf(set{
		"Flagged": true, "Score": 120, "Coach": jess, "Tags": []string{"vip"}, "Tier": "gold", "Zone": "Asia/Kolkata",
		"Tries": 1,
	}, set{"Window": timeWindow(set{"Resource": room}), "Asked": true}, nil))
	closed := now.Add(-time.Hour)
	c, _ := filling{
		rules: first, entries: all, refused: []int{2}, trigger: waitlist.ByDecline, differ: set{"Slot.Seats": 2},
		round: &waitlist.Round{
			ID: id[tenant.RoundID](5), Session: slot(1).Session, Freed: 1, Keeps: 1, Tried: some(9), Offers: 2,
			Asked:  []tenant.MemberID{id[tenant.MemberID](10)},
			Opened: closed, Closed: &closed,
		},
	}.run(t)
	d := c.Decision
	text := expect.Value(json.MarshalIndent(map[string]any{
		"facts": d.Case, "verdicts": d.Decision.Verdicts, "grants": d.Decision.Grants, "mode": d.Decision.Mode,
		"move": d.Decision.Move, "left_move": d.Decision.LeftMove, "trigger": d.Case.Trigger, "note": d.Note,
	}, "", "  "))(t)
	want := expect.Value(os.ReadFile("testdata/record.json"))(t)
	test.Eq(t, string(want), string(text)+"\n", test.Sprint("(-stored +now)"))
}
