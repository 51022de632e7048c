package worker_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// sayTo is an SMS from a number to an address of a webhook, and gives what it is answered.
func (p *providers) sayTo(address, number, text string) string {
	p.t.Helper()
	answer := p.call(p.twilio.Reply(p.ctx(), address, "SM1", number, "+15005550006", text))
	if answer.Code != http.StatusOK {
		p.t.Fatalf("%q: %d %s", text, answer.Code, answer.Body)
	}
	return answer.Body.String()
}

func speaks(h *house, who tenant.Caller, locale string) {
	h.t.Helper()
	_, err := h.app.Accounts.UpdateMe(h.ctx(), who, nil, func(m *memberValue) error { m.Locale = locale; return nil })
	h.ok(err)
}

// The same SMS may come twice, is answered alike, and in the language of whoever sent it.
func TestOffersAnsweredBySMSInTheirOwnLanguage(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	p.offering()
	inbound := p.app.Messages.TwilioInboundURL(p.Tenant)
	for _, c := range []struct{ locale, yes, again, no, never, help, stop string }{
		{"en", "Booked. See you there!", "Booked. See you there!", "offer it to the next person", "no longer open", "2 and the code to decline", "no more text messages"},
		{"de-CH", "Gebucht. Bis bald!", "Gebucht. Bis bald!", "geht an die nächste Person", "gilt nicht mehr", "lehnen Sie es ab", "keine SMS mehr"},
		{"fr", "C&#39;est réservé", "C&#39;est réservé", "à la personne suivante", "n&#39;est plus valable", "pour la refuser", "plus de SMS"},
	} {
		who := p.member("Noa-" + c.locale)
		speaks(p.house, who, c.locale)
		number := p.phone(who)
		say := func(text, want string) {
			t.Helper()
			if got := p.sayTo(inbound, number, text); !contains(got, want) {
				t.Errorf("%s: %q is answered %s", c.locale, text, got)
			}
		}
		accepted := p.offers(p.freed(noon.Add(72*time.Hour), who))[0]
		say("1 999999", c.never)
		say("1 "+accepted.Code, c.yes)
		say("1 "+accepted.Code, c.again)
		say("2 "+accepted.Code, c.never)
		declined := p.offers(p.freed(noon.Add(96*time.Hour), who))[0]
		say("2 "+declined.Code, c.no)
		say("2 "+declined.Code, c.no)
		say("1 "+declined.Code, c.never)
		say("HELP", c.help)
		say("Arrêt", c.stop)
		// Carriers answer these.
		for _, text := range []string{"START", "STOP", "CANCEL", "END"} {
			if got := p.sayTo(inbound, number, text); contains(got, "<Message>") {
				t.Errorf("%q is answered %s", text, got)
			}
		}
		// Whoever has cancelled since does not hear that it is booked.
		_, err := p.app.Bookings.CancelBooking(p.ctx(), who, bookings.CancelRequest{ID: p.offer(accepted.ID).Booking})
		p.ok(err)
		say("1 "+accepted.Code, c.never)
	}
}

func (h *house) offer(id tenant.OfferID) waitlist.Offer {
	h.t.Helper()
	all, err := h.app.Waitlists.ListOffers(h.ctx(), h.Owner, waitlists.OfferQuery{Limit: 500})
	h.ok(err)
	at := slices.IndexFunc(all, func(o waitlist.Offer) bool { return o.ID == id })
	if at < 0 {
		h.t.Fatalf("no offer %s among %d", id, len(all))
	}
	return all[at]
}

// Tenants without an account of their own share a number. What comes back on it names none of them.
func TestRepliesToANumberThatTenantsShare(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	houses := []*house{p.house, p.neighbour("Dock Pilates"), p.neighbour("Silent Golf")}
	const number = "+4915112345678"
	inbound := "https://berth.example/twilio/platform/inbound"
	noas := make([]tenant.Caller, len(houses))
	offers := make([]waitlist.Offer, len(houses))
	for i, h := range houses {
		h.offering()
		noas[i] = h.member("Noa")
		devices(h, noas[i])
		_, err := h.app.Accounts.UpdateMe(h.ctx(), noas[i], nil, func(m *memberValue) error { m.Phone = number; return nil })
		h.ok(err)
		if got := p.sayTo(inbound, number, "HELP"); i == 0 && contains(got, "<Message>") {
			t.Errorf("nobody has written to that number, and it is answered %s", got)
		}
		offers[i] = h.offers(h.freed(noon.Add(72*time.Hour), noas[i]))[0]
		if i < 2 { // the third does not get round to writing
			h.consume()
			h.ok(h.dispatcher.Deliver(h.ctx(), h.Tenant))
		}
	}
	if n := len(p.twilio.Messages()); n != 2 {
		t.Fatalf("%d messages", n)
	}
	statuses := func(want ...waitlist.OfferStatus) {
		t.Helper()
		for i, h := range houses {
			if got := h.offer(offers[i].ID).Status; got != want[i] {
				t.Errorf("the offer of tenant %d is %s, want %s", i, got, want[i])
			}
		}
	}
	if got := p.sayTo(inbound, number, "1 "+offers[2].Code); !contains(got, "no longer open") {
		t.Errorf("a tenant that has not written is answered %s", got)
	}
	// Two tenants have come to the same code.
	for i, h := range houses {
		_, err := h.db.Owner.Exec(h.ctx(), `update waitlist_offers set code = '482117' where tenant_id = $1 and id = $2`, h.Tenant, offers[i].ID)
		h.ok(err)
	}
	if got := p.sayTo(inbound, number, "1 482117"); !contains(got, "Several offers") {
		t.Errorf("an ambiguous code is answered %s", got)
	}
	statuses(waitlist.Live, waitlist.Live, waitlist.Live)
	if got := p.sayTo(inbound, "+4915187654321", "1 482117"); contains(got, "<Message>") {
		t.Errorf("another number is answered %s", got)
	}
	_, err := p.app.Waitlists.DeclineOffer(p.ctx(), noas[0], offers[0].ID, false, "")
	p.ok(err)
	if got := p.sayTo(inbound, number, "1 482117"); !contains(got, "Booked") {
		t.Errorf("once it means one offer it is answered %s", got)
	}
	statuses(waitlist.Declined, waitlist.Accepted, waitlist.Live)

	stops := func(want int) {
		t.Helper()
		if n := p.count(`select count(*) from notification_stops where channel = 'SMS' and address = $1`, number); n != want {
			t.Errorf("%d tenants must not write, want %d", n, want)
		}
	}
	p.sayTo(inbound, number, "STOP")
	stops(2)
	p.sayTo(inbound, number, "START")
	stops(0)
}

// Carriers act on these words by themselves: they end and resume all messages, and never answer an offer, though one is open.
func TestWordsOfTheCarriersAnswerNoOffer(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	p.offering()
	noa := p.member("Noa")
	inbound, number := p.app.Messages.TwilioInboundURL(p.Tenant), p.phone(noa)
	offer := p.offers(p.freed(noon.Add(72*time.Hour), noa))[0]
	stops := func(after string, want int) {
		t.Helper()
		if n := p.count(`select count(*) from notification_stops where channel = 'SMS' and address = $1`, number); n != want {
			t.Errorf("after %q: %d stops, want %d", after, n, want)
		}
	}
	for _, stop := range []string{"STOP", "stopall", "Unsubscribe", "CANCEL", "end", "QUIT", "Revoke", "OPTOUT", "Stopp", "Arrêt"} {
		p.sayTo(inbound, number, stop)
		stops(stop, 1)
		for _, start := range []string{"YES", "START", "Unstop"} {
			p.sayTo(inbound, number, start)
			stops(start, 0)
			p.sayTo(inbound, number, stop)
		}
	}
	for _, text := range []string{"NO", "1", "2", "yes please", "accept", "cancel my booking"} {
		p.sayTo(inbound, number, text)
		stops(text, 1)
	}
	if got := p.offer(offer.ID); got.Status != waitlist.Live {
		t.Errorf("the offer is %s", got.Status)
	}
}

// Where Twilio says that it has dealt with a word, in whatever language, it has answered it, too.
func TestWordsThatTwilioHasAnswered(t *testing.T) {
	t.Parallel()
	p := withProviders(t)
	mia := p.textOnly()
	inbound := p.app.Messages.TwilioInboundURL(p.Tenant)
	form := map[string][]string{
		"AccountSid": {p.twilio.AccountSID}, "MessageSid": {"SM1"}, "From": {p.phone(mia)}, "To": {"+15005550006"}, "Body": {"Basta"},
	}
	for _, word := range []string{"HELP", "STOP"} {
		form["OptOutType"] = []string{word}
		var answer *httptest.ResponseRecorder
		if answer = p.call(p.twilio.Call(p.ctx(), inbound, form)); answer.Code != http.StatusOK || contains(answer.Body.String(), "<Message>") {
			t.Errorf("%s: %d %s", word, answer.Code, answer.Body)
		}
	}
	p.book(mia, p.session(noon.Add(48*time.Hour)))
	p.deliver()
	p.wantLines("after STOP", notify.BookingConfirmed, " DROPPED OPTED_OUT")
}
