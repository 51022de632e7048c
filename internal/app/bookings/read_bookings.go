package bookings

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

var errNoBooking = fault.Missing(fault.BookingNotFound, "Booking")

// GetBooking reads a booking with its items.
func (s *Service) GetBooking(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
	b, err := engine.Get(ctx, s.engine, caller, errNoBooking, func(b *pg.Batch, into **booking.Booking) {
		bookingdb.FindBooking(b, caller.Tenant, id, into)
	})
	if err != nil {
		return booking.Booking{}, err
	}
	if !caller.CanAccessCreated(b.Member, b.CreatedBy) {
		return booking.Booking{}, errNoBooking
	}
	one := []booking.Booking{b}
	err = s.addItems(ctx, caller, one)
	return one[0], err
}

// addItems reads the items of bookings. It makes no round trip if none of them has items.
func (s *Service) addItems(ctx context.Context, caller tenant.Caller, bookings []booking.Booking) error {
	var ids []tenant.BookingID
	at := make(map[tenant.BookingID]int)
	for i, b := range bookings {
		if b.HasItems {
			ids = append(ids, b.ID)
			at[b.ID] = i
		}
	}
	if len(ids) == 0 {
		return nil
	}
	lines, err := engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]bookingdb.BookedLine) {
		bookingdb.ListLines(b, caller.Tenant, ids, into)
	})
	for _, l := range lines {
		b := &bookings[at[l.Booking]]
		b.Items = append(b.Items, l.Line)
	}
	return err
}

// MyBookingsQuery selects a page of a member's bookings.
type MyBookingsQuery struct {
	Member tenant.MemberID // zero: the caller
	// From and Until bound the session's start. Both zero: sessions that have not ended.
	From, Until time.Time
	Statuses    []booking.Status
	AfterStart  time.Time // with AfterID, the last booking of the previous page
	AfterID     tenant.BookingID
	Limit       int
}

// ListMyBookings reads a member's bookings, ordered by the start of their sessions. The first page also has the
// member's waitlist entries. For a service account it reads the bookings that the account made; it has no entries.
func (s *Service) ListMyBookings(
	ctx context.Context, caller tenant.Caller, q MyBookingsQuery,
) ([]booking.Booking, []waitlist.Entry, error) {
	var bookings []booking.Booking
	var entries []waitlist.Entry
	var endsAfter time.Time
	id := q.Member
	if id.IsZero() {
		id = caller.Member
	} else if !caller.CanAccess(id) {
		return nil, nil, seats.ErrNoMember
	}
	if q.From.IsZero() && q.Until.IsZero() {
		endsAfter = s.engine.Now()
	}
	var batch pg.Batch
	bookingdb.ListOwnBookings(&batch, caller.Tenant, bookingdb.OwnBookings{
		Member: id, Account: caller.Subject, Statuses: q.Statuses, From: q.From, Until: q.Until, EndsAfter: endsAfter,
		AfterStart: q.AfterStart, AfterID: q.AfterID, Limit: q.Limit,
	}, &bookings)
	var member *booking.Member
	if !id.IsZero() {
		bookingdb.FindBookingMember(&batch, caller.Tenant, id, &member)
	}
	if q.AfterID.IsZero() {
		waitlistdb.ListMemberEntries(&batch, caller.Tenant, id, q.From, q.Until, endsAfter, &entries)
	}
	positions := waitlists.ListPositions(&batch, caller.Tenant, waitlistdb.RivalQuery{Member: id})
	err := s.engine.Read(ctx, caller, &batch)
	if err == nil && !id.IsZero() && member == nil {
		err = seats.ErrNoMember
	}
	if err == nil {
		err = s.addItems(ctx, caller, bookings)
	}
	if err == nil {
		err = positions.AddTo(entries, s.engine.Now())
	}
	return bookings, entries, err
}

// Roster is the bookings of a session and the entries that wait for it.
type Roster struct {
	Slot     booking.Slot
	Bookings []booking.Booking // in the order in which they were made
	Entries  []waitlist.Entry  // in the order of the queue
}

// ListRoster reads a session's roster. It includes cancelled and expired bookings only if inactive is set.
func (s *Service) ListRoster(
	ctx context.Context, caller tenant.Caller, session tenant.SessionID, inactive bool,
) (Roster, error) {
	var r Roster
	var slot *booking.Slot
	var batch pg.Batch
	bookingdb.FindSlot(&batch, caller.Tenant, session, &slot)
	bookingdb.ListSessionBookings(&batch, caller.Tenant, session, inactive, &r.Bookings)
	waitlistdb.ListWaiting(&batch, caller.Tenant, []tenant.SessionID{session}, &r.Entries)
	positions := waitlists.ListPositions(&batch, caller.Tenant, waitlistdb.RivalQuery{Session: session})
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return r, err
	}
	if slot == nil {
		return r, seats.ErrNoSession
	}
	r.Slot = *slot
	if err := positions.AddTo(r.Entries, s.engine.Now()); err != nil {
		return r, err
	}
	slices.SortStableFunc(r.Entries, func(a, b waitlist.Entry) int { return cmp.Compare(a.Position, b.Position) })
	return r, s.addItems(ctx, caller, r.Bookings)
}
