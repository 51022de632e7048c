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
	"github.com/berthhq/berth/internal/data/outbox"
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

// BatchGetBookings reads bookings with their items, in the order of their ids. Missing are those that do not exist or
// that the caller may not read.
func (s *Service) BatchGetBookings(
	ctx context.Context, caller tenant.Caller, ids []tenant.BookingID,
) (found []booking.Booking, missing []tenant.BookingID, err error) {
	read := make([]*booking.Booking, len(ids))
	var batch pg.Batch
	for i, id := range ids {
		bookingdb.FindBooking(&batch, caller.Tenant, id, &read[i])
	}
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return nil, nil, err
	}
	for i, b := range read {
		if b == nil || !caller.CanAccessCreated(b.Member, b.CreatedBy) {
			missing = append(missing, ids[i])
		} else {
			found = append(found, *b)
		}
	}
	return found, missing, s.addItems(ctx, caller, found)
}

// ReadAny is the permission to read any booking.
const ReadAny = "booking.read"

// BookingFilter selects bookings.
type BookingFilter = bookingdb.BookingFilter

// BookingQuery selects a page of bookings. Without a session and a period it has those of sessions that have not ended.
type BookingQuery struct {
	BookingFilter
	// The last booking of the previous page.
	AfterStart   time.Time
	AfterSession tenant.SessionID
	AfterID      tenant.BookingID
	Limit        int
}

// BookingPage is one page of bookings.
type BookingPage struct {
	Bookings []booking.Booking
	// End is the position in the event log from which to watch: what the page does not show yet comes after it.
	End string
}

// ListBookings reads bookings ordered by the start of their sessions, then session and booking. If the caller may
// access only what is their own, these are the bookings of the member, or those that the service account made.
func (s *Service) ListBookings(ctx context.Context, caller tenant.Caller, q BookingQuery) (BookingPage, error) {
	query := bookingdb.BookingQuery{
		BookingFilter: q.BookingFilter,
		AfterStart:    q.AfterStart, AfterSession: q.AfterSession, AfterID: q.AfterID, Limit: q.Limit,
	}
	if q.Until.IsZero() && q.Session.IsZero() {
		query.EndsAfter = s.engine.Now()
	}
	if caller.SelfOnly {
		query.Owner = caller.Member
		if caller.Member.IsZero() {
			query.Account = caller.Subject
		}
	}
	var list BookingPage
	var end outbox.Cursor
	var batch pg.Batch
	outbox.FindEnd(&batch, caller.Tenant, &end)
	bookingdb.ListBookings(&batch, caller.Tenant, query, &list.Bookings)
	if err := s.engine.Read(ctx, caller, &batch); err != nil {
		return BookingPage{}, err
	}
	list.End = end.Token(caller.Tenant)
	return list, s.addItems(ctx, caller, list.Bookings)
}

// Roster is the bookings of a session and the entries that wait for it.
type Roster struct {
	Slot     booking.Slot
	Bookings []booking.Booking // in the order in which they were made
	Entries  []waitlist.Entry  // in the order of the queue
}

// GetSessionRoster reads a session's roster, with its bookings in any of the statuses. Without statuses it leaves out
// those that are cancelled or expired.
func (s *Service) GetSessionRoster(
	ctx context.Context, caller tenant.Caller, session tenant.SessionID, statuses ...booking.Status,
) (Roster, error) {
	if len(statuses) == 0 {
		statuses = []booking.Status{booking.Pending, booking.Confirmed, booking.Attended, booking.NoShow}
	}
	var r Roster
	var slot *booking.Slot
	var batch pg.Batch
	bookingdb.FindSlot(&batch, caller.Tenant, session, &slot)
	bookingdb.ListSessionBookings(&batch, caller.Tenant, session, statuses, &r.Bookings)
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
