package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// UpdateSession edits a session if it still has the expected version; nil matches any. Its bookings move with it, and
// added seats go to its waitlist. A session of a series becomes detached. It also returns how many members were
// promoted.
func (s *Service) UpdateSession(
	ctx context.Context, caller tenant.Caller, id tenant.SessionID, expect *int, in session.Input, fields session.Fields,
) (session.Session, int, error) {
	t := engine.Transaction{Name: "session.update", Replay: true}
	done, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (filled, error) {
		before, err := findSession(ctx, tx, id, expect)
		if err != nil {
			return filled{}, err
		}
		at, err := loadReferences(ctx, tx, before.WithReferences(in, fields))
		if err != nil {
			return filled{}, err
		}
		after, err := s.edit(ctx, tx, before.Session, in, fields, at)
		return after, inPart("session", err)
	})
	return done.Session, done.Promoted, explainConflict("session", err)
}

// edit edits one session. at has what the session refers to after the edit.
func (s *Service) edit(
	ctx context.Context, tx *engine.Tx, before session.Session, in session.Input, fields session.Fields,
	at session.References,
) (filled, error) {
	var freed map[tenant.SessionID]int
	if fields.Has(session.CapacityField) {
		one := []session.Session{before}
		var err error
		if freed, err = s.waitlists.MakeRoom(ctx, tx, in.Capacity, one); err != nil {
			return filled{}, err
		}
		before = one[0]
	}
	after, err := before.Edit(in, fields, at, tx.Now)
	if err != nil || after.Version == before.Version {
		return filled{Session: before}, err
	}
	after.Detached = !after.Series.IsZero()
	was, is := []session.Session{before}, []session.Session{after}
	if err := moveBookings(ctx, tx, was, is); err != nil {
		return filled{}, err
	}
	scheduledb.UpdateSessions(tx.Tx, tx.Tenant, is)
	changes := catalog.AuditChanges(before.AuditFields(), after.AuditFields())
	appendEvents(tx, always(before.Changes(after)), after)
	record.Audit(tx, "session.updated", "session", after.ID.UUID, "", changes)
	promoted, queued, err := s.updateWaitlists(ctx, tx, was, is, freed)
	if err != nil || !queued {
		return filled{Session: after}, err
	}
	now, err := findSession(ctx, tx, after.ID, nil)
	return filled{now.Session, promoted}, err
}

// moveBookings moves the bookings of sessions to their new times, and the use of quotas to their new days. before and
// after have the same order.
func moveBookings(ctx context.Context, tx *engine.Tx, before, after []session.Session) error {
	from, to := make(map[tenant.SessionID]session.Session), make(map[tenant.SessionID]session.Session)
	var moved []session.Session
	for i, s := range after {
		was := before[i]
		if !was.StartsAt.Equal(s.StartsAt) || !was.EndsAt.Equal(s.EndsAt) || was.LocalDate != s.LocalDate {
			from[s.ID], to[s.ID] = was, s
			moved = append(moved, s)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	var bookings []bookingdb.Moving
	var batch pg.Batch
	bookingdb.ListMoving(&batch, tx.Tenant, idsOf(moved), &bookings)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	var exclusive []tenant.BookingID
	usage := make(map[bookingdb.Usage]int) // the change, by the row with Used zero
	for _, b := range bookings {
		if b.Exclusive {
			exclusive = append(exclusive, b.ID)
		}
		if b.Counted {
			for _, row := range bookingdb.UsageOn(b.Subscription, from[b.Session].LocalDate) {
				usage[row]--
			}
			for _, row := range bookingdb.UsageOn(b.Subscription, to[b.Session].LocalDate) {
				usage[row]++
			}
		}
	}
	var changes []bookingdb.Usage
	for row, by := range usage {
		if row.Used = by; by != 0 {
			changes = append(changes, row)
		}
	}
	bookingdb.MoveBookings(tx.Tx, tx.Tenant, moved, exclusive, tx.Now)
	bookingdb.MoveUsage(tx.Tx, tx.Tenant, changes)
	return nil
}
