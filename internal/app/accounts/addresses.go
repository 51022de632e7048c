package accounts

import (
	"context"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/seal"
	"github.com/berthhq/berth/internal/tenant"
)

// AddressHashes returns the hashes by which the memberships with an email address are found in all tenants. They are
// keyed, and the same in each tenant: who reads one tenant, or the hashes alone, learns nothing from them.
func AddressHashes(seals seal.Keys, address string) [][]byte {
	key := member.Contact{Kind: member.ByEmail, Address: address}.Key()
	return seals.Hashes(tenant.TenantID{}, "sign-in address", key)
}

// addressKey is a checksum of the key of new hashes. Commands that have no keys write zeros, and sweeps hash later.
func (s *Service) addressKey() []byte {
	for _, hash := range s.seals.Hashes(tenant.TenantID{}, "sign-in address key", "") {
		return hash[:8]
	}
	return make([]byte, 8)
}

// addressHash is the hash of a new row.
func (s *Service) addressHash(address string) []byte {
	for _, hash := range AddressHashes(s.seals, address) {
		return hash
	}
	return make([]byte, 32)
}

// insertMembers inserts members, and by which addresses they may ask for codes.
func (s *Service) insertMembers(tx *engine.Tx, all ...member.Member) {
	accountdb.InsertMembers(tx.Tx, tx.Tenant, all...)
	s.putAddresses(tx, all...)
}

// writeMember updates a member, and by which address they may ask for a code.
func (s *Service) writeMember(tx *engine.Tx, before, after member.Member) {
	accountdb.UpdateMember(tx.Tx, tx.Tenant, after)
	if before.Email != after.Email || before.Status != after.Status {
		accountdb.DeleteSignInAddress(tx.Tx, tx.Tenant, after.ID)
		s.putAddresses(tx, after)
	}
}

func (s *Service) putAddresses(tx *engine.Tx, of ...member.Member) {
	var all []accountdb.SignInAddress
	for _, m := range of {
		if m.Email != "" && m.Active() {
			all = append(all, accountdb.SignInAddress{Member: m.ID, Hash: s.addressHash(m.Email)})
		}
	}
	if len(all) > 0 {
		accountdb.PutSignInAddresses(tx.Tx, tx.Tenant, all, s.addressKey())
	}
}

// ProveAddress makes a member sign in with their address, to which they have got a code or a link.
func (s *Service) ProveAddress(tx *engine.Tx, m member.Member) member.Member {
	if m.Proven() {
		return m
	}
	after := m.Prove(m.Email)
	accountdb.EndAddressChange(tx.Tx, tx.Tenant, m.ID, tx.Now)
	after.Version, after.UpdatedAt = m.Version+1, tx.Now
	s.writeMember(tx, m, after)
	memberEvent(tx, m.ID, []string{member.ByEmail.Field()})
	return after
}

// hashedAtOnce is how many addresses one transaction hashes anew.
const hashedAtOnce = 500

// FindOldAddresses reads whether addresses of a tenant have hashes with an older key.
func (s *Service) FindOldAddresses(b *pg.Batch, in tenant.TenantID, into *bool) {
	accountdb.HasOldAddresses(b, in, s.addressKey(), into)
}

// HashAddresses hashes the addresses of a tenant anew whose hashes have an older key, before that is removed.
func (s *Service) HashAddresses(ctx context.Context, in tenant.TenantID) error {
	key := s.addressKey()
	t := engine.Transaction{Name: "sweep.sign_in_addresses", Quiet: true}
	for more := true; more; {
		var err error
		more, err = engine.Transact(ctx, s.engine, tenant.System(in), t,
			func(ctx context.Context, tx *engine.Tx) (bool, error) {
				var old []member.Member
				var batch pg.Batch
				accountdb.ListOldAddresses(&batch, in, key, hashedAtOnce, &old)
				if err := tx.Load(ctx, &batch); err != nil {
					return false, err
				}
				s.putAddresses(tx, old...)
				return len(old) == hashedAtOnce, nil
			})
		if err != nil {
			return err
		}
	}
	return nil
}
