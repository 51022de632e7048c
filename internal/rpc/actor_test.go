package rpc

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"

	v1 "github.com/berthhq/berth/gen/berth/v1"
	"github.com/berthhq/berth/internal/rpc/convert"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// Who did something has a name for those who may read members, and for the actor itself. Others get the id.
func TestActors_HaveNamesForThoseWhoMayReadMembers(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	kit := s.Studio(t, testkit.NewClock(time.Now()))
	mia := kit.AddMember("Mia")
	expect.OK(t)(s.App.Accounts.CreateRole(t.Context(), kit.Owner, grant.Role{
		Name: "desk", Permissions: []string{"credit.read", "credit.grant", "audit.read", "event.read"},
	}))
	desk := kit.AddPerson("Dan", "desk")
	sub := kit.Subscribe(mia, kit.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1}))
	expect.OK(t)(s.App.Accounts.GrantCredits(t.Context(), kit.Owner, sub.ID, 1, ""))
	expect.OK(t)(s.App.Accounts.GrantCredits(t.Context(), desk, sub.ID, 1, ""))
	names := map[string]string{kit.Owner.Actor(): "owner", desk.Actor(): "desk"}
	seen := func(by tenant.Caller) string {
		token := s.Token(t, by.Subject)
		var all []*v1.Actor
		lines := &v1.ListCreditLinesRequest{SubscriptionId: convert.IDText(sub.ID)}
		for _, l := range ask[*v1.ListCreditLinesResponse](t, s, token, lines).GetLines()[:2] {
			all = append(all, l.GetActor())
		}
		entries := &v1.ListAuditEntriesRequest{Filter: &v1.AuditEntryFilter{Action: "credit.granted"}}
		for _, e := range ask[*v1.ListAuditEntriesResponse](t, s, token, entries).GetEntries() {
			all = append(all, e.GetActor())
		}
		events := &v1.ListEventsRequest{Filter: &v1.EventFilter{
			Types: []v1.EventType{v1.EventType_EVENT_TYPE_CREDITS_CHANGED},
		}}
		testkit.Eventually(t, "the events can be read", func() bool { // transactions of other tests can delay them
			found := ask[*v1.ListEventsResponse](t, s, token, events).GetEvents()
			if len(found) < 2 {
				return false
			}
			for _, e := range found {
				all = append(all, e.GetActor())
			}
			return true
		})
		var texts []string
		for _, a := range all {
			texts = append(texts, strings.TrimSpace(names[a.GetId()]+" "+a.GetName()))
		}
		return strings.Join(texts, ", ")
	}
	test.EqOp(t, "desk Dan, owner Owner, desk Dan, owner Owner, owner Owner, desk Dan", seen(kit.Owner))
	test.EqOp(t, "desk Dan, owner, desk Dan, owner, , desk Dan", seen(desk), test.Sprint("events hide the id, too"))
}
