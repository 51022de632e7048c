package grant

import (
	"time"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/tenant"
)

// Transfer is an owner's offer to another member to be an owner in their place.
type Transfer struct {
	ID        tenant.TransferID
	From, To  Party
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Party is a member of a transfer.
type Party struct {
	Member tenant.MemberID
	Name   string
}

// transferTTL is how long the receiver can confirm a transfer.
const transferTTL = 7 * 24 * time.Hour

// NewTransfer returns a transfer that starts now. The receiver must be another, active member: INVALID_FIELD. They may
// be an owner already, who then knows that the sender leaves.
func NewTransfer(id tenant.TransferID, from, to Party, active bool, now time.Time) (Transfer, error) {
	switch {
	case !active:
		return Transfer{}, fault.Invalid("member_id", "An inactive member cannot become an owner.")
	case to.Member == from.Member:
		return Transfer{}, fault.Invalid("member_id", "You are an owner already.")
	}
	return Transfer{ID: id, From: from, To: to, CreatedAt: now, ExpiresAt: now.Add(transferTTL)}, nil
}

// Open reports whether the transfer can be confirmed or cancelled.
func (t Transfer) Open(now time.Time) bool { return now.Before(t.ExpiresAt) }
