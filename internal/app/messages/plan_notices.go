package messages

import (
	"context"
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
		notices = append(notices, notify.Plan(e, facts.people(e), facts.settings, now)...)
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
	who         messagedb.People
	preferences map[tenant.MemberID]notify.Preferences
}

func (f *planFacts) load(ctx context.Context, tx *pg.Tx, in tenant.TenantID) error {
	var ids messagedb.PeopleIDs
	var access idSet[tenant.MemberID]
	for _, e := range f.events {
		switch e.Audience() {
		case notify.OfAccess:
			access.add(e.Member)
			access.add(e.Actor)
		case notify.OfSession:
			ids.Sessions = append(ids.Sessions, e.Session)
		case notify.OfBooking:
			ids.Bookings = append(ids.Bookings, e.Booking)
		case notify.OfEntry:
			ids.Entries = append(ids.Entries, e.Entry)
		case notify.OfPayer:
			ids.Payers = append(ids.Payers, e.Payer)
		case notify.OfStaff:
			ids.Staff = true
		case notify.Nobody:
		}
	}
	var first, second pg.Batch
	messagedb.FindNotificationSettings(&first, in, &f.settings)
	messagedb.ListPeople(&first, in, ids, catalog.Defaults().CheckInOpensBefore, &f.who)
	if len(access.list) > 0 {
		messagedb.ListAccessPeople(&first, in, access.list, &f.who.OfAccess)
	}
	if err := tx.Load(ctx, &first); err != nil {
		return err
	}
	var members idSet[tenant.MemberID]
	for _, p := range f.who.All() {
		members.add(p.Member)
	}
	messagedb.ListPreferences(&second, in, members.list, f.preferences)
	return tx.Load(ctx, &second)
}

// people returns those whom an event concerns.
func (f *planFacts) people(e notify.Event) []notify.Person {
	var all []notify.Person
	for _, p := range f.who.Of(e.Audience()) {
		if e.Concerns(p) {
			p.Preferences = f.preferences[p.Member]
			all = append(all, p)
		}
	}
	return all
}
