package waitlist_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/waitlist"
)

var now = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

var refusals = []error{nil, nil, nil, fault.New(fault.ResourceExhausted, fault.NoCredits, ""), fault.New(fault.FailedPrecondition, fault.Overlap, "")}

func world(t *rapid.T) (*int, []waitlist.Candidate) {
	var seats *int
	if rapid.Bool().Draw(t, "limited") {
		seats = new(rapid.IntRange(0, 10).Draw(t, "seats"))
	}
	candidates := make([]waitlist.Candidate, rapid.IntRange(0, 30).Draw(t, "entries"))
	for i := range candidates {
		candidates[i] = waitlist.Candidate{
			Entry: waitlist.Entry{
				ID: tenant.New[tenant.EntryID](now), Member: tenant.New[tenant.MemberID](now),
				Party: rapid.IntRange(1, 4).Draw(t, "party"), Seq: int64(i + 1),
			},
			Refused: rapid.SampledFrom(refusals).Draw(t, "refused"),
		}
	}
	return seats, candidates
}

func TestDecide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seats, candidates := world(t)
		d := waitlist.Decide(seats, candidates)

		if again := waitlist.Decide(seats, candidates); again.Move != d.Move || len(again.Promote) != len(d.Promote) {
			t.Fatal("the same world led to another move")
		}
		if len(d.Verdicts) != len(candidates) {
			t.Fatalf("%d verdicts on %d entries", len(d.Verdicts), len(candidates))
		}
		if (d.Move == waitlist.Offer) != (len(d.Promote) > 0) {
			t.Fatalf("move %s with %d promoted", d.Move, len(d.Promote))
		}
		taken := 0
		for i, v := range d.Verdicts {
			c := candidates[i]
			if v.Entry != c.Entry.ID {
				t.Fatal("verdicts are not in the order of the queue")
			}
			fits := seats == nil || taken+c.Entry.Party <= *seats
			if promoted := v.Reason == waitlist.Promoted; promoted != (fits && c.Refused == nil) {
				t.Fatalf("entry %d of party %d: %s, with %d taken", i, c.Entry.Party, v.Reason, taken)
			} else if promoted {
				taken += c.Entry.Party
			}
		}
		if seats != nil && taken > *seats {
			t.Fatalf("%d promoted into %d seats", taken, *seats)
		}
	})
}

func TestGraceEndsWithTheStart(t *testing.T) {
	t.Parallel()
	if got := waitlist.GraceUntil(now, now.Add(2*time.Hour)); !got.Equal(now.Add(time.Hour)) {
		t.Error(got)
	}
	if got := waitlist.GraceUntil(now, now.Add(20*time.Minute)); !got.Equal(now.Add(20 * time.Minute)) {
		t.Error(got)
	}
}
