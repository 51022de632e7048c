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

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/brand"
)

// assetPath is where the page finds its script and style.
const assetPath = app.DisplayPath + "assets/"

var (
	//go:embed assets
	assets embed.FS
	//go:embed display.html
	markup string

	displayPage = template.Must(template.New("display").Parse(markup))
)

func serveAsset(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, assets, "assets/"+r.PathValue("file")) //nolint:gosec // nothing but the embedded assets is there
}

// display serves the page for the studio's wall. Its script replaces what it shows
// by the page behind the next link when it is time; a browser without scripts loads that page.
type display struct {
	app *app.App
	log *slog.Logger
}

// wall is what the page says, ready to be read.
type wall struct {
	Words             *wallWords
	Studio, Logo      string // the tenant's name, and the picture that stands for it
	Accent            string // the color of the bar below, as #rrggbb; empty: there is none
	Title, Place      string
	Day, Hours        string
	Shown             bool // else there is a notice alone
	Notice            string
	Code              *qrCode
	Expected, Arrived int
	Arrivals          []arrival
	Upcoming          []upcoming
	Next              string // address; empty where nothing will change
	Every             int    // seconds until then
}

type arrival struct {
	Name, At string
	More     int // who came along
}

type upcoming struct {
	At, Title string
	Coach     string // "with Cleo"; empty where there is none
}

func (d display) serve(w http.ResponseWriter, r *http.Request) {
	in := wallWordsFor(r)
	alone := func(says telling) wall { return wall{Words: in, Title: says.headline, Notice: says.says} }
	shown, err := d.app.GetDisplay(r.Context(), r.PathValue("token"))
	if err == nil {
		var page wall
		if page, err = readable(shown, in); err == nil {
			d.write(w, r, http.StatusOK, page)
			return
		}
	}
	switch fault.ReasonOf(err) {
	case fault.LinkInvalid:
		d.write(w, r, http.StatusNotFound, alone(in.ended))
	case fault.SessionNotFound:
		d.write(w, r, http.StatusNotFound, alone(in.calledOff))
	default:
		if r.Context().Err() == nil {
			d.log.ErrorContext(r.Context(), "display not shown", slog.Any("error", err))
		}
		page := alone(in.later)
		page.Next, page.Every = r.URL.Path, retryAfter
		d.write(w, r, http.StatusServiceUnavailable, page)
	}
}

// wallGround is what the wall's bar lies on.
var wallGround, _ = brand.ParseColor("#0d1b2a")

// retryAfter is how many seconds a page waits that could not be made.
const retryAfter = 10

func (d display) write(w http.ResponseWriter, r *http.Request, status int, page wall) {
	var body bytes.Buffer
	if err := displayPage.Execute(&body, page); err != nil {
		d.log.ErrorContext(r.Context(), "display not written", slog.Any("error", err))
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "Accept-Language")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // a browser that has left needs no page
}

// readable puts a display into words, at the clock of its location.
func readable(d app.Display, in *wallWords) (wall, error) {
	zone, err := time.LoadLocation(d.TimeZone)
	if err != nil {
		return wall{}, err
	}
	clock := func(t time.Time) string { return in.dates.clock(t.In(zone)) }
	with := func(coach string) string { return fmt.Sprintf(in.with, coach) }
	w := wall{
		Words: in, Shown: true, Studio: d.Tenant, Logo: d.Brand.LogoURL, Title: d.Title, Place: d.Location, Expected: d.Expected, Arrived: d.Arrived,
		Day: in.dates.day(d.Starts.In(zone)), Hours: clock(d.Starts) + "–" + clock(d.Ends),
	}
	if accent, ok := brand.ParseColor(d.Brand.Accent); ok {
		w.Accent = accent.Against(wallGround, brand.ForShapes).String()
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
			return wall{}, err
		}
		w.Notice = in.scan
	case d.Next == "":
		w.Notice = in.closed
	default:
		w.Notice = in.opens(d.Opens.In(zone), d.Now.In(zone))
	}
	if d.Next != "" {
		// Rounded up: a page that comes a moment too soon would find that nothing has changed.
		w.Next, w.Every = app.DisplayPath+d.Next, int((d.Refresh.Sub(d.Now)+time.Second-1)/time.Second)
	}
	return w, nil
}
