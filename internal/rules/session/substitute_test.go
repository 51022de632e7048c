package session_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

func TestSubstitutes_AreFreeAndThoseForMostComeFirst(t *testing.T) {
	t.Parallel()
	var (
		ids       = tenant.NewIDs(time.Now())
		morning   = tenant.NextID[tenant.SessionID](ids)
		noon      = tenant.NextID[tenant.SessionID](ids)
		sessions  = []catalog.SessionSummary{{ID: morning}, {ID: noon}}
		ada       = session.Leader{Member: tenant.NextID[tenant.MemberID](ids), Name: "Ada"}
		bo        = session.Leader{Member: tenant.NextID[tenant.MemberID](ids), Name: "Bo"}
		cy        = session.Leader{Member: tenant.NextID[tenant.MemberID](ids), Name: "Cy"}
		dee       = session.Leader{Member: tenant.NextID[tenant.MemberID](ids), Name: "Dee"}
		everybody = []session.Leader{ada, bo, cy, dee}
	)
	got := session.Substitutes(sessions, everybody, []session.BusyLeader{
		{ada.Member, noon}, {bo.Member, morning}, {bo.Member, noon}, {bo.Member, noon},
	})
	test.Eq(t, []session.Substitute{
		{Leader: cy, Sessions: []tenant.SessionID{morning, noon}},
		{Leader: dee, Sessions: []tenant.SessionID{morning, noon}},
		{Leader: ada, Sessions: []tenant.SessionID{morning}},
	}, got)
	test.SliceEmpty(t, session.Substitutes(nil, everybody, nil))
	test.SliceEmpty(t, session.Substitutes(sessions, nil, nil))
}

func TestCanLead(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]bool{
		tenant.RoleOwner: true, tenant.RoleAdmin: true, tenant.RoleCoach: true, "member": false, "front_desk": false,
	} {
		test.Eq(t, want, session.CanLead([]string{"member", role}), test.Sprint(role))
	}
	test.False(t, session.CanLead(nil))
}
