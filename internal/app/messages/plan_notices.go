package messages

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// NoticeConsumer returns the consumer that plans the notices of events. Its position is written in the same transaction
// as the notices, so no event is missed, and none is planned twice.
func (s *Service) NoticeConsumer() outbox.Consumer {
	return outbox.Consumer{Name: "notices", Handle: s.planNotices}
}

func (s *Service) planNotices(ctx context.Context, tx *pg.Tx, in tenant.TenantID, records []*outbox.Record) error {
	var events []notify.Event
	for _, r := range records {
		if _, changed := r.Data.(event.MemberChanged); changed {
			s.Notices.Set(in, s.engine.Now()) // it may have left a notice about a contact
		}
		if notify.HasMessages(r.Data) {
			events = append(events, notify.EventOf(notify.Event{
				ID: r.ID, Session: r.Session, Booking: r.Booking, Member: r.Member, Entry: r.Entry, Offer: r.Offer,
				Data: r.Data, At: r.At,
			}, r.Actor))
		}
	}
	if len(events) == 0 {
		return nil
	}
	now := s.engine.Now()
	facts := planFacts{events: events, preferences: make(map[tenant.MemberID]notify.Preferences)}
	if err := facts.load(ctx, tx, in); err != nil {
		return err
	}
	var notices []notify.Notice
	for _, e := range events {
		notices = append(notices, notify.Plan(e, facts.partiesOf(e), facts.settings, now)...)
	}
	// A retry may use other ids, because nothing refers to them before the commit.
	ids := tenant.NewIDs(now)
	for i := range notices {
		notices[i].ID = tenant.NextID[tenant.NoticeID](ids)
	}
	messagedb.InsertNotices(tx, in, notices, now, func(due time.Time) { s.Notices.Set(in, due) })
	return nil
}

// planFacts are what planning needs to know about a page of events.
type planFacts struct {
	events      []notify.Event
	settings    notify.Settings
	parties     messagedb.Parties
	preferences map[tenant.MemberID]notify.Preferences
}

func (f *planFacts) load(ctx context.Context, tx *pg.Tx, in tenant.TenantID) error {
	var bookings []tenant.BookingID
	var sessions []tenant.SessionID
	var entries []tenant.EntryID
	var payers []tenant.UUID
	var access idSet[tenant.MemberID]
	staff := false
	for _, e := range f.events {
		_, credits := e.Data.(event.CreditsChanged)
		_, note := e.Data.(event.WaitlistStaffNote)
		switch {
		case e.Details.Access != nil:
			access.add(e.Member)
			access.add(e.Actor)
		case e.Moved:
			sessions = append(sessions, e.Session)
		case !e.Booking.IsZero() && !credits:
			bookings = append(bookings, e.Booking)
		case !e.Entry.IsZero():
			entries = append(entries, e.Entry)
		case !e.Payer.IsZero():
			payers = append(payers, e.Payer)
		}
		staff = staff || note
	}
	var first, second pg.Batch
	messagedb.FindNotificationSettings(&first, in, &f.settings)
	messagedb.ListParties(&first, in, bookings, sessions, entries, payers, staff, catalog.Defaults().CheckInOpens,
		&f.parties)
	if len(access.list) > 0 {
		messagedb.ListAccessParties(&first, in, access.list, &f.parties)
	}
	if err := tx.Load(ctx, &first); err != nil {
		return err
	}
	for _, e := range f.events {
		if change := e.Details.Access; change != nil {
			change.Name, change.By = f.parties.Names[e.Member], f.parties.Names[e.Actor]
		}
	}
	var members idSet[tenant.MemberID]
	for _, p := range slices.Concat(f.parties.OfBookings, f.parties.OfSessions, f.parties.OfEntries,
		f.parties.OfWindows, f.parties.OfPayers, f.parties.Staff, f.parties.OfAccess) {
		members.add(p.Member)
	}
	messagedb.ListPreferences(&second, in, members.list, f.preferences)
	return tx.Load(ctx, &second)
}

// partiesOf returns the people that an event concerns.
func (f *planFacts) partiesOf(e notify.Event) []notify.Person {
	pick := func(from []notify.Person, matches func(notify.Person) bool) []notify.Person {
		var picked []notify.Person
		for _, p := range from {
			if matches(p) {
				p.Preferences = f.preferences[p.Member]
				picked = append(picked, p)
			}
		}
		return picked
	}
	switch e.Data.(type) {
	case event.RolesChanged:
		return pick(f.parties.OfAccess, func(p notify.Person) bool {
			return e.Details.Access != nil && (p.Member == e.Member || p.Member == e.Actor || f.parties.Owners[p.Member])
		})
	case event.SessionUpdated:
		return pick(f.parties.OfSessions, func(p notify.Person) bool { return p.Session == e.Session })
	case event.CreditsChanged:
		return pick(f.parties.OfPayers, func(p notify.Person) bool { return p.Payer == e.Payer })
	case event.WaitlistStaffNote:
		staff := pick(f.parties.Staff, func(notify.Person) bool { return true })
		for i := range staff {
			staff[i].Session = e.Session
		}
		return staff
	}
	if !e.Booking.IsZero() {
		return pick(f.parties.OfBookings, func(p notify.Person) bool { return p.Booking == e.Booking })
	}
	return pick(slices.Concat(f.parties.OfEntries, f.parties.OfWindows), func(p notify.Person) bool {
		return p.Entry == e.Entry
	})
}
