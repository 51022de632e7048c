package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/app/contacts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// ConfirmMemberContact makes a contact another member's, without a code, for messages. It signs nobody in: one that
// they entered, or that they have and have not confirmed. If it is another address than before, it does what another's
// edit of the address does: the sign-ins and the invitation of the old one end, and the old one is asked. It is for
// members whose address or number gets no more codes, because others have tried it, or whose number is no mobile one.
// Errors: MEMBER_NOT_FOUND, PERMISSION_DENIED, CONTACT_NOT_PENDING, ALREADY_EXISTS, QUOTA_EXCEEDED.
func (s *Service) ConfirmMemberContact(
	ctx context.Context, caller tenant.Caller, id tenant.MemberID, c member.Contact, reason string,
) (member.Member, error) {
	t := engine.Transaction{Name: "contact.confirm_by_hand", Replay: true}
	m, err := engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (member.Member, error) {
		before, _, facts, err := findMember(ctx, tx, id)
		if err != nil {
			return before, err
		}
		if tx.Caller.Member == id {
			return before, member.ErrOwnContact
		}
		if err := facts.Roles().CheckEditMember(facts.Editor(), before.Roles); err != nil {
			return before, err
		}
		all, err := loadPending(ctx, tx, id)
		if err != nil {
			return before, err
		}
		after, used, err := before.ConfirmByHand(c, contacts.Pending(all, c.Kind))
		if err != nil {
			return before, err
		}
		if err := s.addressChanged(ctx, tx, before, after); err != nil {
			return before, err
		}
		after = after.Enter(before, tx.Caller.Actor())
		after.Version, after.UpdatedAt = before.Version+1, tx.Now
		s.writeMember(tx, before, after)
		endWaysIn(tx, before, after, false)
		changed := []string{c.Kind.Field()}
		record.Audit(tx, "contact.confirmed_by_hand", "member", id.UUID, reason, map[string]any{
			"kind": string(c.Kind), "before": before.Contact(c.Kind).Address, "after": after.Contact(c.Kind).Address,
		})
		if used {
			accountdb.DeletePendingContact(tx.Tx, tx.Tenant, id, c.Kind)
			if kind := notify.EditOfAdmin(after.Roles, after.Active(), false, changed); kind != "" {
				rolesEvent(tx, id, event.AccessChangeOf(kind, after.Roles, after.Roles...))
			}
			changed = append(changed, "pending_contacts")
		}
		memberEvent(tx, id, changed)
		return after, nil
	})
	return m, memberTaken(err)
}
