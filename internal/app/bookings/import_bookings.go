package bookings

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/fileimport"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// ImportRace reports that another transaction took a seat, or booked for a member. The next attempt reads it.
func ImportRace(err error) bool {
	return pg.IsCheck(err, "sessions_capacity") || pg.IsUnique(err, "bookings_active") ||
		pg.IsExclusion(err, "bookings_overlap")
}

// CheckImport adds the problems of rows that can be seen without the others. The members of the rows have been looked
// up, and the caller has the roles that they have now. It writes nothing.
func (s *Service) CheckImport(
	ctx context.Context, read engine.Reader, caller tenant.Caller, rows []booking.ImportRow,
) error {
	sessions, err := loadImportSessions(ctx, read, caller, rows)
	if err != nil {
		return err
	}
	sessions.find(rows)
	return nil
}

// BookingImport has the bookings that the rows of a file become.
type BookingImport struct {
	rows          []booking.ImportRow
	taken         []importedBooking
	before, after map[tenant.SessionID]int // how many seats are taken in the sessions
}

// TakeImport makes a booking of every row of a file, which CheckImport has checked, or adds the problem to the row. It
// writes nothing: Insert does.
func (s *Service) TakeImport(
	ctx context.Context, tx *engine.Tx, caller tenant.Caller, rows []booking.ImportRow,
) (*BookingImport, error) {
	sessions, err := loadImportSessions(ctx, tx.Load, caller, rows)
	if err != nil {
		return nil, err
	}
	found := sessions.find(rows)
	imported := &BookingImport{rows: rows, before: sessions.taken()}
	facts, err := loadImportFacts(ctx, tx, rows, found)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		row := &rows[i]
		if len(row.Problems) > 0 {
			continue
		}
		id := tenant.NextID[tenant.BookingID](tx.IDs)
		if result, ok := facts.Take(row, &found[i].Slot, id, tx.Caller.Actor(), tx.Now); ok {
			imported.taken = append(imported.taken, importedBooking{id, row, found[i].Slot, result})
		}
	}
	imported.after = sessions.taken()
	return imported, nil
}

// IDs returns the ids of the bookings.
func (i *BookingImport) IDs() []tenant.UUID {
	return pg.Array(i.taken, func(b importedBooking) tenant.UUID { return b.id.UUID })
}

// Insert writes the bookings.
func (i *BookingImport) Insert(ctx context.Context, tx *engine.Tx) (err error) {
	i.after, err = insertImported(ctx, tx, i.taken)
	return err
}

// Sums returns how many seats the rows have, and how many more are taken in the sessions, or would be. Rows that differ
// are IMPORT_MISMATCH.
func (i *BookingImport) Sums() (file, sessions int, err error) {
	slots := pg.Array(i.taken, func(b importedBooking) booking.Slot { return b.slot })
	return booking.CheckImported(i.rows, slots, i.before, i.after)
}

// importedBooking is a booking that a row becomes.
type importedBooking struct {
	id     tenant.BookingID
	row    *booking.ImportRow
	slot   booking.Slot
	result booking.BookResult
}

// insertImported writes bookings with their events, and returns how many seats of their sessions are then taken.
func insertImported(
	ctx context.Context, tx *engine.Tx, taken []importedBooking,
) (map[tenant.SessionID]int, error) {
	var ids []tenant.SessionID
	for _, b := range taken {
		facts := booking.Facts{Slot: b.slot, Member: booking.Member{ID: b.row.Member, Name: b.row.Guest}}
		made := seats.Take(tx, facts, booking.Booking{
			ID: b.id, Session: b.slot.ID, Member: b.row.Member, Party: b.row.Seats, Channel: catalog.Online,
			Contact: b.row.Contact(), CreatedBy: tx.Caller.Actor(),
		}, b.result)
		// No lines: the balance stays as it is.
		seats.BookingEvent(tx, made, event.BookingConfirmed{Imported: true})
		ids = append(ids, b.slot.ID)
	}
	var found []bookingdb.SessionSeats
	var batch pg.Batch
	bookingdb.ListSeatsTaken(&batch, tx.Tenant, pg.Distinct(ids), &found)
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	after := make(map[tenant.SessionID]int)
	for _, s := range found {
		after[s.Session] = s.Taken
	}
	return after, nil
}

// importSessions are the sessions that the rows of a file can name.
type importSessions struct {
	sites  []booking.Site
	at     map[time.Time][]*booking.ImportSlot // by their start, in UTC
	caller tenant.Caller
}

func loadImportSessions(
	ctx context.Context, read engine.Reader, caller tenant.Caller, rows []booking.ImportRow,
) (importSessions, error) {
	loaded := importSessions{at: make(map[time.Time][]*booking.ImportSlot), caller: caller}
	var sites []bookingdb.ImportSite
	var batch pg.Batch
	bookingdb.ListImportSites(&batch, caller.Tenant, &sites)
	if err := read(ctx, &batch); err != nil {
		return loaded, err
	}
	for _, s := range sites {
		zone, err := time.LoadLocation(s.TimeZone)
		if err != nil {
			return loaded, err
		}
		loaded.sites = append(loaded.sites, booking.Site{ID: s.ID, Name: s.Name, Zone: zone})
	}
	starts := make(map[time.Time]bool)
	for i := range rows {
		if len(rows[i].Problems) > 0 {
			continue
		}
		for _, start := range rows[i].Starts(loaded.sites) {
			starts[start] = true
		}
	}
	var times []time.Time
	for start := range starts {
		times = append(times, start)
	}
	var slots []booking.ImportSlot
	var more pg.Batch
	bookingdb.ListImportSlots(&more, caller.Tenant, times, &slots)
	if err := read(ctx, &more); err != nil {
		return loaded, err
	}
	for i := range slots {
		start := slots[i].StartsAt.UTC()
		loaded.at[start] = append(loaded.at[start], &slots[i])
	}
	return loaded, nil
}

// find returns the session of each row, or adds the problem to the row.
func (s importSessions) find(rows []booking.ImportRow) []*booking.ImportSlot {
	found := make([]*booking.ImportSlot, len(rows))
	for i := range rows {
		row := &rows[i]
		if len(row.Problems) > 0 {
			continue
		}
		if row.Paid > 0 && !s.caller.CanSettle(row.Member) {
			row.AddProblem(fault.PermissionDeniedReason, "credits_paid",
				"Someone else enters your own credits, or an owner does.")
			continue
		}
		found[i] = row.FindSession(s.sites, s.at)
	}
	return found
}

func (s importSessions) taken() map[tenant.SessionID]int {
	taken := make(map[tenant.SessionID]int)
	for _, slots := range s.at {
		for _, slot := range slots {
			taken[slot.ID] = slot.SeatsTaken
		}
	}
	return taken
}

// loadImportFacts loads who has places in the sessions, and what the members have.
func loadImportFacts(
	ctx context.Context, tx *engine.Tx, rows []booking.ImportRow, found []*booking.ImportSlot,
) (*booking.ImportFacts, error) {
	var members []tenant.MemberID
	var sessions []tenant.SessionID
	for i, row := range rows {
		if found[i] == nil {
			continue
		}
		sessions = append(sessions, found[i].ID)
		if row.Paid > 0 || row.Plan != "" {
			members = append(members, row.Member)
		}
	}
	sessions, members = pg.Distinct(sessions), pg.Distinct(members)
	keys := pg.Array(sessions, func(id tenant.SessionID) engine.Key { return id.UUID })
	if err := tx.Lock(keys...); err != nil {
		return nil, err
	}
	var places []booking.Place
	var subscriptions []credit.Subscription
	var busy []bookingdb.BusyMember
	var batch pg.Batch
	bookingdb.ListPlaces(&batch, tx.Tenant, sessions, &places)
	bookingdb.ListOpenSubscriptions(&batch, tx.Tenant, members, &subscriptions)
	bookingdb.ListBusyMembers(&batch, tx.Tenant, members, tx.Now, &busy)
	if err := tx.Load(ctx, &batch); err != nil {
		return nil, err
	}
	facts := booking.NewImportFacts(places, subscriptions, tx.Now)
	for _, b := range busy {
		facts.Busy[b.Member] = append(facts.Busy[b.Member], b.Span)
	}
	return facts, nil
}

// UndoImport cancels bookings that an import created, without a message and never late: credits that paid elsewhere go
// where they came from. The waitlists get their seats.
func (s *Service) UndoImport(ctx context.Context, tx *engine.Tx, ids []tenant.BookingID) error {
	stored := make([]*booking.Booking, len(ids))
	var batch pg.Batch
	for i, id := range ids {
		bookingdb.FindBooking(&batch, tx.Tenant, id, &stored[i])
	}
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	all := pg.Array(stored, func(b *booking.Booking) booking.Booking { return *b })
	sessions := pg.Distinct(pg.Array(all, func(b booking.Booking) tenant.SessionID { return b.Session }))
	if err := tx.Lock(pg.Array(sessions, func(id tenant.SessionID) engine.Key { return id.UUID })...); err != nil {
		return err
	}
	payers, err := seats.LoadSubscriptions(ctx, tx, all)
	if err != nil {
		return err
	}
	request := booking.CancelRequest{Actor: tx.Caller.Actor(), Reason: fileimport.UndoReason, ImportUndone: true}
	for _, b := range all {
		cancelled, err := booking.Cancel(b, payers[b.Subscription], request, tx.Now)
		if err != nil {
			return err
		}
		if !cancelled.Unchanged {
			seats.Cancel(tx, &cancelled, false)
		}
	}
	_, _, err = s.waitlists.FillAll(ctx, tx, waitlist.ByCancellation, sessions...)
	return err
}
