package outbox

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Cursor is a position in a tenant's log: after all events of transactions before XID,
// and after those of XID itself up to ID. The zero Cursor is the beginning.
type Cursor struct {
	XID uint64
	ID  tenant.EventID
}

// Compare returns -1, 0 or +1 if c is before, equal to or after d.
func (c Cursor) Compare(d Cursor) int {
	return cmp.Or(cmp.Compare(c.XID, d.XID), bytes.Compare(c.ID.UUID[:], d.ID.UUID[:]))
}

// A token is a version, the position, and a checksum of both and the tenant. The checksum detects mistakes, not
// forgery: a forged position shows nothing that its owner could not read anyway.
const (
	tokenVersion = 1
	bodyLen      = 1 + 8 + 16
	checksumLen  = 4
)

// Token encodes a cursor for clients.
func (c Cursor) Token(in tenant.TenantID) string {
	raw := make([]byte, bodyLen, bodyLen+checksumLen)
	raw[0] = tokenVersion
	binary.BigEndian.PutUint64(raw[1:], c.XID)
	copy(raw[9:], c.ID.UUID[:])
	sum := checksum(in, raw)
	return base64.RawURLEncoding.EncodeToString(append(raw, sum[:checksumLen]...))
}

// ParseCursor decodes a token of this tenant's log. Any other text is INVALID_FIELD.
func ParseCursor(in tenant.TenantID, text string) (Cursor, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != bodyLen+checksumLen || raw[0] != tokenVersion {
		return Cursor{}, errCursor
	}
	sum := checksum(in, raw[:bodyLen])
	if !bytes.Equal(raw[bodyLen:], sum[:checksumLen]) {
		return Cursor{}, errCursor
	}
	c := Cursor{XID: binary.BigEndian.Uint64(raw[1:])}
	copy(c.ID.UUID[:], raw[9:])
	return c, nil
}

func checksum(in tenant.TenantID, body []byte) [sha256.Size]byte {
	return sha256.Sum256(slices.Concat(in.UUID[:], body))
}

var (
	errCursor = fault.Invalid("cursor", "The cursor is not from this tenant's event log.")
	// Positions only grow, so the cursor is from before the database was restored to an earlier state.
	errAhead = fault.Invalid("cursor", "The cursor is past the end of the event log. Start over without a cursor.")
)
