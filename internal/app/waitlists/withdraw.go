package waitlists

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Withdraw ends all live offers of sessions, and releases the seats that their rounds keep. It does not fill the seats.
// It returns how many there are in each session. The reason is what staff said.
func (s *Service) Withdraw(
	ctx context.Context, tx *engine.Tx, cause waitlist.Cause, reason string, sessions ...tenant.SessionID,
) (seats map[tenant.SessionID]int, err error) {
	all := make(map[tenant.SessionID]int, len(sessions))
	for _, id := range sessions {
		all[id] = math.MaxInt
	}
	return s.withdrawSeats(ctx, tx, cause, reason, all)
}

// withdrawSeats ends only as many offers as needed to release the wanted seats of each session.
func (s *Service) withdrawSeats(
	ctx context.Context, tx *engine.Tx, cause waitlist.Cause, reason string, wanted map[tenant.SessionID]int,
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
	waitlistdb.ListLiveOffers(&batch, tx.Tenant, sessions, &offers)
	waitlistdb.ListKeepingRounds(&batch, tx.Tenant, sessions, &rounds)
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	seats = make(map[tenant.SessionID]int)
	for _, id := range sessions {
		live := slices.DeleteFunc(slices.Clone(offers), func(o waitlist.Offer) bool { return o.Session != id })
		keeping := slices.DeleteFunc(slices.Clone(rounds), func(r waitlist.Round) bool { return r.Session != id })
		taken := waitlist.WithdrawSeats(live, keeping, wanted[id], tx.Now)
		entries, err := s.entriesOf(ctx, tx, taken.Offers)
		if err != nil {
			return nil, err
		}
		s.Write(tx, taken.Changes(id, entries, cause, reason, tx.Now))
		if taken.Seats > 0 {
			seats[id] = taken.Seats
		}
	}
	return seats, nil
}

// MakeRoom withdraws offers from sessions that get fewer seats than are taken, so that an edit is rejected only if
// bookings and holds do not fit. The sessions are those before the edit. MakeRoom sets their seats that are taken
// after.
func (s *Service) MakeRoom(
	ctx context.Context, tx *engine.Tx, capacity *int, sessions []session.Session,
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
	freed, err = s.withdrawSeats(ctx, tx, waitlist.FewerSeats, "", wanted)
	for i := range sessions {
		sessions[i].SeatsTaken -= freed[sessions[i].ID]
	}
	return freed, err
}
