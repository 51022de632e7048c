package waitlist_test

import (
	"errors"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

func TestStatusAfter_FollowsRules(t *testing.T) {
	t.Parallel()
	closing := func(r *waitlist.Rules) {
		r.AfterExpiry, r.AfterDecline = waitlist.CloseEntry, waitlist.CloseEntry
	}
	tests := map[string]struct {
		rules func(*waitlist.Rules)
		tries int
		as    waitlist.OfferStatus
		want  waitlist.Status
	}{
		"declined, it waits on":       {asIs, 1, waitlist.Declined, waitlist.Waiting},
		"run out, it waits on":        {asIs, 2, waitlist.RanOut, waitlist.Waiting},
		"declined for the third time": {asIs, 3, waitlist.Declined, waitlist.Cancelled},
		"run out for the third time":  {asIs, 3, waitlist.RanOut, waitlist.Expired},
		"declined any number of times": {
			func(r *waitlist.Rules) { r.MaxOffersPerEntry = 0 }, 99, waitlist.Declined, waitlist.Waiting,
		},
		"declined, where that closes": {closing, 1, waitlist.Declined, waitlist.Cancelled},
		"run out, where that closes":  {closing, 1, waitlist.RanOut, waitlist.Expired},
		"run out, where declining closes": {
			func(r *waitlist.Rules) { r.AfterDecline = waitlist.CloseEntry }, 1, waitlist.RanOut, waitlist.Waiting,
		},
		"declined, where running out closes": {
			func(r *waitlist.Rules) { r.AfterExpiry = waitlist.CloseEntry }, 1, waitlist.Declined, waitlist.Waiting,
		},
		"withdrawn, which is nothing that it did":      {closing, 1, waitlist.Withdrawn, waitlist.Waiting},
		"withdrawn for the third time, it still waits": {asIs, 3, waitlist.Withdrawn, waitlist.Waiting},
	}
	for name, tc := range tests {
		test.EqOp(t, tc.want, rules(t, tc.rules).StatusAfter(waitlist.Entry{Tries: tc.tries}, tc.as),
			test.Sprint(name))
	}
}

func TestAnswerable_RejectsOffersThatAreNotLive(t *testing.T) {
	t.Parallel()
	live := waitlist.Offer{Status: waitlist.Live, ExpiresAt: now, Seats: 2}
	if err := live.Answerable(now.Add(-time.Nanosecond)); err != nil || live.Due(now.Add(-time.Nanosecond)) ||
		live.Reserves() != 2 {
		t.Errorf("a live offer: %v", err)
	}
	if err := live.Answerable(now); fault.ReasonOf(err) != fault.OfferNotLive || !live.Due(now) {
		t.Errorf("an offer that expired, with the status LIVE: %v", err)
	}
	for _, status := range []waitlist.OfferStatus{
		waitlist.Accepted, waitlist.Declined, waitlist.RanOut, waitlist.Withdrawn,
	} {
		closed := live.Close(status, "why", now)
		closed.Booking = id[tenant.BookingID](1)
		err, ok := errors.AsType[*fault.Error](closed.Answerable(now.Add(-time.Hour)))
		test.True(
			t, ok && err.Reason == fault.OfferNotLive && err.Metadata["status"] == string(status) &&
				err.Metadata["booking_id"] == closed.Booking.String(),
			test.Sprintf("%s: %v", status, err),
		)
		test.True(
			t, closed.Reserves() == 0 && !closed.Due(now) && closed.ClosedAt.Equal(now) && closed.Reason == "why" &&
				live.Status == waitlist.Live,
			test.Sprintf("%s: %+v", status, closed),
		)
	}
	if live.Shared = true; live.Reserves() != 0 {
		t.Error("an offer that is shared keeps seats by itself")
	}
}

func TestActive_IncludesWaitingAndOffered(t *testing.T) {
	t.Parallel()
	for status, want := range map[waitlist.Status]bool{
		waitlist.Waiting: true, waitlist.Offered: true, waitlist.Booked: false, waitlist.Cancelled: false,
		waitlist.Expired: false,
	} {
		test.EqOp(t, want, status.Active(), test.Sprintf("%s: active %t", status, !want))
	}
}
