package waitlist_test

import (
	"bytes"
	"cmp"
	"reflect"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/vary"
)

func TestWants_MatchesExactly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entry waitlist.Entry
		want  bool
	}{
		"the session":      {waitlist.Entry{}, true},
		"its staff":        {waitlist.Entry{Coach: jess}, true},
		"other staff":      {waitlist.Entry{Coach: rui}, false},
		"a window":         {waitlist.Entry{Window: wish(nil)}, true},
		"nearly":           {waitlist.Entry{Window: wish(set{"Earliest": clock("18:01")})}, false},
		"on another day":   {waitlist.Entry{Window: wish(set{"From": civiltest.Date("2026-03-19")})}, false},
		"another resource": {waitlist.Entry{Window: wish(set{"Resource": id[tenant.ResourceID](2)})}, false},
		"just at its edges": {
			waitlist.Entry{Window: wish(set{"Earliest": clock("18:00"), "Latest": clock("18:00")})}, true,
		},
	} {
		test.EqOp(t, tt.want, tt.entry.Wants(slot(1)), test.Sprint(name))
	}
}

func TestOver_ReportsPlacesThatCannotGetSeats(t *testing.T) {
	t.Parallel()
	r := waitlist.Defaults()
	session := waitlist.Place{Session: id[tenant.SessionID](1), Starts: starts, Zone: "Europe/Lisbon"}
	day := waitlist.Place{Queue: waitlist.Queue{Date: civiltest.Date("2026-03-18")}, Zone: "America/New_York"}
	midnight := time.Date(2026, 3, 19, 4, 0, 0, 0, time.UTC) // in New York
	gone := vary.From(session, set{"Gone": true})
	for name, tc := range map[string]struct {
		place waitlist.Place
		after time.Duration
		at    time.Time
		want  bool
	}{
		"before the start":                   {session, 0, starts.Add(-1), false},
		"at the start":                       {session, 0, starts, true},
		"while seats of no-shows are filled": {session, time.Hour, starts.Add(time.Hour - 1), false},
		"after that":                         {session, time.Hour, starts.Add(time.Hour), true},
		"of a session that is gone":          {gone, 0, now, true},
		"before midnight at the location":    {day, 0, midnight.Add(-1), false},
		"after midnight at the location":     {day, 0, midnight, true},
	} {
		r.FillAfterStart = tc.after
		test.EqOp(t, tc.want, tc.place.Over(r, tc.at), test.Sprint(name))
	}
}

func TestStale_FollowsRules(t *testing.T) {
	t.Parallel()
	strict := vary.From(waitlist.Defaults(), set{"ExpireStale": true})
	for name, tt := range map[string]struct {
		rules waitlist.Rules
		after time.Duration
		want  bool
	}{
		"never by default": {waitlist.Defaults(), 1_000 * time.Hour, false}, "within a day": {
			strict, 24*time.Hour - 1, false,
		},
		"after a day": {strict, 24 * time.Hour, true},
	} {
		test.EqOp(t, tt.want, tt.rules.Stale(waitlist.Entry{CreatedAt: now}, now.Add(tt.after)), test.Sprint(name))
	}
}

func TestFacts_ListsSettings(t *testing.T) {
	t.Parallel()
	facts := waitlist.Settings{Enabled: new(false), MaxQueueSize: new(7)}.Facts()
	test.MapLen(t, reflect.TypeFor[waitlist.Settings]().NumField(), facts)
	test.Eq(t, []any{false, 7, nil}, []any{facts["enabled"], facts["max_queue_size"], facts["mode"]})
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

func TestTally_AddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var whole waitlist.Tally
		parts := make([]waitlist.Tally, 2)
		for range rapid.IntRange(0, 20).Draw(t, "offers") {
			o := waitlist.Offer{Try: rapid.IntRange(1, 5).Draw(t, "try"), CreatedAt: now}.Close(
				rapid.SampledFrom([]waitlist.OfferStatus{
					waitlist.Live, waitlist.Accepted, waitlist.Declined, waitlist.RanOut, waitlist.Withdrawn,
				}).Draw(t, "status"), "", now.Add(time.Duration(rapid.IntRange(0, 99).Draw(t, "minutes"))*time.Minute))
			e := waitlist.Entry{
				Status: rapid.SampledFrom([]waitlist.Status{waitlist.Waiting, waitlist.Booked, waitlist.Expired}).Draw(t, "entry"),
			}
			for _, tally := range []*waitlist.Tally{&whole, &parts[rapid.IntRange(0, 1).Draw(t, "part")]} {
				tally.Add(e)
				tally.AddOffer(o)
			}
		}
		must.EqOp(t, whole, parts[0].Sum(parts[1]))
	})
}

func TestClaimKey_DerivesTokensAndCodes(t *testing.T) {
	t.Parallel()
	in, offer := id[tenant.TenantID](7), id[tenant.OfferID](1)
	key := func(secret string) waitlist.ClaimKey {
		return expect.Value(waitlist.NewClaimKey(bytes.Repeat([]byte(secret), 32)))(t)
	}
	token := key("s").Token(in, offer)
	test.EqOp(t, token, key("s").Token(in, offer))
	for _, other := range []string{key("t").Token(in, offer), key("s").Token(in, id[tenant.OfferID](2))} {
		test.NotEqOp(t, token, other)
		test.NotEq(t, waitlist.HashClaim(token), waitlist.HashClaim(other))
	}
	test.Len(t, 32, waitlist.HashClaim(token))
	for text, want := range map[string]tenant.TenantID{
		token: in, "": {}, "x": {}, token + "A": {}, token[1:]: {}, token + "=": {}, "!" + token[1:]: {},
		"\n\n\n\n" + token[4:]: {}, key("s").Token(tenant.TenantID{}, offer): {},
	} {
		got, ok := waitlist.ReadClaim(text)
		test.EqOp(t, want, got, test.Sprintf("%q", text))
		test.EqOp(t, !want.IsZero(), ok, test.Sprintf("%q", text))
	}
	test.ErrorIs(t, expect.Error(waitlist.NewClaimKey(make([]byte, 31))), waitlist.ErrClaimSecret)
	// Links and codes that were sent stay valid, and nodes of two versions agree on them.
	test.EqOp(t, "AAAAAAAAcACAAAAAAAAAB1QxB1XldBe5iyS0wsorKgs", token)
	test.EqOp(t, "250222", key("s").Code(offer))
	test.Panic(t, func() { waitlist.ClaimKey{}.Code(offer) })
}
