package waitlists

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

var errNoEntry = fault.Missing(fault.WaitlistEntryNotFound, "Waitlist entry")

// Entry loads an entry, if the caller may access it.
func (s *Service) Entry(ctx context.Context, tx *engine.Tx, id tenant.EntryID) (waitlist.Entry, error) {
	e, err := engine.Find(ctx, tx, errNoEntry, func(b *pg.Batch, into **waitlist.Entry) {
		waitlistdb.FindEntry(b, tx.Tenant, id, into)
	})
	if err == nil && !tx.Caller.CanAccess(e.Member) {
		return waitlist.Entry{}, errNoEntry
	}
	return e, err
}

// activeEntry loads an entry that must be active.
func (s *Service) activeEntry(ctx context.Context, tx *engine.Tx, id tenant.EntryID) (waitlist.Entry, error) {
	e, err := s.Entry(ctx, tx, id)
	if err == nil {
		err = e.CheckActive()
	}
	return e, err
}
