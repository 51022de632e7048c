package app

import (
	"context"
	"errors"

	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/notify"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/store"
	"github.com/berthhq/berth/internal/tenant"
)

// What an SMS about an offer is answered that cannot be had any more.
const notOpen = "That offer is no longer open."

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
			return notOpen, nil
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

// TwilioPath is where Twilio's webhooks lie.
const TwilioPath = "/twilio/"

// TwilioInboundURL is where Twilio is to send SMS that come in on a tenant's own number.
func (a *App) TwilioInboundURL(in tenant.TenantID) string {
	return a.publicURL + TwilioPath + in.String() + "/inbound"
}

// TwilioStatusURL is where Twilio is to report what became of a tenant's messages.
func (a *App) TwilioStatusURL(in tenant.TenantID) string {
	return a.publicURL + TwilioPath + in.String() + "/status"
}

// AnswerSharedSMS does what an SMS asks for that came in on a number which several tenants share: for those of them that
// have written to its sender. An offer's code is one tenant's.
func (a *App) AnswerSharedSMS(ctx context.Context, from, text string) (string, error) {
	tenants, err := a.Tenants(ctx)
	if err != nil {
		return "", err
	}
	answer := ""
	for _, in := range tenants {
		var wrote bool
		var batch pg.Batch
		store.HasWritten(&batch, in, from, &wrote)
		if err := a.read(ctx, tenant.System(in), &batch); err != nil {
			return "", err
		}
		if !wrote {
			continue
		}
		said, err := a.AnswerSMS(ctx, in, from, text)
		if err != nil {
			return "", err
		}
		if said != notOpen && said != "" {
			return said, nil
		}
		answer = said
	}
	return answer, nil
}
