package messages

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
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
		if r.Type == outbox.MemberChanged {
			s.Notices.Set(in, s.engine.Now()) // it may have left a notice about a contact
		}
		if notify.HasMessages(string(r.Type)) {
			events = append(events, eventOf(r))
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

// eventOf reads the part of an event that messages need.
func eventOf(r *outbox.Record) notify.Event {
	e := notify.Event{
		ID: r.ID, Type: string(r.Type), Session: r.Session, Booking: r.Booking, Member: r.Member, Entry: r.Entry,
		Offer: tenant.OfferID{UUID: r.Offer}, At: r.At,
	}
	text := func(key string) string {
		s, _ := r.Data[key].(string)
		return s
	}
	flag := func(key string) bool {
		b, _ := r.Data[key].(bool)
		return b
	}
	number := func(key string) int {
		n, _ := r.Data[key].(float64)
		return int(n)
	}
	if send, ok := r.Data["notify"].(bool); ok {
		e.Silent = !send
	}
	if payer, err := tenant.ParseUUID(text("subscription_id")); err == nil {
		e.Payer = payer
	}
	e.Details = notify.Details{
		Reason: text("reason"), Refunded: flag("credit_refunded"), Late: flag("late"), Position: number("position"),
		Note: text("note"), Waitlist: !r.Entry.IsZero() && r.Booking.IsZero(),
	}
	if kind := text("change"); r.Type == outbox.RolesChanged && kind != "" {
		e.Details.Access = &notify.AccessChange{Kind: notify.AccessChangeKind(kind), Role: text("role")}
		by := r.Actor
		if e.Details.Access.Kind == notify.TransferConfirmed {
			by = text("from_member_id")
		}
		e.Actor, _ = tenant.Parse[tenant.MemberID](by) // zero: not a member
	}
	e.Details.OldStart, _ = time.Parse(time.RFC3339, text("from_start_time"))
	if r.Type == outbox.SessionUpdated {
		before, _ := r.Data["before"].(map[string]any)
		after, _ := r.Data["after"].(map[string]any)
		for _, field := range []string{"start_time", "end_time", "location_id", "resource_id"} {
			_, changed := after[field]
			e.Moved = e.Moved || changed && before != nil
		}
		if start, _ := before["start_time"].(string); start != "" {
			e.Details.OldStart, _ = time.Parse(time.RFC3339, start)
		}
	}
	e.Gone, e.Spent = flag("session_gone"), -number("amount")
	return e
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
		switch {
		case e.Details.Access != nil:
			access.add(e.Member)
			access.add(e.Actor)
		case e.Moved:
			sessions = append(sessions, e.Session)
		case !e.Booking.IsZero() && outbox.Type(e.Type) != outbox.CreditsChanged:
			bookings = append(bookings, e.Booking)
		case !e.Entry.IsZero():
			entries = append(entries, e.Entry)
		case !e.Payer.IsZero():
			payers = append(payers, e.Payer)
		}
		staff = staff || outbox.Type(e.Type) == outbox.WaitlistStaffNote
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
	switch {
	case outbox.Type(e.Type) == outbox.RolesChanged:
		return pick(f.parties.OfAccess, func(p notify.Person) bool {
			return e.Details.Access != nil && (p.Member == e.Member || p.Member == e.Actor || f.parties.Owners[p.Member])
		})
	case e.Moved:
		return pick(f.parties.OfSessions, func(p notify.Person) bool { return p.Session == e.Session })
	case outbox.Type(e.Type) == outbox.CreditsChanged:
		return pick(f.parties.OfPayers, func(p notify.Person) bool { return p.Payer == e.Payer })
	case outbox.Type(e.Type) == outbox.WaitlistStaffNote:
		staff := pick(f.parties.Staff, func(notify.Person) bool { return true })
		for i := range staff {
			staff[i].Session = e.Session
		}
		return staff
	case !e.Booking.IsZero():
		return pick(f.parties.OfBookings, func(p notify.Person) bool { return p.Booking == e.Booking })
	}
	return pick(slices.Concat(f.parties.OfEntries, f.parties.OfWindows), func(p notify.Person) bool {
		return p.Entry == e.Entry
	})
}
