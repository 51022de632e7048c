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

// NoticeConsumer reads the event log and plans what people are to hear of it. Its position moves on in the transaction that writes
// the notices, so that no event is missed, and none planned twice.
func (s *Service) NoticeConsumer() outbox.Consumer {
	return outbox.Consumer{Name: "notices", Handle: s.planNotices}
}

func (s *Service) planNotices(ctx context.Context, tx *pg.Tx, in tenant.TenantID, records []*outbox.Record) error {
	var events []notify.Event
	for _, r := range records {
		if notify.HasMessages(string(r.Type)) {
			events = append(events, happening(r))
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
		notices = append(notices, notify.Plan(e, facts.parties(e), facts.settings, now)...)
	}
	// An attempt that fails is made again with other ids: nobody knows them before the commit.
	mint := tenant.NewIDs(now)
	for i := range notices {
		notices[i].ID = tenant.NextID[tenant.NoticeID](mint)
	}
	messagedb.InsertNotices(tx, in, notices, now, func(due time.Time) { s.Notices.Set(in, due) })
	return nil
}

// happening reads an event as far as messages are concerned.
func happening(r *outbox.Record) notify.Event {
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
	if told, said := r.Data["notify"].(bool); said {
		e.Silent = !told
	}
	if payer, err := tenant.ParseUUID(text("subscription_id")); err == nil {
		e.Payer = payer
	}
	e.Details = notify.Details{
		Reason: text("reason"), Refunded: flag("credit_refunded"), Late: flag("late"), Position: number("position"), Note: text("note"),
		Waitlist: !r.Entry.IsZero() && r.Booking.IsZero(),
	}
	if from, err := time.Parse(time.RFC3339, text("from_start_time")); err == nil {
		e.Details.OldStart = from
	}
	if r.Type == outbox.SessionUpdated {
		before, _ := r.Data["before"].(map[string]any)
		after, _ := r.Data["after"].(map[string]any)
		for _, fact := range []string{"start_time", "end_time", "location_id", "resource_id"} {
			if _, changed := after[fact]; changed && before != nil {
				e.Moved = true
			}
		}
		if was, _ := before["start_time"].(string); was != "" {
			e.Details.OldStart, _ = time.Parse(time.RFC3339, was)
		}
	}
	e.Gone, e.Spent = flag("session_gone"), -number("amount")
	return e
}

// planFacts are what planning needs to know about all events of a page.
type planFacts struct {
	events      []notify.Event
	settings    notify.Settings
	known       messagedb.Parties
	preferences map[tenant.MemberID]notify.Preferences
}

func (f *planFacts) load(ctx context.Context, tx *pg.Tx, in tenant.TenantID) error {
	var bookings []tenant.BookingID
	var sessions []tenant.SessionID
	var entries []tenant.EntryID
	var payers []tenant.UUID
	staff := false
	for _, e := range f.events {
		switch {
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
	var batch pg.Batch
	f.known = messagedb.Parties{}
	messagedb.FindNotificationSettings(&batch, in, &f.settings)
	messagedb.ListParties(&batch, in, bookings, sessions, entries, payers, staff, catalog.Defaults().CheckInOpens, &f.known)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	seen := make(map[tenant.MemberID]bool)
	var members []tenant.MemberID
	for _, parties := range [][]notify.Person{f.known.OfBookings, f.known.OfSessions, f.known.OfEntries, f.known.OfWindows, f.known.OfPayers, f.known.Staff} {
		for _, p := range parties {
			if !p.Member.IsZero() && !seen[p.Member] {
				seen[p.Member] = true
				members = append(members, p.Member)
			}
		}
	}
	clear(f.preferences)
	var chosen pg.Batch
	messagedb.ListPreferences(&chosen, in, members, f.preferences)
	return tx.Load(ctx, &chosen)
}

// parties gives whom an event concerns.
func (f *planFacts) parties(e notify.Event) []notify.Person {
	pick := func(from []notify.Person, is func(notify.Person) bool) []notify.Person {
		var picked []notify.Person
		for _, p := range from {
			if is(p) {
				p.Preferences = f.preferences[p.Member]
				picked = append(picked, p)
			}
		}
		return picked
	}
	switch {
	case e.Moved:
		return pick(f.known.OfSessions, func(p notify.Person) bool { return p.Session == e.Session })
	case outbox.Type(e.Type) == outbox.CreditsChanged:
		return pick(f.known.OfPayers, func(p notify.Person) bool { return p.Payer == e.Payer })
	case outbox.Type(e.Type) == outbox.WaitlistStaffNote:
		staff := pick(f.known.Staff, func(notify.Person) bool { return true })
		for i := range staff {
			staff[i].Session = e.Session
		}
		return staff
	case !e.Booking.IsZero():
		return pick(f.known.OfBookings, func(p notify.Person) bool { return p.Booking == e.Booking })
	}
	return pick(slices.Concat(f.known.OfEntries, f.known.OfWindows), func(p notify.Person) bool { return p.Entry == e.Entry })
}
