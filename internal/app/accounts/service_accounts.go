package accounts

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// CreateServiceAccount makes a service account with one key, whose text is shown this once.
func (s *Service) CreateServiceAccount(ctx context.Context, caller tenant.Caller, account grant.ServiceAccount) (grant.ServiceAccount, string, error) {
	account, err := account.Normalize()
	if err != nil {
		return account, "", err
	}
	secret := newSecret()
	var key string
	err = s.regrant(ctx, caller, "account.create", func(ctx context.Context, tx *engine.Tx) error {
		var batch pg.Batch
		powers := loadPowers(tx, &batch)
		if err := tx.Load(ctx, &batch); err != nil {
			return err
		}
		if err := powers.book().CheckExist(account.Roles...); err != nil {
			return err
		}
		if err := powers.caller().CheckGrant(powers.book().Permissions(account.Roles...)); err != nil {
			return err
		}
		grant.Sort(account.Roles)
		account.ID, account.CreatedAt, account.Keys = tenant.NextID[tenant.ServiceAccountID](tx.IDs), tx.Now, nil
		accountdb.InsertAccount(tx.Tx, tx.Tenant, account)
		key = newKey(tx, &account, secret)
		accountChanged(tx, "account.created", account, engine.AuditChange(nil, accountValues(account)))
		return nil
	}, engine.Answers(&account), engine.Losing(byRole))
	if pg.IsUnique(err, "service_accounts_name") {
		err = fault.New(fault.AlreadyExists, fault.AlreadyExistsReason, "A service account has that name.").WithField("name").WithCause(err)
	}
	return account, key, err
}

// ListServiceAccounts reads service accounts by name, then id.
func (s *Service) ListServiceAccounts(ctx context.Context, caller tenant.Caller, accountSearch grant.ServiceAccountSearch) ([]grant.ServiceAccount, error) {
	if accountSearch.After != nil && unheard(accountSearch.After.Name) {
		return nil, nil
	}
	var accounts []grant.ServiceAccount
	var batch pg.Batch
	accountdb.ListAccounts(&batch, caller.Tenant, accountSearch, &accounts)
	err := s.engine.Read(ctx, caller, &batch)
	return accounts, err
}

// RotateServiceAccountKey makes a new key, whose text is shown this once. The account's
// other keys end when the overlap has passed, unless they end sooner.
func (s *Service) RotateServiceAccountKey(ctx context.Context, caller tenant.Caller, id tenant.ServiceAccountID, overlap time.Duration) (grant.ServiceAccount, string, error) {
	secret := newSecret()
	var after grant.ServiceAccount
	var key string
	err := s.regrant(ctx, caller, "account.rotate", func(ctx context.Context, tx *engine.Tx) error {
		before, err := account(ctx, tx, id)
		if err != nil {
			return err
		}
		if before.Revoked() {
			return errNoAccount
		}
		after = before
		end := tx.Now.Add(overlap)
		after.ExpireKeys(end)
		accountdb.EndKeys(tx.Tx, tx.Tenant, id, end)
		key = newKey(tx, &after, secret)
		accountChanged(tx, "account.rotated", after, map[string]any{"others_end_at": end.Format(time.RFC3339)})
		return nil
	}, engine.Answers(&after))
	return after, key, err
}

// RevokeServiceAccount ends a service account for good. Revoking again changes nothing.
func (s *Service) RevokeServiceAccount(ctx context.Context, caller tenant.Caller, id tenant.ServiceAccountID) (grant.ServiceAccount, error) {
	var after grant.ServiceAccount
	err := s.regrant(ctx, caller, "account.revoke", func(ctx context.Context, tx *engine.Tx) error {
		before, err := account(ctx, tx, id)
		if err != nil {
			return err
		}
		after = before
		if before.Revoked() {
			return nil
		}
		after.ExpireKeys(tx.Now)
		after.RevokedAt, after.Roles = tx.Now, []string{}
		accountdb.RevokeAccount(tx.Tx, tx.Tenant, id, tx.Now)
		accountChanged(tx, "account.revoked", after, engine.AuditChange(accountValues(before), nil))
		return nil
	}, engine.Answers(&after))
	return after, err
}

// account loads a service account whose permissions the caller has too.
func account(ctx context.Context, tx *engine.Tx, id tenant.ServiceAccountID) (grant.ServiceAccount, error) {
	var account *grant.ServiceAccount
	var batch pg.Batch
	powers := loadPowers(tx, &batch)
	accountdb.FindAccount(&batch, tx.Tenant, id, &account)
	if err := tx.Load(ctx, &batch); err != nil {
		return grant.ServiceAccount{}, err
	}
	if account == nil {
		return grant.ServiceAccount{}, errNoAccount
	}
	return *account, powers.caller().CheckGrant(powers.book().Permissions(account.Roles...))
}

var errNoAccount = fault.Missing(fault.ServiceAccountNotFound, "Service account")

// newSecret draws what makes a key hard to guess. It is drawn before a transaction begins, so that
// all attempts at it write the same.
func newSecret() grant.Secret {
	var secret grant.Secret
	if _, err := rand.Read(secret[:]); err != nil {
		panic("app: no randomness: " + err.Error())
	}
	return secret
}

// newKey gives an account a key, and gives the key's text.
func newKey(tx *engine.Tx, account *grant.ServiceAccount, secret grant.Secret) string {
	key := grant.Key{ID: tenant.NextID[tenant.KeyID](tx.IDs), CreatedAt: tx.Now}
	account.Keys = append([]grant.Key{key}, account.Keys...)
	accountdb.InsertKey(tx.Tx, tx.Tenant, account.ID, key, secret.Hash())
	return grant.KeyText(tx.Tenant, key.ID, secret)
}

func accountChanged(tx *engine.Tx, action string, account grant.ServiceAccount, changes map[string]any) {
	tx.Audit(action, "service_account", account.ID.UUID, "", changes)
	rolesEvent(tx, tenant.MemberID{}, map[string]any{"service_account_id": account.ID.String()})
}

func accountValues(account grant.ServiceAccount) map[string]any {
	return map[string]any{"name": account.Name, "description": account.Description, "roles": account.Roles}
}

// ExchangedKey is a token for a service account's key.
type ExchangedKey struct {
	Token     string
	ExpiresIn time.Duration
	Tenant    tenant.TenantID
}

// tokenLife is how long a service account's token is good. What the account may do is asked anew for each call.
const tokenLife = 15 * time.Minute

// ExchangeKey gives a token for a key. Named, if not zero, must be the key's tenant. Whatever is wrong is KEY_INVALID.
func (s *Service) ExchangeKey(ctx context.Context, issuer *token.Issuer, named tenant.TenantID, text string) (ExchangedKey, error) {
	in, id, secret, err := grant.ParseKey(text)
	if err != nil {
		return ExchangedKey{}, err
	}
	if in.IsZero() || (!named.IsZero() && named != in) {
		return ExchangedKey{}, grant.ErrKeyInvalid
	}
	nobody := tenant.Caller{Tenant: in}
	var key *accountdb.KeyFacts
	var batch pg.Batch
	accountdb.FindKey(&batch, in, id, &key)
	if err := s.engine.Read(ctx, nobody, &batch); err != nil {
		return ExchangedKey{}, err
	}
	now := s.engine.Now()
	if key == nil || !secret.Matches(key.Hash) || key.Revoked || !key.Key.Valid(now) {
		return ExchangedKey{}, grant.ErrKeyInvalid
	}
	if hour := now.Truncate(time.Hour); key.Key.UsedAt.Before(hour) {
		err := s.engine.Write(ctx, nobody, "account.use_key", func(_ context.Context, tx *engine.Tx) error {
			accountdb.MarkKeyUsed(tx.Tx, tx.Tenant, id, hour)
			return nil
		})
		if err != nil {
			return ExchangedKey{}, err
		}
	}
	raw, expires, err := issuer.Issue(token.Claims{
		Subject: token.ServiceAccountPrefix + key.Account.String(), Name: key.Name, Tenants: []tenant.TenantID{in},
	}, tokenLife)
	return ExchangedKey{Token: raw, ExpiresIn: expires.Sub(now), Tenant: in}, err
}
