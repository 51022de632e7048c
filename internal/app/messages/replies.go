package messages

import (
	"cmp"
	"context"
	"errors"

	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/accountdb"
	"github.com/berthhq/berth/internal/data/messagedb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/pg"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// AnswerSMS does what an SMS asks for that came from a number to a tenant's own. What it gives is to be answered, in the
// language of whoever has the number; empty where the carrier or Twilio answers by themselves, or nothing was understood. The
// same SMS may come twice.
func (s *Service) AnswerSMS(ctx context.Context, in tenant.TenantID, from, text string) (string, error) {
	return s.answerSMS(ctx, []tenant.TenantID{in}, from, text)
}

// AnswerSharedSMS does what an SMS asks for that came in on the number which tenants share. It is about those of them
// that have written from it to its sender: STOP ends the messages of all, as it does at the carrier; a code answers one
// tenant's offer, or none where it fits several.
func (s *Service) AnswerSharedSMS(ctx context.Context, from, text string) (string, error) {
	var wrote []tenant.TenantID
	err := s.engine.ReadAsOperator(ctx, func(ctx context.Context, tx *pg.ReadTx) error {
		var batch pg.Batch
		messagedb.ListTenantsByPhone(&batch, from, &wrote)
		return tx.Load(ctx, &batch)
	})
	if err != nil || len(wrote) == 0 {
		return "", err
	}
	return s.answerSMS(ctx, wrote, from, text)
}

// answerSMS does what an SMS asks tenants for.
func (s *Service) answerSMS(ctx context.Context, tenants []tenant.TenantID, from, text string) (string, error) {
	command := notify.ParseReply(text)
	about, answer := tenants[0], notify.NoAnswer
	var err error
	switch command.Kind {
	case notify.Stop, notify.Start:
		for _, in := range tenants {
			if err := s.resumeOrStop(ctx, in, from, command.Kind == notify.Start); err != nil {
				return "", err
			}
		}
		if command.Kind == notify.Stop && !command.HandledByCarrier {
			answer = notify.MessagesStopped
		}
	case notify.Accept, notify.Decline:
		about, answer, err = s.answerOffer(ctx, tenants, from, command)
	case notify.Help:
		answer = notify.Helped
	case notify.NoReply:
	}
	if err != nil || answer == notify.NoAnswer {
		return "", err
	}
	return s.inWords(ctx, about, from, answer)
}

func (s *Service) resumeOrStop(ctx context.Context, in tenant.TenantID, number string, resume bool) error {
	return s.engine.Write(ctx, tenant.System(in), "notification.stop", func(_ context.Context, tx *engine.Tx) error {
		if resume {
			messagedb.DeleteStop(tx.Tx, tx.Tenant, notify.SMS, number)
		} else {
			messagedb.PutStops(tx.Tx, tx.Tenant, messagedb.NotificationStop{Channel: notify.SMS, Address: number, Reason: notify.OptedOutReason, At: tx.Now})
		}
		return nil
	})
}

// answerOffer accepts or declines the offer that a code means, if it means one. An offer that is over still knows its answer: the
// same SMS may come twice.
func (s *Service) answerOffer(ctx context.Context, tenants []tenant.TenantID, from string, command notify.Reply) (tenant.TenantID, notify.Answer, error) {
	var chosen waitlists.CodedOffer
	about, live := tenants[0], 0
	for _, in := range tenants {
		offers, err := s.offers.Coded(ctx, in, from, command.Code)
		if err != nil {
			return about, notify.NoAnswer, err
		}
		for _, o := range offers {
			if o.Live {
				live++
			}
			if chosen.ID.IsZero() || o.Live && !chosen.Live {
				about, chosen = in, o
			}
		}
	}
	switch {
	case live > 1:
		return about, notify.Ambiguous, nil
	case chosen.ID.IsZero():
		return about, notify.NotOpen, nil
	}
	err := s.offers.Answer(ctx, about, chosen, command.Kind == notify.Accept)
	var refused *fault.Error
	switch {
	case err == nil && command.Kind == notify.Accept:
		return about, notify.Booked, nil
	case err == nil:
		return about, notify.OfferDeclined, nil
	case fault.ReasonOf(err) == fault.OfferNotLive, fault.ReasonOf(err) == fault.OfferNotFound, fault.ReasonOf(err) == fault.SessionNotFound:
		return about, notify.NotOpen, nil
	case errors.As(err, &refused) && refused.Kind != fault.Internal && refused.Kind != fault.Unavailable && refused.Kind != fault.DeadlineExceeded:
		return about, notify.BookingFailed, nil
	}
	return about, notify.NoAnswer, err
}

// inWords writes an answer in the language of whoever has the number, else in the tenant's.
func (s *Service) inWords(ctx context.Context, in tenant.TenantID, number string, answer notify.Answer) (string, error) {
	var h house
	var settings notify.Settings
	var theirs string
	var batch pg.Batch
	h.queue(&batch, in)
	messagedb.FindNotificationSettings(&batch, in, &settings)
	accountdb.FindLocaleByPhone(&batch, in, number, &theirs)
	if err := s.engine.Read(ctx, tenant.System(in), &batch); err != nil {
		return "", err
	}
	return answer.Text(cmp.Or(settings.SenderName, h.name), theirs, cmp.Or(settings.Locale, h.locale)), nil
}

// TwilioPath is where Twilio's webhooks lie.
const TwilioPath = "/twilio/"

// TwilioInboundURL is where Twilio is to send SMS that come in on a tenant's own number.
func (s *Service) TwilioInboundURL(in tenant.TenantID) string {
	return s.publicURL + TwilioPath + in.String() + "/inbound"
}

// TwilioStatusURL is where Twilio is to report what became of a tenant's messages.
func (s *Service) TwilioStatusURL(in tenant.TenantID) string {
	return s.publicURL + TwilioPath + in.String() + "/status"
}
