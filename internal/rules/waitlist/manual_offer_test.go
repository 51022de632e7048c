package waitlist_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/fault/faulttest"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestCheckManualOffer_RefusesASecondOffer(t *testing.T) {
	t.Parallel()
	expect.Fault(t, "")(waitlist.Entry{Status: waitlist.Waiting}.CheckManualOffer())
	expect.Fault(t, "WAITLIST_ENTRY_STATE status=OFFERED")(waitlist.Entry{Status: waitlist.Offered}.CheckManualOffer())
}

func TestNewManualOffer_OffersToChosenEntry(t *testing.T) {
	t.Parallel()
	all := entries(queue(3))
	scene := waitlist.FillFacts{
		Slot: slot(4), Rules: rules(t, nil), Entries: all[:2], PageSize: 2, NewID: newIDs(), Now: now,
		Live: []waitlist.Offer{{Member: all[2].Member, Seats: 1, Status: waitlist.Live}}, // to another entry of the member
	}
	const refused = "INVALID_FIELD @expire_time closes_at=2026-03-18T18:00:00Z"
	for until, tt := range map[time.Time]struct {
		ends time.Time
		want string
	}{
		{}: {now.Add(30 * time.Minute), ""}, now.Add(5 * time.Hour): {now.Add(5 * time.Hour), ""}, starts: {starts, ""},
		starts.Add(time.Second): {want: refused}, now: {want: refused},
	} {
		f, err := waitlist.NewManualOffer(scene, all[2], until)
		test.EqOp(t, tt.want, faulttest.Text(err), test.Sprint(until))
		if err != nil {
			continue
		}
		// Staff may overrule the refusal. The record shows it.
		poor := waitlist.Check{Refusal: waitlist.VerdictReason(fault.NoCredits)}
		c := (&run{checks: map[tenant.EntryID]waitlist.Check{entry(2): poor}}).fill(f)
		o := *c.Entries[0].Offer
		test.Eq(t, outcome{Offered: some(2), Seats: 1, Opened: true, Recorded: true}, outcomeOf(c), test.Sprint(until))
		test.EqOp(t, 1, c.Opened.Freed)
		test.Eq(t, waitlist.Offer{
			ID: o.ID, Round: c.Opened.ID, Session: scene.Slot.Session, Entry: entry(2), Member: all[2].Member, Seats: 1,
			Status: waitlist.Live, Try: 1, ByHand: true, Score: 100, CreatedAt: now, ExpiresAt: tt.ends,
		}, o, test.Sprint(until))
		test.Eq(t, waitlist.Case{
			Slot: scene.Slot, Queue: []waitlist.Candidate{vary.From(queue(3)[2], set{"Refusal": string(fault.NoCredits)})},
			Trigger: waitlist.ByHand, Now: now,
		}, c.Decision.Case, test.Sprint(until))
	}
}

// An entry that staff choose has as much time as any other, or until the slot closes if that is too late.
func TestManualGrant_LastsUntilSlotCloses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		if len(w.Queue) == 0 {
			return
		}
		c := w.Queue[0]
		until, late := w.rules.OfferUntil(w.Now, w.Slot.Closes, zone(cmp.Or(c.Zone, w.Slot.Zone)))
		if late != "" {
			until = w.Slot.Closes
		}
		scoring := waitlist.RankOf(c.Entry, w.Slot, w.Queue, w.rules, w.Now).Scoring
		want := waitlist.Grant{Entry: c.Entry, Member: c.Member, Seats: c.Party, Score: scoring.Score, Until: until}
		must.Eq(t, want, waitlist.ManualGrant(c, w.Slot, w.rules, w.Now))
	})
}

func TestManualDecision_OffersSeatsOfGrant(t *testing.T) {
	t.Parallel()
	c := parties(2)[0]
	grant := waitlist.Grant{Entry: c.Entry, Member: c.Member, Seats: 2, Score: 5, Until: now}
	test.Eq(t, waitlist.Decision{
		Mode: waitlist.OfferInTurn, Move: waitlist.MakeOffer, Grants: []waitlist.Grant{grant}, Seats: new(2), Given: 2,
		Verdicts: []waitlist.Verdict{{Entry: c.Entry, Member: c.Member, Reason: waitlist.WasOffered, Score: 5, Party: 2}},
	}, waitlist.ManualDecision(c, grant))
}
