package accounts

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// AddressPath is the URL path of the links by which an old address agrees to a change or refuses it.
const AddressPath = "/address/"

const (
	// addressPurpose keeps a signature from being used for other links.
	addressPurpose = "address"
	// addressMailLife is how long the mails to an old address are tried.
	addressMailLife = 30 * 24 * time.Hour
)

// addressChanged ends the change of a member's address that is open, and asks the address with which they have signed
// in about the one that another gives them. Errors: QUOTA_EXCEEDED.
func (s *Service) addressChanged(ctx context.Context, tx *engine.Tx, before, after member.Member) error {
	if before.Contact(member.ByEmail).Key() == after.Contact(member.ByEmail).Key() {
		return nil
	}
	var others int
	var batch pg.Batch
	accountdb.CountAddressChanges(&batch, tx.Tenant, after.ID, tx.Now.Add(-member.AddressDay), &others)
	if err := tx.Load(ctx, &batch); err != nil {
		return err
	}
	id := tenant.NextID[tenant.AddressChangeID](tx.IDs)
	change, err := after.ChangeAddress(id, tx.Caller.Actor(), others, tx.Now)
	if err != nil {
		return err
	}
	accountdb.EndAddressChange(tx.Tx, tx.Tenant, after.ID, tx.Now)
	if change == nil {
		return nil
	}
	accountdb.InsertAddressChange(tx.Tx, tx.Tenant, *change)
	for _, due := range []time.Time{tx.Now, tx.Now.Add(member.TellAgain)} {
		s.mails.Add(tx, mails.Mail{
			PlatformMail: content.PlatformMail{
				Kind: content.MailAddressChanged, To: change.From, Name: after.Name, Locale: after.Locale,
				Address: change.To, Until: tx.Now.Add(member.AddressWait),
				Link: s.publicURL + AddressPath + s.seals.Sign(tx.Tenant, addressPurpose, change.ID.UUID[:]),
			},
			About: change.ID.UUID, DueAt: due, ExpiresAt: tx.Now.Add(addressMailLife),
		})
	}
	record.Audit(tx, "member.address_asked", "member", after.ID.UUID, "",
		map[string]any{"from": change.From, "to": change.To})
	return nil
}

// findOpenChange reads the open change of a member's address; nil if there is none.
func findOpenChange(ctx context.Context, tx *engine.Tx, of tenant.MemberID) (*member.AddressChange, error) {
	var change *member.AddressChange
	var batch pg.Batch
	accountdb.FindOpenAddressChange(&batch, tx.Tenant, of, &change)
	err := tx.Load(ctx, &batch)
	return change, err
}

// AddressLink is what the link of a mail to an old address shows.
type AddressLink struct {
	Tenant  string // its name
	Brand   brand.Brand
	Address string // the new one; most of it is hidden
	Agreed  bool
}

// GetAddressLink returns about which change a link decides. It changes nothing, because mail scanners open links before
// people do. Errors: LINK_INVALID, also for changes that have ended.
func (s *Service) GetAddressLink(ctx context.Context, link string) (AddressLink, error) {
	in, id, err := s.readAddressLink(link)
	if err != nil {
		return AddressLink{}, err
	}
	var change *member.AddressChange
	var owner *catalog.Tenant
	var batch pg.Batch
	accountdb.FindAddressChange(&batch, in, id, &change)
	accountdb.FindTenant(&batch, in, &owner)
	if err := s.engine.Read(ctx, tenant.System(in), &batch); err != nil {
		return AddressLink{}, err
	}
	if change == nil || owner == nil || change.EndedAt != nil {
		return AddressLink{}, seal.ErrLinkInvalid
	}
	return AddressLink{
		Tenant: owner.Name, Brand: owner.Brand, Address: delivery.Mask(delivery.Email, change.To),
		Agreed: change.AgreedAt != nil,
	}, nil
}

// AgreeToAddress lets the new address sign in, once it is proven. Errors: LINK_INVALID.
func (s *Service) AgreeToAddress(ctx context.Context, link string) error {
	return s.decideAddress(ctx, link, "address_change.agree",
		func(_ context.Context, tx *engine.Tx, c member.AddressChange, m member.Member) error {
			if c.AgreedAt != nil {
				return nil
			}
			accountdb.AgreeToAddressChange(tx.Tx, tx.Tenant, c.ID, tx.Now)
			record.Audit(tx, "member.address_agreed", "member", m.ID.UUID, "", map[string]any{"to": c.To})
			return nil
		})
}

// RefuseAddress puts the old address back, unless another member has it by now: then the member has none. Errors:
// LINK_INVALID.
func (s *Service) RefuseAddress(ctx context.Context, link string) error {
	return s.decideAddress(ctx, link, "address_change.refuse",
		func(ctx context.Context, tx *engine.Tx, c member.AddressChange, before member.Member) error {
			var holder *member.Member
			var batch pg.Batch
			accountdb.FindMemberByEmail(&batch, tx.Tenant, c.From, &holder)
			if err := tx.Load(ctx, &batch); err != nil {
				return err
			}
			accountdb.RefuseAddressChange(tx.Tx, tx.Tenant, c.ID, tx.Now)
			after := before.Refuse(c, holder != nil && holder.ID != before.ID)
			if changed := member.ChangedFields(before, after); len(changed) > 0 {
				after.Version, after.UpdatedAt = before.Version+1, tx.Now
				s.writeMember(tx, before, after)
				accountdb.DeletePendingContact(tx.Tx, tx.Tenant, after.ID, member.ByEmail)
				accountdb.EndInvitations(tx.Tx, tx.Tenant, after.ID, tx.Now)
				memberEvent(tx, after.ID, changed)
			}
			record.Audit(tx, "member.address_refused", "member", after.ID.UUID, "",
				map[string]any{"before": before.Email, "after": after.Email})
			return nil
		})
}

// decideAddress carries out what the old address decides about an open change.
func (s *Service) decideAddress(
	ctx context.Context, link, name string,
	decide func(ctx context.Context, tx *engine.Tx, c member.AddressChange, m member.Member) error,
) error {
	in, id, err := s.readAddressLink(link)
	if err != nil {
		return err
	}
	t := engine.Transaction{Name: name, Races: []engine.Race{takenRace}}
	return engine.Exec(ctx, s.engine, tenant.System(in), t, func(ctx context.Context, tx *engine.Tx) error {
		var change *member.AddressChange
		m, err := engine.Find(ctx, tx, seal.ErrLinkInvalid, func(b *pg.Batch, into **member.Member) {
			accountdb.FindAddressChange(b, in, id, &change)
			accountdb.FindMemberOfAddressChange(b, in, id, into)
		})
		if err != nil {
			return err
		}
		if change == nil || change.EndedAt != nil {
			return seal.ErrLinkInvalid
		}
		tx.Caller = tenant.Caller{Tenant: in, Member: m.ID, SelfOnly: true} // the link is the permission
		return decide(ctx, tx, *change, m)
	})
}

// MadeAddressLink reports whether the last part of a link's URL was made by the service.
func (s *Service) MadeAddressLink(link string) bool {
	_, _, err := s.readAddressLink(link)
	return err == nil
}

// readAddressLink reads the last part of a link's URL. Errors: LINK_INVALID.
func (s *Service) readAddressLink(link string) (in tenant.TenantID, id tenant.AddressChangeID, err error) {
	in, says, err := s.seals.Verify(addressPurpose, link)
	if err == nil && len(says) != len(id.UUID) {
		err = seal.ErrLinkInvalid
	}
	if err != nil {
		return in, id, err
	}
	copy(id.UUID[:], says)
	return in, id, nil
}

// SweepInvitations deletes invitations that expired long ago. The audit log keeps them.
func (s *Service) SweepInvitations(ctx context.Context, in tenant.TenantID) error {
	until := s.engine.Now().Add(-member.InvitationsKept)
	t := engine.Transaction{Name: "sweep.invitations", Quiet: true}
	return engine.Exec(ctx, s.engine, tenant.System(in), t, func(_ context.Context, tx *engine.Tx) error {
		accountdb.DeleteOldInvitations(tx.Tx, tx.Tenant, until)
		return nil
	})
}

// SweepAddressChanges deletes changes of addresses that ended long ago. The audit log keeps them.
func (s *Service) SweepAddressChanges(ctx context.Context, in tenant.TenantID) error {
	until := s.engine.Now().Add(-member.AddressChangeLife)
	t := engine.Transaction{Name: "sweep.address_changes", Quiet: true}
	return engine.Exec(ctx, s.engine, tenant.System(in), t, func(_ context.Context, tx *engine.Tx) error {
		accountdb.DeleteOldAddressChanges(tx.Tx, tx.Tenant, until)
		return nil
	})
}
