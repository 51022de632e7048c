package outbox

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Cursor is a position in a tenant's log: behind all events of transactions
// before XID, and behind those of XID itself up to ID. The zero one is the beginning.
type Cursor struct {
	XID uint64
	ID  tenant.EventID
}

// Compare gives -1, 0 or +1: whether c stands before, at or behind d.
func (c Cursor) Compare(d Cursor) int {
	return cmp.Or(cmp.Compare(c.XID, d.XID), bytes.Compare(c.ID.UUID[:], d.ID.UUID[:]))
}

// A token is a version, the position, and a sum over both and the tenant. The sum
// is against mistakes, not forgery: a forged position shows nothing that
// whoever may read the log could not read.
const (
	tokenVersion = 1
	tokenBody    = 1 + 8 + 16
	tokenSum     = 4
)

// Token writes a cursor for those outside.
func (c Cursor) Token(in tenant.TenantID) string {
	raw := make([]byte, tokenBody, tokenBody+tokenSum)
	raw[0] = tokenVersion
	binary.BigEndian.PutUint64(raw[1:], c.XID)
	copy(raw[9:], c.ID.UUID[:])
	sum := sumOf(in, raw)
	return base64.RawURLEncoding.EncodeToString(append(raw, sum[:tokenSum]...))
}

// ParseCursor reads a token that the tenant's log gave: INVALID_FIELD for any other text.
func ParseCursor(in tenant.TenantID, text string) (Cursor, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != tokenBody+tokenSum || raw[0] != tokenVersion {
		return Cursor{}, errCursor
	}
	sum := sumOf(in, raw[:tokenBody])
	if !bytes.Equal(raw[tokenBody:], sum[:tokenSum]) {
		return Cursor{}, errCursor
	}
	c := Cursor{XID: binary.BigEndian.Uint64(raw[1:])}
	copy(c.ID.UUID[:], raw[9:])
	return c, nil
}

func sumOf(in tenant.TenantID, body []byte) [sha256.Size]byte {
	return sha256.Sum256(append(append(make([]byte, 0, len(in.UUID)+tokenBody), in.UUID[:]...), body...))
}

var (
	errCursor = fault.Invalid("cursor", "The cursor is none that this tenant's log gave.")
	// Positions only grow, so such a cursor comes from before the database was put back to an earlier state.
	errAhead = fault.Invalid("cursor", "The cursor lies behind the end of the log. Start anew.")
)
