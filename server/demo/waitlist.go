package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// Each tenant has another waitlist mode: the studio promotes the first, the club offers to one entry after the other,
// and at the salon the first to claim a place gets it.

// offerWindow is how long the demo's offers are valid: long enough to start it in the morning and find them at lunch.
const offerWindow = 12 * time.Hour

// setRules sets the waitlist mode of a tenant or of one of its services.
func (b *builder) setRules(ctx context.Context, service tenant.ServiceID, edit func(*waitlist.Settings)) error {
	_, err := b.app.Settings.UpdateWaitlistRules(ctx, b.owner, settings.RulesEdit{
		Target: settings.PolicyTarget{Service: service}, Edit: edit, Reason: "How we do it here.",
	})
	return err
}

// firstDay returns the sessions of a service on its first day with sessions, at least two days from now: a day that
// has not started in any time zone of the demo.
func (b *builder) firstDay(ctx context.Context, service tenant.ServiceID) ([]session.Session, error) {
	all, err := b.schedule(ctx, b.now.Add(48*time.Hour), b.now.Add(8*24*time.Hour))
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s session.Session) bool { return s.Service != service })
	if len(all) == 0 {
		return nil, errors.New("nothing is on sale")
	}
	first := all[0].LocalDate
	if all[0].StartsAt.Sub(b.now) < 72*time.Hour { // part of the day may be over: use a later one
		for _, s := range all {
			if s.LocalDate != first {
				first = s.LocalDate
				break
			}
		}
	}
	return slices.DeleteFunc(all, func(s session.Session) bool { return s.LocalDate != first }), nil
}

// book books seats for a party, or joins the waitlist.
func (b *builder) book(ctx context.Context, caller tenant.Caller, in session.Session, party int) (seats.Result, error) {
	return b.app.Bookings.Book(ctx, caller, bookings.BookRequest{Session: in.ID, Party: party, Channel: catalog.Online})
}

// clubWaitlist fills the first hour of a day at the club. Members wait for two tee times, and for any in that hour.
// Then one cancels, and the demo member gets an offer.
func (b *builder) clubWaitlist(
	ctx context.Context, mona tenant.Caller, round catalog.Service, course catalog.Location,
) error {
	if err := b.setRules(ctx, round.ID, func(s *waitlist.Settings) {
		s.Mode, s.OfferWindow, s.Order = new(waitlist.OfferInTurn), new(offerWindow), new(waitlist.ByPriority)
		s.EarlyBirdPointsPerDay = new(5)
	}); err != nil {
		return err
	}
	day, err := b.firstDay(ctx, round.ID)
	if err != nil {
		return err
	}
	var golfers []tenant.Caller
	for i, name := range []string{"Carol Captain", "Gail Golfer", "Priya Putter", "Walter Wedge", "Bert Bunker"} {
		golfer, err := b.addMember(ctx, fmt.Sprintf("demo-golfer-%d", i+1), name, tenant.RoleMember)
		if err != nil {
			return err
		}
		golfers = append(golfers, golfer)
	}
	captain, gail, others := golfers[0], golfers[1], golfers[2:]

	const hour = 7 // tee times
	var freed tenant.BookingID
	for i, tee := range day[:hour] {
		open := *tee.SeatsOpen()
		if i == 1 {
			given, err := b.book(ctx, gail, tee, 1)
			if err != nil {
				return err
			}
			freed, open = given.Booking.ID, open-1
		}
		if open > 0 {
			if _, err := b.book(ctx, captain, tee, open); err != nil {
				return err
			}
		}
	}
	for _, wait := range []struct {
		who   tenant.Caller
		tee   int
		party int
	}{{mona, 1, 1}, {others[0], 1, 1}, {others[1], 1, 2}, {others[1], 4, 2}, {others[0], 4, 1}} {
		if _, err := b.book(ctx, wait.who, day[wait.tee], wait.party); err != nil {
			return err
		}
	}
	if _, err := b.app.Waitlists.JoinWaitlist(ctx, others[2], waitlists.JoinRequest{
		Party: 2, Channel: catalog.Online,
		Window: &waitlist.Window{
			Service: round.ID, Location: course.ID, From: day[0].LocalDate, Until: day[0].LocalDate,
			Earliest: civil.TimeOfDay{Hour: 8}, Latest: civil.TimeOfDay{Hour: 8, Minute: 48},
		},
	}); err != nil {
		return err
	}
	_, err = b.app.Bookings.CancelBooking(ctx, b.owner, bookings.CancelRequest{
		ID: freed, OverrideWindow: true, Reason: "A sprained wrist.",
	})
	return err
}

// salonWaitlist creates an appointment for which three people wait, and cancels it.
func (b *builder) salonWaitlist(ctx context.Context, mona tenant.Caller, cut catalog.Service) error {
	if err := b.setRules(ctx, cut.ID, func(s *waitlist.Settings) {
		s.Mode, s.OfferWindow = new(waitlist.FirstToClaim), new(offerWindow)
	}); err != nil {
		return err
	}
	day, err := b.firstDay(ctx, cut.ID)
	if err != nil {
		return err
	}
	given, err := b.addMember(ctx, "demo-guest-1", "Greta Guest", tenant.RoleMember)
	if err != nil {
		return err
	}
	result, err := b.book(ctx, given, day[0], 1)
	if err != nil {
		return err
	}
	waiting := []tenant.Caller{mona}
	for i, name := range []string{"Hal Hair", "Ines Fringe"} {
		who, err := b.addMember(ctx, fmt.Sprintf("demo-guest-%d", i+2), name, tenant.RoleMember)
		if err != nil {
			return err
		}
		waiting = append(waiting, who)
	}
	for _, who := range waiting {
		if _, err := b.book(ctx, who, day[0], 1); err != nil {
			return err
		}
	}
	_, err = b.app.Bookings.CancelBooking(
		ctx, b.owner, bookings.CancelRequest{ID: result.Booking.ID, OverrideWindow: true, Reason: "Held up at work."},
	)
	return err
}

// liveOffer returns a live offer of the demo member; zero if there is none.
func (b *builder) liveOffer(ctx context.Context, to tenant.Caller) (tenant.OfferID, error) {
	live, err := b.app.Waitlists.ListWaitlistOffers(ctx, tenant.System(b.id), waitlists.OfferQuery{
		Member: to.Member, Statuses: []waitlist.OfferStatus{waitlist.Live}, Oldest: true, Limit: 10,
	})
	for _, o := range live {
		if o.Status == waitlist.Live { // and has not expired
			return o.ID, err
		}
	}
	return tenant.OfferID{}, err
}
