// Package localbox is a sender that sends nothing. Messages are only kept in the delivery log,
// where those who try out the service can read them.
package localbox

import (
	"context"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// Sender accepts every message.
type Sender struct{}

// Send returns a receipt immediately.
func (Sender) Send(ctx context.Context, m delivery.Message) (delivery.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return delivery.Receipt{}, &delivery.Error{Kind: delivery.Transient, Err: err}
	}
	r := delivery.Receipt{ProviderID: m.ID.String(), Status: delivery.Sent}
	if m.Channel == delivery.SMS {
		r.Segments, _, _ = delivery.CountSegments(m.Text)
	}
	return r, nil
}
