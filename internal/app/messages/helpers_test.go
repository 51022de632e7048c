package messages_test

import (
	"context"
	"strings"
	"testing"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
	"github.com/berthhq/berth/internal/worker"
)

// Short names for what tests speak of all the time.
type (
	choice      = notify.PreferenceKey
	memberValue = member.Member
	contact     = booking.Contact
)

const (
	confirmed = notify.BookingConfirmed
	email     = delivery.Email
	push      = delivery.Push
	sms       = delivery.SMS
)

var contains = strings.Contains

// withOwnMail returns a studio that has a mail account of its own.
func withOwnMail(t *testing.T, change ...func(*worker.Config, *app.Config)) *messagetest.Studio {
	t.Helper()
	var studio *messagetest.Studio
	studio = messagetest.New(t, append(change, func(wc *worker.Config, ac *app.Config) {
		ac.MailFrom = "mail@berth.example"
		wc.Open = func(context.Context, tenant.TenantID, string, messages.Senders) (worker.Sender, error) {
			return studio.Provider, nil
		}
	})...)
	setMail(studio, &messages.SMTPServer{Host: "mail.harbour.example", Port: 587, From: "hello@harbour.example"})
	return studio
}

// setMail sets the studio's own mail account; nil: it has none.
func setMail(studio *messagetest.Studio, account *messages.SMTPServer) {
	studio.T.Helper()
	update := studio.App.Messages.UpdateNotificationSenders
	expect.OK(studio.T)(update(studio.T.Context(), studio.Owner, nil, func(s *messages.Senders) {
		s.SMTP = account
	}))
}
