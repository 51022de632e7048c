package web

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	"github.com/berthhq/berth/internal/app/messages"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/content"
)

var (
	//go:embed unsubscribe.html
	unsubscribeMarkup string

	unsubscribePage = template.Must(template.New("unsubscribe").Parse(unsubscribeMarkup))
)

// mailPages serves the links in mails.
type mailPages struct {
	messages *messages.Service
	log      *slog.Logger
}

// calendar serves a member's calendar feed.
func (m mailPages) calendar(w http.ResponseWriter, r *http.Request) {
	secret, named := strings.CutSuffix(r.PathValue("file"), ".ics")
	if !named {
		http.NotFound(w, r)
		return
	}
	feed, err := m.messages.GetCalendarFeed(r.Context(), secret)
	switch {
	case fault.ReasonOf(err) == fault.LinkInvalid:
		http.NotFound(w, r)
	case err != nil:
		unavailable(w, r, m.log, err)
	default:
		w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
		w.Header().Set("Content-Disposition", `inline; filename="bookings.ics"`)
		_, _ = w.Write(feed) // a closed connection needs no feed
	}
}

func unavailable(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	if r.Context().Err() == nil {
		log.ErrorContext(r.Context(), "serving a link of a mail failed",
			slog.String("path", r.Pattern), slog.Any("error", err))
	}
	w.Header().Set("Retry-After", "60")
	http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
}

// mailPageData is what a page behind a link in a mail shows.
type mailPageData struct {
	pageHead
	Lang, Title, Headline, Text string
	Buttons                     []mailButton
	Link, LinkText              string // another page; empty: none
}

// mailButton is a button of such a page. Pressed, it sends the field, if it has one, with "yes".
type mailButton struct{ Text, Field string }

// showUnsubscribe shows what can be unsubscribed. It changes nothing, because scanners open links before people do.
func (m mailPages) showUnsubscribe(w http.ResponseWriter, r *http.Request) {
	u, err := m.messages.GetUnsubscribe(r.Context(), r.PathValue("link"))
	words := unsubscribeWordsFor(r)
	m.render(w, r, mailPageData{
		pageHead: newPageHead(u.Tenant, u.Brand),
		Lang:     words.Lang, Title: withTenant(words.Title, words.TitleFrom, u.Tenant),
		Headline: withTenant(words.Ask, words.AskFrom, u.Tenant),
		Buttons: []mailButton{
			{Text: fmt.Sprintf(words.ThisKind, content.TopicName(u.Topic, words.Lang))}, {words.AllKinds, "all"},
		},
	}, err)
}

// unsubscribe handles the buttons of the page and one-click requests of mail clients (RFC 8058).
func (m mailPages) unsubscribe(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<10)
	all := r.FormValue("all") == "yes"
	u, err := m.messages.Unsubscribe(r.Context(), r.PathValue("link"), all)
	words := unsubscribeWordsFor(r)
	text := fmt.Sprintf(words.DoneKind, content.TopicName(u.Topic, words.Lang))
	if all {
		text = words.DoneAll
	}
	page := mailPageData{
		pageHead: newPageHead(u.Tenant, u.Brand), Lang: words.Lang, Title: words.Title, Headline: words.Done, Text: text,
	}
	m.render(w, r, page, err)
}

func (m mailPages) render(w http.ResponseWriter, r *http.Request, page mailPageData, err error) {
	status := http.StatusOK
	if fault.ReasonOf(err) == fault.LinkInvalid {
		words := unsubscribeWordsFor(r)
		status = http.StatusNotFound
		page = mailPageData{Lang: words.Lang, Title: words.Title, Headline: words.Invalid, Text: words.InvalidText}
	} else if err != nil {
		unavailable(w, r, m.log, err)
		return
	}
	writeMailPage(w, r, m.log, page, status)
}

func writeMailPage(w http.ResponseWriter, r *http.Request, log *slog.Logger, page mailPageData, status int) {
	w.Header().Set("Content-Security-Policy", formPolicy)
	w.Header().Set("Vary", "Accept-Language")
	var body bytes.Buffer
	if err := unsubscribePage.Execute(&body, page); err != nil {
		unavailable(w, r, log, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // a closed connection needs no page
}
