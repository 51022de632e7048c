package app

import (
	"context"
	"errors"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/notify"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// AnswerSMS does what an SMS from a number asks for. What it gives is to be answered; empty where the carrier or Twilio
// answers by themselves, or nothing was understood. The same SMS may come twice.
func (a *App) AnswerSMS(ctx context.Context, in tenant.TenantID, from, text string) (string, error) {
	command := notify.ParseSMS(text)
	switch command.Kind {
	case notify.Stop:
		return "", a.stopSMS(ctx, in, from)
	case notify.Start:
		return "", a.write(ctx, tenant.System(in), "notification.start", func(_ context.Context, t *tx) error {
			store.DeleteStop(t.Tx, t.in, notify.SMS, from)
			return nil
		})
	case notify.Accept, notify.Decline:
		err := a.offers.ByCode(ctx, in, from, command)
		var refused *fault.Error
		switch {
		case err == nil && command.Kind == notify.Accept:
			return "Booked. See you there!", nil
		case err == nil:
			return "All right, it goes to the next person.", nil
		case errors.As(err, &refused) && refused.Kind != fault.Internal && refused.Kind != fault.Unavailable:
			return "That offer is no longer open.", nil
		}
		return "", err
	case notify.Help, notify.NoCommand:
	}
	return "", nil
}

func (a *App) stopSMS(ctx context.Context, in tenant.TenantID, number string) error {
	return a.write(ctx, tenant.System(in), "notification.stop", func(_ context.Context, t *tx) error {
		store.PutStops(t.Tx, t.in, store.NotificationStop{Channel: notify.SMS, Address: number, Reason: notify.OptedOutReason, At: t.now})
		return nil
	})
}
