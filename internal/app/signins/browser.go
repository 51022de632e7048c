package signins

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// Browser is one that has signed in to an address: it has codes of its own, so that what strangers ask for does not
// shut it out. The zero Browser knows no address.
type Browser struct {
	id      [16]byte
	address [sha256.Size]byte
}

func addressSum(address string) [sha256.Size]byte {
	return sha256.Sum256([]byte(member.Contact{Kind: member.ByEmail, Address: address}.Key()))
}

// hash is what the database has of a browser that knows an address; nil if it does not.
func (b Browser) hash(address string) []byte {
	if b == (Browser{}) || b.address != addressSum(address) {
		return nil
	}
	sum := sha256.Sum256(b.id[:])
	return sum[:]
}

// Knows reports whether the browser has signed in to an address.
func (b Browser) Knows(address string) bool { return b.hash(address) != nil }

// Knowing returns the browser that knows an address. It is a new one unless it knows it already.
func (b Browser) Knowing(address string) Browser {
	if b.Knows(address) {
		return b
	}
	b = Browser{address: addressSum(address)}
	_, _ = rand.Read(b.id[:]) // it never fails
	return b
}

const browserPurpose = "browser"

// WriteBrowser returns a browser as it is kept in a cookie.
func (s *Service) WriteBrowser(b Browser) string {
	return s.seals.Sign(tenant.TenantID{}, browserPurpose, append(b.id[:], b.address[:]...))
}

// ReadBrowser reads what WriteBrowser wrote. Any other text is the zero Browser.
func (s *Service) ReadBrowser(text string) (b Browser) {
	in, says, err := s.seals.Verify(browserPurpose, text)
	if err != nil || !in.IsZero() || len(says) != len(b.id)+len(b.address) {
		return Browser{}
	}
	copy(b.address[:], says[copy(b.id[:], says):])
	return b
}
