package data

import (
	_ "embed"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/testkit/expect"
)

//go:embed testdata/wrong.sql
var wrongRows string

// violations has the rows that each check finds, and what is wrong with them.
//
//nolint:dupword // names of rows
var violations = map[string]string{
	"seats taken are those of bookings and offers": "audit/seats_taken is 0, its bookings take 1, its live offers 0, " +
		"its rounds keep 1 " +
		"device/seats_taken is 0, its bookings take 1, its live offers 0, its rounds keep 0 " +
		"fifth/seats_taken is 9, its bookings take 1, its live offers 0, its rounds keep 0 " +
		"fourth/seats_taken is 0, its bookings take 2, its live offers 1, its rounds keep 0 " +
		"second/seats_taken is 0, its bookings take 1, its live offers 0, its rounds keep 0 " +
		"session/seats_taken is 0, its bookings take 4, its live offers 1, its rounds keep 1 " +
		"seventh/seats_taken is 5, its bookings take 1, its live offers 0, its rounds keep 0 " +
		"sixth/seats_taken is 8, its bookings take 1, its live offers 1, its rounds keep 0 " +
		"third/seats_taken is 4, its bookings take 2, its live offers 1, its rounds keep 0",
	"no session has more seats taken than its capacity": "fifth/seats_taken is 9 of 8",
	"no active booking is in a session that is cancelled or deleted": "code/it is CONFIRMED in session second " +
		"second/it is ATTENDED in session fourth " +
		"sixth/it is PENDING in session fourth",
	"holds counts the pending bookings": "fifth/holds is 0, pending are 1 fourth/holds is 0, pending are 1 " +
		"session/holds is 0, pending are 3",
	"item reservations match the status of their bookings": "fourth/it is CONFIRMED with booking other, which is " +
		"PENDING " +
		"line/it is CONFIRMED with booking line, which is EXPIRED " +
		"seventh/it is PENDING with booking booking, which is CONFIRMED " +
		"sixth/it is CONFIRMED with booking seventh, which is CANCELLED",
	"no unit of an item is reserved twice at once": "display/number 8 of item item is reserved until 2026-03-02 " +
		"12:00:00+00, and again from 2026-03-02 " +
		"10:00:00+00 " +
		"screen/number 8 of item item is reserved until 2026-03-02 12:00:00+00, and again from 2026-03-02 " +
		"09:00:00+00",
	"no member has two active bookings in one session": "booking/member member has 2 bookings in session session",
	"bookings that allow no overlap have none": "account/it starts at 2026-03-02 08:30:00+00, when member member is " +
		"booked until 2026-03-02 09:00:00+00",
	"no resource and no coach is in two sessions at once": "audit/it starts at 2026-03-02 11:00:00+00, when third is " +
		"busy until 2026-03-02 12:00:00+00 " +
		"session/it starts at 2026-03-02 08:00:00+00, when member is busy until 2026-03-02 08:30:00+00 " +
		"sixth/it starts at 2026-03-02 08:30:00+00, when resource is busy until 2026-03-02 09:00:00+00",
	"the span of a booking is that of its session": "account/2026-03-02 08:30:00+00 to 2026-03-02 09:30:00+00, its " +
		"session 2026-03-02 08:00:00+00 to " +
		"2026-03-02 09:00:00+00 " +
		"batch/2026-03-02 10:00:00+00 to 2026-03-02 21:00:00+00, its session 2026-03-02 20:00:00+00 to " +
		"2026-03-02 21:00:00+00 " +
		"code/2026-03-02 07:00:00+00 to 2026-03-02 08:00:00+00, its session 2026-03-02 07:00:00+00 to 2026-03-02 " +
		"11:00:00+00 " +
		"fifth/2026-03-02 07:00:00+00 to 2026-03-02 08:00:00+00, its session 2026-03-02 07:00:00+00 to " +
		"2026-03-02 08:30:00+00 " +
		"item/2026-03-02 07:00:00+00 to 2026-03-02 08:00:00+00, its session 2026-03-02 07:00:00+00 to 2026-03-02 " +
		"08:30:00+00 " +
		"line/2026-03-02 07:00:00+00 to 2026-03-02 08:00:00+00, its session 2026-03-02 07:00:00+00 to 2026-03-02 " +
		"08:30:00+00 " +
		"screen/2026-03-02 09:30:00+00 to 2026-03-02 10:30:00+00, its session 2026-03-02 08:30:00+00 to " +
		"2026-03-02 11:00:00+00 " +
		"second/2026-03-02 07:00:00+00 to 2026-03-02 08:00:00+00, its session 2026-03-02 08:00:00+00 to " +
		"2026-03-02 09:00:00+00 " +
		"seventh/2026-03-02 08:00:00+00 to 2026-03-02 09:00:00+00, its session 2026-03-02 07:00:00+00 to " +
		"2026-03-02 11:00:00+00 " +
		"third/2026-03-02 08:00:00+00 to 2026-03-02 09:00:00+00, its session 2026-03-02 09:00:00+00 to " +
		"2026-03-02 10:00:00+00",
	"waiting counts the entries that name the session": "device/waiting is 1, places are 0 fourth/waiting is 1, " +
		"places are 0 " +
		"second/waiting is 1, places are 0 session/waiting is 3, places are 2 " +
		"sixth/waiting is 2, places are 0",
	"queues count their entries": "location service 2026-03-02/waiting is 4, entries are 2 location service " +
		"2026-03-03/waiting is 2, entries are 1",
	"entries have places while they are waiting or offered": "fourth/it is EXPIRED and has 4 places item/it is " +
		"OFFERED and has 0 places " +
		"second/it is WAITING and has 0 places unit/it is OFFERED and has 0 places",
	"places are in the queues of their sessions": "other/it is in the queue of 2026-03-02 for session session of " +
		"2026-03-02 " +
		"other/it is in the queue of 2026-03-03 for session other of 2026-03-03 " +
		"waiting/it is in the queue of 2026-03-07 for session session of 2026-03-02",
	"an entry is offered exactly if it has a live offer": "device/it is WAITING, its live offers are 1 item/it is " +
		"OFFERED, its live offers are 0 " +
		"other/it is WAITING, its live offers are 1 unit/it is OFFERED, its live offers are 0 " +
		"waiting/it is OFFERED, its live offers are 3",
	"live offers are for bookable sessions": "fifth/its session sixth is blocked fourth/its session fourth is deleted " +
		"other/its session other is DRAFT",
	"no round offers more seats than were freed": "other/1 were freed, 1 are on offer, 1 are kept round/1 were freed, " +
		"2 are on offer, 1 are kept " +
		"third/1 were freed, 2 are on offer, 0 are kept",
	"a round keeps seats only while it has a shared offer": "key/it keeps 1 without a live shared offer other/it " +
		"keeps 1 without a live shared offer",
	"every accepted offer has a booking": "seventh/its booking is other sixth/its booking is missing",
	"no member has two bookings or entries in one session": "audit/member member has 2 places session/member member " +
		"has 2 places",
	"balances are the sums of their ledgers": "other/balance is 0, its ledger sums to 3 subscription/balance is 0, " +
		"its ledger sums to 4",
	"the balance of a ledger line is the sum of all lines up to it": "entry/line 1 says 9; it is line 1 and makes -1 " +
		"fourth/line 1 says 9; it is line 1 and makes -1 " +
		"other/line 2 says 14; it is line 2 and makes 4 third/line 2 says 3; it is line 1 and makes 3",
	"a booking holds the credits that its ledger lines charged": "account/it holds 1, its lines say 0 booking/it " +
		"holds 0, its lines say 1 " +
		"seventh/it holds 1, its lines say 0",
	"the totals of a payment line are the sums of all lines up to it": "code/line 2 says 50000000000 captured and 0 " +
		"refunded; it is line 1 and makes 50000000000 and 0 " +
		"fourth/line 2 says 6000000000 captured and 0 refunded; it is line 2 and makes 5000000000 and 0 " +
		"line/line 2 says 50000000000 captured and 10000000000 refunded; it is line 2 and makes 50000000000 and " +
		"10000000000 " +
		"screen/line 2 says 50000000000 captured and 9000000000 refunded; it is line 2 and makes 50000000000 and " +
		"10000000000 " +
		"sixth/line 2 says 50000000007 captured and 50000000008 refunded; it is line 2 and makes 50000000007 and " +
		"50000000008",
	"the payment of a booking is what its lines say": "fifth/it is CAPTURED, its lines say CAPTURED sixth/it is " +
		"CAPTURED, its lines say CAPTURED " +
		"third/it is REFUNDED, its lines say CAPTURED",
	"unlimited and course plans move no credits": "fourth/-1 credits moved on a plan of the kind COURSE " +
		"third/3 credits moved on a plan of the kind UNLIMITED",
	"no booking is on a course plan":                  "third/it is on a plan of the kind COURSE",
	"a cancellation in time has refunded its credits": "device/it was cancelled in time and holds 1",
	"quotas count the bookings that count against them": "subscription/DAY of 2026-03-03: used is 3, counted are 0 " +
		"subscription/WEEK of 2026-03-02: used is 1, counted are 3 " +
		"third/DAY of 2026-03-02: used is 3, counted are 0 " +
		"third/WEEK of 2026-03-02: used is 1, counted are 0",
	"every booking from the waitlist has a decision": "seventh/it became booking other without one sixth/it became " +
		"booking second without one",
	"waiting counts the active entries of the member": "third/waiting is 4, entries are 1",
	"no entry gets seats before booking opens": "unit/it gave 1 at 2026-03-01 10:00:00, " +
		"before 2026-03-01T10:00:01Z",
	"at most half of the seats are given when booking opens": "device/it gave 3 of 4",
	"no live offer outlives its session": "fourth/it ends at 2026-03-02 09:00:01, its session " +
		"at 2026-03-02 09:00:00",
	"every booked entry has a booking": "key/it is BOOKED, its booking is missing seventh/it is BOOKED, its booking " +
		"other",
	"has_workouts says whether a session has workouts": "other/has_workouts is f, attached are 1",
	"the tokens of devices are sealed": "device/its token is not sealed; nodes seal such tokens within a minute " +
		"notice/its token is not sealed; nodes seal such tokens within a minute " +
		"other/its token is not sealed; nodes seal such tokens within a minute",
}

// Each check finds the rows that violate it, and no others.
func TestChecks_FindWrongRows(t *testing.T) {
	t.Parallel()
	db := fill(t)
	expect.OK(t)(db.Owner.Exec(t.Context(), wrongRows, pgx.QueryExecModeSimpleProtocol))
	for _, check := range coredb.Checks {
		test.EqOp(t, violations[check.Name], read{coredb.FindViolations, args{check}, ""}.find(t, db, "tenant"))
	}
	test.MapLen(t, len(coredb.Checks), violations)
}
