package simulate

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/google/go-cmp/cmp"
)

// fortnight is how long a seed lives here: long enough for a change of clocks, quotas of two weeks and the end of a
// period.
const fortnight = 12 * day

// parts: the seeds are cut into so many, each of which may run beside the others.
const parts = 4

func TestEveryInvariantHoldsInEverySeed(t *testing.T) {
	t.Parallel()
	for part := range parts {
		t.Run(fmt.Sprint("part ", part), func(t *testing.T) {
			t.Parallel()
			for seed := uint64(part); seed < seeds; seed += parts {
				if _, err := Run(t.Context(), Options{Seed: seed, Length: fortnight, Size: Small}); err != nil {
					t.Fatalf("%v\nrepeat with: go run ./internal/lab simulate --small --seed %d --days %d", err, seed, fortnight/day)
				}
			}
		})
	}
}

// Ways of life that no seed leads to would be proven by none.
func TestABusyTenantSeesEverything(t *testing.T) {
	t.Parallel()
	r, err := Run(t.Context(), Options{Seed: 1, Length: 60 * day, Size: Busy})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{
		"bookings": r.Bookings, "cancelled": r.Cancelled, "late": r.Late, "no-shows": r.NoShows, "holds": r.Holds,
		"run out": r.RunOut, "moved": r.Moved,
		"joined": r.Joined, "promoted": r.Promoted, "offers": r.Offers, "accepted": r.Accepted, "called off": r.CalledOff,
		"handed back": r.HandedBack,
		"refused":     r.Refused,
	} {
		if n < 5 {
			t.Errorf("%s: %d, which is too few to prove anything", name, n)
		}
	}
}

func TestASeedRepeatsItself(t *testing.T) {
	t.Parallel()
	life := func() (facts []string) {
		_, err := Run(
			t.Context(),
			Options{Seed: 7, Length: fortnight, Size: Busy, Told: func(f Fact) { facts = append(facts, f.String()) }},
		)
		if err != nil {
			t.Fatal(err)
		}
		return facts
	}
	if diff := cmp.Diff(life(), life()); diff != "" {
		t.Error(diff)
	}
}

func TestFactsComeInOrder(t *testing.T) {
	t.Parallel()
	var last time.Time
	_, err := Run(t.Context(), Options{Seed: 3, Length: fortnight, Size: Small, Told: func(f Fact) {
		if f.At.Before(last) {
			t.Errorf("%s comes after %s", f, last)
		}
		last = f.At
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// A simulation that never complains proves nothing: whatever rule is broken on purpose, a few seeds are enough to see
// it.
func TestEveryFlawIsNoticed(t *testing.T) {
	t.Parallel()
	const few = 300
	names := map[flaw]string{
		keepSeats: "a cancellation frees no seats", refundLate: "a late cancellation is refunded",
		passFlagged:   "the flagged entry is passed over",
		sleepOnCancel: "a cancellation wakes nobody", offerUnreserved: "an offer keeps no seats",
		holdForever: "a hold does not run out",
		keepCount:   "a cancelled booking counts", countInUTC: "quotas count in UTC",
		offerAtNight: "offers do not wait for the morning",
		outliveClose: "an offer outlives booking", loseEntry: "an entry is lost with its offer",
		forgetLine:    "a line is missing on the ledger",
		keepUnclaimed: "a round keeps what nobody claims", promoteTwice: "seats are given twice",
		askOnce: "who was too slow is not asked again", askAgain: "who cannot be told is asked again",
		ignoreLimits: "limits are not held to", skipRefill: "what an offer leaves is not filled again",
		frozenRound: "a round does not grow", stayClosed: "a round stays closed",
		hushSkipped: "who is passed over is not told why",
		hushNote:    "staff are not told what is left", sleepOnRules: "an edit of rules wakes nobody",

		wakeUp: "quiet hours do not hold", tenantsNight: "quiet hours are the tenant's",
		ownNightOnly:  "quiet hours are for those who chose some",
		wakeForOffers: "every offer is told at night", ignoreStop: "STOP is not listened to",
		writeAnyway: "stops are not looked at",
		keepToken:   "what is unregistered is used again", writeOften: "nobody counts messages",
		writeStale: "what is cancelled is told",
		writeMoved: "what has moved is told", writeLate: "an offer is told after its end",
		nightEats: "the night eats an offer's window", planTwice: "what is read twice is planned twice",
		remindByCalendar: "reminders come by the calendar", forgetMoved: "a booking that moves gets no reminders",
		repeatUnsaid: "a repetition is not said", dropUnsaid: "a reason is not said",
		loseAttempt: "a node dies with its messages",
		giveUp:      "nothing is tried twice", stayOnChannel: "no channel follows another",
		trustSilence: "who does not answer has it",
		believeLast:  "the last report counts", ignoreReports: "what did not arrive is let go",
		storm: "a provider that does not answer is asked on",
	}
	if len(names) != int(flaws)-1 {
		t.Fatalf("%d flaws have names, and there are %d", len(names), flaws-1)
	}
	for _, rare := range []flaw{askOnce, frozenRound, stayClosed} {
		delete(names, rare) // it has a test of its own
	}
	for broken, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(few) {
				_, err := Run(t.Context(), Options{Seed: seed, Length: fortnight, Size: Small, flaw: broken})
				var failure *Failure
				switch {
				case err == nil:
					continue
				case !errors.As(err, &failure) || !errors.Is(err, errWrong):
					t.Fatal(err)
				case failure.Seed != seed || len(failure.Facts) == 0 ||
					slices.ContainsFunc(failure.Facts, func(f Fact) bool { return f.String() == "" }):
					t.Errorf("the failure does not say how it came: %v", err)
				}
				t.Logf("noticed with seed %d: %v", seed, failure.Err)
				return
			}
			t.Errorf("%d seeds saw nothing wrong", few)
		})
	}
}

// BenchmarkYears tells how many simulated years of a busy tenant pass in an hour.
func BenchmarkYears(b *testing.B) {
	steps, years := 0, 0.0
	for b.Loop() {
		r, err := Run(
			b.Context(), Options{Seed: 1, From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Length: 60 * day, Size: Busy},
		)
		if err != nil {
			b.Fatal(err)
		}
		steps, years = steps+r.Steps, years+r.Simulated.Hours()/24/365
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric(years/b.Elapsed().Hours(), "years/h")
}
