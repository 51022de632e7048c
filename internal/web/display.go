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
	http.ServeFileFS(w, r, assetFiles, "assets/"+r.PathValue("file")) //nolint:gosec // it has only the embedded assets
}

// displayPages serves the page for a screen in the studio. Its script replaces the content with the next
// page when it is time. A browser without scripts loads that page.
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
	Every             int    // seconds until then
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
	in := displayWordsFor(r)
	notice := func(says message) displayData { return displayData{Words: in, Title: says.headline, Notice: says.text} }
	shown, err := d.bookings.GetDisplay(r.Context(), r.PathValue("token"))
	if err == nil {
		var page displayData
		if page, err = newDisplayData(shown, in); err == nil {
			d.write(w, r, http.StatusOK, page)
			return
		}
	}
	switch fault.ReasonOf(err) {
	case fault.LinkInvalid:
		d.write(w, r, http.StatusNotFound, notice(in.ended))
	case fault.SessionNotFound:
		d.write(w, r, http.StatusNotFound, notice(in.calledOff))
	default:
		if r.Context().Err() == nil {
			d.log.ErrorContext(r.Context(), "showing display failed", slog.Any("error", err))
		}
		page := notice(in.later)
		page.Next, page.Every = r.URL.Path, retryAfter
		d.write(w, r, http.StatusServiceUnavailable, page)
	}
}

// displayBackground is the color behind the bar.
var displayBackground, _ = brand.ParseColor("#0d1b2a")

// retryAfter is after how many seconds a page that failed is reloaded.
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
func newDisplayData(d bookings.Display, in *displayWords) (displayData, error) {
	zone, err := time.LoadLocation(d.TimeZone)
	if err != nil {
		return displayData{}, err
	}
	clock := func(t time.Time) string { return in.dates.clock(t.In(zone)) }
	with := func(coach string) string { return fmt.Sprintf(in.with, coach) }
	w := displayData{
		Words: in, Shown: true, Studio: d.Tenant, Logo: d.Brand.LogoURL, Title: d.Title, Place: d.Location,
		Expected: d.Expected, Arrived: d.Arrived,
		Day: in.dates.day(d.Starts.In(zone)), Hours: clock(d.Starts) + "–" + clock(d.Ends),
	}
	if accent, ok := brand.ParseColor(d.Brand.Accent); ok {
		w.Accent = accent.ReadableOn(displayBackground, brand.MinShapeContrast).String()
	}
	if d.Coach != "" {
		w.Place = with(d.Coach) + " · " + d.Location
	}
	for _, a := range d.Arrivals {
		w.Arrivals = append(w.Arrivals, arrival{Name: a.Name, At: clock(a.At), More: a.Party - 1})
	}
	for _, u := range d.Upcoming {
		next := upcoming{At: clock(u.StartsAt), Title: u.Title}
		if u.Coach != "" {
			next.Coach = with(u.Coach)
		}
		w.Upcoming = append(w.Upcoming, next)
	}
	switch {
	case d.QR != "":
		if w.Code, err = drawQR(d.QR); err != nil {
			return displayData{}, err
		}
		w.Notice = in.scan
	case d.Next == "":
		w.Notice = in.closed
	default:
		w.Notice = in.opens(d.Opens.In(zone), d.Now.In(zone))
	}
	if d.Next != "" {
		// Rounded up: a page that is loaded a moment too early would show no change.
		w.Next, w.Every = bookings.DisplayPath+d.Next, int((d.Refresh.Sub(d.Now)+time.Second-1)/time.Second)
	}
	return w, nil
}
