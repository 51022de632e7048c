package messages

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// UnsubscribePath is where the links lie by which mails are stopped.
const UnsubscribePath = "/unsubscribe/"

const toUnsubscribe = "unsubscribe"

// A link says whom it is for, whether that is a member or the guest of a booking, and what it is about.
const (
	forMember byte = 'm'
	forGuest  byte = 'g'
)

func (s *Service) unsubscribeLink(in tenant.TenantID, n notify.Notice, to notify.Recipient) string {
	kind, who := forGuest, n.Recipient()
	if !to.Member.IsZero() {
		kind, who = forMember, to.Member.UUID
	}
	says := append([]byte{kind}, who[:]...)
	return s.publicURL + UnsubscribePath + s.seals.Sign(in, toUnsubscribe, append(says, n.Topic...))
}

// Unsubscription is what a link stops.
type Unsubscription struct {
	Tenant string // its name
	Brand  brand.Brand
	Topic  notify.Topic

	in   tenant.TenantID
	kind byte
	who  tenant.UUID
}

func (s *Service) readUnsubscribe(link string) (Unsubscription, error) {
	in, says, ok := s.seals.Verify(toUnsubscribe, link)
	u := Unsubscription{in: in}
	if !ok || len(says) <= 1+len(u.who) {
		return u, fault.New(fault.FailedPrecondition, fault.LinkInvalid, "The link is not good.")
	}
	u.kind = says[0]
	copy(u.who[:], says[1:])
	u.Topic = notify.Topic(says[1+len(u.who):])
	return u, nil
}

// GetUnsubscribe reads what a link would stop. It changes nothing: scanners open links before people do.
func (s *Service) GetUnsubscribe(ctx context.Context, link string) (Unsubscription, error) {
	u, err := s.readUnsubscribe(link)
	if err != nil {
		return u, err
	}
	var h house
	var batch pg.Batch
	h.queue(&batch, u.in)
	err = s.engine.Read(ctx, tenant.System(u.in), &batch)
	u.Tenant, u.Brand = h.name, h.brand
	return u, err
}

// Unsubscribe stops mails: those about the link's topic, or all. Doing it again changes nothing.
func (s *Service) Unsubscribe(ctx context.Context, link string, all bool) (Unsubscription, error) {
	u, err := s.readUnsubscribe(link)
	if err != nil {
		return u, err
	}
	err = s.engine.Write(ctx, tenant.System(u.in), "notification.unsubscribe", func(ctx context.Context, tx *engine.Tx) error {
		recipients := make(map[tenant.UUID]*notify.Recipient)
		subjects := make(map[tenant.UUID]*store.Subject)
		var h house
		var batch pg.Batch
		h.queue(&batch, tx.Tenant)
		if u.kind == forMember {
			store.ListRecipients(&batch, tx.Tenant, []tenant.MemberID{{UUID: u.who}}, recipients)
		} else {
			store.ListSubjects(&batch, tx.Tenant, []tenant.BookingID{{UUID: u.who}}, nil, nil, nil, subjects)
		}
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		u.Tenant, u.Brand = h.name, h.brand
		address := ""
		if to := recipients[u.who]; to != nil {
			address = to.Email
			if !all {
				store.PutPreferences(tx.Tx, tx.Tenant, to.Member, notify.Preferences{{Topic: u.Topic, Channel: notify.Email}: false}, tx.Now)
				return nil
			}
		} else if about := subjects[u.who]; about != nil {
			address = about.Email // a guest has no choices but to hear or not
		}
		store.PutStops(tx.Tx, tx.Tenant, store.NotificationStop{Channel: notify.Email, Address: address, Reason: notify.Unsubscribed, At: tx.Now})
		return nil
	})
	return u, err
}
