package waitlist_test

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"pgregory.net/rapid"

	"github.com/berthhq/berth/internal/civil/civiltest"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
)

func TestWants_MatchesExactly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		entry waitlist.Entry
		want  bool
	}{
		"the session":    {waitlist.Entry{}, true},
		"its staff":      {waitlist.Entry{Coach: jess}, true},
		"other staff":    {waitlist.Entry{Coach: rui}, false},
		"a window":       {waitlist.Entry{Window: wish(func(*waitlist.Window) {})}, true},
		"nearly":         {waitlist.Entry{Window: wish(func(w *waitlist.Window) { w.Earliest = clock("18:01") })}, false},
		"on another day": {waitlist.Entry{Window: wish(func(w *waitlist.Window) { w.From = w.Until })}, false},
		"another resource": {
			waitlist.Entry{Window: wish(func(w *waitlist.Window) { w.Resource = id[tenant.ResourceID](2) })}, false,
		},
		"just at its edges": {
			waitlist.Entry{Window: wish(func(w *waitlist.Window) { w.Earliest, w.Latest = clock("18:00"), clock("18:00") })},
			true,
		},
	} {
		test.EqOp(t, tc.want, tc.entry.Wants(slot(1)), test.Sprint(name))
	}
}

func TestOver_ReportsPlacesThatCannotGetSeats(t *testing.T) {
	t.Parallel()
	r := waitlist.Defaults()
	session := waitlist.Place{Session: id[tenant.SessionID](1), Starts: starts, Zone: "Europe/Lisbon"}
	day := waitlist.Place{Queue: waitlist.Queue{Date: civiltest.Date("2026-03-18")}, Zone: "America/New_York"}
	midnight := time.Date(2026, 3, 19, 4, 0, 0, 0, time.UTC) // in New York
	gone := session
	gone.Gone = true
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
	r := waitlist.Defaults()
	e := waitlist.Entry{CreatedAt: now}
	test.False(t, r.Stale(e, now.Add(1_000*time.Hour)), test.Sprint("entries go stale by default"))
	r.ExpireStale = true
	test.True(
		t, !r.Stale(e, now.Add(24*time.Hour-1)) && r.Stale(e, now.Add(24*time.Hour)),
		test.Sprint("entries do not go stale after a day"),
	)
}

func TestAdmits_RejectsClosedAndFullQueues(t *testing.T) {
	t.Parallel()
	r, day := waitlist.Defaults(), civiltest.Date("2026-03-18")
	test.NoError(t, r.Admits(49, day), test.Sprint("the fiftieth"))
	err := r.Admits(50, day)
	test.EqOp(t, fault.WaitlistFull, fault.ReasonOf(err), test.Sprintf("the one after: %v", err))
	if r.Enabled = false; fault.ReasonOf(r.Admits(0, day)) != fault.WaitlistClosed {
		t.Error("a disabled waitlist admits an entry")
	}
}

func TestFacts_ListsSettings(t *testing.T) {
	t.Parallel()
	facts := waitlist.Settings{Enabled: new(false), MaxQueueSize: new(7)}.Facts()
	test.True(
		t, len(facts) == reflect.TypeFor[waitlist.Settings]().NumField() && facts["enabled"] == false &&
			facts["max_queue_size"] == 7 && facts["mode"] == nil,
		test.Sprintf("%v", facts),
	)
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
		home := w.Slot.Zone
		if c.Zone != "" {
			home = c.Zone
		}
		where := expect.Value(time.LoadLocation(home))(t)
		until, late := w.rules.OfferUntil(w.Now, w.Slot.Closes, where)
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
	c := queue(1)[0]
	c.Party = 2
	d := waitlist.ManualDecision(c, waitlist.Grant{Entry: c.Entry, Member: c.Member, Seats: 2, Score: 5, Until: now})
	test.True(
		t, d.Given == 2 && d.Left() == 0 && d.LeftMove == "" && d.Move == waitlist.MakeOffer &&
			reasons(d)[0] == waitlist.WasOffered && waitlist.Note(d) == "",
		test.Sprintf("%+v", d),
	)
}

func TestTally_AddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var whole, first, second waitlist.Tally
		statuses := []waitlist.OfferStatus{
			waitlist.Live, waitlist.Accepted, waitlist.Declined, waitlist.RanOut, waitlist.Withdrawn,
		}
		for range rapid.IntRange(0, 20).Draw(t, "offers") {
			o := waitlist.Offer{
				Status: rapid.SampledFrom(statuses).Draw(t, "status"), Try: rapid.IntRange(1, 5).Draw(t, "try"), CreatedAt: now,
			}
			o = o.Close(o.Status, "", now.Add(time.Duration(rapid.IntRange(0, 99).Draw(t, "minutes"))*time.Minute))
			e := waitlist.Entry{
				Status: rapid.SampledFrom([]waitlist.Status{waitlist.Waiting, waitlist.Booked, waitlist.Expired}).Draw(t, "entry"),
			}
			part := &first
			if rapid.Bool().Draw(t, "second") {
				part = &second
			}
			for _, tally := range []*waitlist.Tally{&whole, part} {
				tally.Add(e)
				tally.AddOffer(o)
			}
		}
		must.EqOp(t, whole, first.Sum(second), must.Sprintf("%+v and %+v are not", first, second))
	})
}

func TestClaimKey_DerivesTokensAndCodes(t *testing.T) {
	t.Parallel()
	secret := bytes.Repeat([]byte("s"), 32)
	key := expect.Value(waitlist.NewClaimKey(secret))(t)
	tenantID, offer := id[tenant.TenantID](7), id[tenant.OfferID](1)
	token := key.Token(tenantID, offer)
	in, ok := waitlist.ReadClaim(token)
	test.True(t, ok && in == tenantID, test.Sprintf("%s leads to %s, %t", token, in, ok))
	again := expect.Value(waitlist.NewClaimKey(secret))(t)
	test.True(
		t, again.Token(tenantID, offer) == token && again.Code(offer) == key.Code(offer),
		test.Sprint("the same secret makes other tokens"),
	)
	other := expect.Value(waitlist.NewClaimKey(bytes.Repeat([]byte("t"), 32)))(t)
	test.True(
		t, other.Token(tenantID, offer) != token && key.Token(tenantID, id[tenant.OfferID](2)) != token,
		test.Sprint("another secret or offer makes the same token"),
	)
	test.True(
		t, !bytes.Equal(waitlist.HashClaim(token), waitlist.HashClaim(key.Token(tenantID, id[tenant.OfferID](2)))) &&
			len(waitlist.HashClaim(token)) == 32,
		test.Sprint("two tokens have the same hash"),
	)
	test.EqOp(t, 6, len(key.Code(offer)), test.Sprintf("a code of %q", key.Code(offer)))
	for _, bad := range []string{
		"", "x", token + "A", token[1:], token + "=", "!" + token[1:], "\n\n\n\n" + token[4:],
	} {
		_, ok := waitlist.ReadClaim(bad)
		test.False(t, ok, test.Sprintf("%q is a token", bad))
	}
	_, err := waitlist.NewClaimKey(secret[1:])
	test.Error(t, err, test.Sprint("a short secret is taken"))
}
