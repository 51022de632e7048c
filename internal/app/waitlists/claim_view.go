package waitlists

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/catalogdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// ClaimView is what the page behind the link of an offer shows.
type ClaimView struct {
	Claim
	// Now is the server's time. The page counts down from there, in case the reader's clock is wrong.
	Now       time.Time
	For       string // the member's name, shortened, because others can have the link
	Address   string // of the location; empty if it has none
	CalledOff bool   // the session is cancelled or deleted
	Returned  bool   // the booking that was made from the offer has been cancelled
	Waits     bool   // the member's entry still waits
}

// ViewClaim reads what the page behind a link shows. The error is LINK_INVALID if the link leads to no offer. Reading
// changes nothing.
func (s *Service) ViewClaim(ctx context.Context, token string) (ClaimView, error) {
	claim, err := s.findClaim(ctx, token)
	if err != nil {
		return ClaimView{}, err
	}
	in, o := claim.Tenant, claim.Offer
	var (
		slot     *booking.Slot
		location *catalog.Location
		entry    *waitlist.Entry
		booked   *booking.Booking
		batch    pg.Batch
	)
	bookingdb.FindSlot(&batch, in, o.Session, &slot)
	catalogdb.FindLocation(&batch, in, o.Queue.Location, &location)
	waitlistdb.FindEntry(&batch, in, o.Entry, &entry)
	bookingdb.FindBooking(&batch, in, o.Booking, &booked)
	if err := s.engine.Read(ctx, tenant.System(in), &batch); err != nil {
		return ClaimView{}, err
	}
	view := ClaimView{
		Claim: claim, Now: s.engine.Now(), For: checkin.DisplayName(o.MemberName),
		CalledOff: slot == nil || slot.State == catalog.Cancelled,
		Returned:  booked != nil && booked.Status == booking.Cancelled,
		Waits:     entry != nil && entry.Status.Active(),
	}
	if location != nil {
		view.Address = location.Address
	}
	return view, nil
}
