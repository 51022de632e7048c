package accounts

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// maxTransfers is the maximum number of transfers in a list.
const maxTransfers = 100

var errNoTransfer = fault.Missing(fault.TransferNotFound, "Transfer of ownership")

// TransferOwnership offers the caller's ownership to another member. It replaces the caller's open transfer.
func (s *Service) TransferOwnership(
	ctx context.Context, caller tenant.Caller, to tenant.MemberID,
) (grant.Transfer, error) {
	return engine.Transact(ctx, s.engine, caller, engine.Transaction{Name: "ownership.transfer", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (grant.Transfer, error) {
			var from *member.Member
			receiver, err := engine.Find(ctx, tx, errNoMember, func(b *pg.Batch, into **member.Member) {
				accountdb.FindMember(b, tx.Tenant, tx.Caller.Member, &from)
				accountdb.FindMember(b, tx.Tenant, to, into)
			})
			if err != nil {
				return grant.Transfer{}, err
			}
			if from == nil || !from.IsActiveOwner() {
				return grant.Transfer{}, fault.MissingPermission(grant.ManageAdmins)
			}
			transfer, err := grant.NewTransfer(tenant.NextID[tenant.TransferID](tx.IDs),
				party(*from), party(receiver), receiver.Active(), tx.Now)
			if err != nil {
				return transfer, err
			}
			accountdb.PutTransfer(tx.Tx, tx.Tenant, transfer)
			transferChanged(tx, "ownership.offered", transfer, notify.TransferOffered, nil)
			return transfer, nil
		})
}

func party(m member.Member) grant.Party { return grant.Party{Member: m.ID, Name: m.Name} }

// ConfirmOwnershipTransfer makes the caller an owner, and the sender of the transfer an admin. It returns the caller's
// roles.
func (s *Service) ConfirmOwnershipTransfer(
	ctx context.Context, caller tenant.Caller, id tenant.TransferID,
) ([]string, error) {
	t := engine.Transaction{Name: "ownership_transfer.confirm", Replay: true}
	return changeAccess(ctx, s, caller, t, func(ctx context.Context, tx *engine.Tx) ([]string, error) {
		var receiver *member.Member
		transfer, facts, err := findWithRoleFacts(ctx, tx, errNoTransfer, func(b *pg.Batch, into **grant.Transfer) {
			accountdb.FindTransfer(b, tx.Tenant, id, into)
			accountdb.FindMember(b, tx.Tenant, tx.Caller.Member, &receiver)
		})
		switch {
		case err != nil:
			return nil, err
		case receiver == nil || !receiver.Active() || transfer.To.Member != receiver.ID || !transfer.Open(tx.Now):
			return nil, errNoTransfer
		}
		roles := receiver.Roles
		if !slices.Contains(roles, tenant.RoleOwner) {
			roles = append(slices.Clone(roles), tenant.RoleOwner)
			grant.Sort(roles)
		}
		if err := s.proveAnew(ctx, tx, facts, growthOf(facts, *receiver, roles)); err != nil {
			return nil, err
		}
		accountdb.InsertMemberRole(tx.Tx, tx.Tenant, receiver.ID, tenant.RoleOwner, tx.Now)
		accountdb.InsertMemberRole(tx.Tx, tx.Tenant, transfer.From.Member, tenant.RoleAdmin, tx.Now)
		accountdb.DeleteMemberRole(tx.Tx, tx.Tenant, transfer.From.Member, tenant.RoleOwner)
		endTransfers(tx, transfer.From.Member)
		transferChanged(tx, "ownership.transferred", transfer, notify.TransferConfirmed, roles)
		return roles, nil
	})
}

// CancelOwnershipTransfer ends a transfer that has not been confirmed: owners withdraw it, or the receiver declines
// it.
func (s *Service) CancelOwnershipTransfer(ctx context.Context, caller tenant.Caller, id tenant.TransferID) error {
	return engine.Exec(ctx, s.engine, caller, engine.Transaction{Name: "ownership_transfer.cancel", Replay: true},
		func(ctx context.Context, tx *engine.Tx) error {
			transfer, err := engine.Find(ctx, tx, errNoTransfer, func(b *pg.Batch, into **grant.Transfer) {
				accountdb.FindTransfer(b, tx.Tenant, id, into)
			})
			if err == nil && (!tx.Caller.CanAccess(transfer.To.Member) || !transfer.Open(tx.Now)) {
				err = errNoTransfer
			}
			if err != nil {
				return err
			}
			accountdb.DeleteTransfer(tx.Tx, tx.Tenant, id)
			transferChanged(tx, "ownership.cancelled", transfer, notify.TransferCancelled, nil)
			return nil
		})
}

// endTransfers ends the transfers from and to a member who is no owner any more, or inactive. Otherwise they would
// come back with the role, and a receiver who was removed as an owner could confirm an older one.
func endTransfers(tx *engine.Tx, id tenant.MemberID) {
	accountdb.DeleteTransfersOf(tx.Tx, tx.Tenant, id)
}

// ListOwnershipTransfers reads the open transfers: all for owners, those to the caller for others.
func (s *Service) ListOwnershipTransfers(ctx context.Context, caller tenant.Caller) ([]grant.Transfer, error) {
	var to tenant.MemberID
	if caller.SelfOnly {
		to = caller.Member
	}
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]grant.Transfer) {
		accountdb.ListTransfers(b, caller.Tenant, to, s.engine.Now(), maxTransfers, into)
	})
}

// transferChanged records what happened to a transfer. Owners and the receiver are told. The roles are those that the
// receiver has now; nil if they stay.
func transferChanged(
	tx *engine.Tx, action string, t grant.Transfer, kind notify.AccessChangeKind, roles []string,
) {
	parties := map[string]any{"from_member_id": t.From.Member.String(), "to_member_id": t.To.Member.String()}
	record.Audit(tx, action, "member", t.To.Member.UUID, "", parties)
	data := event.AccessChangeOf(kind, roles, tenant.RoleOwner)
	data.FromMember = t.From.Member
	rolesEvent(tx, t.To.Member, data)
}
