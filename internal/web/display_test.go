package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/testkit"
	"github.com/berthhq/berth/internal/testkit/expect"
)

// class is the start of the session of these tests: 18:00 in Berlin.
var class = time.Date(2026, 3, 18, 17, 0, 0, 0, time.UTC)

// studio is a tenant with one session, and the pages. It is the start of the session.
type studio struct {
	*testkit.Studio
	log     strings.Builder
	pages   http.Handler
	session tenant.SessionID
}

func newStudio(t *testing.T) *studio {
	t.Helper()
	s := &studio{Studio: testkit.New(t)}
	s.pages = Handler(Config{Services: s.App, Log: slog.New(slog.NewTextHandler(&s.log, nil))})
	s.session = s.AddSession(testkit.Session{Starts: class, Title: "Vinyasa & <b>Breath</b>", Coach: s.Coach})
	s.Clock.Set(class)
	return s
}

// addBooking adds a booking to the session, attended if at is set.
func (s *studio) addBooking(name string, party int, at *time.Time) {
	s.T.Helper()
	id := s.AddBooking(s.session, testkit.Booking{Who: s.AddMember(name), Party: party, Made: testkit.Noon})
	if at == nil {
		return
	}
	defer s.Clock.Set(s.Clock.Now())
	s.Clock.Set(*at)
	expect.OK(s.T)(s.CheckIn(s.Coach, id))
}

// link returns the path of a new display link.
func (s *studio) link() string {
	s.T.Helper()
	link := expect.Value(s.App.Bookings.CreateDisplayLink(context.Background(), s.Coach, s.session))(s.T)
	path, ok := strings.CutPrefix(link.URL, "https://berth.example")
	must.True(s.T, ok, must.Sprint(link.URL))
	return path
}

// get loads a page at a time after the start of the session.
func (s *studio) get(path string, after time.Duration) (*http.Response, string) {
	s.T.Helper()
	return s.getIn("", path, after)
}

// getIn is like get with the browser's language.
func (s *studio) getIn(language, path string, after time.Duration) (*http.Response, string) {
	s.T.Helper()
	s.Clock.Set(class.Add(after))
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
	r.Header.Set("Accept-Language", language)
	s.pages.ServeHTTP(w, r)
	answer := w.Result()
	return answer, string(expect.Value(io.ReadAll(answer.Body))(s.T))
}

// wantTexts fails for each text that the page lacks, and for each text after "-" that it has.
func wantTexts(t testing.TB, body string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		absent, without := strings.CutPrefix(text, "-")
		test.NotEqOp(t, without, strings.Contains(body, absent), test.Sprintf("%q in\n%s", text, body))
	}
}

// shows fails unless the page has this status and these texts, as in wantTexts.
func (s *studio) shows(path string, after time.Duration, status int, texts ...string) {
	s.T.Helper()
	answer, body := s.get(path, after)
	test.EqOp(s.T, status, answer.StatusCode, test.Sprint(path))
	wantTexts(s.T, body, texts...)
}

func TestDisplay_ShowsCodeAndArrivals(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.addBooking("Mia Meyer", 1, new(class.Add(-20*time.Minute)))
	s.addBooking("Noa <Nobody>", 3, new(class.Add(-10*time.Minute)))
	s.addBooking("Leo Late", 2, nil)
	s.AddSession(testkit.Session{Starts: class.Add(90 * time.Minute), Minutes: 30, Title: "Yin <i>", Coach: s.Coach})
	answer, body := s.get(s.link(), 0)
	test.EqOp(t, http.StatusOK, answer.StatusCode, test.Sprint(answer.Status, answer.Header))
	test.EqOp(t, "text/html; charset=utf-8", answer.Header.Get("Content-Type"),
		test.Sprint(answer.Status, answer.Header))
	wantTexts(t, body, "Vinyasa &amp; &lt;b&gt;Breath&lt;/b&gt;", "-<b>", "Wednesday, 18 March, ", ">18:00–19:00<",
		"with Carla Coach · Pier 1", "<strong>4</strong> of 6 here", ">Mia M.<", "-Meyer", ">Noa<", "-Nobody", "+2",
		"17:50", "-Leo", "Scan to check in", `class="open"`, "<svg ", `data-every="30"`,
		"Next up", "19:30", ">Yin &lt;i&gt;<", "with Carla Coach<")
}

func TestDisplay_UsesBrowserLanguage(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.addBooking("Mia Meyer", 1, new(class.Add(-20*time.Minute)))
	link := s.link()
	for accepts, want := range map[string][]string{
		"de-AT,en;q=0.5": {`lang="de"`, "Mittwoch, 18. März", "mit Carla Coach", "</strong> von 1 da",
			"Zum Einchecken scannen", "Keine Verbindung", "-Scan to"},
		"fr": {`lang="fr"`, "mercredi 18 mars", "avec Carla Coach", "</strong> sur 1 sur place",
			"Scannez pour pointer", "Pas de connexion", "-Scan to"},
		"pt-PT": {`lang="en"`, "Wednesday, 18 March", "with Carla Coach", "Scan to check in"},
	} {
		answer, body := s.getIn(accepts, link, 0)
		wantTexts(t, body, want...)
		test.EqOp(t, "Accept-Language", answer.Header.Get("Vary"), test.Sprint(accepts))
	}
	s.Clock.Set(class.Add(-48 * time.Hour))
	_, body := s.getIn("de", s.link(), -48*time.Hour)
	wantTexts(t, body, "Check-in ab Mittwoch, 18. März um 17:00 Uhr")
	_, body = s.getIn("fr", "/display/x", 0)
	wantTexts(t, body, "Cette page n’est plus valable")
}

func TestDisplay_FollowsCheckInWindow(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	for name, tt := range map[string]struct {
		after time.Duration
		says  []string
	}{
		"days before": {-48 * time.Hour, []string{
			"Check-in opens on Wednesday, 18 March at 17:00", "-<svg", `class="quiet"`, `data-every="30"`, "<noscript>",
		}},
		"minutes before": {-time.Hour - 12500*time.Millisecond, []string{
			"Check-in opens at 17:00", "-<svg", `data-every="13"`,
		}},
		"while it is open": {-time.Hour, []string{"Scan to check in", "<svg", "<noscript>"}},
		"afterwards":       {90 * time.Minute, []string{"Check-in is closed", "-<svg", `data-next=""`, "-<noscript>"}},
	} {
		t.Run(name, func(*testing.T) {
			s.Clock.Set(class.Add(tt.after))
			s.shows(s.link(), tt.after, http.StatusOK, tt.says...)
		})
	}
}

var nextLink = regexp.MustCompile(`data-next="([^"]*)"`)

func TestDisplay_LinksToNextPage(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	path := s.link()
	for minute := 1; minute < 60; minute++ {
		answer, body := s.get(path, time.Duration(minute)*time.Minute)
		must.EqOp(t, http.StatusOK, answer.StatusCode, must.Sprint(minute, answer.Status))
		next := nextLink.FindStringSubmatch(body)[1]
		must.NotEqOp(t, path, next)
		must.StrHasPrefix(t, "/display/", next)
		wantTexts(t, body, `content="30;url=`+next+`"`)
		path = next
	}
}

func TestDisplay_RejectsExpiredAndInvalidLinks(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	link := s.link()
	for path, after := range map[string]time.Duration{
		link: 10 * time.Minute, "/display/x": 0, "/display/%3Cscript%3E": 0, "/display/assets": 0,
	} {
		s.shows(
			path, after, http.StatusNotFound, "This page has ended", `data-next=""`, "-<script>", "-Vinyasa", "-<svg",
		)
	}
	s.CancelSession(s.session)
	s.shows(link, 0, http.StatusNotFound, "called off", "-Vinyasa")
	test.EqOp(t, "", s.log.String())
}

func TestDisplay_ReloadsAfterFailure(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	link := s.link()
	s.Exec(`alter table locations rename to renamed`)
	answer, body := s.get(link, 0)
	test.EqOp(t, http.StatusServiceUnavailable, answer.StatusCode, test.Sprint(answer.Status, answer.Header))
	test.EqOp(t, "10", answer.Header.Get("Retry-After"), test.Sprint(answer.Status, answer.Header))
	wantTexts(t, body, "One moment", `data-next="`+link+`"`, `data-every="10"`, "-locations", "-42P01")
	test.EqOp(t, 1, strings.Count(s.log.String(), "level=ERROR"), test.Sprint(s.log.String()))
}

func TestDisplay_SetsSecurityHeaders(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	for _, path := range []string{s.link(), "/display/x", "/display/assets/display.js", "/display/assets/display.css"} {
		answer, body := s.get(path, 0)
		for header, want := range map[string]string{
			"Content-Security-Policy": policy, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
			"X-Content-Type-Options": "nosniff",
		} {
			test.EqOp(t, want, answer.Header.Get(header), test.Sprintf("%s: %s", path, header))
		}
		if strings.HasSuffix(path, ".js") {
			continue
		}
		// The policy allows nothing inline and nothing from other servers.
		wantTexts(t, body, "-style=", "-onload", "-http:", "-https:", "-@import")
	}
	for path, want := range map[string]string{
		"display.js": "text/javascript; charset=utf-8", "display.css": "text/css; charset=utf-8",
	} {
		answer, _ := s.get(assetPath+path, 0)
		got := answer.Header.Get("Content-Type")
		test.EqOp(t, want, got, test.Sprintf("%s: %s, %q", path, answer.Status, got))
		test.EqOp(t, http.StatusOK, answer.StatusCode, test.Sprintf("%s: %s, %q", path, answer.Status, got))
	}
	for _, path := range []string{"display.html", "..%2Fdisplay.go", "", "%2e%2e"} {
		answer, _ := s.get(assetPath+path, 0)
		test.NotEqOp(t, http.StatusOK, answer.StatusCode, test.Sprintf("%q is served", path))
	}
}
