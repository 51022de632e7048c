package accounts

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/record"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/coredb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/event"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
)

// accountWithKey is a service account with the text of a new key. The text is shown once: it is not stored.
type accountWithKey struct {
	Account grant.ServiceAccount
	Key     string `json:"-"`
}

// CreateServiceAccount creates a service account with one key, and returns the key's text. A repeated request does not
// get the text again.
func (s *Service) CreateServiceAccount(
	ctx context.Context, caller tenant.Caller, account grant.ServiceAccount,
) (grant.ServiceAccount, string, error) {
	account, err := account.Normalize()
	if err != nil {
		return account, "", err
	}
	secret := newSecret()
	t := engine.Transaction{Name: "service_account.create", Replay: true, Races: []engine.Race{roleRace}}
	created, err := changeAccess(ctx, s, caller, t,
		func(ctx context.Context, tx *engine.Tx) (accountWithKey, error) {
			var batch pg.Batch
			facts := loadRoleFacts(tx, &batch)
			if err := tx.Load(ctx, &batch); err != nil {
				return accountWithKey{}, err
			}
			if err := facts.CheckGrant(account.Roles...); err != nil {
				return accountWithKey{}, err
			}
			grant.Sort(account.Roles)
			account.ID, account.CreatedAt, account.Keys = tenant.NextID[tenant.ServiceAccountID](tx.IDs), tx.Now, nil
			accountdb.InsertAccount(tx.Tx, tx.Tenant, account)
			key := s.insertKey(tx, &account, secret)
			accountChanged(tx, "service_account.created", account, record.Changes(nil, accountValues(account)))
			return accountWithKey{account, key}, nil
		})
	if pg.IsUnique(err, "service_accounts_name") {
		err = grant.AccountNameTaken().WithCause(err)
	}
	return created.Account, created.Key, err
}

// GetServiceAccount reads a service account, revoked or not.
func (s *Service) GetServiceAccount(
	ctx context.Context, caller tenant.Caller, id tenant.ServiceAccountID,
) (grant.ServiceAccount, error) {
	return engine.Get(ctx, s.engine, caller, errNoAccount, func(b *pg.Batch, into **grant.ServiceAccount) {
		accountdb.FindAccount(b, caller.Tenant, id, into)
	})
}

// ListServiceAccounts reads service accounts by name, then id.
func (s *Service) ListServiceAccounts(
	ctx context.Context, caller tenant.Caller, search grant.ServiceAccountSearch,
) ([]grant.ServiceAccount, error) {
	if search.After != nil && hasZeroByte(search.After.Name) {
		return nil, nil
	}
	return engine.List(ctx, s.engine, caller, func(b *pg.Batch, into *[]grant.ServiceAccount) {
		accountdb.ListAccounts(b, caller.Tenant, search, into)
	})
}

// RotateServiceAccountKey creates a new key and returns its text, which a repeated request does not get again. The
// account's other keys expire after the overlap, unless they expire earlier.
func (s *Service) RotateServiceAccountKey(
	ctx context.Context, caller tenant.Caller, id tenant.ServiceAccountID, overlap time.Duration,
) (grant.ServiceAccount, string, error) {
	secret := newSecret()
	rotated, err := changeAccess(ctx, s, caller, engine.Transaction{Name: "service_account.rotate_key", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (accountWithKey, error) {
			account, err := findAccount(ctx, tx, id)
			if err != nil {
				return accountWithKey{}, err
			}
			if account.Revoked() {
				return accountWithKey{}, errNoAccount
			}
			end := tx.Now.Add(overlap)
			account.ExpireKeys(end)
			accountdb.EndKeys(tx.Tx, tx.Tenant, id, end)
			key := s.insertKey(tx, &account, secret)
			accountChanged(tx, "service_account.key_rotated", account, map[string]any{"others_end_at": end.Format(time.RFC3339)})
			return accountWithKey{account, key}, nil
		})
	return rotated.Account, rotated.Key, err
}

// RevokeServiceAccount revokes a service account, which is final. It changes nothing if the account is revoked
// already.
func (s *Service) RevokeServiceAccount(
	ctx context.Context, caller tenant.Caller, id tenant.ServiceAccountID,
) (grant.ServiceAccount, error) {
	return changeAccess(ctx, s, caller, engine.Transaction{Name: "service_account.revoke", Replay: true},
		func(ctx context.Context, tx *engine.Tx) (grant.ServiceAccount, error) {
			account, err := findAccount(ctx, tx, id)
			if err != nil || account.Revoked() {
				return account, err
			}
			changes := record.Changes(accountValues(account), nil)
			account.ExpireKeys(tx.Now)
			account.RevokedAt, account.Roles = tx.Now, []string{}
			accountdb.RevokeAccount(tx.Tx, tx.Tenant, id, tx.Now)
			accountChanged(tx, "service_account.revoked", account, changes)
			return account, nil
		})
}

// findAccount reads a service account. The caller needs all its permissions.
func findAccount(ctx context.Context, tx *engine.Tx, id tenant.ServiceAccountID) (grant.ServiceAccount, error) {
	account, facts, err := findWithRoleFacts(ctx, tx, errNoAccount, func(b *pg.Batch, into **grant.ServiceAccount) {
		accountdb.FindAccount(b, tx.Tenant, id, into)
	})
	if err != nil {
		return account, err
	}
	return account, facts.CheckGrant(account.Roles...)
}

var errNoAccount = fault.Missing(fault.ServiceAccountNotFound, "Service account")

const keyRefused = "service_account.key_refused"

// auditRefusedKey records that a program still uses a key that was revoked or has expired, once an hour. The key's
// secret was right, so it is one of the tenant's.
func (s *Service) auditRefusedKey(
	ctx context.Context, in tenant.TenantID, account tenant.ServiceAccountID, id tenant.KeyID,
) error {
	by := tenant.Caller{Tenant: in, Subject: tenant.AccountPrefix + account.String()}
	return engine.Exec(ctx, s.engine, by, engine.Transaction{Name: "service_account.refuse_key"},
		func(ctx context.Context, tx *engine.Tx) error {
			var audited bool
			var batch pg.Batch
			coredb.IsAudited(&batch, in, by.Actor(), keyRefused, "service_account", account.String(),
				tx.Now.Truncate(time.Hour), &audited)
			if err := tx.Load(ctx, &batch); err != nil || audited {
				return err
			}
			record.Audit(tx, keyRefused, "service_account", account.UUID, "", map[string]any{"key_id": id.String()})
			return nil
		})
}

// newSecret creates the random part of a key. Call it before the transaction, so that all attempts write the same.
func newSecret() grant.Secret {
	var secret grant.Secret
	_, _ = rand.Read(secret[:]) // never fails
	return secret
}

// insertKey adds a key to an account and returns its text. The end of the secret becomes its checksum.
func (s *Service) insertKey(tx *engine.Tx, account *grant.ServiceAccount, secret grant.Secret) string {
	key := grant.Key{ID: tenant.NextID[tenant.KeyID](tx.IDs), CreatedAt: tx.Now}
	account.Keys = append([]grant.Key{key}, account.Keys...)
	said, checksum := splitKey(key.ID, &secret)
	copy(checksum, s.seals.Checksum(tx.Tenant, keyPurpose, said))
	accountdb.InsertKey(tx.Tx, tx.Tenant, account.ID, key, secret.Hash())
	return grant.KeyText(tx.Tenant, key.ID, secret)
}

// keyPurpose keeps the checksum of a key from being used for other texts.
const keyPurpose = "key"

// splitKey returns what the checksum of a key is about, and where in the secret it is.
func splitKey(id tenant.KeyID, secret *grant.Secret) (said, checksum []byte) {
	random := len(secret) - seal.ChecksumSize
	return slices.Concat(id.UUID[:], secret[:random]), secret[random:]
}

// MadeKey reports whether a key was made by the service. It may be revoked or expired.
func (s *Service) MadeKey(text string) bool {
	in, id, secret, err := grant.ParseKey(text)
	if err != nil {
		return false
	}
	said, checksum := splitKey(id, &secret)
	return s.seals.HasChecksum(in, keyPurpose, said, checksum)
}

func accountChanged(tx *engine.Tx, action string, account grant.ServiceAccount, changes map[string]any) {
	record.Audit(tx, action, "service_account", account.ID.UUID, "", changes)
	rolesEvent(tx, tenant.MemberID{}, event.AccessChanged{
		Roles: nil, Change: "", Role: "", ServiceAccount: account.ID, FromMember: tenant.MemberID{},
	})
}

func accountValues(account grant.ServiceAccount) map[string]any {
	return map[string]any{"name": account.Name, "description": account.Description, "roles": account.Roles}
}

// ExchangedKey is the token that a service account gets for its key.
type ExchangedKey struct {
	Token     string
	ExpiresIn time.Duration
	Tenant    tenant.TenantID
}

// tokenTTL is the lifetime of a service account's token. A revocation does not wait for it to pass, because each call
// checks what the account may do.
const tokenTTL = 15 * time.Minute

// ExchangeKey returns a token for a key. The tenant named, unless it is zero, must be the key's. The error is
// KEY_INVALID, whatever is wrong with the key.
func (s *Service) ExchangeKey(
	ctx context.Context, issuer *token.Issuer, named tenant.TenantID, text string,
) (ExchangedKey, error) {
	in, id, secret, err := grant.ParseKeyOf(named, text)
	if err != nil {
		return ExchangedKey{}, err
	}
	anonymous := tenant.Caller{Tenant: in}
	key, err := engine.Get(ctx, s.engine, anonymous, grant.ErrKeyInvalid, func(b *pg.Batch, into **accountdb.KeyFacts) {
		accountdb.FindKey(b, in, id, into)
	})
	if err != nil {
		return ExchangedKey{}, err
	}
	now := s.engine.Now()
	if err := secret.Check(key.Hash); err != nil {
		return ExchangedKey{}, err // nothing proves who tries: it is counted, not audited
	}
	if err := key.Key.Check(key.Revoked, now); err != nil {
		return ExchangedKey{}, cmp.Or(s.auditRefusedKey(ctx, in, key.Account, id), err)
	}
	if hour := now.Truncate(time.Hour); key.Key.UsedAt.Before(hour) { // once per hour: it is a write
		err := engine.Exec(ctx, s.engine, anonymous, engine.Transaction{Name: "service_account.use_key"},
			func(_ context.Context, tx *engine.Tx) error {
				accountdb.MarkKeyUsed(tx.Tx, tx.Tenant, id, hour)
				return nil
			})
		if err != nil {
			return ExchangedKey{}, err
		}
	}
	raw, expires, err := issuer.Issue(token.Claims{
		Subject: tenant.AccountPrefix + key.Account.String(), Name: key.Name, Tenants: []tenant.TenantID{in},
	}, tokenTTL)
	// The write above took time, so now is too early to count from.
	return ExchangedKey{Token: raw, ExpiresIn: expires.Sub(s.engine.Now()), Tenant: in}, err
}
