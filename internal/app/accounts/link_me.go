package accounts

import (
	"context"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/mails"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// toldWithin is how long the mail about a linked account is worth sending.
const toldWithin = 7 * 24 * time.Hour

// LinkMe makes the caller, who is no member yet, the member with the email that the issuer of their token has verified,
// if emails link. A caller who is a member gets their membership. The issuer is empty for tokens that never link.
// Errors: NOT_A_MEMBER, INVITATION_REQUIRED.
func (s *Service) LinkMe(ctx context.Context, caller tenant.Caller, issuer string) (member.Member, error) {
	if !caller.Member.IsZero() {
		t := engine.Transaction{Name: "member.link", Replay: true, Quiet: true}
		linked, err := engine.Transact(ctx, s.engine, caller, t,
			func(ctx context.Context, tx *engine.Tx) (member.Member, error) {
				return engine.Find(ctx, tx, errNoMember, func(b *pg.Batch, into **member.Member) {
					accountdb.FindMember(b, tx.Tenant, tx.Caller.Member, into)
				})
			})
		return ownView(linked), err
	}
	if !s.linkByEmail || issuer == "" || caller.Email == "" || hasZeroByte(caller.Email) {
		return member.Member{}, member.ErrNotLinked
	}
	linked, err := changeAccess(ctx, s, caller, engine.Transaction{Name: "member.link", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (member.Member, error) {
			var before, other *member.Member
			var batch pg.Batch
			accountdb.FindMemberByEmail(&batch, tx.Tenant, caller.Email, &before)
			accountdb.FindMemberBySubject(&batch, tx.Tenant, caller.Subject, &other)
			if err := tx.Load(ctx, &batch); err != nil {
				return member.Member{}, err
			}
			if before == nil || other != nil { // the subject can be an inactive member's, or that of another issuer
				return member.Member{}, member.ErrNotLinked
			}
			change, err := findOpenChange(ctx, tx, before.ID)
			if err != nil {
				return member.Member{}, err
			}
			after, err := before.Link(caller.Subject, caller.Email, change, tx.Now)
			if err != nil {
				return member.Member{}, err
			}
			tx.Caller.Member = after.ID // what follows is the member's own act
			after.Version, after.UpdatedAt = before.Version+1, tx.Now
			accountdb.UpdateMember(tx.Tx, tx.Tenant, after)
			accountdb.EndAddressChange(tx.Tx, tx.Tenant, after.ID, tx.Now)
			accountdb.BindIssuer(tx.Tx, tx.Tenant, after.ID, issuer, []string{""})
			changed := member.ChangedFields(*before, after)
			record.Audit(tx, "member.linked", "member", after.ID.UUID, "",
				record.Changes(before.AuditValues(changed), after.AuditValues(changed)))
			memberEvent(tx, after.ID, changed)
			s.mails.Add(tx, mails.Mail{
				PlatformMail: content.PlatformMail{
					Kind: content.MailAccountLinked, To: after.Email, Name: after.Name, Locale: after.Locale,
				},
				About: after.ID.UUID, ExpiresAt: tx.Now.Add(toldWithin),
			})
			return after, nil
		})
	return ownView(linked), err
}
