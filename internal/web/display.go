package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/berthhq/berth/internal/app/bookings"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/brand"
)

// assetPath is the path of the page's script and style sheet.
const assetPath = bookings.DisplayPath + "assets/"

var (
	//go:embed assets
	assetFiles embed.FS
	//go:embed display.html
	displayMarkup string

	displayPage = template.Must(template.New("display").Parse(displayMarkup))
)

func serveAsset(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, assetFiles, "assets/"+r.PathValue("file")) // only the embedded assets
}

// displayPages serves the page for a screen in the studio. Its script replaces the content with that of the next
// page when it is due. A browser without scripts loads that page.
type displayPages struct {
	bookings *bookings.Service
	log      *slog.Logger
}

// displayData is what the page shows.
type displayData struct {
	Words             *displayWords
	Studio, Logo      string // the tenant's name and the URL of its logo
	Accent            string // the color of the bar at the bottom, as #rrggbb; empty: none
	Title, Place      string
	Day, Hours        string
	Shown             bool // if false, only the notice is shown
	Notice            string
	Code              *qrCode
	Expected, Arrived int
	Arrivals          []arrival
	Upcoming          []upcoming
	Next              string // path of the next page; empty if nothing will change
	Every             int    // seconds until the next page
}

type arrival struct {
	Name, At string
	More     int // number of others in the party
}

type upcoming struct {
	At, Title string
	Coach     string // "with Cleo"; empty if there is none
}

func (d displayPages) serve(w http.ResponseWriter, r *http.Request) {
	words := displayWordsFor(r)
	notice := func(m message) displayData { return displayData{Words: words, Title: m.headline, Notice: m.text} }
	shown, err := d.bookings.GetCheckInDisplay(r.Context(), r.PathValue("token"))
	if err == nil {
		var page displayData
		if page, err = newDisplayData(shown, words); err == nil {
			d.write(w, r, http.StatusOK, page)
			return
		}
	}
	switch fault.ReasonOf(err) {
	case fault.LinkInvalid:
		d.write(w, r, http.StatusNotFound, notice(words.ended))
	case fault.SessionNotFound:
		d.write(w, r, http.StatusNotFound, notice(words.calledOff))
	default:
		if r.Context().Err() == nil {
			d.log.ErrorContext(r.Context(), "showing display failed", slog.Any("error", err))
		}
		page := notice(words.later)
		page.Next, page.Every = r.URL.Path, retryAfter
		d.write(w, r, http.StatusServiceUnavailable, page)
	}
}

// displayBackground is the color behind the bar.
var displayBackground, _ = brand.ParseColor("#0d1b2a")

// retryAfter is the number of seconds after which a failed page is reloaded.
const retryAfter = 10

func (d displayPages) write(w http.ResponseWriter, r *http.Request, status int, page displayData) {
	var body bytes.Buffer
	if err := displayPage.Execute(&body, page); err != nil {
		d.log.ErrorContext(r.Context(), "rendering display failed", slog.Any("error", err))
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "Accept-Language")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // a closed connection needs no page
}

// newDisplayData formats a display in a language and in the time zone of its location.
func newDisplayData(d bookings.Display, words *displayWords) (displayData, error) {
	zone, err := time.LoadLocation(d.TimeZone)
	if err != nil {
		return displayData{}, err
	}
	clock := func(t time.Time) string { return words.dates.clock(t.In(zone)) }
	with := func(coach string) string { return fmt.Sprintf(words.with, coach) }
	page := displayData{
		Words: words, Shown: true, Studio: d.Tenant, Logo: d.Brand.LogoURL, Title: d.Title, Place: d.Location,
		Expected: d.Expected, Arrived: d.Arrived,
		Day: words.dates.day(d.Starts.In(zone)), Hours: clock(d.Starts) + "–" + clock(d.Ends),
	}
	if accent, ok := brand.ParseColor(d.Brand.Accent); ok {
		page.Accent = accent.ReadableOn(displayBackground, brand.MinShapeContrast).String()
	}
	if d.Coach != "" {
		page.Place = with(d.Coach) + " · " + d.Location
	}
	for _, a := range d.Arrivals {
		page.Arrivals = append(page.Arrivals, arrival{Name: a.Name, At: clock(a.At), More: a.Party - 1})
	}
	for _, u := range d.Upcoming {
		next := upcoming{At: clock(u.StartsAt), Title: u.Title}
		if u.Coach != "" {
			next.Coach = with(u.Coach)
		}
		page.Upcoming = append(page.Upcoming, next)
	}
	switch {
	case d.QR != "":
		if page.Code, err = drawQR(d.QR); err != nil {
			return displayData{}, err
		}
		page.Notice = words.scan
	case d.Next == "":
		page.Notice = words.closed
	default:
		page.Notice = words.opens(d.Opens.In(zone), d.Now.In(zone))
	}
	if d.Next != "" {
		// Rounded up: a page that is loaded a moment too early would show no change.
		page.Next, page.Every = bookings.DisplayPath+d.Next, int((d.Refresh.Sub(d.Now)+time.Second-1)/time.Second)
	}
	return page, nil
}
