package app

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// withdraw ends all live offers of sessions, and gives up the seats that their rounds keep. The seats are open then:
// it does not fill them. Words give the reason, if the cause does not.
func (t *tx) withdraw(
	ctx context.Context, why waitlist.Cause, words string, sessions ...tenant.SessionID,
) (seats map[tenant.SessionID]int, err error) {
	all := make(map[tenant.SessionID]int, len(sessions))
	for _, id := range sessions {
		all[id] = math.MaxInt
	}
	return t.withdrawSeats(ctx, why, words, all)
}

// withdrawSeats ends only as many offers as it takes to give up the wanted seats of each session.
func (t *tx) withdrawSeats(
	ctx context.Context, why waitlist.Cause, words string, wanted map[tenant.SessionID]int,
) (seats map[tenant.SessionID]int, err error) {
	sessions := slices.SortedFunc(maps.Keys(wanted), func(a, b tenant.SessionID) int {
		return slices.Compare(a.UUID[:], b.UUID[:])
	})
	if len(sessions) == 0 {
		return nil, nil
	}
	var (
		offers []waitlist.Offer
		rounds []waitlist.Round
		batch  pg.Batch
	)
	store.ListLiveOffers(&batch, t.in, sessions, &offers)
	store.ListKeepingRounds(&batch, t.in, sessions, &rounds)
	if err := t.Load(ctx, &batch); err != nil {
		return nil, err
	}
	seats = make(map[tenant.SessionID]int)
	for _, id := range sessions {
		live := slices.DeleteFunc(slices.Clone(offers), func(o waitlist.Offer) bool { return o.Session != id })
		keeping := slices.DeleteFunc(slices.Clone(rounds), func(r waitlist.Round) bool { return r.Session != id })
		taken := waitlist.TakeBack(live, keeping, wanted[id], t.now)
		entries, err := t.entriesOf(ctx, taken.Offers)
		if err != nil {
			return nil, err
		}
		if err := t.apply(ctx, taken.Changes(id, entries, why, words, t.now)); err != nil {
			return nil, err
		}
		if taken.Seats > 0 {
			seats[id] = taken.Seats
		}
	}
	return seats, nil
}

// makeRoom withdraws offers from sessions that are to have fewer seats than are taken. An edit is refused only if
// bookings and holds do not fit. The sessions are those before the edit, and have the seats that are taken then.
func (t *tx) makeRoom(
	ctx context.Context, capacity *int, sessions []session.Session,
) (freed map[tenant.SessionID]int, err error) {
	if capacity == nil {
		return nil, nil
	}
	wanted := make(map[tenant.SessionID]int)
	for _, s := range sessions {
		if s.SeatsTaken > *capacity {
			wanted[s.ID] = s.SeatsTaken - *capacity
		}
	}
	freed, err = t.withdrawSeats(ctx, waitlist.FewerSeats, "", wanted)
	for i := range sessions {
		sessions[i].SeatsTaken -= freed[sessions[i].ID]
	}
	return freed, err
}
