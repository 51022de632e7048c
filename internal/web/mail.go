package web

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
)

var (
	//go:embed unsubscribe.html
	unsubscribeMarkup string

	unsubscribePage = template.Must(template.New("unsubscribe").Parse(unsubscribeMarkup))
)

// mail serves what links in mails lead to.
type mail struct {
	app *app.App
	log *slog.Logger
}

// calendar serves a member's calendar feed.
func (m mail) calendar(w http.ResponseWriter, r *http.Request) {
	secret, named := strings.CutSuffix(r.PathValue("file"), ".ics")
	if !named {
		http.NotFound(w, r)
		return
	}
	feed, err := m.app.GetCalendarFeed(r.Context(), secret)
	switch {
	case fault.ReasonOf(err) == fault.LinkInvalid:
		http.NotFound(w, r)
	case err != nil:
		m.unavailable(w, r, err)
	default:
		w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
		w.Header().Set("Content-Disposition", `inline; filename="bookings.ics"`)
		_, _ = w.Write(feed) //nolint:gosec // it is no page
	}
}

func (m mail) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		m.log.ErrorContext(r.Context(), "link in a mail not served", slog.String("path", r.Pattern), slog.Any("error", err))
	}
	w.Header().Set("Retry-After", "60")
	http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}

// unsubscription is what the page says.
type unsubscription struct {
	head
	Lang, Title, Headline, Says string
	ThisKind, AllKinds          string // buttons; empty: there is none
}

// ask shows what can be stopped. It changes nothing: scanners open links before people do.
func (m mail) ask(w http.ResponseWriter, r *http.Request) {
	u, err := m.app.GetUnsubscribe(r.Context(), r.PathValue("link"))
	in := unsubscribeWordsFor(r)
	m.show(w, r, unsubscription{
		head: headOf(u.Tenant, u.Brand),
		Lang: in.Lang, Title: from(in.Title, in.TitleFrom, u.Tenant), Headline: from(in.Ask, in.AskFrom, u.Tenant),
		ThisKind: fmt.Sprintf(in.ThisKind, in.topics[u.Topic]), AllKinds: in.AllKinds,
	}, err)
}

// stop is the page's buttons, and what mail programs call by themselves (RFC 8058).
func (m mail) stop(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<10)
	all := r.FormValue("all") == "yes"
	u, err := m.app.Unsubscribe(r.Context(), r.PathValue("link"), all)
	in := unsubscribeWordsFor(r)
	says := fmt.Sprintf(in.DoneKind, in.topics[u.Topic])
	if all {
		says = in.DoneAll
	}
	m.show(w, r, unsubscription{head: headOf(u.Tenant, u.Brand), Lang: in.Lang, Title: in.Title, Headline: in.Done, Says: says}, err)
}

func (m mail) show(w http.ResponseWriter, r *http.Request, page unsubscription, err error) {
	w.Header().Set("Content-Security-Policy", answerPolicy)
	w.Header().Set("Vary", "Accept-Language")
	status := http.StatusOK
	if fault.ReasonOf(err) == fault.LinkInvalid {
		in := unsubscribeWordsFor(r)
		status, page = http.StatusNotFound, unsubscription{Lang: in.Lang, Title: in.Title, Headline: in.Broken, Says: in.BrokenSays}
	} else if err != nil {
		m.unavailable(w, r, err)
		return
	}
	var body bytes.Buffer
	if err := unsubscribePage.Execute(&body, page); err != nil {
		m.unavailable(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // a browser that has left needs no page
}
