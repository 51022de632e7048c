package tenant

import (
	"crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"time"
)

// IDs creates the ids of one transaction. A transaction may run several times and must write the same rows each time.
// So the random seed is drawn once, before the transaction begins, and Reset restarts the same sequence.
type IDs struct {
	now  time.Time
	seed [32]byte
	rng  *mathrand.ChaCha8
	n    uint16
}

// NewIDs returns IDs with a random seed. Ids sort in the order in which they are created.
func NewIDs(now time.Time) *IDs {
	m := &IDs{now: now}
	if _, err := rand.Read(m.seed[:]); err != nil {
		panic("tenant: no random bytes: " + err.Error())
	}
	return m.Reset()
}

// Reset restarts the sequence at the first id.
func (i *IDs) Reset() *IDs {
	i.rng = mathrand.NewChaCha8(i.seed)
	i.n = 0
	return i
}

// NextID returns the next id. After each 4,096 ids the timestamp advances by a millisecond, so that they still sort.
func NextID[I ~struct{ UUID }](m *IDs) I {
	stamp := uint64(m.now.UnixMilli()) + uint64(m.n>>12)
	var u UUID
	binary.BigEndian.PutUint64(u[0:8], stamp<<16|uint64(m.n&0x0fff)|0x7000)
	binary.BigEndian.PutUint64(u[8:16], m.rng.Uint64())
	u[8] = u[8]&0x3f | 0x80
	m.n++
	return I{u}
}
