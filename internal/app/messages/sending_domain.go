package messages

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/alarm"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/sending"
	"github.com/berthhq/berth/internal/tenant"
)

const (
	// keyBits is the length of keys that sign mails. RFC 8301 asks for it, and a longer one needs several texts.
	keyBits = 2048
	// lookupTime limits the look-up of a domain's records.
	lookupTime = 5 * time.Second
)

var errNoDomain = fault.Missing(fault.DomainNotFound, "Sending domain")

// addressMail sets from whom a mail is, and where replies go, if the tenant says so. The sender has an address if the
// platform's account sends the mail from the tenant's domain.
func addressMail(m *delivery.Message, s Senders, settings notify.Settings, profile tenantProfile) {
	m.From.Name = cmp.Or(settings.SenderName, profile.name)
	if settings.ReplyTo != "" {
		m.ReplyTo = delivery.Mailbox{Name: m.From.Name, Address: settings.ReplyTo}
	}
	if s.SMTP == nil && !s.FromPlatform() {
		m.From.Address = s.Domain.Address
		m.DKIM = &delivery.DKIM{Domain: s.Domain.Name(), Selector: s.Domain.Selector(), Key: s.Domain.Key}
	}
}

// newDomain makes the key and the proof of a domain that an edit of the senders sets; nil if it sets none, or only
// another address at the same domain. It makes the key before the transaction, because that is random and takes long.
func (s *Service) newDomain(
	ctx context.Context, in tenant.TenantID, edit func(*Senders),
) (*sending.Domain, error) {
	var asked Senders
	if edit(&asked); asked.Domain == nil {
		return nil, nil
	}
	_, platform, _ := strings.Cut(s.mailFrom, "@")
	domain, err := sending.NewDomain(asked.Domain.Address, platform, s.host())
	if err != nil {
		return nil, err
	}
	before, err := s.SendersOf(ctx, in)
	if err != nil || before.Domain != nil && before.Domain.Name() == domain.Name() {
		return &domain, err
	}
	s.making.Lock() // one at a time: each takes a processor for some tenths of a second
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	s.making.Unlock()
	if err != nil {
		return nil, err
	}
	domain.Token = strings.ToLower(rand.Text())
	if domain.Key, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		return nil, err
	}
	if domain.Public, err = x509.MarshalPKIXPublicKey(key.Public()); err != nil {
		return nil, err
	}
	return &domain, nil
}

// lookUp looks up the records of a domain. It returns what is wrong with the first one that is not as it should be:
// DNS_RECORD_MISSING, DNS_RECORD_DIFFERENT or DNS_UNAVAILABLE.
func (s *Service) lookUp(ctx context.Context, domain sending.Domain) error {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	for i, record := range domain.Records() {
		field := fmt.Sprintf("senders.domain.records[%d]", i)
		texts, err := s.lookupTXT(ctx, record.Name)
		if err != nil {
			return record.Unavailable().WithField(field).WithCause(err)
		}
		if wrong := record.Check(texts); wrong != nil {
			return wrong.WithField(field)
		}
	}
	return nil
}

// VerifySendingDomain looks up the records of the tenant's domain, and uses it from then on if they are there. Errors:
// SENDING_DOMAIN_NOT_FOUND, DNS_RECORD_MISSING, DNS_RECORD_DIFFERENT, DNS_UNAVAILABLE, ETAG_MISMATCH.
func (s *Service) VerifySendingDomain(ctx context.Context, caller tenant.Caller) (Senders, error) {
	read, err := s.SendersOf(ctx, caller.Tenant)
	if err != nil {
		return Senders{}, err
	}
	wrong := error(errNoDomain)
	if read.Domain != nil {
		wrong = s.lookUp(ctx, *read.Domain)
	}
	verify := func(ctx context.Context, tx *engine.Tx) (Senders, error) {
		senders, err := s.loadSenders(ctx, tx)
		if err == nil {
			err = cmp.Or(fault.CheckVersion(&read.Version, senders.Version), wrong)
		}
		if err != nil {
			return Senders{}, err
		}
		before := *senders.Domain
		after, _ := before.Looked(true, tx.Now)
		senders.Domain = &after
		if before.VerifiedAt.IsZero() {
			auditDomain(tx, "sending_domain.verified", after)
		}
		return senders.Public(), s.putSenders(tx, senders)
	}
	return s.changeSenders(ctx, caller, "sending_domain.verify", verify)
}

func auditDomain(tx *engine.Tx, action string, domain sending.Domain) {
	record.Audit(tx, action, "tenant", tx.Tenant.UUID, "", map[string]any{"domain": domain.Address})
}

// RunDomainChecks looks up the records of verified domains whenever that is due, until ctx ends. Sweeps set the
// alarms.
func (s *Service) RunDomainChecks(ctx context.Context, log *slog.Logger) {
	s.Domains.Run(ctx, s.engine.Now, 1, alarm.Logging(ctx, log, "checking a sending domain failed",
		func(in tenant.TenantID) error { return s.CheckDomain(ctx, in) }))
}

// CheckDomain looks up the records of a tenant's verified domain, if that is due. If they have been missing for too
// long, the domain lapses: mails come from the platform's address again, and the owners are told.
func (s *Service) CheckDomain(ctx context.Context, in tenant.TenantID) error {
	read, err := s.SendersOf(ctx, in)
	if err != nil || read.Domain == nil || read.Domain.CheckAt.IsZero() || read.Domain.CheckAt.After(s.engine.Now()) {
		return err
	}
	found := s.lookUp(ctx, *read.Domain) == nil
	t := engine.Transaction{Name: "sending_domain.check"}
	return engine.Exec(ctx, s.engine, tenant.System(in), t, func(ctx context.Context, tx *engine.Tx) error {
		senders, err := s.loadSenders(ctx, tx)
		if err != nil || senders.Domain == nil || senders.Version != read.Version ||
			!senders.Domain.CheckAt.Equal(read.Domain.CheckAt) {
			return err // it was changed, or another node has looked it up
		}
		after, lapsed := senders.Domain.Looked(found, tx.Now)
		senders.Domain = &after
		if lapsed {
			auditDomain(tx, "sending_domain.lapsed", after)
			if senders.SMTP == nil { // otherwise mails came from another address anyway
				err := s.tellOwners(ctx, tx, func(owner tenant.MemberID, lapse tenant.UUID) notify.Notice {
					return notify.NewDomainLapsed(owner, lapse, after.Address, tx.Now)
				})
				if err != nil {
					return err
				}
			}
		}
		return s.putSenders(tx, senders)
	})
}

// tellOwners leaves a notice for each owner. Thing is new, and the same for all.
func (s *Service) tellOwners(
	ctx context.Context, tx *engine.Tx, notice func(owner tenant.MemberID, thing tenant.UUID) notify.Notice,
) error {
	var owners []notify.Person
	var batch pg.Batch
	messagedb.ListAccessPeople(&batch, tx.Tenant, nil, &owners)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	thing := tenant.NextID[tenant.EventID](tx.IDs)
	var notices []notify.Notice
	for _, owner := range owners {
		n := notice(owner.Member, thing.UUID)
		n.ID = tenant.NextID[tenant.NoticeID](tx.IDs)
		notices = append(notices, n)
	}
	messagedb.InsertNotices(tx.Tx, tx.Tenant, notices, tx.Now, func(at time.Time) { s.Notices.Set(tx.Tenant, at) })
	return nil
}
