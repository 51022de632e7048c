package mails

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berthhq/berth/internal/alarm"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// Config is what a Service needs.
type Config struct {
	Engine *engine.Engine
	Seals  seal.Keys
	// From is the address that the mails come from. Default: that of the sender's account.
	From string
	// ReportTo is the address in the mails to which misuse is reported. Default: From.
	ReportTo string
}

// Service hands out the mails that are due. All nodes may have one: each mail is taken by one of them.
type Service struct {
	// Due has an alarm for each tenant's next mail.
	Due alarm.Clock

	engine *engine.Engine
	seals  seal.Keys
	from   string
	report string
}

// New makes a Service.
func New(c Config) *Service {
	return &Service{engine: c.Engine, seals: c.Seals, from: c.From, report: cmp.Or(c.ReportTo, c.From)}
}

// Run calls deliver for a tenant whenever one of its mails is due, for up to width tenants at once, until ctx ends.
func (s *Service) Run(ctx context.Context, width int, deliver func(tenant.TenantID)) {
	s.Due.Run(ctx, s.engine.Now, width, deliver)
}

// SetAlarm sets the alarm of a tenant after a delay.
func (s *Service) SetAlarm(in tenant.TenantID, wait time.Duration) {
	s.Due.Set(in, s.engine.Now().Add(wait))
}

const (
	// maxTaken is how many mails Take takes at once.
	maxTaken = 20
	// lease is how long an attempt has. After it, the mail is another attempt's: the node may have ended.
	lease = 2 * time.Minute
)

// Outgoing is a mail to send now.
type Outgoing struct {
	Kind    content.MailKind
	Message delivery.Message

	mail accountdb.PlatformMail // counts this attempt
}

// Taken are the mails to send now. Those whose time was over are gone.
type Taken struct {
	Out     []Outgoing
	Expired []content.MailKind
	More    bool // there may be more that are due
}

// Take takes a tenant's mails that are due. Nobody else gets them within the lease. Settle ends it.
func (s *Service) Take(ctx context.Context, in tenant.TenantID) (Taken, error) {
	var frame content.MailFrame
	t := engine.Transaction{Name: "platform_mail.take", Quiet: true}
	taken, err := engine.Transact(ctx, s.engine, tenant.System(in), t,
		func(ctx context.Context, tx *engine.Tx) (Taken, error) {
			var due []accountdb.PlatformMail
			var owner *catalog.Tenant
			var batch pg.Batch
			accountdb.ListDueMails(&batch, in, tx.Now, maxTaken, &due)
			accountdb.FindTenant(&batch, in, &owner)
			if err := tx.Load(ctx, &batch); err != nil || owner == nil {
				return Taken{}, err
			}
			frame = content.MailFrame{
				Tenant: owner.Name, Locale: owner.Locale, Zone: zoneOf(*owner), Report: s.report,
			}
			taken := Taken{More: len(due) == maxTaken}
			for _, m := range due {
				if !tx.Now.Before(m.ExpiresAt) {
					accountdb.DeletePlatformMail(tx.Tx, in, m.ID)
					taken.Expired = append(taken.Expired, content.MailKind(m.Kind))
					continue
				}
				m.Attempts, m.DueAt = m.Attempts+1, tx.Now.Add(lease)
				accountdb.UpdatePlatformMail(tx.Tx, in, m)
				taken.Out = append(taken.Out, Outgoing{Kind: content.MailKind(m.Kind), mail: m})
			}
			return taken, nil
		})
	if err != nil {
		return Taken{}, err
	}
	var failed []error
	readable := taken.Out[:0]
	for _, o := range taken.Out {
		if o.Message, err = s.message(in, frame, o.mail); err != nil {
			failed = append(failed, err)
			continue // until it expires: its secret may come back
		}
		readable = append(readable, o)
	}
	taken.Out = readable
	return taken, errors.Join(append(failed, s.awaitNext(ctx, in))...)
}

func zoneOf(t catalog.Tenant) *time.Location {
	zone, err := time.LoadLocation(t.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// message opens a mail.
func (s *Service) message(
	in tenant.TenantID, frame content.MailFrame, m accountdb.PlatformMail,
) (delivery.Message, error) {
	text, err := s.seals.Open(in, m.Sealed)
	if err != nil {
		return delivery.Message{}, fmt.Errorf("mails: %s %s is not readable: %w", m.Kind, m.ID, err)
	}
	mail, err := content.ReadPlatformMail(text)
	if err != nil {
		return delivery.Message{}, err
	}
	message, err := mail.Message(frame)
	message.ID, message.ExpiresAt = tenant.DeliveryID{UUID: m.ID.UUID}, m.ExpiresAt
	message.From.Address = s.from
	return message, err
}

// awaitNext sets the alarm for a tenant's next mail, whichever node queued it.
func (s *Service) awaitNext(ctx context.Context, in tenant.TenantID) error {
	var next *time.Time
	var batch pg.Batch
	accountdb.FindNextMail(&batch, in, &next)
	err := s.engine.Read(ctx, tenant.System(in), &batch)
	if err == nil && next != nil {
		s.Due.Set(in, *next)
	}
	return err
}

// Result is what became of a mail.
type Result string

// The results.
const (
	Sent    Result = "sent"
	Retry   Result = "retry"   // later
	Refused Result = "refused" // for good
	Expired Result = "expired" // before it could be sent
)

// backoff is between attempts. A code is good for ten minutes: those after the first come soon.
var backoff = delivery.Backoff{Base: 5 * time.Second, Max: 10 * time.Minute}

// Settle records what became of an attempt, whose error is the sender's, or nil.
func (s *Service) Settle(ctx context.Context, in tenant.TenantID, o Outgoing, failure error) (Result, error) {
	random := rand.Float64() //nolint:gosec // spreads retries over time
	t := engine.Transaction{Name: "platform_mail.settle", Quiet: true}
	result, err := engine.Transact(ctx, s.engine, tenant.System(in), t,
		func(_ context.Context, tx *engine.Tx) (Result, error) {
			mail := o.mail
			result, at := decide(mail, failure, tx.Now, random)
			if result == Retry {
				mail.DueAt = at
				accountdb.DelayPlatformMail(tx.Tx, in, mail)
			} else {
				accountdb.DeletePlatformMail(tx.Tx, in, mail.ID)
			}
			if result == Sent && o.Kind == content.MailAddressChanged {
				accountdb.TellAddressChange(tx.Tx, in, tenant.AddressChangeID{UUID: mail.About}, tx.Now)
			}
			return result, nil
		})
	return result, cmp.Or(err, s.awaitNext(ctx, in))
}

// decide returns what becomes of a mail after an attempt, and when the next one is. An attempt without an answer is
// repeated: that a mail comes twice is better than that nobody can sign in.
func decide(m accountdb.PlatformMail, failure error, now time.Time, random float64) (Result, time.Time) {
	if failure == nil {
		return Sent, time.Time{}
	}
	var after time.Duration
	if known, ok := errors.AsType[*delivery.Error](failure); ok {
		switch known.Kind {
		case delivery.Permanent, delivery.Unregistered, delivery.OptedOut:
			return Refused, time.Time{}
		case delivery.Transient, delivery.Misconfigured, delivery.Unknown:
		}
		after = known.RetryAfter
	}
	at, ok := backoff.Next(now, m.Attempts, random, after, m.ExpiresAt)
	if !ok {
		return Expired, time.Time{}
	}
	return Retry, at
}
