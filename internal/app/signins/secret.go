package signins

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

// A Secret is what a browser keeps of a sign-in. Who has it is signed in. The zero Secret is of no sign-in.
type Secret struct {
	random  [32]byte
	Tenants []tenant.TenantID // that it signs in to: at least one
}

// NewSecret returns a new secret for tenants, or for those that are set before it is used. Make it before a
// transaction. Each sign-in has its own, so that nobody can know it before: a browser that somebody gave a secret does
// not keep it.
func NewSecret(tenants ...tenant.TenantID) Secret {
	s := Secret{Tenants: tenants}
	_, _ = rand.Read(s.random[:]) // it never fails
	return s
}

// hash is what the database has of a secret.
func (s Secret) hash() []byte {
	sum := sha256.Sum256(s.random[:])
	return sum[:]
}

// mark names a sign-in in the access tokens that come from it. It is half of the hash, which tells nothing of the
// secret.
func (s Secret) mark() string { return hex.EncodeToString(s.hash()[:sha256.Size/2]) }

// secretPurpose keeps a signature from being used for other texts.
const secretPurpose = "sign-in"

// Write returns a secret as browsers keep it. The signature proves nothing to those who know the secret; it tells what
// the service made from what was invented, without a look into the database.
func (s *Service) Write(secret Secret) string {
	says := slices.Clone(secret.random[:])
	for _, more := range secret.Tenants[1:] {
		says = append(says, more.UUID[:]...)
	}
	return s.seals.Sign(secret.Tenants[0], secretPurpose, says)
}

// Read reads what Write wrote. Errors: SIGN_IN_ENDED.
func (s *Service) Read(text string) (Secret, error) {
	var secret Secret
	first, says, err := s.seals.Verify(secretPurpose, text)
	rest := len(says) - len(secret.random)
	if err != nil || rest < 0 || rest%len(first.UUID) != 0 || rest/len(first.UUID) >= signin.MaxTenants {
		return secret, signin.ErrEnded
	}
	secret.Tenants = []tenant.TenantID{first}
	copy(secret.random[:], says)
	for id := range slices.Chunk(says[len(secret.random):], len(first.UUID)) {
		secret.Tenants = append(secret.Tenants, tenant.TenantID{UUID: tenant.UUID(id)})
	}
	return secret, nil
}
