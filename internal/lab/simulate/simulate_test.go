package simulate

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

// seedLength is the length of a short simulation. It includes a clock change, quotas of two weeks and the end of a
// period.
const seedLength = 12 * day

// parts is the number of parallel subtests that share the seeds.
const parts = 4

func TestRun_KeepsEveryInvariant(t *testing.T) {
	t.Parallel()
	for part := range parts {
		t.Run(fmt.Sprint("part ", part), func(t *testing.T) {
			t.Parallel()
			for seed := uint64(part); seed < seedCount; seed += parts {
				_, err := Run(t.Context(), Options{Seed: seed, Length: seedLength, Size: Small})
				must.NoError(t, err, must.Sprintf(
					"repeat with: go run ./internal/lab simulate --small --seed %d --days %d", seed, seedLength/day))
			}
		})
	}
}

// What no simulation reaches is not tested.
func TestRun_ReachesEveryOutcome(t *testing.T) {
	t.Parallel()
	r := expect.Value(Run(t.Context(), Options{Seed: 1, Length: 60 * day, Size: Busy}))(t)
	for name, n := range map[string]int{
		"bookings": r.Bookings, "cancelled": r.Cancelled, "late cancellations": r.LateCancelled, "no-shows": r.NoShows,
		"holds":         r.Holds,
		"expired holds": r.ExpiredHolds, "rescheduled": r.Rescheduled,
		"joined": r.Joined, "promoted": r.Promoted, "offers": r.Offers, "accepted": r.Accepted,
		"cancelled sessions": r.CancelledSessions,
		"handed back":        r.HandedBack,
		"refused":            r.Refused,
	} {
		test.True(t, n >= 5, test.Sprintf("%s: %d, want at least 5", name, n))
	}
}

func TestRun_RepeatsSameEventsForSameSeed(t *testing.T) {
	t.Parallel()
	life := func() (facts []string) {
		expect.OK(t)(Run(
			t.Context(),
			Options{Seed: 7, Length: seedLength, Size: Busy, OnEvent: func(f Event) { facts = append(facts, f.String()) }},
		))
		return facts
	}
	test.Eq(t, life(), life())
}

func TestRun_EmitsEventsInOrder(t *testing.T) {
	t.Parallel()
	var last time.Time
	expect.OK(t)(Run(t.Context(), Options{Seed: 3, Length: seedLength, Size: Small, OnEvent: func(f Event) {
		test.False(t, f.At.Before(last), test.Sprintf("%s comes after %s", f, last))
		last = f.At
	}}))
}

// The checks are worthless if they never fail. Each injected bug has to be detected within a few seeds.
func TestRun_DetectsEveryInjectedBug(t *testing.T) {
	t.Parallel()
	const few = 300
	names := map[bug]string{
		keepSeats: "cancellation frees no seats", refundLate: "late cancellation is refunded",
		skipFlagged: "flagged entry is skipped", noFillOnCancel: "no fill after a cancellation",
		unreservedOffers: "offer reserves no seats", neverExpireHolds: "hold does not expire",
		keepQuota: "cancelled booking counts against a quota", quotaInUTC: "quota counts days in UTC",
		offerInQuietHours: "offer window runs in quiet hours", offerUntilEnd: "offer ends after booking closes",
		keepEntryOffered: "entry stays offered", dropLedgerLine: "ledger line is missing",
		keepUnclaimedSeats: "round keeps unclaimed seats", fillOneTooMany: "fill hands out a seat too many",
		neverRetryTooSlow: "slow entry gets no further offer", retryUnsendable: "unsendable offer is repeated",
		ignoreQuotas: "quota is ignored", skipRefill: "seats of an ended offer are not filled",
		fixedRoundSize: "round does not grow", neverReopenRound: "round stays closed",
		dropSkipReasons: "skip reason is missing", dropStaffNote: "staff note is missing",
		neverFillOpening: "nothing at the opening", giveAllAtOpening: "all seats at the opening",
		bookBeforeOpening: "booking before who waited",
		neverEndWaits:     "entry waits on",
		noFillOnRules:     "no fill after an edit of rules",
		keepOtherEntries:  "booking leaves entries of its member", promoteBack: "seat goes back to who cancelled",
		neverRecheck: "passed-over entries are not checked again",

		ignoreQuietHours: "message in quiet hours", quietInTenantZone: "quiet hours in the tenant's zone",
		ignoreTenantQuiet: "tenant's quiet hours are ignored", offersIgnoreQuiet: "every offer in quiet hours",
		mailAtOnce: "mail in quiet hours instead of a later message",
		ignoreStop: "STOP is ignored", sendDespiteStop: "message after a stop",
		keepDeadAddress: "message to an unregistered address", ignoreFrequencyCap: "frequency cap is ignored",
		sendStale: "message about a cancelled booking", sendMoved: "message about a moved session",
		sendExpiredOffers: "message about an expired offer", windowFromCreation: "offer window starts before the message",
		planTwice: "event is planned twice", remindByCalendar: "reminder by calendar days",
		noReminderAfterMove: "no reminder after a reschedule", hideRepeats: "repetition is not logged",
		hideDrops: "drop is not logged", loseAttempt: "crash loses messages", neverRetry: "no retry",
		noChannelFallback: "no other channel", assumeSent: "no response counts as sent",
		lastReportWins: "last report wins", ignoreReports: "undelivered report is ignored",
		ignoreBreaker: "circuit breaker is ignored",
	}
	must.EqOp(t, int(bugCount)-1, len(names), must.Sprintf("%d bugs have names, want %d", len(names), bugCount-1))
	for _, rare := range []bug{neverRetryTooSlow, fixedRoundSize, neverReopenRound} {
		delete(names, rare) // has a test of its own
	}
	for broken, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(few) {
				_, err := Run(t.Context(), Options{Seed: seed, Length: seedLength, Size: Small, bug: broken})
				var failure *Failure
				switch {
				case err == nil:
					continue
				case !errors.As(err, &failure) || !errors.Is(err, errInvariant):
					t.Fatal(err)
				case failure.Seed != seed || len(failure.Events) == 0 ||
					slices.ContainsFunc(failure.Events, func(f Event) bool { return f.String() == "" }):
					t.Errorf("the failure lacks its seed or events: %v", err)
				}
				t.Logf("detected with seed %d: %v", seed, failure.Err)
				return
			}
			t.Errorf("not detected with %d seeds", few)
		})
	}
}

// BenchmarkYears measures how many years of a busy tenant are simulated in an hour.
func BenchmarkYears(b *testing.B) {
	steps, years := 0, 0.0
	for b.Loop() {
		r := expect.Value(Run(
			b.Context(), Options{Seed: 1, From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Length: 60 * day, Size: Busy},
		))(b)
		steps, years = steps+r.Transactions, years+r.Length.Hours()/24/365
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(years/b.Elapsed().Hours(), "years/h")
}
