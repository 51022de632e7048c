package session

import (
	"cmp"
	"slices"

	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/tenant"
)

// MaxSubstituted is for how many sessions a search finds substitutes, and how many the end of a role lists.
const MaxSubstituted = 100

// CanLead reports whether the roles of an active member let them lead sessions.
func CanLead(roles []string) bool {
	return slices.ContainsFunc(roles, func(role string) bool {
		return role == tenant.RoleOwner || role == tenant.RoleAdmin || role == tenant.RoleCoach
	})
}

// LedSessions are sessions that a coach leads, as somebody may see them.
type LedSessions struct {
	Count    int                      // of all
	Sessions []catalog.SessionSummary // the first by start
}

// Leader is somebody who may lead sessions.
type Leader struct {
	Member tenant.MemberID
	Name   string
}

// BusyLeader says that a leader has another session while one takes place.
type BusyLeader struct {
	Leader  tenant.MemberID
	Session tenant.SessionID // the one that they cannot lead
}

// Substitute is a leader with the sessions that they are free to lead, each taken alone.
type Substitute struct {
	Leader

	Sessions []tenant.SessionID
}

// Substitutes returns the leaders who are free for some of the sessions: those for most of them first, then in the
// order of the leaders.
func Substitutes(sessions []catalog.SessionSummary, leaders []Leader, busy []BusyLeader) []Substitute {
	taken := make(map[BusyLeader]bool, len(busy))
	for _, b := range busy {
		taken[b] = true
	}
	var found []Substitute
	for _, leader := range leaders {
		one := Substitute{Leader: leader}
		for _, s := range sessions {
			if !taken[BusyLeader{leader.Member, s.ID}] {
				one.Sessions = append(one.Sessions, s.ID)
			}
		}
		if len(one.Sessions) > 0 {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b Substitute) int { return cmp.Compare(len(b.Sessions), len(a.Sessions)) })
	return found
}
