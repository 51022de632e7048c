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

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/civil"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/waitlist"
)

const claimAssetPath = app.ClaimPath + "assets/"

var (
	//go:embed claim.html
	claimMarkup string

	claimPage = template.Must(template.New("claim").Parse(claimMarkup))
)

// claim serves the page behind the link of an offer. Opening it changes nothing, as the programs that look through
// messages for bad links do; its two buttons answer. It works without scripts: with them it counts down, and
// shows by itself what became of the offer.
type claim struct {
	app *app.App
	log *slog.Logger
}

// state is what a reader finds behind the link.
type state string

const (
	isLive      state = "live"
	isAccepted  state = "accepted"
	isReturned  state = "returned" // accepted, and cancelled since
	isDeclined  state = "declined"
	isExpired   state = "expired"
	isStarted   state = "started" // expired, and the session is under way or over
	isTaken     state = "taken"   // by somebody faster
	isWithdrawn state = "withdrawn"
	isCalledOff state = "off"
	isInvalid   state = "invalid"
	isAway      state = "away" // it cannot be told now
)

// ticket is what the page says, ready to be read.
type ticket struct {
	Words *words
	State state
	Path  string
	head
	Headline, Says,
	Title, Service, Day, Hours, Zone, Place, Address, Seats string
	Refusal          string // why an answer came to nothing
	UntilWord, Until string
	UntilAt          string // for programs
	// Left and Of are how many milliseconds an offer has, and had when it was made. Every is the seconds until a look whether it
	// still stands; 0 where nothing will change.
	Left, Of int64
	Every    int
}

// lookAgain is how many seconds a page that is open waits until it asks whether the offer still stands.
const lookAgain = 20

// answerParam carries the reason of a refusal from a POST to the page that shows it.
const answerParam = "refused"

func (c claim) serve(w http.ResponseWriter, r *http.Request) {
	in := wordsFor(r)
	view, err := c.app.ViewClaim(r.Context(), r.PathValue("token"))
	if err == nil {
		var page ticket
		if page, err = readableOffer(view, in); err == nil {
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

// answer does what a button asks for, and sends the browser back to the page: loading that again answers nothing.
func (c claim) answer(w http.ResponseWriter, r *http.Request) {
	in := wordsFor(r)
	if !ownForm(r) {
		http.Error(w, "Open the link of the message, and answer there.", http.StatusForbidden)
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
	back := url.URL{Path: app.ClaimPath + r.PathValue("token")}
	_, err := c.app.ClaimOffer(r.Context(), r.PathValue("token"), answer == "accept")
	switch reason := fault.ReasonOf(err); {
	case err == nil, reason == fault.OfferNotLive, reason == fault.OfferNotFound:
		// The page tells what it has come to.
	case reason == fault.LinkInvalid, !refused(err):
		c.fail(w, r, err, in)
		return
	default:
		back.RawQuery = url.Values{answerParam: {string(reason)}}.Encode()
	}
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}

// maxAnswer bounds the body of an answer, which has one short field.
const maxAnswer = 1 << 10

// ownForm reports whether a form was sent from a page of this service. The page's own policy has browsers say no more of
// where they were than "null", so what counts is what they say of the site; where they say nothing, the token, which no
// other site knows, has to do.
func ownForm(r *http.Request) bool {
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

// refused reports whether an error is the answer of a rule, and not a breakdown.
func refused(err error) bool {
	refusal, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return false
	}
	switch refusal.Kind {
	case fault.FailedPrecondition, fault.ResourceExhausted, fault.AlreadyExists, fault.InvalidArgument, fault.PermissionDenied, fault.NotFound:
		return true
	default:
		return false
	}
}

func (c claim) fail(w http.ResponseWriter, r *http.Request, err error, in *words) {
	if fault.ReasonOf(err) == fault.LinkInvalid {
		c.write(w, r, http.StatusNotFound, ticket{Words: in, State: isInvalid, Headline: in.invalid.headline, Says: in.invalid.says})
		return
	}
	if r.Context().Err() == nil {
		c.log.ErrorContext(r.Context(), "claim page not shown", slog.Any("error", err))
	}
	c.write(w, r, http.StatusServiceUnavailable, ticket{
		Words: in, State: isAway, Path: r.URL.EscapedPath(), Headline: in.away.headline, Says: in.away.says, Every: retryAfter,
	})
}

func (c claim) write(w http.ResponseWriter, r *http.Request, status int, page ticket) {
	var body bytes.Buffer
	if err := claimPage.Execute(&body, page); err != nil {
		c.log.ErrorContext(r.Context(), "claim page not written", slog.Any("error", err))
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
	_, _ = w.Write(body.Bytes()) // a browser that has left needs no page
}

// stateOf tells what has become of an offer.
func stateOf(v app.ClaimView) state {
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

// readableOffer puts an offer into words, at the clock of its location.
func readableOffer(v app.ClaimView, in *words) (ticket, error) {
	o := v.Offer
	zone, err := time.LoadLocation(o.TimeZone)
	if err != nil {
		return ticket{}, err
	}
	starts, ends, until := o.SessionStarts.In(zone), o.SessionEnds.In(zone), o.ExpiresAt.In(zone)
	t := ticket{
		Words: in, State: stateOf(v), head: headOf(v.Name, v.Brand), Title: o.SessionTitle, Place: o.LocationName, Address: v.Address,
		Day: in.day(starts), Hours: in.clock(starts) + "–" + in.clock(ends), Zone: in.zone(starts), Seats: in.seats(o.Seats),
	}
	if !strings.EqualFold(o.ServiceName, o.SessionTitle) {
		t.Service = o.ServiceName
	}
	text := in.states[t.State]
	t.Headline, t.Says = text.headline, text.says
	switch t.State {
	case isLive:
		t.Headline = in.forWhom(v.For)
		t.UntilWord = in.kept
		if o.Shared {
			t.Says, t.UntilWord = in.fastest, in.open
		}
		if !v.Now.Before(o.SessionStarts) {
			t.Says = in.begun
		}
		t.Until, t.UntilAt = in.clock(until), until.Format(time.RFC3339)
		if civil.DateOf(v.Now, zone) != civil.DateOf(o.ExpiresAt, zone) {
			t.Until = in.day(until) + ", " + t.Until
		}
		t.Left, t.Of = o.ExpiresAt.Sub(v.Now).Milliseconds(), o.ExpiresAt.Sub(o.CreatedAt).Milliseconds()
		t.Every = lookAgain
	case isDeclined, isExpired, isTaken, isWithdrawn:
		if v.Waits {
			t.Says += " " + in.waitsOn
		}
	default:
	}
	return t, nil
}
