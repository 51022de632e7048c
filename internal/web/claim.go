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
// messages open links, too. Its two buttons accept and decline. It works without scripts. With scripts it counts down
// and updates itself when the offer changes.
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
	isUnavailable state = "away" // the offer cannot be read now
)

// claimData is what the page shows.
type claimData struct {
	Words *claimWords
	State state
	Path  string
	pageHead
	Headline, Text,
	Title, Service, Day, Hours, Zone, Place, Address, Seats string
	ErrorText        string // why accepting or declining failed
	UntilWord, Until string
	UntilAt          string // as RFC 3339, for scripts
	// Left and Of are the milliseconds that the offer has left and that it had in total.
	// Every is the number of seconds between checks whether the offer is still open; 0 if nothing will change.
	Left, Of int64
	Every    int
}

// reloadSeconds is how often an open page checks whether the offer is still open.
const reloadSeconds = 20

// errorParam is the query parameter with the reason of an error, from the POST to the page that shows it.
const errorParam = "refused"

func (c claimPages) serve(w http.ResponseWriter, r *http.Request) {
	words := claimWordsFor(r)
	view, err := c.waitlists.ViewClaim(r.Context(), r.PathValue("token"))
	if err == nil {
		var page claimData
		if page, err = newClaimData(view, words); err == nil {
			page.Path = r.URL.EscapedPath()
			if reason := r.URL.Query().Get(errorParam); reason != "" && page.State == isLive {
				page.ErrorText = words.errorText(fault.Reason(reason))
			}
			c.write(w, r, http.StatusOK, page)
			return
		}
	}
	c.fail(w, r, err, words)
}

// answer handles a button and redirects to the page, so that a reload does not send the form again.
func (c claimPages) answer(w http.ResponseWriter, r *http.Request) {
	words := claimWordsFor(r)
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
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
	_, err := c.waitlists.AnswerWaitlistClaim(r.Context(), r.PathValue("token"), answer == "accept")
	switch reason := fault.ReasonOf(err); {
	case err == nil, reason == fault.WaitlistOfferNotLive, reason == fault.WaitlistOfferNotFound:
		// The page shows the new state.
	case reason == fault.LinkInvalid, !isRuleError(err):
		c.fail(w, r, err, words)
		return
	default:
		back.RawQuery = url.Values{errorParam: {string(reason)}}.Encode()
	}
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}

// maxFormBytes is the maximum size of a form in bytes. It has one short field.
const maxFormBytes = 1 << 10

// isRuleError reports whether a rule returned the error, as opposed to a failure of the service.
func isRuleError(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return false
	}
	switch f.Kind {
	case fault.FailedPrecondition, fault.ResourceExhausted, fault.AlreadyExists, fault.InvalidArgument,
		fault.PermissionDenied, fault.NotFound:
		return true
	default:
		return false
	}
}

func (c claimPages) fail(w http.ResponseWriter, r *http.Request, err error, words *claimWords) {
	if fault.ReasonOf(err) == fault.LinkInvalid {
		c.write(w, r, http.StatusNotFound, claimData{
			Words: words, State: isInvalid, Headline: words.invalid.headline, Text: words.invalid.text,
		})
		return
	}
	if r.Context().Err() == nil {
		c.log.ErrorContext(r.Context(), "showing claim page failed", slog.Any("error", err))
	}
	c.write(w, r, http.StatusServiceUnavailable, claimData{
		Words: words, State: isUnavailable, Path: r.URL.EscapedPath(),
		Headline: words.unavailable.headline, Text: words.unavailable.text, Every: retryAfter,
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
	h.Set("Content-Security-Policy", formPolicy)
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
func newClaimData(v waitlists.ClaimView, words *claimWords) (claimData, error) {
	o := v.Offer
	zone, err := time.LoadLocation(o.TimeZone)
	if err != nil {
		return claimData{}, err
	}
	starts, ends, until := o.SessionStarts.In(zone), o.SessionEnds.In(zone), o.ExpiresAt.In(zone)
	page := claimData{
		Words: words, State: stateOf(v), pageHead: newPageHead(v.Name, v.Brand),
		Title: o.SessionTitle, Place: o.LocationName, Address: v.Address,
		Day: words.day(starts), Hours: words.clock(starts) + "–" + words.clock(ends), Zone: words.zone(starts),
		Seats: words.seats(o.Seats),
	}
	if !strings.EqualFold(o.ServiceName, o.SessionTitle) {
		page.Service = o.ServiceName
	}
	text := words.states[page.State]
	page.Headline, page.Text = text.headline, text.text
	switch page.State {
	case isLive:
		page.Headline = words.headline(v.For)
		page.UntilWord = words.reservedUntil
		if o.Shared {
			page.Text, page.UntilWord = words.fastest, words.openUntil
		}
		if !v.Now.Before(o.SessionStarts) {
			page.Text = words.started
		}
		page.Until, page.UntilAt = words.clock(until), until.Format(time.RFC3339)
		if civil.DateOf(v.Now, zone) != civil.DateOf(o.ExpiresAt, zone) {
			page.Until = words.day(until) + ", " + page.Until
		}
		page.Left, page.Of = o.ExpiresAt.Sub(v.Now).Milliseconds(), o.ExpiresAt.Sub(o.CreatedAt).Milliseconds()
		page.Every = reloadSeconds
	case isDeclined, isExpired, isTaken, isWithdrawn:
		if v.Waits {
			page.Text += " " + words.stillWaiting
		}
	default:
	}
	return page, nil
}
