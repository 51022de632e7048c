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
	class := studio.AddSession(testkit.Session{Capacity: 1, Waitlist: 5})
	mia := studio.MustBook(studio.AddMember("Mia"), class)
	studio.MustWaitlist(studio.AddMember("Noa"), class)

	s, err := studio.App.Schedules.BlockSession(context.Background(), studio.Owner, class, "burst pipe")
	must.True(
		t, err == nil && s.Blocked && s.StateReason == "burst pipe" && s.SeatsTaken == 1 &&
			studio.GetSession(class).StateReason == "burst pipe" && studio.BookingStatus(mia) == "CONFIRMED",
		must.Sprintf("%+v (%v)", s, err),
	)
	s = expect.Value(studio.App.Schedules.BlockSession(context.Background(), studio.Owner, class, "burst pipe"))(t)
	test.EqOp(t, 2, s.Version, test.Sprintf("blocked again: %+v", s))
	expect.Reason(t, fault.SessionNotOpen)(studio.Book(studio.AddMember("Ole"), class))
	_, promoted, err := studio.App.Schedules.UpdateSession(
		context.Background(), studio.Owner, class, nil, session.Input{Capacity: new(2)}, session.CapacityField,
	)
	test.True(t, err == nil && promoted == 0, test.Sprintf("promoted %d into a blocked session (%v)", promoted, err))

	s, promoted, err = studio.App.Schedules.UnblockSession(context.Background(), studio.Owner, class)
	test.True(
		t, err == nil && promoted == 1 && !s.Blocked && s.StateReason == "" && s.SeatsTaken == 2 && s.Waiting == 0,
		test.Sprintf("promoted %d, %+v (%v)", promoted, s, err),
	)
	s, promoted, err = studio.App.Schedules.UnblockSession(context.Background(), studio.Owner, class)
	test.True(
		t, err == nil && promoted == 0 && s.Version == 4,
		test.Sprintf("unblocked again: promoted %d, %+v (%v)", promoted, s, err),
	)
	got := studio.SessionEvents(class)
	test.True(
		t, strings.Contains(got, "session.blocked") && strings.Count(got, "session.unblocked") == 1,
		test.Sprintf("events %q", got),
	)
}
