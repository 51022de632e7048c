package web

import (
	"bytes"
	_ "embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/app/waitlists"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

const claimAssetPath = waitlists.ClaimPath + "assets/"

var (
	//go:embed claim.html
	claimMarkup string

	claimPage = template.Must(template.New("claim").Parse(claimMarkup))
)

// claimPages serves the page behind the link of an offer. Opening it changes nothing, because programs that scan
// messages open links, too. Its two buttons answer. It works without scripts. With scripts it counts down and
// shows by itself when the offer changes.
type claimPages struct {
	waitlists *waitlists.Service
	log       *slog.Logger
}

// state is the state of an offer, as the page shows it.
type state string

const (
	isLive        state = "live"
	isAccepted    state = "accepted"
	isReturned    state = "returned" // accepted, and then cancelled
	isDeclined    state = "declined"
	isExpired     state = "expired"
	isStarted     state = "started" // expired, and the session has started or ended
	isTaken       state = "taken"   // by another member, who was faster
	isWithdrawn   state = "withdrawn"
	isCalledOff   state = "off"
	isInvalid     state = "invalid"
	isUnavailable state = "away" // it cannot be shown now
)

// claimData is what the page shows.
type claimData struct {
	Words *claimWords
	State state
	Path  string
	pageHead
	Headline, Says,
	Title, Service, Day, Hours, Zone, Place, Address, Seats string
	Refusal          string // why an answer was refused
	UntilWord, Until string
	UntilAt          string // as RFC 3339, for scripts
	// Left and Of are the milliseconds that the offer has left and that it had in total.
	// Every is the seconds until the page checks whether the offer is still open; 0 if nothing will change.
	Left, Of int64
	Every    int
}

// reloadSeconds is how often an open page checks whether the offer is still open.
const reloadSeconds = 20

// answerParam carries the reason of a refusal from the POST to the page that shows it.
const answerParam = "refused"

func (c claimPages) serve(w http.ResponseWriter, r *http.Request) {
	in := claimWordsFor(r)
	view, err := c.waitlists.ViewClaim(r.Context(), r.PathValue("token"))
	if err == nil {
		var page claimData
		if page, err = newClaimData(view, in); err == nil {
			page.Path = r.URL.EscapedPath()
			if reason := r.URL.Query().Get(answerParam); reason != "" && page.State == isLive {
				page.Refusal = in.refusal(fault.Reason(reason))
			}
			c.write(w, r, http.StatusOK, page)
			return
		}
	}
	c.fail(w, r, err, in)
}

// answer handles a button and redirects to the page, so that a reload does not answer again.
func (c claimPages) answer(w http.ResponseWriter, r *http.Request) {
	in := claimWordsFor(r)
	if !isSameOrigin(r) {
		http.Error(w, "Open the link in your message and answer there.", http.StatusForbidden)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxAnswer)
	if err := r.ParseForm(); err != nil {
		http.Error(w, http.StatusText(http.StatusBadRequest), http.StatusBadRequest)
		return
	}
	answer := r.PostForm.Get("answer")
	if answer != "accept" && answer != "decline" {
		http.Error(w, http.StatusText(http.StatusBadRequest), http.StatusBadRequest)
		return
	}
	back := url.URL{Path: waitlists.ClaimPath + r.PathValue("token")}
	_, err := c.waitlists.ClaimOffer(r.Context(), r.PathValue("token"), answer == "accept")
	switch reason := fault.ReasonOf(err); {
	case err == nil, reason == fault.OfferNotLive, reason == fault.OfferNotFound:
		// The page shows the new state.
	case reason == fault.LinkInvalid, !isRefusal(err):
		c.fail(w, r, err, in)
		return
	default:
		back.RawQuery = url.Values{answerParam: {string(reason)}}.Encode()
	}
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}

// maxAnswer is the maximum size of a form in bytes. It has one short field.
const maxAnswer = 1 << 10

// isSameOrigin reports whether a form was sent from a page of this service. The page's referrer policy makes browsers
// send "null" as the origin, so the header Sec-Fetch-Site counts. Without that header the token has to be
// enough, which no other site knows.
func isSameOrigin(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
		origin := r.Header.Get("Origin")
		from, err := url.Parse(origin)
		return origin == "" || origin == "null" || err == nil && from.Host == r.Host
	default:
		return false
	}
}

// isRefusal reports whether an error is a decision of a rule, not a failure.
func isRefusal(err error) bool {
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return false
	}
	switch refusal.Kind {
	case fault.FailedPrecondition, fault.ResourceExhausted, fault.AlreadyExists, fault.InvalidArgument,
		fault.PermissionDenied, fault.NotFound:
		return true
	default:
		return false
	}
}

func (c claimPages) fail(w http.ResponseWriter, r *http.Request, err error, in *claimWords) {
	if fault.ReasonOf(err) == fault.LinkInvalid {
		c.write(w, r, http.StatusNotFound, claimData{
			Words: in, State: isInvalid, Headline: in.invalid.headline, Says: in.invalid.text,
		})
		return
	}
	if r.Context().Err() == nil {
		c.log.ErrorContext(r.Context(), "showing claim page failed", slog.Any("error", err))
	}
	c.write(w, r, http.StatusServiceUnavailable, claimData{
		Words: in, State: isUnavailable, Path: r.URL.EscapedPath(),
		Headline: in.unavailable.headline, Says: in.unavailable.text, Every: retryAfter,
	})
}

func (c claimPages) write(w http.ResponseWriter, r *http.Request, status int, page claimData) {
	var body bytes.Buffer
	if err := claimPage.Execute(&body, page); err != nil {
		c.log.ErrorContext(r.Context(), "rendering claim page failed", slog.Any("error", err))
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	h.Set("Content-Security-Policy", answerPolicy)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", page.Words.Lang)
	h.Set("Vary", "Accept-Language")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // a closed connection needs no page
}

// stateOf returns the state of an offer for the page.
func stateOf(v waitlists.ClaimView) state {
	switch o := v.Offer; {
	case o.Status == waitlist.Accepted && v.Returned:
		return isReturned
	case v.CalledOff:
		return isCalledOff
	case o.Status == waitlist.Live:
		return isLive
	case o.Status == waitlist.Accepted:
		return isAccepted
	case o.Status == waitlist.Declined:
		return isDeclined
	case o.Status == waitlist.RanOut && !v.Now.Before(o.SessionStarts):
		return isStarted
	case o.Status == waitlist.RanOut:
		return isExpired
	case o.Shared:
		return isTaken
	default:
		return isWithdrawn
	}
}

// newClaimData formats an offer in a language and in the time zone of its location.
func newClaimData(v waitlists.ClaimView, in *claimWords) (claimData, error) {
	o := v.Offer
	zone, err := time.LoadLocation(o.TimeZone)
	if err != nil {
		return claimData{}, err
	}
	starts, ends, until := o.SessionStarts.In(zone), o.SessionEnds.In(zone), o.ExpiresAt.In(zone)
	t := claimData{
		Words: in, State: stateOf(v), pageHead: newPageHead(v.Name, v.Brand),
		Title: o.SessionTitle, Place: o.LocationName, Address: v.Address,
		Day: in.day(starts), Hours: in.clock(starts) + "–" + in.clock(ends), Zone: in.zone(starts),
		Seats: in.seats(o.Seats),
	}
	if !strings.EqualFold(o.ServiceName, o.SessionTitle) {
		t.Service = o.ServiceName
	}
	text := in.states[t.State]
	t.Headline, t.Says = text.headline, text.text
	switch t.State {
	case isLive:
		t.Headline = in.headline(v.For)
		t.UntilWord = in.reservedUntil
		if o.Shared {
			t.Says, t.UntilWord = in.fastest, in.openUntil
		}
		if !v.Now.Before(o.SessionStarts) {
			t.Says = in.started
		}
		t.Until, t.UntilAt = in.clock(until), until.Format(time.RFC3339)
		if civil.DateOf(v.Now, zone) != civil.DateOf(o.ExpiresAt, zone) {
			t.Until = in.day(until) + ", " + t.Until
		}
		t.Left, t.Of = o.ExpiresAt.Sub(v.Now).Milliseconds(), o.ExpiresAt.Sub(o.CreatedAt).Milliseconds()
		t.Every = reloadSeconds
	case isDeclined, isExpired, isTaken, isWithdrawn:
		if v.Waits {
			t.Says += " " + in.stillWaiting
		}
	default:
	}
	return t, nil
}
