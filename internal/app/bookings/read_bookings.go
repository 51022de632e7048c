package bookings

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// GetBooking reads a booking.
func (s *Service) GetBooking(ctx context.Context, caller tenant.Caller, id tenant.BookingID) (booking.Booking, error) {
	var b *booking.Booking
	var batch pg.Batch
	bookingdb.FindBooking(&batch, caller.Tenant, id, &b)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return booking.Booking{}, err
	}
	if b == nil || !caller.CanAccessCreated(b.Member, b.CreatedBy) {
		return booking.Booking{}, fault.Missing(fault.BookingNotFound, "Booking")
	}
	one := []booking.Booking{*b}
	err := s.withLines(ctx, caller, one)
	return one[0], err
}

// withLines reads the items of bookings along, if any has some.
func (s *Service) withLines(ctx context.Context, caller tenant.Caller, bookings []booking.Booking) error {
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
	var lines []bookingdb.BookedLine
	var batch pg.Batch
	bookingdb.ListLines(&batch, caller.Tenant, ids, &lines)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return err
	}
	for _, l := range lines {
		b := &bookings[at[l.Booking]]
		b.Items = append(b.Items, l.Line)
	}
	return nil
}

// MyBookingsQuery asks for the caller's bookings and entries.
type MyBookingsQuery struct {
	Member tenant.MemberID // whose; zero: the caller's
	// From and Until bound the session's start. Both zero: sessions that have not ended.
	From, Until time.Time
	Statuses    []booking.Status
	AfterStart  time.Time // keyset: the last start and id of the page before
	AfterID     tenant.BookingID
	Limit       int
}

// ListMyBookings reads them by start. Entries come with the first page. A service account's bookings are
// those that it made; it has no entries.
func (s *Service) ListMyBookings(ctx context.Context, caller tenant.Caller, q MyBookingsQuery) ([]booking.Booking, []waitlist.Entry, error) {
	var bookings []booking.Booking
	var entries []waitlist.Entry
	var endsAfter time.Time
	whose := q.Member
	if whose.IsZero() {
		whose = caller.Member
	} else if !caller.CanAccess(whose) {
		return nil, nil, fault.Missing(fault.MemberNotFound, "Member")
	}
	if q.From.IsZero() && q.Until.IsZero() {
		endsAfter = s.engine.Now()
	}
	var batch pg.Batch
	bookingdb.ListOwnBookings(&batch, caller.Tenant, bookingdb.OwnBookings{
		Member: whose, Account: caller.Subject, Statuses: q.Statuses, From: q.From, Until: q.Until, EndsAfter: endsAfter,
		AfterStart: q.AfterStart, AfterID: q.AfterID, Limit: q.Limit,
	}, &bookings)
	var known *booking.Member
	if !whose.IsZero() {
		bookingdb.FindBookingMember(&batch, caller.Tenant, whose, &known)
	}
	if q.AfterID.IsZero() && !whose.IsZero() {
		waitlistdb.ListMemberEntries(&batch, caller.Tenant, whose, q.From, q.Until, endsAfter, &entries)
	}
	line := waitlists.LineUp(&batch, caller.Tenant, waitlistdb.RivalQuery{Member: whose})
	err := s.engine.Read(ctx, caller, &batch)
	if err == nil && !whose.IsZero() && known == nil {
		err = fault.Missing(fault.MemberNotFound, "Member")
	}
	if err == nil {
		err = s.withLines(ctx, caller, bookings)
	}
	if err == nil {
		err = line.Put(entries, s.engine.Now())
	}
	return bookings, entries, err
}

// Roster is who is in a session and who waits for it.
type Roster struct {
	Slot     booking.Slot
	Bookings []booking.Booking // in the order in which they were made
	Entries  []waitlist.Entry  // in the order of the queue
}

// ListRoster reads a session's roster.
func (s *Service) ListRoster(ctx context.Context, caller tenant.Caller, session tenant.SessionID, inactive bool) (Roster, error) {
	var r Roster
	var slot *booking.Slot
	var batch pg.Batch
	bookingdb.FindSlot(&batch, caller.Tenant, session, &slot)
	bookingdb.ListSessionBookings(&batch, caller.Tenant, session, inactive, &r.Bookings)
	waitlistdb.ListWaiting(&batch, caller.Tenant, []tenant.SessionID{session}, &r.Entries)
	line := waitlists.LineUp(&batch, caller.Tenant, waitlistdb.RivalQuery{Session: session})
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return r, err
	}
	if slot == nil {
		return r, fault.Missing(fault.SessionNotFound, "Session")
	}
	r.Slot = *slot
	if err := line.Put(r.Entries, s.engine.Now()); err != nil {
		return r, err
	}
	slices.SortStableFunc(r.Entries, func(a, b waitlist.Entry) int { return cmp.Compare(a.Position, b.Position) })
	return r, s.withLines(ctx, caller, r.Bookings)
}
