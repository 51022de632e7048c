package waitlists

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// PlaceKey is an entry's place in the queue of a session.
type PlaceKey struct {
	Entry   tenant.EntryID
	Session tenant.SessionID // zero: a day of a time window
}

// Positions returns the position and score of each entry in each of its places, and under the zero session the best of
// them: in the earliest session, if several are equal.
func Positions(
	rivals []waitlistdb.Rival, layers []waitlist.Layer, now time.Time,
) (map[PlaceKey]waitlist.Rank, error) {
	at, _, err := bestPositions(rivals, layers, now)
	return at, err
}

// bestPositions is Positions, with the slot of each entry's best one.
func bestPositions(
	rivals []waitlistdb.Rival, layers []waitlist.Layer, now time.Time,
) (map[PlaceKey]waitlist.Rank, map[tenant.EntryID]waitlist.Slot, error) {
	type key struct {
		entry tenant.EntryID
		slot  waitlist.Slot
	}
	queues := make(map[key][]waitlist.Candidate)
	for _, r := range rivals {
		queues[key{r.Of, r.Slot}] = append(queues[key{r.Of, r.Slot}], r.Candidate)
	}
	at := make(map[PlaceKey]waitlist.Rank)
	best := make(map[tenant.EntryID]waitlist.Slot)
	for k, candidates := range queues {
		compiled, err := waitlist.CompileSaved(waitlist.RulesAt(layers, k.slot.Location, k.slot.Service).Rules)
		if err != nil {
			return nil, nil, err
		}
		rank := waitlist.RankOf(k.entry, k.slot, candidates, compiled, now)
		before, known := best[k.entry]
		if !known || cmp.Or(cmp.Compare(rank.Position, at[PlaceKey{Entry: k.entry}].Position),
			k.slot.StartsAt.Compare(before.StartsAt), bytes.Compare(k.slot.Session.UUID[:], before.Session.UUID[:])) < 0 {
			best[k.entry], at[PlaceKey{Entry: k.entry}] = k.slot, rank
		}
		if !k.slot.Session.IsZero() {
			at[PlaceKey{k.entry, k.slot.Session}] = rank
		}
	}
	return at, best, nil
}

// PositionFacts are the facts from which the positions and live offers of entries follow.
type PositionFacts struct {
	Rivals []waitlistdb.Rival
	Rules  []waitlist.Layer
	offers []waitlist.Offer
	places []waitlistdb.PlaceFacts
}

// ListPositions asks for what AddTo needs: rivals, rules, live offers, and what lets entries be promoted.
func ListPositions(b *pg.Batch, in tenant.TenantID, of waitlistdb.RivalQuery) *PositionFacts {
	var facts PositionFacts
	facts.ListRivals(b, in, of)
	waitlistdb.ListRivalOffers(b, in, of, &facts.offers)
	waitlistdb.ListPlaceFacts(b, in, of, &facts.places)
	return &facts
}

// ListRivals asks for rivals and for the rules that order them.
func (f *PositionFacts) ListRivals(b *pg.Batch, in tenant.TenantID, of waitlistdb.RivalQuery) {
	waitlistdb.ListRivals(b, in, of, &f.Rivals)
	waitlistdb.ListAllRules(b, in, &f.Rules)
}

// AddTo fills in the positions and live offers of entries.
func (f *PositionFacts) AddTo(entries []waitlist.Entry, now time.Time) error {
	at, best, err := bestPositions(f.Rivals, f.Rules, now)
	if err != nil {
		return err
	}
	for i, e := range entries {
		if e.Status.Active() {
			rank := at[PlaceKey{Entry: e.ID}]
			entries[i].Position, entries[i].Scoring = rank.Position, rank.Scoring
			if entries[i].Mode, err = f.modeOf(e, best[e.ID], now); err != nil {
				return err
			}
		}
		if n := slices.IndexFunc(f.offers, func(o waitlist.Offer) bool { return o.Entry == e.ID }); n >= 0 {
			entries[i].Offer = &f.offers[n]
		}
	}
	return nil
}

// modeOf returns what an entry would get now in a slot: one of its sessions, or a day of its time window, which it is
// offered at the earliest.
func (f *PositionFacts) modeOf(e waitlist.Entry, slot waitlist.Slot, now time.Time) (waitlist.Mode, error) {
	rules, err := waitlist.CompileSaved(waitlist.RulesAt(f.Rules, slot.Location, slot.Service).Rules)
	if err != nil {
		return "", err
	}
	c := e.Candidate()
	at := slices.IndexFunc(f.places, func(p waitlistdb.PlaceFacts) bool {
		return p.Entry == e.ID && p.Session == slot.Session
	})
	if at >= 0 {
		c.Check = f.places[at].Check
		c.CancellationWindow = f.places[at].Policy.For(e.MemberTier).CancellationWindow
	}
	if e.Window != nil {
		slot.StartsAt = slot.StartsAt.Add(e.Window.Earliest.SinceMidnight())
	}
	return waitlist.ModeNow(c, slot, rules, now), nil
}

// addPosition fills in the position and live offer of one entry, as they are after the writes so far.
func (s *Service) addPosition(ctx context.Context, tx *engine.Tx, e waitlist.Entry) (waitlist.Entry, error) {
	if !e.Status.Active() {
		return e, nil
	}
	var batch pg.Batch
	positions := ListPositions(&batch, tx.Tenant, waitlistdb.RivalQuery{Entries: []tenant.EntryID{e.ID}})
	if err := tx.Load(ctx, &batch); err != nil {
		return e, err
	}
	one := []waitlist.Entry{e}
	err := positions.AddTo(one, tx.Now)
	return one[0], err
}

// RepeatedResult is seats.RepeatedResult with the position of a waitlist entry.
func (s *Service) RepeatedResult(
	ctx context.Context, tx *engine.Tx, made seats.Result, hash []byte,
) (seats.Result, error) {
	result, err := seats.RepeatedResult(made, booking.Referenced{Actor: tx.Caller.Actor(), Hash: hash})
	if err == nil && result.Entry != nil {
		*result.Entry, err = s.addPosition(ctx, tx, *result.Entry)
	}
	return result, err
}
