package signins

import (
	"crypto/rand"
	"crypto/sha256"
	"slices"

	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
)

// maxKnown is how many addresses a browser knows: those of a family or a desk. The latest replaces the oldest.
const maxKnown = 8

type addressHash = [sha256.Size]byte

// Browser is one that has signed in to some addresses: it has codes of its own for each, so that what strangers ask for
// does not shut it out. The zero Browser knows no address.
type Browser struct {
	id    [16]byte
	known []addressHash // the latest first
}

func hashAddress(address string) addressHash {
	return sha256.Sum256([]byte(member.Contact{Kind: member.ByEmail, Address: address}.Key()))
}

// hash is what the database has of a browser that knows an address; nil if it does not. It differs for each address, so
// that it tells nobody which of them share a browser.
func (b Browser) hash(address string) []byte {
	of := hashAddress(address)
	if !slices.Contains(b.known, of) {
		return nil
	}
	sum := sha256.Sum256(append(b.id[:], of[:]...))
	return sum[:]
}

// Knows reports whether the browser has signed in to an address.
func (b Browser) Knows(address string) bool { return b.hash(address) != nil }

// KnowsAny reports whether the browser has signed in to any address.
func (b Browser) KnowsAny() bool { return len(b.known) > 0 }

// Knowing returns the browser that knows an address, too.
func (b Browser) Knowing(address string) Browser {
	if len(b.known) == 0 {
		_, _ = rand.Read(b.id[:]) // it never fails
	}
	of := hashAddress(address)
	b.known = append([]addressHash{of}, slices.DeleteFunc(slices.Clone(b.known), func(other addressHash) bool {
		return other == of
	})...)
	b.known = b.known[:min(len(b.known), maxKnown)]
	return b
}

const browserPurpose = "browser"

// WriteBrowser returns a browser as it is kept in a cookie.
func (s *Service) WriteBrowser(b Browser) string {
	says := b.id[:]
	for _, of := range b.known {
		says = append(says, of[:]...)
	}
	return s.seals.Sign(tenant.TenantID{}, browserPurpose, says)
}

// ReadBrowser reads what WriteBrowser wrote. Any other text is the zero Browser.
func (s *Service) ReadBrowser(text string) (b Browser) {
	in, says, err := s.seals.Verify(browserPurpose, text)
	if err != nil || !in.IsZero() || len(says) < len(b.id) {
		return Browser{}
	}
	says = says[copy(b.id[:], says):]
	if len(says)%sha256.Size != 0 || len(says) > maxKnown*sha256.Size {
		return Browser{}
	}
	for of := range slices.Chunk(says, sha256.Size) {
		b.known = append(b.known, addressHash(of))
	}
	return b
}
