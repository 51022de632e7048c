package messages

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/content"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// AnswerSMS does what an SMS to a tenant's own number asks for. It returns the response, in the language of the member
// with the number. It is empty if the carrier or Twilio responds itself, or if the text was not understood. The same
// SMS may come twice.
func (s *Service) AnswerSMS(ctx context.Context, in tenant.TenantID, from, text string) (string, error) {
	return s.answerSMS(ctx, []tenant.TenantID{in}, from, text)
}

// AnswerSharedSMS does what an SMS to the platform's number asks for. It is about the tenants that have sent messages
// from that number to the sender. STOP stops the messages of all of them, as it does at the carrier. A code answers one
// tenant's offer, or none if several offers have it.
func (s *Service) AnswerSharedSMS(ctx context.Context, from, text string) (string, error) {
	var tenants []tenant.TenantID
	err := s.engine.ReadAsOperator(ctx, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		messagedb.ListTenantsByPhone(&batch, from, &tenants)
		return tx.Load(ctx, &batch)
	})
	if err != nil || len(tenants) == 0 {
		return "", err
	}
	return s.answerSMS(ctx, tenants, from, text)
}

func (s *Service) answerSMS(ctx context.Context, tenants []tenant.TenantID, from, text string) (string, error) {
	reply := notify.ParseReply(text)
	in, answer := tenants[0], content.NoAnswer
	var err error
	switch reply.Kind {
	case notify.Stop, notify.Start:
		for _, in := range tenants {
			if err := s.setStop(ctx, in, from, reply.Kind == notify.Stop); err != nil {
				return "", err
			}
		}
		if reply.Kind == notify.Stop && !reply.HandledByCarrier {
			answer = content.MessagesStopped
		}
	case notify.Accept, notify.Decline:
		in, answer, err = s.answerOffer(ctx, tenants, from, reply)
	case notify.Help:
		answer = content.Helped
	case notify.NoReply:
	}
	if err != nil || answer == content.NoAnswer {
		return "", err
	}
	return s.answerText(ctx, in, from, answer)
}

// setStop adds or removes the stop for a phone number.
func (s *Service) setStop(ctx context.Context, in tenant.TenantID, number string, stop bool) error {
	t := engine.Transaction{Name: "notification.stop"}
	return engine.Exec(ctx, s.engine, tenant.System(in), t, func(_ context.Context, tx *engine.Tx) error {
		if stop {
			messagedb.PutStops(tx.Tx, tx.Tenant, messagedb.NotificationStop{
				Channel: delivery.SMS, Address: number, Reason: notify.OptedOut, At: tx.Now,
			})
		} else {
			messagedb.DeleteStop(tx.Tx, tx.Tenant, delivery.SMS, number)
		}
		return nil
	})
}

// answerOffer accepts or declines the offer with a code. If only an offer that has ended has the code, answering it
// again gives the same result, because the same SMS may come twice.
func (s *Service) answerOffer(
	ctx context.Context, tenants []tenant.TenantID, from string, reply notify.Reply,
) (tenant.TenantID, content.Answer, error) {
	var chosen waitlists.CodedOffer
	of, live := tenants[0], 0
	for _, in := range tenants {
		offers, err := s.offers.OffersByCode(ctx, in, from, reply.Code)
		if err != nil {
			return of, content.NoAnswer, err
		}
		for _, o := range offers {
			if o.Live {
				live++
			}
			if chosen.ID.IsZero() || o.Live && !chosen.Live {
				of, chosen = in, o
			}
		}
	}
	switch {
	case live > 1:
		return of, content.Ambiguous, nil
	case chosen.ID.IsZero():
		return of, content.NotOpen, nil
	}
	accept := reply.Kind == notify.Accept
	err := s.offers.AnswerOffer(ctx, of, chosen, accept)
	var refused *fault.Error
	switch reason := fault.ReasonOf(err); {
	case err == nil && accept:
		return of, content.Booked, nil
	case err == nil:
		return of, content.OfferDeclined, nil
	case reason == fault.WaitlistOfferNotLive, reason == fault.WaitlistOfferNotFound, reason == fault.SessionNotFound:
		return of, content.NotOpen, nil
	case errors.As(err, &refused) && refused.Kind != fault.Internal &&
		refused.Kind != fault.Unavailable && refused.Kind != fault.DeadlineExceeded:
		return of, content.BookingFailed, nil
	}
	return of, content.NoAnswer, err
}

// answerText returns the text of an answer in the language of the member with the number, otherwise in the tenant's.
func (s *Service) answerText(
	ctx context.Context, in tenant.TenantID, number string, answer content.Answer,
) (string, error) {
	var profile tenantProfile
	var settings notify.Settings
	var locale string
	var batch pg.Batch
	profile.queue(&batch, in)
	messagedb.FindNotificationSettings(&batch, in, &settings)
	accountdb.FindLocaleByPhone(&batch, in, number, &locale)
	if err := s.engine.Read(ctx, tenant.System(in), &batch); err != nil {
		return "", err
	}
	return answer.Text(cmp.Or(settings.SenderName, profile.name), locale, cmp.Or(settings.Locale, profile.locale)), nil
}

// TwilioPath is the URL path of Twilio's webhooks.
const TwilioPath = "/twilio/"

// TwilioInboundURL is the webhook for SMS to a tenant's own number.
func (s *Service) TwilioInboundURL(in tenant.TenantID) string {
	return s.publicURL + TwilioPath + s.webhook(in) + "/inbound"
}

// TwilioStatusURL is the webhook for reports about a tenant's messages.
func (s *Service) TwilioStatusURL(in tenant.TenantID) string {
	return s.publicURL + TwilioPath + s.webhook(in) + "/status"
}

// webhookPurpose keeps the checksum of a webhook from being used for other links.
const webhookPurpose = "twilio"

// webhook returns what names a tenant in the path of its webhooks: its id, and the checksum of that.
func (s *Service) webhook(in tenant.TenantID) string {
	return in.String() + "." + hex.EncodeToString(s.seals.Checksum(in, webhookPurpose, nil))
}

// ReadWebhook reads the tenant from the path of a webhook, and whether the service made that. A path without a good
// checksum serves, too: owners may have entered it long ago.
func (s *Service) ReadWebhook(name string) (in tenant.TenantID, made bool, err error) {
	id, text, _ := strings.Cut(name, ".")
	if in, err = tenant.Parse[tenant.TenantID](id); err != nil {
		return in, false, err
	}
	sum, err := hex.DecodeString(text)
	return in, err == nil && s.seals.HasChecksum(in, webhookPurpose, nil, sum), nil
}
