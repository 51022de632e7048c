package waitlists

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// StartGrace implements Offers. It starts again while every message so far has failed.
func (*Service) StartGrace(
	ctx context.Context, tx *pg.Tx, in tenant.TenantID, id tenant.BookingID, zone *time.Location, now time.Time,
) (cancelBy time.Time, err error) {
	var (
		b      *booking.Booking
		layers []waitlist.Layer
		told   bool
		batch  pg.Batch
	)
	bookingdb.FindBooking(&batch, in, id, &b)
	waitlistdb.ListAllRules(&batch, in, &layers)
	waitlistdb.FindPromotionTold(&batch, in, id, &told)
	if err := tx.Load(ctx, &batch); err != nil || b == nil {
		return time.Time{}, err
	}
	if b.GraceUntil != nil && !told {
		until := waitlist.RulesAt(layers, b.Location, b.Service).Rules.GraceUntil(now, b.StartsAt, zone)
		b.GraceUntil = &until
		bookingdb.SetGrace(tx, in, id, until)
	}
	return b.CancelDeadline(), nil
}

// ModeOf implements Offers.
func (*Service) ModeOf(
	ctx context.Context, tx *pg.Tx, in tenant.TenantID, id tenant.EntryID, now time.Time,
) (waitlist.Mode, error) {
	var e *waitlist.Entry
	var batch pg.Batch
	waitlistdb.FindEntry(&batch, in, id, &e)
	positions := ListPositions(&batch, in, waitlistdb.RivalQuery{Entries: []tenant.EntryID{id}})
	if err := tx.Load(ctx, &batch); err != nil || e == nil {
		return "", err
	}
	one := []waitlist.Entry{*e}
	err := positions.AddTo(one, now)
	return one[0].Mode, err
}
