package waitlist_test

import (
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestStatusAfter_FollowsRules(t *testing.T) {
	t.Parallel()
	closing := set{"AfterExpiry": waitlist.CloseEntry, "AfterDecline": waitlist.CloseEntry}
	for name, tt := range map[string]struct {
		rules set
		tries int
		as    waitlist.OfferStatus
		want  waitlist.Status
	}{
		"declined, it waits on":       {nil, 1, waitlist.Declined, waitlist.Waiting},
		"run out, it waits on":        {nil, 2, waitlist.RanOut, waitlist.Waiting},
		"declined for the third time": {nil, 3, waitlist.Declined, waitlist.Cancelled},
		"run out for the third time":  {nil, 3, waitlist.RanOut, waitlist.Expired},
		"declined any number of times": {
			set{"MaxOffersPerEntry": 0}, 99, waitlist.Declined, waitlist.Waiting,
		},
		"declined, where that closes": {closing, 1, waitlist.Declined, waitlist.Cancelled},
		"run out, where that closes":  {closing, 1, waitlist.RanOut, waitlist.Expired},
		"run out, where declining closes": {
			set{"AfterDecline": waitlist.CloseEntry}, 1, waitlist.RanOut, waitlist.Waiting,
		},
		"declined, where running out closes": {
			set{"AfterExpiry": waitlist.CloseEntry}, 1, waitlist.Declined, waitlist.Waiting,
		},
		"withdrawn, which is nothing that it did":      {closing, 1, waitlist.Withdrawn, waitlist.Waiting},
		"withdrawn for the third time, it still waits": {nil, 3, waitlist.Withdrawn, waitlist.Waiting},
	} {
		test.EqOp(t, tt.want, rules(t, tt.rules).StatusAfter(waitlist.Entry{Tries: tt.tries}, tt.as), test.Sprint(name))
	}
}

func TestAnswerable_RejectsOffersThatAreNotLive(t *testing.T) {
	t.Parallel()
	const booking = "WAITLIST_OFFER_NOT_LIVE booking_id=00000000-0000-7000-8000-000000000001 status="
	live := waitlist.Offer{Status: waitlist.Live, ExpiresAt: now, Seats: 2}
	for name, tt := range map[string]struct {
		differ   set
		at       time.Time
		want     string
		due      bool
		reserves int
	}{
		"live":                          {nil, now.Add(-1), "", false, 2},
		"expired, with the status LIVE": {nil, now, "WAITLIST_OFFER_NOT_LIVE status=EXPIRED", true, 2},
		"shared":                        {set{"Shared": true}, now.Add(-1), "", false, 0},
		"accepted":                      {set{"Status": waitlist.Accepted}, now, booking + "ACCEPTED", false, 0},
		"declined":                      {set{"Status": waitlist.Declined}, now, booking + "DECLINED", false, 0},
		"ran out":                       {set{"Status": waitlist.RanOut}, now, booking + "EXPIRED", false, 0},
		"withdrawn":                     {set{"Status": waitlist.Withdrawn}, now, booking + "WITHDRAWN", false, 0},
	} {
		o := vary.From(live, tt.differ)
		if o.Status != waitlist.Live {
			test.Eq(t, vary.From(o, set{"Reason": "why", "ClosedAt": now}),
				live.Close(o.Status, "why", now), test.Sprint(name))
			o.Booking = id[tenant.BookingID](1)
		}
		expect.Fault(t, tt.want, name)(o.Answerable(tt.at))
		test.EqOp(t, tt.due, o.Due(tt.at), test.Sprint(name))
		test.EqOp(t, tt.reserves, o.Reserves(), test.Sprint(name))
	}
}

func TestStatus_SaysWhetherAnEntryWaitsAndCanBeLeft(t *testing.T) {
	t.Parallel()
	for status, tt := range map[waitlist.Status]struct {
		active, ended bool
		leave         string
	}{
		waitlist.Waiting:   {active: true},
		waitlist.Offered:   {active: true},
		waitlist.Cancelled: {ended: true},
		waitlist.Expired:   {ended: true},
		waitlist.Booked: {
			leave: "WAITLIST_ENTRY_STATE booking_id=00000000-0000-7000-8000-000000000003 status=BOOKED",
		},
	} {
		e, waits := waitlist.Entry{Status: status, Booking: id[tenant.BookingID](3)},
			"WAITLIST_ENTRY_STATE status="+string(status)
		if tt.active {
			waits = ""
		}
		test.EqOp(t, tt.active, status.Active(), test.Sprint(status))
		expect.Fault(t, waits, status)(e.CheckActive())
		ended, err := e.CheckLeave()
		expect.Fault(t, tt.leave, status)(err)
		test.EqOp(t, tt.ended, ended, test.Sprint(status))
	}
}
