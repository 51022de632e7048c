package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/app/contacts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/brand"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// UpdateMe edits the caller's own membership. It returns the member and the contacts that are pending then: a new email
// or phone has to be confirmed first.
func (s *Service) UpdateMe(
	ctx context.Context, caller tenant.Caller, expect *int, edit func(*member.Member) error,
) (Me, error) {
	m, err := s.updateSelf(ctx, caller, expect, edit)
	if err != nil {
		return Me{}, err
	}
	pending, err := s.listPending(ctx, caller)
	return Me{Member: ownView(m), Pending: pending}, err
}

// updateSelf edits the caller's own membership. New contacts are pending, so that they have to be confirmed.
func (s *Service) updateSelf(
	ctx context.Context, caller tenant.Caller, expect *int, edit func(*member.Member) error,
) (member.Member, error) {
	codes := make(map[member.ContactKind]contacts.Code)
	for _, k := range member.ContactKinds() {
		code, err := s.codes.New(caller.Tenant)
		if err != nil {
			return member.Member{}, err
		}
		codes[k] = code
	}
	return s.updateMember(ctx, caller, caller.Member, expect, edit,
		func(ctx context.Context, tx *engine.Tx, before, after member.Member) (member.Member, error) {
			held, changes := member.HoldContacts(before, after, caller.Email)
			for _, c := range changes {
				tell := true
				if c.NeedsCode {
					var err error
					if _, tell, err = s.codes.Ask(ctx, tx, caller.Member, c.To, codes[c.To.Kind], false); err != nil {
						return held, err
					}
				} else {
					accountdb.DeletePendingContact(tx.Tx, tx.Tenant, caller.Member, c.To.Kind)
					if c.To.Kind == member.ByEmail {
						accountdb.EndAddressChange(tx.Tx, tx.Tenant, caller.Member, tx.Now)
					}
				}
				if tell {
					contacts.Tell(tx, caller.Member, c.From)
				}
			}
			return held, nil
		})
}

func (s *Service) listPending(ctx context.Context, caller tenant.Caller) ([]member.PendingContact, error) {
	all := make(map[tenant.MemberID][]member.PendingContact)
	var batch pg.Batch
	accountdb.ListPendingContacts(&batch, caller.Tenant, []tenant.MemberID{caller.Member}, all)
	err := s.engine.Read(ctx, caller, &batch)
	return all[caller.Member], err
}

// loadPending reads the contacts of a member that wait for confirmation.
func loadPending(ctx context.Context, tx *engine.Tx, of tenant.MemberID) ([]member.PendingContact, error) {
	all := make(map[tenant.MemberID][]member.PendingContact)
	var batch pg.Batch
	accountdb.ListPendingContacts(&batch, tx.Tenant, []tenant.MemberID{of}, all)
	err := tx.Load(ctx, &batch)
	return all[of], err
}

// ResendContactCode sends a new code to the caller's pending contact of a kind, or else to the one that they have and
// have not confirmed. Errors: CONTACT_NOT_PENDING, CONTACT_COUNTRY, CONTACT_NOT_MOBILE, QUOTA_EXCEEDED.
func (s *Service) ResendContactCode(
	ctx context.Context, caller tenant.Caller, kind member.ContactKind,
) (member.PendingContact, error) {
	code, err := s.codes.New(caller.Tenant)
	if err != nil {
		return member.PendingContact{}, err
	}
	t := engine.Transaction{Name: "contact.resend", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t,
		func(ctx context.Context, tx *engine.Tx) (member.PendingContact, error) {
			m, pending, err := findPending(ctx, tx, kind)
			if err != nil {
				return member.PendingContact{}, err
			}
			to, err := m.ContactToConfirm(kind, pending, caller.Email)
			if err != nil {
				return member.PendingContact{}, err
			}
			sent, _, err := s.codes.Ask(ctx, tx, m.ID, to, code, true)
			return sent, err
		})
}

// CancelContact removes the caller's pending contact of a kind, if there is one.
func (s *Service) CancelContact(ctx context.Context, caller tenant.Caller, kind member.ContactKind) error {
	return engine.Exec(ctx, s.engine, caller, engine.Transaction{Name: "contact.cancel", Replay: true},
		func(ctx context.Context, tx *engine.Tx) error {
			m, pending, err := findPending(ctx, tx, kind)
			if err != nil || pending == nil {
				return err
			}
			accountdb.DeletePendingContact(tx.Tx, tx.Tenant, m.ID, kind)
			contacts.Changed(tx, m.ID)
			return nil
		})
}

// findPending reads the caller's membership, and their pending contact of a kind; nil if there is none.
func findPending(
	ctx context.Context, tx *engine.Tx, kind member.ContactKind,
) (member.Member, *member.PendingContact, error) {
	all := make(map[tenant.MemberID][]member.PendingContact)
	m, err := engine.Find(ctx, tx, errNoMember, func(b *pg.Batch, into **member.Member) {
		accountdb.FindMember(b, tx.Tenant, tx.Caller.Member, into)
		accountdb.ListPendingContacts(b, tx.Tenant, []tenant.MemberID{tx.Caller.Member}, all)
	})
	return m, contacts.Pending(all[tx.Caller.Member], kind), err
}

// confirmation is the result of a guess. The stored guess must survive, so a wrong code is no error of the operation.
type confirmation struct {
	Member member.Member
	Wrong  *fault.Error
}

// ConfirmContact makes the caller's pending contact of a kind theirs, if the code is right. Errors:
// CONTACT_NOT_PENDING, CONTACT_CODE_INVALID, CONTACT_CODE_EXPIRED, ALREADY_EXISTS.
func (s *Service) ConfirmContact(
	ctx context.Context, caller tenant.Caller, kind member.ContactKind, code string,
) (member.Member, error) {
	return s.confirm(ctx, caller, kind,
		func(ctx context.Context, tx *engine.Tx, p member.PendingContact) (right bool, guesses int, err error) {
			guesses, err = s.codes.CountGuesses(ctx, tx, p.Contact)
			return s.codes.Matches(caller.Tenant, caller.Member, p, code), guesses, err
		})
}

// confirm makes the caller's pending contact of a kind theirs, if check finds what they have right. Guesses is how many
// wrong codes the address has got.
func (s *Service) confirm(
	ctx context.Context, caller tenant.Caller, kind member.ContactKind,
	check func(ctx context.Context, tx *engine.Tx, p member.PendingContact) (right bool, guesses int, err error),
) (member.Member, error) {
	t := engine.Transaction{Name: "contact.confirm", Replay: true}
	done, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (confirmation, error) {
		m, pending, err := findPending(ctx, tx, kind)
		switch {
		case err != nil:
			return confirmation{}, err
		case !m.Active():
			return confirmation{}, errNoMember // a link can be opened without signing in
		case pending == nil:
			return confirmation{}, member.ErrNotPending
		}
		right, guesses, err := check(ctx, tx, *pending)
		if err != nil {
			return confirmation{}, err
		}
		guessed, wrong := pending.Guess(right, guesses, tx.Now)
		if wrong != nil {
			if guessed.Guesses > pending.Guesses {
				accountdb.PutPendingContact(tx.Tx, tx.Tenant, m.ID, guessed)
				accountdb.PutGuesses(tx.Tx, tx.Tenant, pending.Code, guessed.Guesses)
			}
			return confirmation{Wrong: wrong}, nil
		}
		after := m.Confirm(pending.Contact)
		if kind == member.ByEmail { // who has the code, and asked for it signed in as the member, has the address
			after = after.Prove(pending.Address)
			accountdb.EndAddressChange(tx.Tx, tx.Tenant, m.ID, tx.Now)
		}
		after.Version, after.UpdatedAt = m.Version+1, tx.Now
		s.writeMember(tx, m, after)
		accountdb.DeletePendingContact(tx.Tx, tx.Tenant, m.ID, kind)
		changed := []string{kind.Field()}
		record.Audit(tx, "contact.confirmed", "member", m.ID.UUID, "",
			record.Changes(m.AuditValues(changed), after.AuditValues(changed)))
		memberEvent(tx, m.ID, append(changed, "pending_contacts"))
		return confirmation{Member: ownView(after)}, nil
	})
	if err == nil && done.Wrong != nil {
		err = done.Wrong
	}
	return done.Member, memberTaken(err)
}

// ConfirmPath is the URL path of the links in mails that confirm an address.
const ConfirmPath = contacts.LinkPath

// ContactLink is what a link in a mail confirms.
type ContactLink struct {
	Tenant  string // its name
	Brand   brand.Brand
	Address string
	Open    bool // the link can still be used
}

// MadeContactLink reports whether the last part of a link's URL was made by the service.
func (s *Service) MadeContactLink(link string) bool {
	_, err := s.codes.ReadLink(link)
	return err == nil
}

// GetContactLink returns what a link would confirm. It changes nothing, because mail scanners open links before people
// do. Errors: LINK_INVALID.
func (s *Service) GetContactLink(ctx context.Context, link string) (ContactLink, error) {
	l, err := s.codes.ReadLink(link)
	if err != nil {
		return ContactLink{}, err
	}
	caller := l.Caller()
	owner, err := engine.Get(ctx, s.engine, caller, errNoMember, func(b *pg.Batch, into **catalog.Tenant) {
		accountdb.FindTenant(b, caller.Tenant, into)
	})
	if err != nil {
		return ContactLink{}, err
	}
	shown := ContactLink{Tenant: owner.Name, Brand: owner.Brand}
	pending, err := s.listPending(ctx, caller)
	if p := contacts.Pending(pending, member.ByEmail); p != nil && p.Code == l.Code {
		shown.Address, shown.Open = p.Address, p.Open(s.engine.Now())
	}
	return shown, err
}

// ConfirmByLink makes the email address to which a link was sent that of the member who entered it. Errors:
// LINK_INVALID, CONTACT_NOT_PENDING, CONTACT_CODE_EXPIRED, ALREADY_EXISTS.
func (s *Service) ConfirmByLink(ctx context.Context, link string) error {
	l, err := s.codes.ReadLink(link)
	if err != nil {
		return err
	}
	_, err = s.confirm(ctx, l.Caller(), member.ByEmail,
		func(_ context.Context, _ *engine.Tx, p member.PendingContact) (right bool, guesses int, err error) {
			return true, 0, p.CheckNewest(l.Code) // a signed link is no guess
		})
	return err
}

// SweepCodes deletes the codes that no longer count.
func (s *Service) SweepCodes(ctx context.Context, in tenant.TenantID) error {
	until := s.engine.Now().Add(-member.CodeDay)
	return engine.Exec(ctx, s.engine, tenant.System(in), engine.Transaction{Name: "sweep.contact_codes"},
		func(_ context.Context, tx *engine.Tx) error {
			accountdb.DeleteOldCodes(tx.Tx, tx.Tenant, until)
			return nil
		})
}
