package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/app/schedules"
	"github.com/berthhq/berth/internal/app/settings"
	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/data/waitlistdb"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/booking"
	"github.com/berthhq/berth/internal/rules/catalog"
	"github.com/berthhq/berth/internal/rules/credit"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// claimStudio has a session with one seat, two days later at 18:00 in Berlin, and a waitlist.
type claimStudio struct {
	*studio
	place   tenant.LocationID
	session tenant.SessionID
	holder  tenant.BookingID // the booking of the seat
	rival   tenant.Caller    // another member on the waitlist, in tests of FirstToClaim
}

// newClaimStudio offers free seats in the given mode.
func newClaimStudio(t *testing.T, mode waitlist.Mode) *claimStudio {
	t.Helper()
	c := &claimStudio{studio: newStudio(t)}
	c.place = c.AddLocation(catalog.Location{Name: "Pier 2", Address: "Am Hafen 1, Hamburg"})
	c.Service = c.AddService(catalog.Service{Name: "Yoga"})
	expect.OK(c.T)(c.App.Settings.UpdateWaitlistRules(t.Context(), c.Owner, settings.RulesEdit{
		Target: settings.PolicyTarget{Service: c.Service}, Edit: func(s *waitlist.Settings) { s.Mode = &mode },
	}))
	c.session, c.holder = c.bookedSession()
	return c
}

// bookedSession creates a session whose only seat is booked.
func (c *claimStudio) bookedSession() (tenant.SessionID, tenant.BookingID) {
	c.T.Helper()
	id := c.AddSession(testkit.Session{
		Location: c.place, Starts: class.AddDate(0, 0, 2), Title: "Vinyasa & <b>Breath</b>", Capacity: 1, Waitlist: 9,
	})
	return id, c.MustBook(c.person("Hanna Holder"), id)
}

func (c *claimStudio) person(name string) tenant.Caller {
	c.T.Helper()
	return testkit.SelfOnly(c.AddMember(name))
}

// cancelBooking cancels the booking of the seat, so the seat goes to the waitlist.
func (c *claimStudio) cancelBooking() {
	c.T.Helper()
	expect.OK(c.T)(c.App.Bookings.CancelBooking(context.Background(), c.Owner, bookings.CancelRequest{
		ID: c.holder, OverrideWindow: true,
	}))
}

// offers returns the offers to a member, newest first.
func (c *claimStudio) offers(who tenant.Caller) []waitlist.Offer {
	c.T.Helper()
	offers := expect.Value(c.App.Waitlists.ListWaitlistOffers(
		context.Background(), c.Owner, waitlistdb.OfferQuery{Member: who.Member, Limit: 10},
	))(c.T)
	return offers
}

// linkTo returns the path of the newest offer to a member.
func (c *claimStudio) linkTo(who tenant.Caller) string {
	c.T.Helper()
	offers := c.offers(who)
	must.True(c.T, len(offers) != 0, must.Sprint("there is no offer"))
	return strings.TrimPrefix(c.App.Waitlists.ClaimURL(c.Tenant, offers[0].ID), "https://berth.example")
}

// offered makes an offer to Mia Meyer and returns its path.
func (c *claimStudio) offered() (tenant.Caller, string) {
	c.T.Helper()
	who := c.person("Mia Meyer")
	c.MustWaitlist(who, c.session)
	c.cancelBooking()
	return who, c.linkTo(who)
}

// send sends a request like a browser without scripts.
func (c *claimStudio) send(method, path string, form url.Values, headers ...string) (*http.Response, string) {
	c.T.Helper()
	body := strings.NewReader(form.Encode())
	r := httptest.NewRequestWithContext(context.Background(), method, "https://berth.example"+path, body)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "null") // because of the page's referrer policy
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	c.pages.ServeHTTP(w, r)
	answer := w.Result()
	defer answer.Body.Close()
	return answer, string(expect.Value(io.ReadAll(answer.Body))(c.T))
}

var (
	accept  = url.Values{"answer": {"accept"}}
	decline = url.Values{"answer": {"decline"}}
)

// submit sends a form and follows the redirect to the page.
func (c *claimStudio) submit(path string, form url.Values) string {
	c.T.Helper()
	answer, body := c.send(http.MethodPost, path, form)
	must.EqOp(c.T, http.StatusSeeOther, answer.StatusCode, must.Sprint(answer.Status, body))
	answer, body = c.send(http.MethodGet, answer.Header.Get("Location"), nil)
	must.EqOp(c.T, http.StatusOK, answer.StatusCode, must.Sprint(answer.Status, body))
	return body
}

// shows fails unless the page has these texts, as in wantTexts.
func (c *claimStudio) shows(path string, texts ...string) {
	c.T.Helper()
	_, body := c.send(http.MethodGet, path, nil)
	wantTexts(c.T, body, texts...)
}

func TestClaim_AcceptsOfferWithoutScripts(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	who, link := c.offered()
	c.shows(link, "A place is free for you, Mia M.", "-Meyer", "Harbour Yoga",
		"Vinyasa &amp; &lt;b&gt;Breath&lt;/b&gt;", ">Yoga<", "Friday, 20 March", "18:00–19:00",
		"Berlin time (UTC&#43;1)", "Pier 2", "Am Hafen 1, Hamburg", "1 person", "18:30</time>",
		`data-left="1800000"`, `max="1800000"`, `<form method="post" action="`+link+`">`,
		`value="accept"`, `value="decline"`, "keeping it for you", "-refusal")
	wantTexts(t, c.submit(link, accept),
		"in</h1>", "nothing else to do", `data-state="accepted"`, "-<form", `data-every="0"`)
	place := expect.Value(c.App.Bookings.GetBooking(t.Context(), c.Owner, c.offers(who)[0].Booking))(t)
	test.EqOp(t, booking.Confirmed, place.Status)
	// Going back and answering again changes nothing.
	wantTexts(t, c.submit(link, accept), `data-state="accepted"`)
	wantTexts(t, c.submit(link, decline), `data-state="accepted"`)
	expect.OK(c.T)(c.App.Bookings.CancelBooking(t.Context(), c.Owner, bookings.CancelRequest{
		ID: place.ID, OverrideWindow: true,
	}))
	c.shows(link, `data-state="returned"`, "cancelled since")
}

func TestClaim_DeclinedOfferGoesToNextMember(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	second := c.person("Noa Next")
	first := c.person("Mia Meyer")
	c.MustWaitlist(first, c.session)
	c.MustWaitlist(second, c.session)
	c.cancelBooking()
	link := c.linkTo(first)
	wantTexts(t, c.submit(link, decline), `data-state="declined"`, "You said no", "still on the waitlist", "-<form")
	wantTexts(t, c.submit(link, decline), `data-state="declined"`)
	wantTexts(t, c.submit(link, accept), `data-state="declined"`)
	c.shows(c.linkTo(second), "Noa N.", `data-state="live"`)
	test.EqOp(t, 1, len(c.offers(second)), test.Sprint("offers to the next member"))
}

// Programs that scan messages open all links in them.
func TestClaim_OpeningChangesNothing(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	who, link := c.offered()
	before := c.offers(who)
	for range 3 {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut} {
			for _, query := range []string{"", "?answer=accept", "?answer=decline", "?refused=OVERLAP"} {
				c.send(method, link+query, accept)
			}
		}
	}
	test.Eq(t, before, c.offers(who))
	answer, _ := c.send(http.MethodHead, link, nil)
	test.EqOp(t, http.StatusOK, answer.StatusCode)
}

func TestClaim_RejectsFormsOfOtherSites(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	_, link := c.offered()
	for name, headers := range map[string][]string{
		"cross-site":                   {"Sec-Fetch-Site", "cross-site"},
		"same site, other origin":      {"Sec-Fetch-Site", "same-site"},
		"an old browser, other origin": {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
	} {
		answer, _ := c.send(http.MethodPost, link, accept, headers...)
		test.EqOp(t, http.StatusForbidden, answer.StatusCode, test.Sprint(name, answer.Status))
	}
	for _, form := range []url.Values{nil, {"answer": {"maybe"}}, {"answer": {strings.Repeat("x", 4000)}}} {
		answer, _ := c.send(http.MethodPost, link+"?answer=accept", form)
		test.EqOp(t, http.StatusBadRequest, answer.StatusCode, test.Sprint(form, answer.Status))
	}
	c.shows(link, `data-state="live"`)
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "", "Origin", "https://berth.example"}, {"Sec-Fetch-Site", ""},
		{"Sec-Fetch-Site", "", "Origin", ""},
	} {
		answer, _ := c.send(http.MethodPost, link, accept, headers...)
		test.EqOp(t, http.StatusSeeOther, answer.StatusCode, test.Sprint(headers, answer.Status))
	}
}

func TestClaim_ShowsChangesOfOffer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode    waitlist.Mode
		happens func(c *claimStudio)
		says    []string
	}{
		"it expires": {waitlist.OfferInTurn, func(c *claimStudio) {
			c.Clock.Advance(30 * time.Minute)
		}, []string{`data-state="expired"`, "time is up"}},
		"it expires, and the sweep has run": {waitlist.OfferInTurn, func(c *claimStudio) {
			c.Clock.Advance(30 * time.Minute)
			expect.OK(c.T)(c.App.Waitlists.ExpireDueOffers(context.Background(), c.Tenant))
		}, []string{`data-state="expired"`, "still on the waitlist"}},
		"the session starts": {waitlist.OfferInTurn, func(c *claimStudio) {
			c.Clock.Advance(48 * time.Hour)
		}, []string{`data-state="started"`}},
		"the session is cancelled": {waitlist.OfferInTurn, func(c *claimStudio) {
			expect.OK(c.T)(c.App.Schedules.CancelSession(context.Background(), c.Owner, c.session, schedules.Removal{
				Reason: "Storm.", Notify: true,
			}))
		}, []string{`data-state="off"`, "called off", "-still on"}},
		"another member is faster": {waitlist.FirstToClaim, func(c *claimStudio) {
			wantTexts(c.T, c.submit(c.linkTo(c.rival), accept), `data-state="accepted"`)
		}, []string{`data-state="taken"`, "faster"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClaimStudio(t, tt.mode)
			if tt.mode == waitlist.FirstToClaim {
				c.rival = c.person("Rita Rival")
				c.MustWaitlist(c.rival, c.session)
			}
			_, link := c.offered()
			_, body := c.send(http.MethodGet, link, nil)
			kept := map[waitlist.Mode]string{
				waitlist.OfferInTurn: "Kept for you until", waitlist.FirstToClaim: "Open until",
			}[tt.mode]
			wantTexts(t, body, `data-state="live"`, kept)
			tt.happens(c)
			c.shows(link, append(tt.says, "-<form", `data-every="0"`)...)
			// An answer from the old page gets the new state.
			wantTexts(t, c.submit(link, accept), append(tt.says, "-<form")...)
		})
	}
}

func TestClaim_FailedAcceptKeepsOfferOpen(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	who := c.person("Mia Meyer")
	c.Subscribe(who, c.AddPlan(credit.Plan{Kind: credit.Credits, Credits: 1, AllowOverlap: true}))
	c.MustWaitlist(who, c.session)
	other, holder := c.bookedSession()
	expect.OK(c.T)(c.App.Bookings.CancelBooking(t.Context(), c.Owner, bookings.CancelRequest{
		ID: holder, OverrideWindow: true,
	}))
	c.cancelBooking()
	link := c.linkTo(who)
	used := c.MustBook(who, other)
	wantTexts(t, c.submit(link, accept),
		`data-state="live"`, `role="alert"`, "That did not work", "You have no credits left", "<form")
	c.shows(link+"?refused=%3Cscript%3E", "could not be booked", "-script>&")
	expect.OK(c.T)(c.App.Bookings.CancelBooking(t.Context(), c.Owner, bookings.CancelRequest{
		ID: used, OverrideWindow: true,
	}))
	wantTexts(t, c.submit(link, accept), `data-state="accepted"`, "-alert")
}

func TestClaim_ConcurrentRequestsTakeEffectOnce(t *testing.T) {
	t.Parallel()
	for range 4 {
		c := newClaimStudio(t, waitlist.OfferInTurn)
		who, link := c.offered()
		next := c.person("Noa Next")
		c.MustWaitlist(next, c.session)
		var pressed sync.WaitGroup
		for _, form := range []url.Values{accept, accept, decline, accept} {
			pressed.Go(func() {
				answer, body := c.send(http.MethodPost, link, form)
				test.EqOp(t, http.StatusSeeOther, answer.StatusCode, test.Sprint(answer.Status, body))
			})
		}
		pressed.Wait()
		mine, theirs := c.offers(who), c.offers(next)
		switch mine[0].Status {
		case waitlist.Accepted:
			test.EqOp(t, 0, len(theirs), test.Sprintf("an accepted place was offered again: %v", theirs))
		case waitlist.Declined:
			must.SliceLen(t, 1, theirs, must.Sprintf("a declined place was not offered: %v", theirs))
			test.EqOp(t, waitlist.Live, theirs[0].Status, test.Sprintf("a declined place was not offered: %v", theirs))
		default:
			t.Error(mine[0].Status)
		}
		c.shows(link, `data-state="`+strings.ToLower(string(mine[0].Status))+`"`)
	}
}

func TestClaim_RejectsInvalidLinks(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	who, link := c.offered()
	other := c.OtherTenant()
	claimPath := func(in tenant.TenantID, offer tenant.OfferID) string {
		return strings.TrimPrefix(c.App.Waitlists.ClaimURL(in, offer), "https://berth.example")
	}
	for name, path := range map[string]string{
		"another tenant's":  claimPath(other.Tenant, c.offers(who)[0].ID),
		"an unknown offer":  claimPath(c.Tenant, tenant.New[tenant.OfferID](class)),
		"cut off":           link[:len(link)-3],
		"no token":          waitlists.ClaimPath + "x",
		"markup":            waitlists.ClaimPath + "%3Cscript%3E",
		"the assets folder": waitlists.ClaimPath + "assets",
	} {
		for method, form := range map[string]url.Values{http.MethodGet: nil, http.MethodPost: accept} {
			answer, body := c.send(method, path, form)
			test.EqOp(t, http.StatusNotFound, answer.StatusCode, test.Sprint(name, method, answer.Status))
			wantTexts(t, body, "This link is not valid", "-Vinyasa", "-Mia", "-Harbour", "-<form", "-<script>")
		}
	}
	c.shows(link, `data-state="live"`)
	test.EqOp(t, "", c.log.String())
}

func TestClaim_ReturnsUnavailableOnFailure(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	_, link := c.offered()
	c.Exec(`alter table waitlist_offers rename to renamed`)
	for method, form := range map[string]url.Values{http.MethodGet: nil, http.MethodPost: accept} {
		answer, body := c.send(method, link, form)
		test.EqOp(t, http.StatusServiceUnavailable, answer.StatusCode, test.Sprint(answer.Status, answer.Header))
		test.EqOp(t, "10", answer.Header.Get("Retry-After"), test.Sprint(answer.Status, answer.Header))
		wantTexts(t, body, "nothing has been changed", `href="`+link+`"`, "-42P01")
	}
}

func TestClaim_SetsSecurityHeaders(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	_, link := c.offered()
	for _, path := range []string{link, "/claim/x", "/claim/assets/claim.js", "/claim/assets/claim.css"} {
		answer, body := c.send(http.MethodGet, path, nil)
		for header, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"X-Content-Type-Options": "nosniff", "X-Robots-Tag": "noindex, nofollow",
		} {
			test.EqOp(t, want, answer.Header.Get(header), test.Sprintf("%s: %s", path, header))
		}
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
			wantTexts(t, answer.Header.Get("Content-Security-Policy"), want, "-unsafe")
		}
		if !strings.HasPrefix(path, claimAssetPath) {
			wantTexts(t, answer.Header.Get("Content-Security-Policy"), "form-action 'self'")
			// The policy allows nothing inline and nothing from other servers.
			wantTexts(t, body, "-style=", "-onclick", "-http:", "-https:")
		}
	}
	answer, _ := c.send(http.MethodPost, link, decline)
	got := answer.Header.Get("Location")
	test.EqOp(t, link, got)
	test.EqOp(t, "no-referrer", answer.Header.Get("Referrer-Policy"))
}

func TestClaim_UsesBrowserLanguage(t *testing.T) {
	t.Parallel()
	c := newClaimStudio(t, waitlist.OfferInTurn)
	_, link := c.offered()
	for accepts, want := range map[string][]string{
		"":             {`lang="en"`, "Friday, 20 March"},
		"nonsense;;q":  {`lang="en"`},
		"ja, nl;q=0.5": {`lang="en"`},
		"de-AT,de;q=0.9,en;q=0.8": {
			`lang="de"`, "Freitag, 20. März", "Ortszeit Berlin (UTC&#43;1)", "Ja, ich nehme ihn", "1 Person<"},
		"fr-CA, en;q=0.3": {`lang="fr"`, "vendredi 20 mars", "heure de Berlin", "Oui, je la prends", "1 personne"},
	} {
		_, body := c.send(http.MethodGet, link, nil, "Accept-Language", accepts)
		wantTexts(t, body, want...)
	}
	_, body := c.send(http.MethodGet, "/claim/x", nil, "Accept-Language", "fr")
	wantTexts(t, body, "Ce lien n’est pas valide")
}

// All languages have all texts, and no more than English.
func TestClaimWords_AreComplete(t *testing.T) {
	t.Parallel()
	for _, w := range allClaimWords {
		for s, text := range english.states {
			other := w.states[s]
			test.NotEqOp(t, "", other.text, test.Sprintf("%s: %s is %q", w.Lang, s, other))
			test.EqOp(t, (text.headline == ""), (other.headline == ""), test.Sprintf("%s: %s is %q", w.Lang, s, other))
		}
		for reason := range english.errors {
			test.NotEqOp(t, "", w.errors[reason], test.Sprintf("%s: no text for %s", w.Lang, reason))
		}
		must.MapLen(t, len(english.states), w.states, must.Sprintf("%s has more texts than English", w.Lang))
		test.MapLen(t, len(english.errors), w.errors, test.Sprintf("%s has more texts than English", w.Lang))
		for _, text := range []string{
			w.Accept, w.Decline, w.LeftWord, w.Retry, w.When, w.Where, w.SeatsWord, w.reservedUntil, w.openUntil,
			w.ErrorTitle, w.Over, w.cityTime, w.one, w.many, w.withoutName, w.withName, w.invalid.headline, w.invalid.text,
			w.unavailable.headline, w.unavailable.text, w.fastest, w.started, w.stillWaiting, w.errorText(fault.Contention),
		} {
			test.NotEqOp(t, "", text, test.Sprintf("%s lacks a text", w.Lang))
		}
	}
}

func TestClaimWords_NameTimeZones(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Europe/Berlin": "Berlin time (UTC+1)", "America/New_York": "New York time (UTC−4)",
		"Asia/Kolkata": "Kolkata time (UTC+5:30)", "UTC": "UTC", "Europe/London": "London time (UTC)",
	} {
		zone := expect.Value(time.LoadLocation(name))(t)
		test.EqOp(t, want, english.zone(class.In(zone)), test.Sprint(name))
	}
}
