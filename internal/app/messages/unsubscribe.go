package messages

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// UnsubscribePath is the URL path of the links in mails that unsubscribe.
const UnsubscribePath = "/unsubscribe/"

// unsubscribePurpose keeps a signature from being used for other links.
const unsubscribePurpose = "unsubscribe"

// A link has the kind of recipient, the id of the member or of the guest's booking, and the topic.
const (
	forMember byte = 'm'
	forGuest  byte = 'g'
)

func (s *Service) unsubscribeLink(in tenant.TenantID, n notify.Notice, to notify.Recipient) string {
	kind, id := forGuest, n.Recipient()
	if !to.Member.IsZero() {
		kind, id = forMember, to.Member.UUID
	}
	payload := append([]byte{kind}, id[:]...)
	return s.publicURL + UnsubscribePath + s.seals.Sign(in, unsubscribePurpose, append(payload, n.Topic...))
}

// Unsubscription is what a link stops.
type Unsubscription struct {
	Tenant string // its name
	Brand  brand.Brand
	Topic  notify.Topic

	in   tenant.TenantID
	kind byte
	id   tenant.UUID // of the member, or of the guest's booking
}

func (s *Service) readUnsubscribe(link string) (Unsubscription, error) {
	in, payload, err := s.seals.Verify(unsubscribePurpose, link)
	u := Unsubscription{in: in}
	if err != nil {
		return u, err
	}
	if len(payload) <= 1+len(u.id) {
		return u, seal.ErrLinkInvalid
	}
	u.kind = payload[0]
	copy(u.id[:], payload[1:])
	u.Topic = notify.Topic(payload[1+len(u.id):])
	return u, nil
}

// MadeUnsubscribe reports whether the last part of a link's URL was made by the service.
func (s *Service) MadeUnsubscribe(link string) bool {
	_, err := s.readUnsubscribe(link)
	return err == nil
}

// GetUnsubscribe returns what a link would stop. It changes nothing, because mail scanners open links before people do.
func (s *Service) GetUnsubscribe(ctx context.Context, link string) (Unsubscription, error) {
	u, err := s.readUnsubscribe(link)
	if err != nil {
		return u, err
	}
	var profile tenantProfile
	var batch pg.Batch
	profile.queue(&batch, u.in)
	err = s.engine.Read(ctx, tenant.System(u.in), &batch)
	u.Tenant, u.Brand = profile.name, profile.brand
	return u, err
}

// Unsubscribe stops mails: those of the link's topic, or all. Repeating it changes nothing.
func (s *Service) Unsubscribe(ctx context.Context, link string, all bool) (Unsubscription, error) {
	u, err := s.readUnsubscribe(link)
	if err != nil {
		return u, err
	}
	t := engine.Transaction{Name: "notification.unsubscribe"}
	unsubscribe := func(ctx context.Context, tx *engine.Tx) (profile tenantProfile, err error) {
		recipients := make(map[tenant.UUID]*notify.Recipient)
		subjects := make(map[tenant.UUID]*messagedb.Subject)
		var batch pg.Batch
		profile.queue(&batch, tx.Tenant)
		if u.kind == forMember {
			messagedb.ListRecipients(&batch, tx.Tenant, []tenant.MemberID{{UUID: u.id}}, s.opener(tx.Tenant), recipients)
		} else {
			messagedb.ListSubjects(&batch, tx.Tenant, []tenant.BookingID{{UUID: u.id}}, nil, nil, nil, subjects)
		}
		if err := tx.Load(ctx, &batch); err != nil {
			return profile, err
		}
		stop := messagedb.NotificationStop{Channel: delivery.Email, Reason: notify.Unsubscribed, At: tx.Now}
		if to := recipients[u.id]; to != nil {
			if !all {
				preferences := notify.Preferences{{Topic: u.Topic, Channel: delivery.Email}: false}
				messagedb.PutPreferences(tx.Tx, tx.Tenant, to.Member, preferences, tx.Now)
				return profile, nil
			}
			stop.Address = to.Email
		} else if guest := subjects[u.id]; guest != nil {
			stop.Address = guest.Email // guests have no preferences by topic
		}
		messagedb.PutStops(tx.Tx, tx.Tenant, stop)
		return profile, nil
	}
	profile, err := engine.Transact(ctx, s.engine, tenant.System(u.in), t, unsubscribe)
	u.Tenant, u.Brand = profile.name, profile.brand
	return u, err
}
