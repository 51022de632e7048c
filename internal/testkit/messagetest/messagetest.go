// Package messagetest runs the message pump in tests: it plans, sends and settles messages once, through fakes of
// providers.
package messagetest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/seats"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/outbox"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/session"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/worker"
)

// Studio is a studio whose messages go to a fake provider.
type Studio struct {
	*testkit.Studio
	Dispatcher *worker.Dispatcher
	Provider   *Provider

	serial       *int // counts members, in all tenants
	appConfig    app.Config
	workerConfig worker.Config
}

// New creates a studio in a database of its own.
func New(t testing.TB, change ...func(*worker.Config, *app.Config)) *Studio {
	t.Helper()
	return On(testkit.New(t), change...)
}

// On lets an existing studio send messages.
func On(studio *testkit.Studio, change ...func(*worker.Config, *app.Config)) *Studio {
	studio.T.Helper()
	s := &Studio{Studio: studio, Provider: new(Provider), serial: new(int)}
	ac := studio.Config()
	ac.PlatformSenders = map[delivery.Channel]string{
		delivery.SMS: messages.ProviderTwilio, delivery.Push: messages.ProviderFCM, delivery.Email: messages.ProviderSMTP,
	}
	ac.Send = func(ctx context.Context, in tenant.TenantID, out []messages.Outgoing) []messages.AttemptResult {
		return s.Dispatcher.SendAll(ctx, in, out)
	}
	wc := worker.Config{
		Platform: make(map[string]func(tenant.TenantID) worker.Sender),
		Log:      slog.New(slog.DiscardHandler), Now: studio.Clock.Now,
	}
	for _, provider := range []string{
		messages.ProviderTwilio, messages.ProviderFCM, messages.ProviderSMTP, messages.LocalOutbox,
	} {
		wc.Platform[provider] = func(tenant.TenantID) worker.Sender { return s.Provider }
	}
	for _, f := range change {
		f(&wc, &ac)
	}
	s.appConfig, s.workerConfig = ac, wc
	s.start()
	olga := s.Owner
	olga.Email = "olga@example.com" // as her token says
	expect.OK(s.T)(s.App.Accounts.UpdateMe(s.T.Context(), olga, nil, func(m *member.Member) error {
		m.Email = olga.Email
		return nil
	}))
	return s
}

// start creates the App and the courier of a node.
func (s *Studio) start() {
	s.T.Helper()
	s.App = app.New(s.appConfig)
	s.workerConfig.Messages = s.App.Messages
	s.Dispatcher = expect.Value(worker.New(s.workerConfig))(s.T)
}

// OtherTenant creates a second tenant in the same database.
func (s *Studio) OtherTenant(name string) *Studio {
	s.T.Helper()
	other := *s
	other.Studio = s.Studio.OtherTenant()
	other.EditTenant(func(t *catalog.Tenant) { t.Name = name })
	return &other
}

// OtherNode returns the studio as another node serves it.
func (s *Studio) OtherNode() *Studio {
	s.T.Helper()
	other := *s
	other.Studio = s.Studio.OtherNode()
	other.start()
	return &other
}

// AddReachable creates a member with a number, an address and a device.
func (s *Studio) AddReachable(name string) tenant.Caller {
	s.T.Helper()
	*s.serial++
	who := s.AddMemberWith(member.Member{
		Name: name, Email: strings.ToLower(name) + "@example.com", Phone: fmt.Sprintf("+49151%08d", 1000000+*s.serial),
	})
	s.AddDevice(who, "device-of-"+who.Subject)
	return who
}

// AddDevice registers a device of a member.
func (s *Studio) AddDevice(who tenant.Caller, token string) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Accounts.RegisterDevice(context.Background(), who, member.IOS, token))
}

// RemoveDevices unregisters all devices of a member.
func (s *Studio) RemoveDevices(who tenant.Caller) {
	s.T.Helper()
	for _, d := range s.me(who).Devices {
		s.NoError(s.App.Accounts.UnregisterDevice(context.Background(), who, d.ID))
	}
}

// PhoneOf returns the number of a member.
func (s *Studio) PhoneOf(who tenant.Caller) string {
	s.T.Helper()
	return s.me(who).Member.Phone
}

func (s *Studio) me(who tenant.Caller) accounts.Me {
	s.T.Helper()
	return expect.Value(s.App.Accounts.GetMe(context.Background(), who))(s.T)
}

// Prefer changes what a member wants to be told through which channel.
func (s *Studio) Prefer(who tenant.Caller, preferences notify.Preferences) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Messages.UpdateNotificationPreferences(
		context.Background(), who, messages.PreferencesEdit{Chosen: preferences},
	))
}

// StopMails stops all mails to a member, by the link in one.
func (s *Studio) StopMails(who tenant.Caller) {
	s.T.Helper()
	link := s.sendTestMail(who).Unsubscribe
	expect.OK(s.T)(s.App.Messages.Unsubscribe(
		context.Background(), link[strings.Index(link, messages.UnsubscribePath)+len(messages.UnsubscribePath):], true,
	))
}

// BounceMail lets a mail to a member bounce.
func (s *Studio) BounceMail(who tenant.Caller) {
	s.T.Helper()
	s.Provider.Fail(delivery.Email, &delivery.Error{Kind: delivery.Unregistered})
	defer s.Provider.Fail(delivery.Email, nil)
	s.sendTestMail(who)
}

func (s *Studio) sendTestMail(who tenant.Caller) delivery.Message {
	s.T.Helper()
	s.Provider.Take()
	s.ConfirmContacts(who)
	expect.OK(s.T)(s.App.Messages.SendTestNotification(
		context.Background(), who, notify.Rescheduled, delivery.Email, "en",
	))
	return s.Provider.Take()[0]
}

// SessionAt creates a session with the defaults of its service.
func (s *Studio) SessionAt(start time.Time, change ...func(*session.Input)) tenant.SessionID {
	s.T.Helper()
	in := s.SessionInput(start)
	for _, f := range change {
		f(&in)
	}
	return s.CreateSession(in, true).ID
}

// MustPlace books one seat and returns the booking or the waitlist entry.
func (s *Studio) MustPlace(who tenant.Caller, in tenant.SessionID) seats.Result {
	s.T.Helper()
	return expect.Value(s.Book(who, in))(s.T)
}

// BookMembers books one session for n new members. Each of them is told by mail and by push.
func (s *Studio) BookMembers(n int) {
	s.T.Helper()
	class := s.SessionAt(testkit.Noon.Add(200*time.Hour), func(in *session.Input) { in.Capacity = &n })
	for i := range n {
		s.MustPlace(s.AddReachable(fmt.Sprint("Mia", i)), class)
	}
}

// Promote creates a promotion from a waitlist. The member is told by mail, and by push or else SMS.
func (s *Studio) Promote() tenant.Caller {
	s.T.Helper()
	s.SetPromoting()
	mia, noa := s.AddReachable(fmt.Sprint("Mia", *s.serial)), s.AddReachable(fmt.Sprint("Noa", *s.serial))
	class := s.SessionAt(testkit.InTwoDays, func(in *session.Input) { in.Capacity = new(1) })
	first := s.MustPlace(mia, class).Booking.ID
	s.MustPlace(noa, class)
	s.Run()
	expect.OK(s.T)(s.App.Bookings.CancelBooking(context.Background(), mia, bookings.CancelRequest{ID: first}))
	return noa
}

// MakeOffers makes freed seats be offered in turn.
func (s *Studio) MakeOffers(change ...func(*waitlist.Settings)) {
	s.T.Helper()
	expect.OK(s.T)(s.App.Settings.UpdateWaitlistRules(context.Background(), s.Owner, settings.RulesEdit{
		Edit: func(r *waitlist.Settings) {
			r.Enabled, r.Mode = new(true), new(waitlist.OfferInTurn)
			for _, f := range change {
				f(r)
			}
		},
	}))
}

// FreeSeat cancels the only seat of a new session for which members wait, in this order.
func (s *Studio) FreeSeat(start time.Time, waiting ...tenant.Caller) tenant.SessionID {
	s.T.Helper()
	class := s.SessionAt(start, func(in *session.Input) { in.Capacity = new(1) })
	first := s.AddReachable(fmt.Sprint("First", *s.serial))
	result := s.MustPlace(first, class)
	for _, who := range waiting {
		s.MustPlace(who, class)
	}
	expect.OK(s.T)(
		s.App.Bookings.CancelBooking(context.Background(), first, bookings.CancelRequest{
			ID: result.Booking.ID, OverrideWindow: true,
		}),
	)
	return class
}

// OfferByID reads an offer.
func (s *Studio) OfferByID(id tenant.OfferID) waitlist.Offer {
	s.T.Helper()
	all := expect.Value(s.App.Waitlists.ListWaitlistOffers(
		context.Background(), s.Owner, waitlists.OfferQuery{Limit: 500},
	))(s.T)
	at := slices.IndexFunc(all, func(o waitlist.Offer) bool { return o.ID == id })
	must.True(s.T, at >= 0, must.Sprintf("no offer %s among %d", id, len(all)))
	return all[at]
}

// Plan plans notices from all events.
func (s *Studio) Plan() {
	s.T.Helper()
	s.NoError(s.TryPlan())
}

// TryPlan is Plan where statements may fail.
func (s *Studio) TryPlan() error {
	for {
		done, err := outbox.Consume(context.Background(), s.DB.DB, s.Tenant, s.App.Messages.NoticeConsumer())
		if err != nil || !done.More && !done.Held {
			return err
		}
	}
}

// Send sends what is due and settles it, as the worker does, but batch after batch.
func (s *Studio) Send() {
	s.T.Helper()
	ctx := context.Background()
	for more := true; more; {
		taken := expect.Value(s.App.Messages.TakeNotices(ctx, s.Tenant))(s.T)
		more = taken.More
		s.NoError(s.App.Messages.SettleDeliveries(ctx, s.Tenant, s.Dispatcher.SendAll(ctx, s.Tenant, taken.Out)))
	}
}

// Deliver plans notices and sends what is due.
func (s *Studio) Deliver() {
	s.T.Helper()
	s.Plan()
	s.Send()
}

// Run delivers what is due and returns what was sent as "TOPIC CHANNEL", sorted.
func (s *Studio) Run() []string {
	s.T.Helper()
	s.Deliver()
	var sent []string
	for _, m := range s.Provider.Take() {
		sent = append(sent, fmt.Sprintf("%s %s", m.Data["topic"], m.Channel))
	}
	slices.Sort(sent)
	return sent
}

// RunAt sets the clock and runs.
func (s *Studio) RunAt(t time.Time) []string {
	s.T.Helper()
	s.Clock.Set(t)
	return s.Run()
}

// Log returns the delivery log of a topic, the oldest line first, as "CHANNEL STATUS REASON".
func (s *Studio) Log(topic notify.Topic) []string {
	s.T.Helper()
	deliveries := expect.Value(s.App.Messages.ListNotificationDeliveries(
		context.Background(), s.Owner, messages.DeliveryQuery{Topic: topic, Limit: 500},
	))(s.T)
	var lines []string
	for _, d := range slices.Backward(deliveries) {
		line := string(d.Channel) + " " + string(d.Status)
		if d.Reason != "" && string(d.Reason) != string(d.Status) {
			line += " " + string(d.Reason)
		}
		if d.PossibleDuplicate {
			line += " again"
		}
		lines = append(lines, line)
	}
	return lines
}

// WantLog fails the test unless the delivery log of a topic has these lines.
func (s *Studio) WantLog(what string, topic notify.Topic, want ...string) {
	s.T.Helper()
	test.EqOp(s.T, "", cmp.Diff(want, s.Log(topic)), test.Sprintf("%s (-want +got):\n", what))
}
