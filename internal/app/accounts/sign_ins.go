package accounts

import (
	"context"
	"slices"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

// WaysIn is where a member is signed in with Berth itself, and what signs them in.
type WaysIn struct {
	SignIns  []signin.ListedSignIn
	Passkeys []signin.Passkey
}

// ListSignIns reads where a member is signed in with Berth itself: the caller, if it names none. Errors:
// MEMBER_NOT_FOUND.
func (s *Service) ListSignIns(ctx context.Context, caller tenant.Caller, of tenant.MemberID) (WaysIn, error) {
	of, err := ownMember(caller, of)
	if err != nil {
		return WaysIn{}, err
	}
	var all WaysIn
	_, err = engine.Get(ctx, s.engine, caller, errNoMember, func(b *pg.Batch, into **member.Member) {
		accountdb.FindMember(b, caller.Tenant, of, into)
		accountdb.ListSignIns(b, caller.Tenant, of, caller.SignIn, s.engine.Now(), &all.SignIns)
		accountdb.ListPasskeys(b, caller.Tenant, of, &all.Passkeys)
	})
	return all, err
}

// SignInQuery selects sign-ins of a member.
type SignInQuery struct {
	Member      tenant.MemberID   // zero: the caller
	IDs         []tenant.SignInID // empty: all
	KeepCurrent bool              // not the one that the request comes from
}

func (q SignInQuery) has(s signin.ListedSignIn) bool {
	return (len(q.IDs) == 0 || slices.Contains(q.IDs, s.ID)) && (!q.KeepCurrent || !s.Current)
}

// EndSignIns signs a member out, and gives how many sign-ins it ended. Errors: MEMBER_NOT_FOUND, PERMISSION_DENIED.
func (s *Service) EndSignIns(ctx context.Context, caller tenant.Caller, q SignInQuery) (ended int, err error) {
	of, err := ownMember(caller, q.Member)
	if err != nil {
		return 0, err
	}
	t := engine.Transaction{Name: "sign_ins.end", Replay: true}
	return engine.Transact(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) (int, error) {
		var all []signin.ListedSignIn
		m, facts, err := findWithRoleFacts(ctx, tx, errNoMember, func(b *pg.Batch, into **member.Member) {
			accountdb.FindMember(b, tx.Tenant, of, into)
			accountdb.ListSignIns(b, tx.Tenant, of, tx.Caller.SignIn, tx.Now, &all)
		})
		if err == nil && m.ID != tx.Caller.Member {
			err = facts.Roles().CheckEditMember(facts.Editor(), m.Roles)
		}
		if err != nil {
			return 0, err
		}
		ended := 0
		for _, in := range all {
			if q.has(in) {
				accountdb.DeleteSignIn(tx.Tx, tx.Tenant, in.ID)
				record.Audit(tx, "sign_in.ended", "member", m.ID.UUID, "", map[string]any{"sign_in": in.ID.String()})
				ended++
			}
		}
		return ended, nil
	})
}

// RemovePasskey removes a passkey of a member: the caller, if it names none. Errors: MEMBER_NOT_FOUND,
// PERMISSION_DENIED.
func (s *Service) RemovePasskey(
	ctx context.Context, caller tenant.Caller, of tenant.MemberID, id tenant.PasskeyID,
) error {
	of, err := ownMember(caller, of)
	if err != nil {
		return err
	}
	t := engine.Transaction{Name: "passkey.remove", Replay: true}
	return engine.Exec(ctx, s.engine, caller, t, func(ctx context.Context, tx *engine.Tx) error {
		var all []signin.Passkey
		m, facts, err := findWithRoleFacts(ctx, tx, errNoMember, func(b *pg.Batch, into **member.Member) {
			accountdb.FindMember(b, tx.Tenant, of, into)
			accountdb.ListPasskeys(b, tx.Tenant, of, &all)
		})
		if err == nil && m.ID != tx.Caller.Member {
			err = facts.Roles().CheckEditMember(facts.Editor(), m.Roles)
		}
		if err != nil || !slices.ContainsFunc(all, func(p signin.Passkey) bool { return p.ID == id }) {
			return err
		}
		accountdb.DeletePasskey(tx.Tx, tx.Tenant, of, id)
		record.Audit(tx, "passkey.removed", "member", m.ID.UUID, "", map[string]any{"passkey": id.String()})
		return nil
	})
}

// ownMember returns the member whom a request is about: the caller, if it names none. Errors: MEMBER_NOT_FOUND.
func ownMember(caller tenant.Caller, named tenant.MemberID) (tenant.MemberID, error) {
	if named.IsZero() {
		named = caller.Member
	}
	if !caller.CanAccess(named) {
		return named, errNoMember
	}
	return named, nil
}
