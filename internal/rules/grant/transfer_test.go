package grant_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
)

func TestNewTransfer_IsOpenForAWeek(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	from := grant.Party{Member: tenant.MemberID{UUID: tenant.UUID{1}}, Name: "Olga"}
	to := grant.Party{Member: tenant.MemberID{UUID: tenant.UUID{2}}, Name: "Ben"}
	id := tenant.TransferID{UUID: tenant.UUID{3}}
	week := 7 * 24 * time.Hour
	for _, c := range []struct {
		to     grant.Party
		active bool
		want   string
	}{
		{to, true, ""}, {to, false, "INVALID_FIELD @member_id"},
		{from, true, "INVALID_FIELD @member_id"}, {from, false, "INVALID_FIELD @member_id"},
	} {
		made, err := grant.NewTransfer(id, from, c.to, c.active, now)
		test.EqOp(t, c.want, faulttest.Text(err), test.Sprintf("%+v", c))
		if err != nil {
			continue
		}
		test.EqOp(t, grant.Transfer{ID: id, From: from, To: to, CreatedAt: now, ExpiresAt: now.Add(week)}, made)
		for at, open := range map[time.Duration]bool{0: true, week - 1: true, week: false, 2 * week: false} {
			test.EqOp(t, open, made.Open(now.Add(at)), test.Sprint(at))
		}
	}
}
