package waitlist_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestNextKey_LeavesRoomAfterTheLastEntry(t *testing.T) {
	t.Parallel()
	test.EqOp(t, now.UnixMicro()*1024, waitlist.NextKey(now, 0))
	last := now.Add(time.Hour).UnixMicro() * 1024
	test.EqOp(t, last+1024, waitlist.NextKey(now, last))
}

func TestChanges_CountsEveryDifference(t *testing.T) {
	t.Parallel()
	test.False(t, waitlist.Difference{Kept: 3}.Changes())
	for _, d := range []waitlist.Difference{
		{Gained: make([]waitlist.Grant, 1)}, {Lost: make([]waitlist.Grant, 1)}, {MoveAfter: waitlist.MakeOffer},
		{ModeAfter: waitlist.AutoPromote}, {GivenAfter: 1},
	} {
		test.True(t, d.Changes(), test.Sprintf("%+v", d))
	}
}

// Members and staff read the sentences, with singular and plural.
func TestExplainEntry_SaysWhatTheEntryGot(t *testing.T) {
	t.Parallel()
	until := starts.Add(-time.Hour)
	for name, tt := range map[string]struct {
		mode   waitlist.Mode
		reason waitlist.VerdictReason
		party  int
		want   string
	}{
		"booked":        {waitlist.AutoPromote, waitlist.Promoted, 1, "1 seat was booked for it."},
		"booked, two":   {waitlist.AutoPromote, waitlist.Promoted, 2, "2 seats were booked for it."},
		"offered":       {waitlist.OfferInTurn, waitlist.WasOffered, 1, "It was offered 1 seat, until"},
		"offered, two":  {waitlist.OfferInTurn, waitlist.WasOffered, 2, "It was offered 2 seats, until"},
		"to claim":      {waitlist.FirstToClaim, waitlist.WasOffered, 1, "It could claim 1 seat, until"},
		"to claim, two": {waitlist.FirstToClaim, waitlist.WasOffered, 2, "It could claim 2 seats, until"},
		"too large":     {waitlist.OfferInTurn, "PARTY_SIZE", 2, "it needs 2 seats."},
		"too small":     {waitlist.OfferInTurn, "PARTY_SIZE", 1, "it needs 1 seat."},
	} {
		d := waitlist.Decision{
			Mode: tt.mode, Verdicts: []waitlist.Verdict{{Entry: entry(0), Reason: tt.reason, Party: tt.party}},
			Grants: []waitlist.Grant{{Entry: entry(1)}, {Entry: entry(0), Until: until}},
		}
		got := strings.Join(waitlist.ExplainEntry(d, waitlist.ByCancellation, slot(2), now, entry(0)), " ")
		test.StrContains(t, got, tt.want, test.Sprint(name))
		test.EqOp(t, until, d.OfferedUntil(entry(0)))
		test.True(t, d.OfferedUntil(entry(2)).IsZero())
	}
}

func TestExplain_NamesUpToTenAndCountsTheRest(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		1: "Booked automatically: M (2 seats).", 10: "M (2 seats) and M (2 seats).", 11: "M (2 seats) and 1 more.",
		12: "M (2 seats) and 2 more.",
	} {
		d := waitlist.Decision{Mode: waitlist.AutoPromote, Move: waitlist.MakeOffer}
		for i := range n {
			d.Grants = append(d.Grants, waitlist.Grant{Entry: entry(i), Seats: 2})
		}
		lines := waitlist.Explain(d, waitlist.ByCancellation, slot(2), now, func(tenant.MemberID) string { return "M" })
		test.StrContains(t, strings.Join(lines, " "), want, test.Sprint(n))
	}
	d := waitlist.Decision{Seats: new(2), LeftMove: waitlist.NobodyFits, Verdicts: make([]waitlist.Verdict, 2)}
	test.StrHasPrefix(t, "2 seats left: no one on the waitlist fits (2 entries).", waitlist.Note(d))
}

// Rows, decisions and events have these values, also those that were written years ago.
func TestValues_StayAsTheyAreStored(t *testing.T) {
	t.Parallel()
	test.Eq(t, []waitlist.Trigger{
		"CANCELLATION", "NO_SHOW", "CAPACITY_RAISED", "UNBLOCKED", "PUBLISHED", "SESSION_MOVED", "HOLD_EXPIRED",
		"HOLD_RELEASED", "RESCHEDULED", "OFFER_DECLINED", "OFFER_EXPIRED", "OFFER_WITHDRAWN", "BY_HAND", "RULES_CHANGED",
		"RECHECKED", "BOOKING_OPENED", "SWEEP",
	}, []waitlist.Trigger{
		waitlist.ByCancellation, waitlist.ByNoShow, waitlist.ByCapacity, waitlist.ByUnblock, waitlist.ByPublish,
		waitlist.ByMove, waitlist.ByExpiredHold, waitlist.ByRelease, waitlist.ByReschedule, waitlist.ByDecline,
		waitlist.ByExpiry, waitlist.ByWithdrawal, waitlist.ByHand, waitlist.ByRules, waitlist.ByRecheck,
		waitlist.ByOpening, waitlist.BySweep,
	})
	test.Eq(t, []waitlist.Move{"NOBODY_FITS", "OFFER", "ROLL_ON", "HAND_BACK"},
		[]waitlist.Move{waitlist.NobodyFits, waitlist.MakeOffer, waitlist.RollOn, waitlist.HandBack})
	test.EqOp(t, "PROMOTED", waitlist.Promoted)
	test.EqOp(t, "OFFERED", waitlist.WasOffered)
	test.EqOp(t, "NO_SEATS_LEFT", waitlist.NoSeatsLeft)
	test.EqOp(t, "DOWN_FITTING", waitlist.DownFitting)
	test.EqOp(t, "HAS_OFFER", waitlist.HasOffer)
	test.EqOp(t, "SERVICE", waitlist.OtherService)
	test.EqOp(t, "LOCATION", waitlist.OtherLocation)
	test.EqOp(t, "RESOURCE", waitlist.OtherResource)
	test.EqOp(t, "DATE", waitlist.OtherDate)
	test.EqOp(t, "TIME", waitlist.OtherTime)
	test.EqOp(t, "STAFF_PREFERENCE", waitlist.OtherStaff)
	test.EqOp(t, "MAX_OFFERS", waitlist.MaxOffers)
	test.EqOp(t, "TRIED", waitlist.AlreadyOffered)
	test.EqOp(t, "NOT_ELIGIBLE", waitlist.NotEligible)
	test.EqOp(t, "RULE_FAILED", waitlist.RuleFailed)
	test.EqOp(t, "NO_TIME", waitlist.NoTime)
	test.EqOp(t, "QUIET_HOURS", waitlist.InQuietHours)
	test.EqOp(t, "TRY_CAP", waitlist.MaxTries)
	test.EqOp(t, "NO_CASCADE", waitlist.NoCascade)
	test.Eq(t, []waitlist.Status{"WAITING", "OFFERED", "BOOKED", "CANCELLED", "EXPIRED"}, []waitlist.Status{
		waitlist.Waiting, waitlist.Offered, waitlist.Booked, waitlist.Cancelled, waitlist.Expired,
	})
	test.Eq(t, []waitlist.OfferStatus{"LIVE", "ACCEPTED", "DECLINED", "EXPIRED", "WITHDRAWN"}, []waitlist.OfferStatus{
		waitlist.Live, waitlist.Accepted, waitlist.Declined, waitlist.RanOut, waitlist.Withdrawn,
	})
	test.Eq(t, []waitlist.Mode{"AUTO_PROMOTE", "OFFER", "FIRST_TO_CLAIM"},
		[]waitlist.Mode{waitlist.AutoPromote, waitlist.OfferInTurn, waitlist.FirstToClaim})
	test.Eq(t, []waitlist.Order{"JOIN_ORDER", "PRIORITY", "CUSTOM"},
		[]waitlist.Order{waitlist.ByJoining, waitlist.ByPriority, waitlist.ByFormula})
	test.Eq(t, []waitlist.After{"RETURN", "CLOSE"}, []waitlist.After{waitlist.ReturnEntry, waitlist.CloseEntry})
}

func TestExplainDifference_NamesWhoGainsAndWhoLoses(t *testing.T) {
	t.Parallel()
	mia := id[tenant.MemberID](1)
	name := func(m tenant.MemberID) string { return map[tenant.MemberID]string{mia: "Mia"}[m] }
	test.SliceEmpty(t, waitlist.ExplainDifference(waitlist.Difference{Kept: 1}, name))
	test.Eq(t, []string{
		"Seats would have been filled another way: offers, one at a time.",
		"Would have got a seat instead: Mia, someone.", "Would not have got a seat: someone.",
		"1 seat would have been filled, rather than 2 seats.",
	}, waitlist.ExplainDifference(waitlist.Difference{
		ModeAfter: waitlist.OfferInTurn, Gained: []waitlist.Grant{{Member: mia}, {}}, Lost: make([]waitlist.Grant, 1),
		GivenBefore: 2, GivenAfter: 1,
	}, name))
	test.Eq(t, []string{"2 seats would have been filled, rather than 1 seat."},
		waitlist.ExplainDifference(waitlist.Difference{GivenBefore: 1, GivenAfter: 2}, name))
}

func TestErrors_NameFieldsAndLimits(t *testing.T) {
	t.Parallel()
	formula := waitlist.Rules{Order: waitlist.ByFormula}
	for want, all := range map[string][]error{
		"INVALID_FIELD @rules.priority_expression": {formula.Consistent()},
		"": {vary.From(formula, set{"PriorityExpression": "1"}).Consistent(), waitlist.Rules{}.Consistent()},
	} {
		for _, err := range all {
			expect.Fault(t, want)(err)
		}
	}
}
