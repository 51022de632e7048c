package waitlists

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// QueuePlace is one place of an entry in line.
type QueuePlace struct {
	Entry   tenant.EntryID
	Session tenant.SessionID // zero: a day of a window
}

// Positions gives each entry's standing in each of its places, and under the zero session its best: in the first of
// those places if there are several.
func Positions(rivals []waitlistdb.Rival, rules []waitlist.Layer, now time.Time) (map[QueuePlace]waitlist.Rank, error) {
	type line struct {
		of   tenant.EntryID
		slot waitlist.Slot
	}
	lines := make(map[line][]waitlist.Candidate)
	for _, r := range rivals {
		lines[line{r.Of, r.Slot}] = append(lines[line{r.Of, r.Slot}], r.Candidate)
	}
	at := make(map[QueuePlace]waitlist.Rank)
	best := make(map[tenant.EntryID]waitlist.Slot)
	for l, candidates := range lines {
		compiled, err := waitlist.Compile(waitlist.RulesAt(rules, l.slot.Location, l.slot.Service).Rules)
		if err != nil {
			return nil, err // rules are compiled before they are saved
		}
		stands := waitlist.RankOf(l.of, l.slot, candidates, compiled, now)
		before, known := best[l.of]
		if !known || cmp.Or(cmp.Compare(stands.Position, at[QueuePlace{Entry: l.of}].Position),
			l.slot.StartsAt.Compare(before.StartsAt), bytes.Compare(l.slot.Session.UUID[:], before.Session.UUID[:])) < 0 {
			best[l.of], at[QueuePlace{Entry: l.of}] = l.slot, stands
		}
		if !l.slot.Session.IsZero() {
			at[QueuePlace{l.of, l.slot.Session}] = stands
		}
	}
	return at, nil
}

// Standings are the facts that positions and live offers of entries come from.
type Standings struct {
	Rivals []waitlistdb.Rival
	Rules  []waitlist.Layer
	offers []waitlist.Offer
}

// LineUp asks for what Put needs.
func LineUp(b *pg.Batch, in tenant.TenantID, of waitlistdb.RivalQuery) *Standings {
	var s Standings
	s.Queue(b, in, of)
	waitlistdb.ListRivalOffers(b, in, of, &s.offers)
	return &s
}

// Queue asks for rivals, and for the rules that order them.
func (s *Standings) Queue(b *pg.Batch, in tenant.TenantID, of waitlistdb.RivalQuery) {
	waitlistdb.ListRivals(b, in, of, &s.Rivals)
	waitlistdb.ListAllRules(b, in, &s.Rules)
}

// Put fills in the positions and live offers of entries.
func (s *Standings) Put(entries []waitlist.Entry, now time.Time) error {
	at, err := Positions(s.Rivals, s.Rules, now)
	for i, e := range entries {
		if e.Status.Active() {
			stands := at[QueuePlace{Entry: e.ID}]
			entries[i].Position, entries[i].Worth = stands.Position, stands.Worth
		}
		if has := slices.IndexFunc(s.offers, func(o waitlist.Offer) bool { return o.Entry == e.ID }); has >= 0 {
			entries[i].Offer = &s.offers[has]
		}
	}
	return err
}

// standing fills in the position and the live offer of one entry, after the writes so far.
func (s *Service) standing(ctx context.Context, tx *engine.Tx, e waitlist.Entry) (waitlist.Entry, error) {
	if !e.Status.Active() {
		return e, nil
	}
	var batch pg.Batch
	line := LineUp(&batch, tx.Tenant, waitlistdb.RivalQuery{Entries: []tenant.EntryID{e.ID}})
	if err := tx.Load(ctx, &batch); err != nil {
		return e, err
	}
	one := []waitlist.Entry{e}
	err := line.Put(one, tx.Now)
	return one[0], err
}
