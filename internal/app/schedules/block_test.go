package schedules_test

import (
	"context"
	"strings"
	"testing"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/testkit"
)

func TestBlockSession_PromotesAfterUnblocking(t *testing.T) {
	t.Parallel()
	h := testkit.New(t)
	class := h.AddSession(testkit.Session{Capacity: 1, Waitlist: 5})
	mia := h.MustBook(h.AddMember("Mia"), class)
	noa := h.AddMember("Noa")
	h.MustWaitlist(noa, class)

	s, err := h.App.Schedules.BlockSession(context.Background(), h.Owner, class, "burst pipe")
	if err != nil || !s.Blocked || s.StateReason != "burst pipe" || s.SeatsTaken != 1 ||
		h.BookingStatus(mia) != "CONFIRMED" {
		t.Fatalf("%+v (%v)", s, err)
	}
	if s, err = h.App.Schedules.BlockSession(context.Background(), h.Owner, class, "burst pipe"); err != nil ||
		s.Version != 2 {
		t.Errorf("blocked again: %+v (%v)", s, err)
	}
	_, err = h.Book(h.AddMember("Ole"), class)
	testkit.WantReason(t, err, fault.SessionNotOpen)
	if _, promoted, err := h.App.Schedules.UpdateSession(
		context.Background(), h.Owner, class, nil, session.Input{Capacity: new(2)}, session.CapacityField,
	); err != nil || promoted != 0 {
		t.Errorf("promoted %d into a blocked session (%v)", promoted, err)
	}

	s, promoted, err := h.App.Schedules.UnblockSession(context.Background(), h.Owner, class)
	if err != nil || promoted != 1 || s.Blocked || s.StateReason != "" || s.SeatsTaken != 2 || s.Waiting != 0 {
		t.Errorf("promoted %d, %+v (%v)", promoted, s, err)
	}
	if s, promoted, err = h.App.Schedules.UnblockSession(context.Background(), h.Owner, class); err != nil ||
		promoted != 0 || s.Version != 4 {
		t.Errorf("unblocked again: promoted %d, %+v (%v)", promoted, s, err)
	}
	if got := h.SessionEvents(class); !strings.Contains(got, "session.blocked") ||
		strings.Count(got, "session.unblocked") != 1 {
		t.Errorf("events %q", got)
	}
	h.WantSound()
}
