package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

// Enqueue adds an entry to the waitlist of a full session. The facts tell which session and member it is of.
func (s *Service) Enqueue(
	ctx context.Context, tx *engine.Tx, f booking.Facts, e waitlist.Entry,
) (seats.Result, error) {
	e.Session, e.Sessions = f.Slot.ID, []catalog.SessionSummary{f.Slot.Summary()}
	e.Member, e.MemberName, e.MemberTier = f.Member.ID, f.Member.Name, f.Member.Tier
	e, err := s.join(ctx, tx, e, []booking.Slot{f.Slot})
	if fault.ReasonOf(err) == fault.WaitlistFull || fault.ReasonOf(err) == fault.WaitlistClosed {
		err = booking.Full().WithCause(err) // the request asked for seats
	}
	return seats.Result{Entry: &e}, err
}
