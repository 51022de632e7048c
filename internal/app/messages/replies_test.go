package messages_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/testkit/messagetest"
)

func speaks(studio *messagetest.Studio, who tenant.Caller, locale string) {
	studio.T.Helper()
	expect.OK(studio.T)(studio.App.Accounts.UpdateMe(
		studio.T.Context(), who, nil, func(m *memberValue) error { m.Locale = locale; return nil },
	))
}

// The same SMS may come twice. Both get the same answer, in the language of the sender.
func TestReplies_ToOffersInTheMembersLanguage(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	p.MakeOffers()
	inbound := p.App.Messages.TwilioInboundURL(p.Tenant)
	for _, c := range []struct{ locale, yes, again, no, never, help, stop string }{
		{
			"en", "Booked. See you there!", "Booked. See you there!", "offer it to the next person", "no longer open",
			"2 and the code to decline", "no more text messages",
		},
		{
			"de-CH", "Gebucht. Bis bald!", "Gebucht. Bis bald!", "geht an die nächste Person", "gilt nicht mehr",
			"lehnen Sie es ab", "keine SMS mehr",
		},
		{
			"fr", "C&#39;est réservé", "C&#39;est réservé", "à la personne suivante", "n&#39;est plus valable",
			"pour la refuser", "plus de SMS",
		},
	} {
		who := p.AddReachable("Noa-" + c.locale)
		speaks(p.Studio, who, c.locale)
		number := p.PhoneOf(who)
		say := func(text, want string) {
			t.Helper()
			got := p.ReceiveSMS(inbound, number, text)
			test.True(t, contains(got, want), test.Sprintf("%s: %q is answered %s", c.locale, text, got))
		}
		accepted := p.Offers(p.FreeSeat(testkit.Noon.Add(72*time.Hour), who))[0]
		say("1 999999", c.never)
		say("1 "+p.CodeOf(accepted), c.yes)
		say("1 "+p.CodeOf(accepted), c.again)
		say("2 "+p.CodeOf(accepted), c.never)
		p.Tick()
		declined := p.Offers(p.FreeSeat(testkit.Noon.Add(96*time.Hour), who))[0]
		say("2 "+p.CodeOf(declined), c.no)
		say("2 "+p.CodeOf(declined), c.no)
		say("1 "+p.CodeOf(declined), c.never)
		say("HELP", c.help)
		say("Arrêt", c.stop)
		// Carriers answer these.
		for _, text := range []string{"START", "STOP", "CANCEL", "END"} {
			got := p.ReceiveSMS(inbound, number, text)
			test.False(t, contains(got, "<Message>"), test.Sprintf("%q is answered %s", text, got))
		}
		// After a cancellation the reply does not say that the session is booked.
		expect.OK(p.T)(p.App.Bookings.CancelBooking(
			p.T.Context(), who, bookings.CancelRequest{ID: p.OfferByID(accepted.ID).Booking},
		))
		say("1 "+p.CodeOf(accepted), c.never)
		// If several offers have had a code, the last of them is meant.
		p.SetCode(declined, p.CodeOf(accepted))
		say("2 "+p.CodeOf(accepted), c.no)
	}
}

// A reader of the database finds no code of an offer, neither as it is nor by trying all codes.
func TestReplies_CodesOfOffersAreStoredUnderAKey(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	p.MakeOffers()
	noa := p.AddTextOnly("Noa")
	offer := p.Offers(p.FreeSeat(testkit.Noon.Add(72*time.Hour), noa))[0]
	p.Plan()
	p.Send()
	code, told := p.CodeOf(offer), false
	for _, m := range p.Twilio.Messages() {
		told = told || strings.Contains(m.Body, code)
	}
	must.True(t, told, must.Sprintf("no message has the code: %v", p.Twilio.Messages()))
	for _, table := range []string{
		"waitlist_offers", "waitlist_decisions", "notices", "deliveries", "audit_entries", "events", "idempotency_keys",
	} {
		test.EqOp(t, 0, p.Count(`select count(*) from `+table+` x where x::text ~ ('\m'||$1||'\M')`, code),
			test.Sprint(table))
	}
	test.EqOp(t, 0, p.Count(`
select count(*) from waitlist_offers o, generate_series(0, 999999) n
where o.code_hash = sha256(lpad(n::text, 6, '0')::bytea)`))
}

// Who is not known is answered in the language of the tenant's messages, and in the name of their sender.
func TestReplies_ToStrangers(t *testing.T) {
	t.Parallel()
	studio := messagetest.New(t)
	for _, edited := range []notify.Settings{{}, {Locale: "fr", SenderName: "Le Quai"}} {
		expect.OK(t)(studio.App.Messages.UpdateNotificationSettings(
			t.Context(), studio.Owner, nil,
			func(s *notify.Settings) { s.Locale, s.SenderName = edited.Locale, edited.SenderName },
		))
		test.StrHasPrefix(t, map[string]string{"": "Harbour Yoga: reply", "fr": "Le Quai : "}[edited.Locale],
			expect.Value(studio.App.Messages.AnswerSMS(t.Context(), studio.Tenant, "+33612345678", "HELP"))(t))
	}
}

// Tenants without an account of their own share a number. What comes back on it names none of them.
func TestReplies_ToASharedNumber(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	studios := []*messagetest.Studio{p.Studio, p.OtherTenant("Dock Pilates"), p.OtherTenant("Silent Golf")}
	const number = "+4915112345678"
	inbound := "https://berth.example/twilio/platform/inbound"
	noas, offers := make([]tenant.Caller, len(studios)), make([]waitlist.Offer, len(studios))
	for i, studio := range studios {
		studio.MakeOffers()
		noas[i] = studio.AddReachable("Noa")
		studio.RemoveDevices(noas[i])
		studio.EditMember(noas[i], func(m *memberValue) { m.Phone = number })
		got := p.ReceiveSMS(inbound, number, "HELP")
		test.False(
			t, i == 0 && contains(got, "<Message>"),
			test.Sprintf("that number never got a message, and it is answered %s", got),
		)
		offers[i] = studio.Offers(studio.FreeSeat(testkit.Noon.Add(72*time.Hour), noas[i]))[0]
		if i < 2 { // the third does not get round to writing
			studio.Plan()
			studio.Send()
		}
	}
	must.EqOp(t, 2, len(p.Twilio.Messages()), must.Sprint("messages"))
	statuses := func(want ...waitlist.OfferStatus) {
		t.Helper()
		for i, studio := range studios {
			test.EqOp(t, want[i], studio.OfferByID(offers[i].ID).Status, test.Sprintf("the offer of tenant %d", i))
		}
	}
	got := p.ReceiveSMS(inbound, number, "1 "+p.CodeOf(offers[2]))
	test.True(t, contains(got, "no longer open"), test.Sprintf("a tenant that has not written is answered %s", got))
	// Two tenants have come to the same code. Codes are random, so only SQL makes them equal.
	for i, studio := range studios {
		studio.SetCode(offers[i], "482117")
	}
	got = p.ReceiveSMS(inbound, number, "1 482117")
	test.True(t, contains(got, "Several offers"), test.Sprintf("an ambiguous code is answered %s", got))
	statuses(waitlist.Live, waitlist.Live, waitlist.Live)
	got = p.ReceiveSMS(inbound, "+4915187654321", "1 482117")
	test.False(t, contains(got, "<Message>"), test.Sprintf("another number is answered %s", got))
	expect.OK(p.T)(p.App.Waitlists.DeclineWaitlistOffer(p.T.Context(), noas[0], offers[0].ID, false, ""))
	got = p.ReceiveSMS(inbound, number, "1 482117")
	test.True(t, contains(got, "Booked"), test.Sprintf("once it means one offer it is answered %s", got))
	statuses(waitlist.Declined, waitlist.Accepted, waitlist.Live)

	stops := func(want int) {
		t.Helper()
		test.EqOp(t, want, p.Count(`select count(*) from notification_stops where channel = 'SMS' and address = $1`, number),
			test.Sprintf("tenants must not write, want %d", want))
	}
	p.ReceiveSMS(inbound, number, "STOP")
	stops(2)
	p.ReceiveSMS(inbound, number, "START")
	stops(0)
}

// Carriers act on these words by themselves: they end and resume all messages, and never answer an offer, though one
// is open.
func TestReplies_CarrierKeywordsAnswerNoOffer(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	p.MakeOffers()
	noa := p.AddReachable("Noa")
	inbound, number := p.App.Messages.TwilioInboundURL(p.Tenant), p.PhoneOf(noa)
	offer := p.Offers(p.FreeSeat(testkit.Noon.Add(72*time.Hour), noa))[0]
	stops := func(after string, want int) {
		t.Helper()
		test.EqOp(t, want, p.Count(`select count(*) from notification_stops where channel = 'SMS' and address = $1`, number),
			test.Sprintf("after %q: stops, want %d", after, want))
	}
	for _, stop := range []string{
		"STOP", "stopall", "Unsubscribe", "CANCEL", "end", "QUIT", "Revoke", "OPTOUT", "Stopp", "Arrêt",
	} {
		p.ReceiveSMS(inbound, number, stop)
		stops(stop, 1)
		for _, start := range []string{"YES", "START", "Unstop"} {
			p.ReceiveSMS(inbound, number, start)
			stops(start, 0)
			p.ReceiveSMS(inbound, number, stop)
		}
	}
	for _, text := range []string{"NO", "1", "2", "yes please", "accept", "cancel my booking"} {
		p.ReceiveSMS(inbound, number, text)
		stops(text, 1)
	}
	test.EqOp(t, waitlist.Live, p.OfferByID(offer.ID).Status, test.Sprint("the offer"))
}

// Where Twilio says that it has dealt with a word, in whatever language, it has answered it, too.
func TestReplies_KeywordsHandledByTwilio(t *testing.T) {
	t.Parallel()
	p := messagetest.WithServers(t)
	mia := p.AddTextOnly("Mia")
	inbound := p.App.Messages.TwilioInboundURL(p.Tenant)
	form := map[string][]string{
		"AccountSid": {p.Twilio.AccountSID}, "MessageSid": {"SM1"}, "From": {p.PhoneOf(mia)}, "To": {"+15005550006"},
		"Body": {"Basta"},
	}
	for _, word := range []string{"HELP", "STOP"} {
		form["OptOutType"] = []string{word}
		var answer *httptest.ResponseRecorder
		if answer = p.Call(p.Twilio.Call(p.T.Context(), inbound, form)); answer.Code != http.StatusOK ||
			contains(answer.Body.String(), "<Message>") {
			t.Errorf("%s: %d %s", word, answer.Code, answer.Body)
		}
	}
	p.MustPlace(mia, p.SessionAt(testkit.Noon.Add(48*time.Hour)))
	p.Deliver()
	p.WantLog("after STOP", notify.BookingConfirmed, " DROPPED OPTED_OUT")
}
