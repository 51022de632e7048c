package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/pgtest"
	"github.com/berthhq/berth/internal/rules/checkin"
	"github.com/berthhq/berth/internal/rules/waitlist"
	"github.com/berthhq/berth/internal/tenant"
)

// class is the start of the session of these tests: 18:00 in Berlin.
var class = time.Date(2026, 3, 18, 17, 0, 0, 0, time.UTC)

// studio is a tenant with one session, and the pages.
type studio struct {
	t   *testing.T
	db  *pgtest.DB
	app *app.Services
	now atomic.Pointer[time.Time]
	log strings.Builder

	pages   http.Handler
	tenant  tenant.TenantID
	session tenant.SessionID
}

func newStudio(t *testing.T) *studio {
	t.Helper()
	s := &studio{t: t, db: pgtest.New(t)}
	claims, err := waitlist.NewClaimKey([]byte("a key for tests that is 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := checkin.NewKeys([]byte("a key for tests that is 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	s.now.Store(&class)
	s.app = app.New(app.Config{
		DB: s.db.DB, Now: func() time.Time { return *s.now.Load() }, CheckInKeys: keys, Claims: claims,
		PublicURL: "https://berth.example",
	})
	s.pages = Handler(Config{Services: s.app, Log: slog.New(slog.NewTextHandler(&s.log, nil))})
	created, err := s.app.Accounts.CreateTenant(t.Context(), accounts.NewTenant{
		Name: "Harbour Yoga", TimeZone: "Europe/Berlin", Locale: "en", Currency: "EUR",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.tenant, s.session = created.ID, tenant.New[tenant.SessionID](class)
	s.exec(`
with l as (
  insert into locations (tenant_id, id, name, time_zone, created_at, updated_at)
  values ($1, $2, 'Pier 1', 'Europe/Berlin', $3, $3)
), v as (
  insert into services (tenant_id, id, name, duration_seconds, created_at, updated_at)
  values ($1, $2, 'Vinyasa', 3600, $3, $3)
), m as (
  insert into members (tenant_id, id, name, created_at, updated_at) values ($1, $2, 'Carla Coach', $3, $3)
)
insert into sessions (tenant_id, id, service_id, location_id, coach_id, title, starts_at, ends_at, local_date,
  state, created_at, updated_at)
values ($1, $2, $2, $2, $2, 'Vinyasa & <b>Breath</b>', $3, $4, '2026-03-18', 'PUBLISHED', $3, $3)`,
		s.tenant, s.session, class, class.Add(time.Hour))
	return s
}

func (s *studio) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.db.Owner.Exec(context.Background(), sql, args...); err != nil {
		s.t.Fatal(err)
	}
}

// addBooking adds a booking to the session, attended if at is set.
func (s *studio) addBooking(name string, party int, at *time.Time) {
	s.t.Helper()
	status, method := "CONFIRMED", (*string)(nil)
	if at != nil {
		status, method = "ATTENDED", new("QR")
	}
	s.exec(`
with m as (insert into members (tenant_id, id, name, created_at, updated_at) values ($1, $3, $4, $5, $5))
insert into bookings (tenant_id, id, session_id, member_id, party_size, status, channel, starts_at, ends_at,
  created_by, created_at, updated_at, checked_in_at, check_in_method)
values ($1, $3, $2, $3, $6, $7, 'ONLINE', $5, $8, 'test', $5, $5, $9, $10)`,
		s.tenant, s.session, tenant.New[tenant.BookingID](class), name, class, party, status, class.Add(time.Hour),
		at, method)
}

// link returns the path of a new display link.
func (s *studio) link() string {
	s.t.Helper()
	link, err := s.app.Bookings.CreateDisplayURL(context.Background(), tenant.System(s.tenant), s.session)
	if err != nil {
		s.t.Fatal(err)
	}
	path, ok := strings.CutPrefix(link.URL, "https://berth.example")
	if !ok {
		s.t.Fatal(link.URL)
	}
	return path
}

// get loads a page at a time after the start of the session.
func (s *studio) get(path string, after time.Duration) (*http.Response, string) {
	s.t.Helper()
	return s.getIn("", path, after)
}

// getIn is like get with the browser's language.
func (s *studio) getIn(language, path string, after time.Duration) (*http.Response, string) {
	s.t.Helper()
	s.now.Store(new(class.Add(after)))
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
	r.Header.Set("Accept-Language", language)
	s.pages.ServeHTTP(w, r)
	answer := w.Result()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer, string(body)
}

// wantTexts fails for each text that the page lacks, and for each text after "-" that it has.
func wantTexts(t *testing.T, body string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		absent, without := strings.CutPrefix(text, "-")
		if strings.Contains(body, absent) == without {
			t.Errorf("%q in\n%s", text, body)
		}
	}
}

func TestDisplay_ShowsCodeAndArrivals(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.addBooking("Mia Meyer", 1, new(class.Add(-20*time.Minute)))
	s.addBooking("Noa <Nobody>", 3, new(class.Add(-10*time.Minute)))
	s.addBooking("Leo Late", 2, nil)
	s.exec(`
insert into sessions (tenant_id, id, service_id, location_id, coach_id, title, starts_at, ends_at, local_date,
  state, created_at, updated_at)
select tenant_id, $2, service_id, location_id, coach_id, 'Yin <i>', $3, $4, local_date,
  state, created_at, updated_at from sessions where tenant_id = $1`,
		s.tenant, tenant.New[tenant.SessionID](class), class.Add(90*time.Minute), class.Add(2*time.Hour))
	answer, body := s.get(s.link(), 0)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Error(answer.Status, answer.Header)
	}
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
		if got := answer.Header.Get("Vary"); got != "Accept-Language" {
			t.Error(accepts, got)
		}
	}
	s.now.Store(new(class.Add(-48 * time.Hour)))
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
		t.Run(name, func(t *testing.T) {
			s.now.Store(new(class.Add(tt.after)))
			answer, body := s.get(s.link(), tt.after)
			if answer.StatusCode != http.StatusOK {
				t.Error(answer.Status)
			}
			wantTexts(t, body, tt.says...)
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
		if answer.StatusCode != http.StatusOK {
			t.Fatal(minute, answer.Status)
		}
		next := nextLink.FindStringSubmatch(body)[1]
		if next == path || !strings.HasPrefix(next, "/display/") {
			t.Fatal(next)
		}
		wantTexts(t, body, `content="30;url=`+next+`"`)
		path = next
	}
}

func TestDisplay_RejectsExpiredAndInvalidLinks(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	link := s.link()
	for name, path := range map[string]string{
		"expired": link, "no link": "/display/x", "markup": "/display/%3Cscript%3E", "assets": "/display/assets",
	} {
		after := time.Duration(0)
		if name == "expired" {
			after = 10 * time.Minute
		}
		answer, body := s.get(path, after)
		if answer.StatusCode != http.StatusNotFound {
			t.Error(name, answer.Status)
		}
		wantTexts(t, body, "This page has ended", `data-next=""`, "-<script>", "-Vinyasa", "-<svg")
	}
	s.exec(`update sessions set state = 'CANCELLED' where id = $1`, s.session)
	answer, body := s.get(link, 0)
	if answer.StatusCode != http.StatusNotFound {
		t.Error(answer.Status)
	}
	wantTexts(t, body, "called off", "-Vinyasa")
	if s.log.Len() > 0 {
		t.Error(s.log.String())
	}
}

func TestDisplay_ReloadsAfterFailure(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	link := s.link()
	s.exec(`alter table locations rename to renamed`)
	answer, body := s.get(link, 0)
	if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") != "10" {
		t.Error(answer.Status, answer.Header)
	}
	wantTexts(t, body, "One moment", `data-next="`+link+`"`, `data-every="10"`, "-locations", "-42P01")
	if n := strings.Count(s.log.String(), "level=ERROR"); n != 1 {
		t.Error(s.log.String())
	}
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
			if got := answer.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q", path, header, got)
			}
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
		if got := answer.Header.Get("Content-Type"); got != want || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %q", path, answer.Status, got)
		}
	}
	for _, path := range []string{"display.html", "..%2Fdisplay.go", "", "%2e%2e"} {
		if answer, _ := s.get(assetPath+path, 0); answer.StatusCode == http.StatusOK {
			t.Errorf("%q is served", path)
		}
	}
}
