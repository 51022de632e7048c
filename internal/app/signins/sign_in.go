package signins

import (
	"context"
	"errors"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// Start signs a browser in as a member, in a transaction in which it has proven to be theirs. Then give it the secret.
func Start(tx *engine.Tx, secret Secret, as tenant.MemberID, by signin.Method) signin.SignIn {
	s := signin.Start(tenant.NextID[tenant.SignInID](tx.IDs), as, by, tx.Request.Client, tx.Request.Address, tx.Now)
	accountdb.TrimSignIns(tx.Tx, tx.Tenant, as, signin.MaxOfMember-1)
	accountdb.InsertSignIn(tx.Tx, tx.Tenant, s, secret.hash())
	record.Audit(tx, "sign_in.started", "member", as.UUID, "", map[string]any{"method": string(by)})
	return s
}

// Session is a sign-in while it is used.
type Session struct {
	Secret    Secret // with the tenants that are left
	Claims    token.Claims
	ExpiresAt time.Time
}

// Use says who a browser with a secret is signed in as, and renews the sign-in. It looks at each tenant in the scope of
// that tenant. A member whose membership is not active is not signed in there. Errors: SIGN_IN_ENDED.
func (s *Service) Use(ctx context.Context, secret Secret) (Session, error) {
	now := s.engine.Now()
	used := Session{
		Secret: Secret{random: secret.random},
		Claims: token.Claims{Members: make(map[tenant.TenantID]tenant.MemberID), SignIn: secret.mark()},
	}
	for _, in := range secret.Tenants {
		found, err := s.find(ctx, in, secret)
		if err == nil && found.IsGood(s.hasProvider, now) {
			found.SignIn, err = s.renew(ctx, in, found.SignIn, now)
			used.add(in, found)
		}
		if err != nil && !errors.Is(err, signin.ErrEnded) {
			return Session{}, err
		}
	}
	if len(used.Claims.Tenants) == 0 {
		return Session{}, signin.ErrEnded
	}
	return used, nil
}

// add adds the membership in a tenant. The person signed in when they first did, and the first tenant names them.
func (s *Session) add(in tenant.TenantID, found signin.SignedIn) {
	if c := &s.Claims; len(c.Tenants) == 0 {
		c.Subject, c.Name, c.SignedInAt = tenant.MemberSubject(found.Member), found.Name, found.CreatedAt
	} else if found.CreatedAt.Before(c.SignedInAt) {
		c.SignedInAt = found.CreatedAt
	}
	s.Claims.Tenants = append(s.Claims.Tenants, in)
	s.Claims.Members[in] = found.Member
	s.Secret.Tenants = append(s.Secret.Tenants, in)
	if found.ExpiresAt.After(s.ExpiresAt) {
		s.ExpiresAt = found.ExpiresAt
	}
}

func (s *Service) find(ctx context.Context, in tenant.TenantID, secret Secret) (signin.SignedIn, error) {
	return engine.Get(ctx, s.engine, tenant.System(in), signin.ErrEnded, func(b *pg.Batch, into **signin.SignedIn) {
		accountdb.FindSignIn(b, in, secret.hash(), into)
	})
}

// renew writes a use, once an hour. A sign-in that ends at that moment stays ended: the row is gone.
func (s *Service) renew(
	ctx context.Context, in tenant.TenantID, before signin.SignIn, now time.Time,
) (signin.SignIn, error) {
	after, due := before.Use(now)
	if !due {
		return before, nil
	}
	t := engine.Transaction{Name: "sign_in.renew", Quiet: true}
	return after, engine.Exec(ctx, s.engine, tenant.System(in), t, func(_ context.Context, tx *engine.Tx) error {
		accountdb.UpdateSignIn(tx.Tx, tx.Tenant, after)
		return nil
	})
}

// End signs a browser out, in all tenants. It is no error if that has happened.
func (s *Service) End(ctx context.Context, secret Secret) error {
	t := engine.Transaction{Name: "sign_in.end"}
	for _, in := range secret.Tenants {
		err := engine.Exec(ctx, s.engine, tenant.System(in), t, func(ctx context.Context, tx *engine.Tx) error {
			found, err := engine.Find(ctx, tx, signin.ErrEnded, func(b *pg.Batch, into **signin.SignedIn) {
				accountdb.FindSignIn(b, tx.Tenant, secret.hash(), into)
			})
			if err != nil {
				return err
			}
			tx.Caller.Member = found.Member // who has the secret is the member
			end(tx, found.SignIn)
			return nil
		})
		if err != nil && !errors.Is(err, signin.ErrEnded) {
			return err
		}
	}
	return nil
}

// end ends a sign-in.
func end(tx *engine.Tx, s signin.SignIn) {
	accountdb.DeleteSignIn(tx.Tx, tx.Tenant, s.ID)
	record.Audit(tx, "sign_in.ended", "member", s.Member.UUID, "", map[string]any{"sign_in": s.ID.String()})
}
