// Package localbox takes messages that go nowhere: they stand in the delivery log with all they say, where whoever tries
// the service out can read them.
package localbox

import (
	"context"

	"github.com/berthhq/berth/internal/rules/notify"
)

// Sender takes every message.
type Sender struct{}

// Send gives a receipt at once.
func (Sender) Send(ctx context.Context, m notify.Message) (notify.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return notify.Receipt{}, &notify.SendError{Kind: notify.Transient, Err: err}
	}
	r := notify.Receipt{ProviderID: m.ID.String(), Status: notify.Sent}
	if m.Channel == notify.SMS {
		r.Segments, _, _ = notify.GSM7(m.Text)
	}
	return r, nil
}
