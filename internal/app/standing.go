package app

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// place is one place of an entry in line.
type place struct {
	entry   tenant.EntryID
	session tenant.SessionID // zero: a day of a window
}

// positions gives each entry's standing in each of its places, and under the zero session its best: in the first of
// those places if there are several.
func positions(rivals []store.Rival, rules []waitlist.Layer, now time.Time) (map[place]waitlist.Standing, error) {
	type line struct {
		of   tenant.EntryID
		slot waitlist.Slot
	}
	lines := make(map[line][]waitlist.Candidate)
	for _, r := range rivals {
		lines[line{r.Of, r.Slot}] = append(lines[line{r.Of, r.Slot}], r.Candidate)
	}
	at := make(map[place]waitlist.Standing)
	best := make(map[tenant.EntryID]waitlist.Slot)
	for l, candidates := range lines {
		compiled, err := waitlist.Compile(waitlist.ResolveAt(rules, l.slot.Location, l.slot.Service).Rules)
		if err != nil {
			return nil, err // rules are compiled before they are saved
		}
		stands := waitlist.StandingOf(l.of, l.slot, candidates, compiled, now)
		before, known := best[l.of]
		if !known || cmp.Or(cmp.Compare(stands.Position, at[place{entry: l.of}].Position),
			l.slot.StartsAt.Compare(before.StartsAt), bytes.Compare(l.slot.Session.UUID[:], before.Session.UUID[:])) < 0 {
			best[l.of], at[place{entry: l.of}] = l.slot, stands
		}
		if !l.slot.Session.IsZero() {
			at[place{l.of, l.slot.Session}] = stands
		}
	}
	return at, nil
}

// standings are the facts that positions and live offers of entries come from.
type standings struct {
	rivals []store.Rival
	rules  []waitlist.Layer
	offers []waitlist.Offer
}

// lineUp asks for what put needs.
func lineUp(b *pg.Batch, in tenant.TenantID, of store.WhoseRivals) *standings {
	var s standings
	s.queue(b, in, of)
	store.ListRivalOffers(b, in, of, &s.offers)
	return &s
}

// queue asks for rivals, and for the rules that order them.
func (s *standings) queue(b *pg.Batch, in tenant.TenantID, of store.WhoseRivals) {
	store.ListRivals(b, in, of, &s.rivals)
	store.ListAllRules(b, in, &s.rules)
}

// put fills in the positions and live offers of entries.
func (s *standings) put(entries []waitlist.Entry, now time.Time) error {
	at, err := positions(s.rivals, s.rules, now)
	for i, e := range entries {
		if e.Status.Active() {
			stands := at[place{entry: e.ID}]
			entries[i].Position, entries[i].Worth = stands.Position, stands.Worth
		}
		if has := slices.IndexFunc(s.offers, func(o waitlist.Offer) bool { return o.Entry == e.ID }); has >= 0 {
			entries[i].Offer = &s.offers[has]
		}
	}
	return err
}

// standing fills in the position and the live offer of one entry, after the writes so far.
func (t *tx) standing(ctx context.Context, e waitlist.Entry) (waitlist.Entry, error) {
	if !e.Status.Active() {
		return e, nil
	}
	var batch pg.Batch
	line := lineUp(&batch, t.in, store.WhoseRivals{Entries: []tenant.EntryID{e.ID}})
	if err := t.Load(ctx, &batch); err != nil {
		return e, err
	}
	one := []waitlist.Entry{e}
	err := line.put(one, t.now)
	return one[0], err
}
