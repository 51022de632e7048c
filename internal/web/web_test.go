package web

import (
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shoenig/test"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/contacts"
	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/provider/twilio"
	"github.com/berthhq/berth/internal/provider/twilio/twiliotest"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
	"github.com/berthhq/berth/internal/traffic"
)

// Members who open their links behind one address do not use up what is allowed there.
func TestLinks_AreLimitedByAddressIfTheyDoNotExist(t *testing.T) {
	t.Parallel()
	addresses := traffic.NewAddresses(traffic.Rate{PerSecond: 0.1, Burst: 5}, nil, testkit.NewClock(testkit.Noon).Now)
	links := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/wrong") {
			http.NotFound(w, r)
		}
	})
	pages := limitInvalid(Config{}, addresses, func(*http.Request) string { return "" }, links)
	for i, step := range []struct {
		path  string
		times int
		want  map[int]int // responses by status
	}{
		{"/right", 300, map[int]int{http.StatusOK: 300}},
		{"/wrong", 7, map[int]int{http.StatusNotFound: 5, http.StatusTooManyRequests: 2}},
		{messages.TwilioPath, 1, map[int]int{http.StatusServiceUnavailable: 1}},
	} {
		got := make(map[int]int)
		for range step.times {
			w := httptest.NewRecorder()
			pages.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, step.path, nil))
			got[w.Code]++
			refused := w.Code == http.StatusTooManyRequests || w.Code == http.StatusServiceUnavailable
			test.EqOp(t, refused, w.Header().Get("Retry-After") == "10")
		}
		test.Eq(t, step.want, got, test.Sprintf("step %d", i))
	}
}

// To refuse takes little, and who opens invented links again at once would be refused thousands of times a second.
func TestLinks_HoldBackWhoAsksAgainAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config := Config{
			Addresses: traffic.NewAddresses(traffic.Rate{PerSecond: 0.1, Burst: 1}, nil, testkit.NewClock(testkit.Noon).Now),
			HoldBack:  &traffic.HoldBack{For: time.Second},
		}
		pages := limitInvalid(config, config.Addresses, func(*http.Request) string { return "" }, http.NotFoundHandler())
		for i, link := range []string{
			"/claim/x", "/claim/x", "/display/x", "/calendar/x.ics", "/unsubscribe/x", "/confirm/x", "/address/x",
			"/twilio/platform/status",
		} {
			begun := time.Now()
			pages.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, link, nil))
			want := time.Second
			if i == 0 {
				want = 0
			}
			test.EqOp(t, want, time.Since(begun), test.Sprint(link))
		}
	})
}

// A page of another site cannot press the buttons of these pages. Mail clients, which send no such headers, can.
func TestForms_OfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	who, claim := c.offered()
	seals := c.Config().Seals
	foreign := [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
	}
	own := [][]string{
		{"Sec-Fetch-Site", "same-origin", "Origin", "null"}, {"Sec-Fetch-Site", "", "Origin", "https://berth.example"},
		{"Sec-Fetch-Site", "", "Origin", ""},
	}
	for _, link := range []string{
		claim,
		messages.UnsubscribePath + seals.Sign(
			c.Tenant, "unsubscribe", append(append([]byte{'m'}, who.Member.UUID[:]...), "CREDITS_LOW"...)),
		accounts.ConfirmPath + contacts.Codes{Seals: seals}.WriteLink(
			contacts.Link{Tenant: c.Tenant, Member: who.Member}),
		accounts.AddressPath + seals.Sign(c.Tenant, "address", who.Member.UUID[:]),
	} {
		for _, headers := range foreign {
			r, _ := c.send(http.MethodPost, link, accept, headers...)
			test.EqOp(t, http.StatusForbidden, r.StatusCode, test.Sprint(link, headers))
		}
		for _, headers := range own {
			r, _ := c.send(http.MethodPost, link, accept, headers...)
			test.NotEqOp(t, http.StatusForbidden, r.StatusCode, test.Sprint(link, headers))
		}
	}
}

// Who opens invented links, or sends webhooks that Twilio did not sign, shuts out no one behind the same address: what
// the service made passes.
func TestLinks_ThatWereMadePassWhileOthersAreInvented(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	addresses := traffic.NewAddresses(traffic.Rate{PerSecond: 0.1, Burst: 5}, nil, c.Clock.Now)
	c.pages = Handler(Config{
		Services: c.App, Log: slog.New(slog.DiscardHandler), Addresses: addresses, PublicURL: "https://berth.example",
		TwilioToken: func() string { return "platform" },
	})
	who, claim := c.offered()
	feed := expect.Value(c.App.Messages.CreateCalendarFeed(t.Context(), who))(t)
	seals, form := c.Config().Seals, url.Values{"MessageSid": {"SM1"}, "From": {"+4915112345678"}, "Body": {"?"}}
	platform := messages.TwilioPath + platformNumber + "/inbound"
	signed := twiliotest.Sign("platform", "https://berth.example"+platform, form)
	visit := func(method, path string, headers ...string) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		c.pages.ServeHTTP(w, r)
		return w.Code
	}
	flood := func() {
		for range 9 {
			visit(http.MethodGet, waitlists.ClaimPath+strings.Repeat("A", 43))
			visit(http.MethodPost, platform)
		}
		test.EqOp(t, http.StatusTooManyRequests, visit(http.MethodGet, waitlists.ClaimPath+"x"))
		test.EqOp(t, http.StatusServiceUnavailable, visit(http.MethodPost, platform))
	}
	flood()
	display := c.link()
	for range 20 { // what is proven counts for nothing
		for _, link := range []string{
			claim, display, strings.TrimPrefix(feed, "https://berth.example"),
			messages.UnsubscribePath + seals.Sign(
				c.Tenant, "unsubscribe", append(append([]byte{'m'}, who.Member.UUID[:]...), "CREDITS_LOW"...)),
			assetPath + "display.js",
		} {
			test.EqOp(t, http.StatusOK, visit(http.MethodGet, link), test.Sprint(link))
		}
		confirm := accounts.ConfirmPath + contacts.Codes{Seals: seals}.WriteLink(
			contacts.Link{Tenant: c.Tenant, Member: who.Member})
		test.EqOp(t, http.StatusGone, visit(http.MethodGet, confirm))
		test.EqOp(t, http.StatusOK, visit(http.MethodPost, platform, twilio.SignatureHeader, signed))
	}
	own := strings.TrimPrefix(c.App.Messages.TwilioInboundURL(c.Tenant), "https://berth.example")
	test.EqOp(t, http.StatusNotFound, visit(http.MethodPost, own), test.Sprint("passes, but is not signed"))

	// What was made and is no longer good has few tries of its own.
	test.NoError(t, c.App.Messages.DeleteCalendarFeed(t.Context(), who))
	closed := strings.TrimPrefix(feed, "https://berth.example")
	for range 5 {
		test.EqOp(t, http.StatusNotFound, visit(http.MethodGet, closed))
	}
	test.EqOp(t, http.StatusTooManyRequests, visit(http.MethodGet, closed))
	test.EqOp(t, http.StatusOK, visit(http.MethodGet, claim))
}

// Who reads the logs must not be able to open the links of others, not even those that failed.
func TestLinks_StayOutOfTheLogs(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	seals, ana := s.Config().Seals, s.AddMember("Ana").Member
	some := base64.RawURLEncoding.EncodeToString(append(s.Tenant.UUID[:], ana.UUID[:]...))
	links := map[string]string{
		"display": s.link(), "claim": waitlists.ClaimPath + some, "calendar": messages.CalendarPath + some + ".ics",
		"confirmation": accounts.ConfirmPath + contacts.Codes{Seals: seals}.WriteLink(
			contacts.Link{Tenant: s.Tenant, Member: ana},
		),
		"address": accounts.AddressPath + seals.Sign(s.Tenant, "address", ana.UUID[:]),
		"unsubscribe": messages.UnsubscribePath + seals.Sign(
			s.Tenant, "unsubscribe", append(append([]byte{'m'}, ana.UUID[:]...), "CREDITS_LOW"...),
		),
	}
	s.Exec(`revoke select on all tables in schema public from berth_app`)
	for name, link := range links {
		response, _ := s.get(link, 0)
		test.EqOp(t, http.StatusServiceUnavailable, response.StatusCode, test.Sprint(name))
		test.StrNotContains(t, s.log.String(), link[len(link)-20:], test.Sprint(name))
	}
	for _, name := range []string{"confirmation", "address"} {
		w := httptest.NewRecorder()
		s.pages.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, links[name], nil))
		test.EqOp(t, http.StatusServiceUnavailable, w.Code, test.Sprint(name))
	}
	test.EqOp(t, len(links)+2, strings.Count(s.log.String(), "level=ERROR"), test.Sprint(s.log.String()))
}
