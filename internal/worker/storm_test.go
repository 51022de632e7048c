package worker_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fcm/fcmtest"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/smtp/smtptest"
	"github.com/berthhq/berth/internal/twilio/twiliotest"
)

// All three providers refuse everything for a while, each in its own way. They are left alone for most of it, what
// has time waits, and in the end each message arrives once.
func TestAStormAtAllProviders(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	var storm atomic.Bool
	storm.Store(true)
	var refused atomic.Int32
	p.twilio.React(func(twiliotest.Message) twiliotest.Reaction {
		if storm.Load() {
			refused.Add(1)
			return twiliotest.Busy(10 * time.Second)
		}
		return twiliotest.Reaction{}
	})
	p.fcm.React(func(fcmtest.Message) fcmtest.Reaction {
		if storm.Load() {
			refused.Add(1)
			return fcmtest.Busy(10 * time.Second)
		}
		return fcmtest.Reaction{}
	})
	p.mail.React(func(string) smtptest.Reaction {
		if storm.Load() {
			refused.Add(1)
			return smtptest.Reaction{Mail: "451 4.7.1 try again later"}
		}
		return smtptest.Reaction{}
	})
	const people = 40
	class := p.session(noon.Add(72*time.Hour), func(in *session.Input) { in.Capacity = new(2 * people) })
	for i := range people {
		p.book(p.member(fmt.Sprint("Mia", i)), class)     // a mail and a push
		p.book(p.textOnlyTo(fmt.Sprint("Noa", i)), class) // an SMS
	}
	p.deliver()
	for range 4 {
		p.later(15 * time.Second)
	}
	// Five tries trip a provider's breaker; some more are on their way by then, and each pause ends in one.
	if n := refused.Load(); n < 15 || n > 3*people {
		t.Errorf("the providers were asked %d times in a minute of storm, for %d messages", n, 3*people)
	}
	storm.Store(false)
	for range 60 {
		p.later(30 * time.Second)
	}
	if sms, pushes, mails := len(p.twilio.Messages()), len(p.fcm.Messages()), len(p.mail.Mails()); sms != people || pushes != people || mails != people {
		t.Errorf("%d SMS, %d pushes, %d mails for %d of each", sms, pushes, mails, people)
	}
	if n := p.count(`select count(*) from deliveries where possible_duplicate or status = 'POSSIBLY_SENT'`); n != 0 {
		t.Errorf("%d lines of the log are in doubt", n)
	}
}

// A storm must not carry offers past their end: what comes too late is not sent at all.
func TestAStormOutlivesAnOffer(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	p.offering()
	var storm atomic.Bool
	storm.Store(true)
	p.twilio.React(func(m twiliotest.Message) twiliotest.Reaction {
		if m.Validity <= 0 || m.Validity > 30*time.Minute {
			t.Errorf("it may be delivered for %v", m.Validity)
		}
		if storm.Load() {
			return twiliotest.Busy(time.Minute)
		}
		return twiliotest.Reaction{}
	})
	noa := p.member("Noa")
	devices(p.house, noa)
	_, err := p.app.Messages.UpdateNotificationPreferences(p.ctx(), noa, messages.PreferencesEdit{Chosen: notify.Preferences{{Topic: notify.Offered, Channel: email}: false}})
	p.ok(err)
	class := p.freed(noon.Add(72*time.Hour), noa)
	p.deliver()
	for range 40 {
		p.later(time.Minute)
		_, err := p.app.Housekeeping.SweepTenant(p.ctx(), p.Tenant)
		p.ok(err)
	}
	storm.Store(false)
	for range 10 {
		p.later(time.Minute)
	}
	if offers := p.offers(class); offers[0].Status == waitlist.Live {
		t.Errorf("%+v", offers[0])
	}
	if n := len(p.twilio.Messages()); n != 0 {
		t.Errorf("%d messages about an offer that is over", n)
	}
}
