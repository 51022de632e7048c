// Package localbox is a sender that sends nothing. Messages are only kept in the delivery log,
// where those who try out the service can read them.
package localbox

import (
	"context"

	"github.com/berthhq/berth/internal/rules/notify"
)

// Sender accepts every message.
type Sender struct{}

// Send returns a receipt immediately.
func (Sender) Send(ctx context.Context, m notify.Message) (notify.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return notify.Receipt{}, &notify.SendError{Kind: notify.Transient, Err: err}
	}
	r := notify.Receipt{ProviderID: m.ID.String(), Status: notify.Sent}
	if m.Channel == notify.SMS {
		r.Segments, _, _ = notify.CountSegments(m.Text)
	}
	return r, nil
}
