package messages

import (
	"context"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/contacts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// noticeBatch has the facts about notices that are due.
type noticeBatch struct {
	tenantFacts
	notices []noticeFacts
	sending *notify.Sending // nil: no limits
	usage   *notify.Usage
}

// tenantFacts are what all messages of a tenant have in common.
type tenantFacts struct {
	settings  notify.Settings
	profile   tenantProfile
	senders   Senders
	templates []messagedb.OwnTemplate
}

// noticeFacts are the facts about one notice.
type noticeFacts struct {
	messagedb.OpenNotice
	to       notify.Recipient // without what was sent to them
	subject  messagedb.Subject
	offer    *waitlists.OfferFacts // of a notice about an offer; those about the same offer share it
	code     string                // that it tells
	codeOpen bool                  // the code can still be used
	cancelBy time.Time             // of a promotion: until then it can be cancelled for free
	mode     waitlist.Mode         // of an entry: what it would get
}

// due returns the part of the facts that decides.
func (n *noticeFacts) due() notify.Due {
	about := n.subject.Facts
	about.CodeOpen = n.codeOpen
	if n.offer != nil {
		about.Offer = &n.offer.Offer
	}
	return notify.Due{Notice: n.Notice, Sending: n.Sending, LastStatus: n.Was, To: n.to, About: about}
}

// loadNotices reads the facts about notices. Those that are no longer due are left out.
func (s *Service) loadNotices(ctx context.Context, tx *engine.Tx, due []tenant.NoticeID) (*noticeBatch, error) {
	var b noticeBatch
	var open []messagedb.OpenNotice
	var sealed *messagedb.Sealed
	var first pg.Batch
	messagedb.ListNotices(&first, tx.Tenant, due, tx.Now, &open)
	b.profile.queue(&first, tx.Tenant)
	messagedb.FindNotificationSettings(&first, tx.Tenant, &b.settings)
	messagedb.FindSenders(&first, tx.Tenant, &sealed)
	if err := tx.Load(ctx, &first); err != nil {
		return nil, err
	}
	b.senders = s.unseal(tx.Tenant, sealed)
	for _, n := range open {
		b.notices = append(b.notices, noticeFacts{OpenNotice: n, to: contactOnly(n.Notice)})
	}
	var sending contacts.SendingFacts
	var second pg.Batch
	limits := s.limits(b.senders)
	if len(limits) > 0 {
		sending.Queue(&second, tx.Tenant, limits.Limited(delivery.SMS), tx.Now)
	}
	reads := s.queueNotices(&second, tx.Tenant, &b, tx.Now)
	if err := tx.Load(ctx, &second); err != nil {
		return nil, err
	}
	if len(limits) > 0 {
		b.sending = sending.Sending(tx.Tenant, limits, tx.Now)
	}
	b.usage = notify.NewUsage(reads.sent, b.sending)
	guests, err := loadGuests(ctx, tx, reads.subjects)
	if err != nil {
		return nil, err
	}
	for i := range b.notices {
		n := &b.notices[i]
		n.to = reads.recipient(n, guests)
		n.subject = reads.subject(n.Notice)
		if n.Topic.IsOffer() { // after an accepted offer others are about the booking, and sent however late it is
			n.offer = reads.offers[n.Offer]
		}
		if n.Topic == notify.ContactCode {
			n.code, n.codeOpen = s.openCode(tx, n.Notice, reads.pending[n.Member])
		}
	}
	return &b, nil
}

// openCode returns the code that a notice tells, and whether it can still be used. It cannot if no key of the service
// opens it.
func (s *Service) openCode(tx *engine.Tx, n notify.Notice, pending []member.PendingContact) (string, bool) {
	code, err := s.seals.Open(tx.Tenant, n.Details.Sealed)
	return string(code), err == nil && slices.ContainsFunc(pending, func(p member.PendingContact) bool {
		return p.Code.UUID == n.Thing && p.Open(tx.Now)
	})
}

// contactOnly returns the recipient of a notice for a contact, as far as the notice says; otherwise the zero recipient.
func contactOnly(n notify.Notice) notify.Recipient {
	if n.Details.To == "" {
		return notify.Recipient{}
	}
	stopped := make(map[delivery.Channel]notify.Reason)
	return notify.Recipient{}.At(n.Topic.Channels(n.Lane)[0], n.Details.To, stopped)
}

// noticeReads has what is read about the notices of a batch, by ids.
type noticeReads struct {
	members     map[tenant.UUID]*notify.Recipient
	preferences map[tenant.MemberID]notify.Preferences
	sent        map[tenant.UUID]map[delivery.Channel][]time.Time
	subjects    map[tenant.UUID]*messagedb.Subject
	offers      map[tenant.OfferID]*waitlists.OfferFacts
	pending     map[tenant.MemberID][]member.PendingContact
}

// queueNotices queues the reads that depend on what a batch's notices are about.
func (s *Service) queueNotices(b *pg.Batch, in tenant.TenantID, batch *noticeBatch, now time.Time) *noticeReads {
	reads := &noticeReads{
		members: make(map[tenant.UUID]*notify.Recipient), preferences: make(map[tenant.MemberID]notify.Preferences),
		sent:     make(map[tenant.UUID]map[delivery.Channel][]time.Time),
		subjects: make(map[tenant.UUID]*messagedb.Subject), offers: make(map[tenant.OfferID]*waitlists.OfferFacts),
		pending: make(map[tenant.MemberID][]member.PendingContact),
	}
	var (
		members, confirming idSet[tenant.MemberID]
		bookings            idSet[tenant.BookingID]
		entries             idSet[tenant.EntryID]
		sessions            idSet[tenant.SessionID]
		offers              idSet[tenant.OfferID]
		payers, recipients  idSet[tenant.UUID]
		topics              idSet[notify.Topic]
		direct              []*notify.Recipient
	)
	for i := range batch.notices {
		n := &batch.notices[i]
		members.add(n.Member)
		bookings.add(n.Booking)
		entries.add(n.Entry)
		offers.add(n.Offer)
		payers.add(n.Details.Payer)
		recipients.add(n.Recipient())
		if !n.Topic.Fixed() {
			topics.add(n.Topic)
		}
		if n.Details.To != "" {
			confirming.add(n.Member)
			direct = append(direct, &n.to)
		}
		if n.Booking.IsZero() && n.Entry.IsZero() {
			sessions.add(n.Session)
		}
	}
	messagedb.ListRecipients(b, in, members.list, s.opener(in), reads.members)
	messagedb.ListPreferences(b, in, members.list, reads.preferences)
	messagedb.ListSent(b, in, recipients.list, now.Add(-24*time.Hour), reads.sent)
	messagedb.ListSubjects(b, in, bookings.list, entries.list, sessions.list, payers.list, reads.subjects)
	messagedb.ListTemplates(b, in, topics.list, &batch.templates)
	if len(confirming.list) > 0 {
		accountdb.ListPendingContacts(b, in, confirming.list, reads.pending)
		messagedb.ListStops(b, in, direct)
	}
	if len(offers.list) > 0 {
		s.offers.ReadOffers(b, in, offers.list, reads.offers)
	}
	return reads
}

// recipient returns the recipient of a notice.
func (r *noticeReads) recipient(n *noticeFacts, guests map[tenant.UUID]*notify.Recipient) notify.Recipient {
	if m := r.members[n.Member.UUID]; m != nil {
		to := *m
		to.Preferences = r.preferences[n.Member]
		if n.Details.To != "" {
			to = to.At(n.Topic.Channels(n.Lane)[0], n.Details.To, n.to.Stopped)
		}
		return to
	}
	if guest := guests[n.Booking.UUID]; guest != nil {
		return *guest
	}
	return notify.Recipient{}
}

// subject returns what a notice is about; an empty subject if that is gone.
func (r *noticeReads) subject(n notify.Notice) messagedb.Subject {
	for _, id := range []tenant.UUID{n.Booking.UUID, n.Entry.UUID, n.Details.Payer, n.Session.UUID} {
		if s := r.subjects[id]; s != nil && !id.IsZero() {
			return *s
		}
	}
	return messagedb.Subject{}
}

// loadGuests returns the guests of bookings, by booking. A booking stores a contact as it was entered, so the stops of
// a guest are read by the number in the form to which messages are sent.
func loadGuests(
	ctx context.Context, tx *engine.Tx, subjects map[tenant.UUID]*messagedb.Subject,
) (map[tenant.UUID]*notify.Recipient, error) {
	guests := make(map[tenant.UUID]*notify.Recipient)
	var all []*notify.Recipient
	for booking, subject := range subjects {
		if !subject.Guest {
			continue
		}
		zone, err := time.LoadLocation(subject.TimeZone)
		if err != nil {
			return nil, err
		}
		guests[booking] = &notify.Recipient{
			Known: true, Name: subject.Name, Email: subject.Email, Phone: member.Phone(subject.Phone), Zone: zone,
			Stopped: make(map[delivery.Channel]notify.Reason),
		}
		all = append(all, guests[booking])
	}
	if len(all) == 0 {
		return guests, nil
	}
	var stops pg.Batch
	messagedb.ListStops(&stops, tx.Tenant, all)
	return guests, tx.Load(ctx, &stops)
}

// idSet is a list without repeated values and zeros.
type idSet[I comparable] struct {
	list []I
	seen map[I]bool
}

func (s *idSet[I]) add(id I) {
	var none I
	if id == none || s.seen[id] {
		return
	}
	if s.seen == nil {
		s.seen = make(map[I]bool)
	}
	s.seen[id] = true
	s.list = append(s.list, id)
}
