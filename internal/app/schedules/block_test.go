package schedules_test

import (
	"context"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestBlockSession_PromotesAfterUnblocking(t *testing.T) {
	t.Parallel()
	studio := testkit.New(t)
	studio.SetPromoting()
	class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 5})
	mia := studio.MustBook(studio.AddMember("Mia"), class)
	studio.MustWaitlist(studio.AddMember("Noa"), class)

	s, err := studio.App.Schedules.BlockSession(context.Background(), studio.Owner, class, "burst pipe")
	must.NoError(t, err)
	must.True(t, s.Blocked, must.Sprintf("%+v (%v)", s, err))
	must.EqOp(t, "burst pipe", s.StateReason)
	must.EqOp(t, 1, s.SeatsTaken)
	must.EqOp(t, "burst pipe", studio.GetSession(class).StateReason)
	must.EqOp(t, "CONFIRMED", studio.BookingStatus(mia))
	s = expect.Value(studio.App.Schedules.BlockSession(context.Background(), studio.Owner, class, "burst pipe"))(t)
	test.EqOp(t, 2, s.Version, test.Sprintf("blocked again: %+v", s))
	expect.Reason(t, fault.SessionNotOpen)(studio.Book(studio.AddMember("Ole"), class))
	_, promoted, err := studio.App.Schedules.UpdateSession(
		context.Background(), studio.Owner, class, nil, session.Input{Capacity: new(2)}, session.CapacityField,
	)
	test.NoError(t, err, test.Sprintf("promoted %d into a blocked session (%v)", promoted, err))
	test.EqOp(t, 0, promoted, test.Sprintf("promoted %d into a blocked session (%v)", promoted, err))

	s, promoted, err = studio.App.Schedules.UnblockSession(context.Background(), studio.Owner, class)
	test.NoError(t, err, test.Sprintf("promoted %d, %+v (%v)", promoted, s, err))
	test.EqOp(t, 1, promoted, test.Sprintf("promoted %d, %+v (%v)", promoted, s, err))
	test.False(t, s.Blocked, test.Sprintf("promoted %d, %+v (%v)", promoted, s, err))
	test.EqOp(t, "", s.StateReason, test.Sprintf("promoted %d, %+v (%v)", promoted, s, err))
	test.EqOp(t, 2, s.SeatsTaken, test.Sprintf("promoted %d, %+v (%v)", promoted, s, err))
	test.EqOp(t, 0, s.Waiting, test.Sprintf("promoted %d, %+v (%v)", promoted, s, err))
	s, promoted, err = studio.App.Schedules.UnblockSession(context.Background(), studio.Owner, class)
	test.NoError(t, err, test.Sprintf("unblocked again: promoted %d, %+v (%v)", promoted, s, err))
	test.EqOp(t, 0, promoted, test.Sprintf("unblocked again: promoted %d, %+v (%v)", promoted, s, err))
	test.EqOp(t, 4, s.Version, test.Sprintf("unblocked again: promoted %d, %+v (%v)", promoted, s, err))
	got := studio.SessionEvents(class)
	test.StrContains(t, got, "session.blocked", test.Sprintf("events %q", got))
	test.EqOp(t, 1, strings.Count(got, "session.unblocked"), test.Sprintf("events %q", got))
}
