package schedules

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/data/bookingdb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/data/scheduledb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/tenant"
)

// UpdateSession edits a session, if it still is at the version expected (nil: whichever). Its bookings move
// along with it, and a raised capacity goes to whoever waits. One of a series leaves the pattern.
func (s *Service) UpdateSession(ctx context.Context, caller tenant.Caller, id tenant.SessionID, expect *int, in session.Input, fields session.Fields) (session.Session, int, error) {
	var after session.Session
	var promoted int
	err := s.engine.Write(ctx, caller, "session.update", func(ctx context.Context, tx *engine.Tx) error {
		before, err := scheduled(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := engine.CheckVersion(expect, before.Version); err != nil {
			return err
		}
		at, err := setting(ctx, tx, before.WithReferences(in, fields))
		if err != nil {
			return err
		}
		after, promoted, err = s.edit(ctx, tx, before.Session, in, fields, at)
		return under("session", err)
	}, engine.Answers(&after, &promoted), engine.Losing(seats.PromotionRace))
	return after, promoted, scheduleRefusal("session", err)
}

// edit changes one session by itself. The setting is that of the edit's target.
func (s *Service) edit(ctx context.Context, tx *engine.Tx, before session.Session, in session.Input, fields session.Fields, at session.References) (session.Session, int, error) {
	var freed map[tenant.SessionID]int
	if fields.Has(session.CapacityField) {
		one := []session.Session{before}
		var err error
		if freed, err = s.waitlists.MakeRoom(ctx, tx, in.Capacity, one); err != nil {
			return before, 0, err
		}
		before = one[0]
	}
	after, err := before.Edit(in, fields, at, tx.Now)
	if err != nil || after.Version == before.Version {
		return before, 0, err
	}
	after.Detached = !after.Series.IsZero()
	if err := s.move(ctx, tx, []session.Session{before}, []session.Session{after}); err != nil {
		return before, 0, err
	}
	scheduledb.UpdateSessions(tx.Tx, tx.Tenant, []session.Session{after})
	changes := catalog.AuditChanges(before.Facts(), after.Facts())
	tell(tx, outbox.SessionUpdated, func(session.Session) map[string]any { return changes }, after)
	tx.Audit("session.updated", "session", after.ID.UUID, "", changes)
	promoted, woken, err := s.resettle(ctx, tx, []session.Session{before}, []session.Session{after}, freed)
	if err != nil || woken == 0 {
		return after, 0, err
	}
	now, err := scheduled(ctx, tx, after.ID)
	return now.Session, promoted, err
}

// move lets the bookings of sessions follow them to other times, and the quotas that count them to
// other days. Before and after belong together one by one.
func (s *Service) move(ctx context.Context, tx *engine.Tx, before, after []session.Session) error {
	from := make(map[tenant.SessionID]session.Session)
	to := make(map[tenant.SessionID]session.Session)
	var moved []session.Session
	var ids []tenant.SessionID
	for i, s := range after {
		was := before[i]
		if !was.StartsAt.Equal(s.StartsAt) || !was.EndsAt.Equal(s.EndsAt) || was.LocalDate != s.LocalDate {
			from[s.ID], to[s.ID] = was, s
			moved, ids = append(moved, s), append(ids, s.ID)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	var bookings []bookingdb.Moving
	var batch pg.Batch
	bookingdb.ListMoving(&batch, tx.Tenant, ids, &bookings)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	var exclusive []tenant.BookingID
	usage := make(map[bookingdb.Usage]int) // what is added, by the row with nothing used
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
