package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func newConsole(
	t *testing.T, files fstest.MapFS, in SignIn,
) func(method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	handler, err := Console(files, in)
	if err != nil {
		t.Fatal(err)
	}
	return func(method, path string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
}

var built = fstest.MapFS{
	"index.html":        {Data: []byte(`console <meta content="__NONCE__">`)},
	"app/index.html":    {Data: []byte(`members <meta content="__NONCE__">`)},
	"icon.svg":          {Data: []byte("<svg/>")},
	"assets/a-1.js":     {Data: []byte("plain")},
	"assets/a-1.js.br":  {Data: []byte("brotli")},
	"assets/a-1.js.gz":  {Data: []byte("gzip")},
	"assets/f-1.woff2":  {Data: []byte("font")},
	"assets/only.css":   {Data: []byte("css")},
	"assets/.gitignore": {Data: []byte("hidden")},
}

func TestConsole_ServesAppOnEveryPath(t *testing.T) {
	t.Parallel()
	get := newConsole(t, built, SignIn{Issuer: "https://id.example.com/realms/a"})
	for path, want := range map[string]string{
		"/": "console", "/sessions/0190": "console", "/appointments": "console",
		"/app/": "members", "/app/me/bookings": "members",
	} {
		w := get("GET", path)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), want) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if w.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %v", path, w.Header())
		}
	}
	for _, path := range []string{"/berth.v1.NoSuch/Thing", "/"} {
		if w := get("POST", path); w.Code != http.StatusNotFound {
			t.Errorf("POST %s: %d", path, w.Code)
		}
	}
	for _, path := range []string{"/absent.png", "/assets/absent.js", "/assets/", "/assets/../index.html.br"} {
		if w := get("GET", path); w.Code == http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestConsole_SetsSecurityHeaders(t *testing.T) {
	t.Parallel()
	get := newConsole(t, built, SignIn{Issuer: "https://id.example.com/realms/a"})
	nonce := regexp.MustCompile(`style-src 'self' 'nonce-([^']+)'`)
	seen := map[string]bool{}
	for range 3 {
		w := get("GET", "/")
		policy := w.Header().Get("Content-Security-Policy")
		found := nonce.FindStringSubmatch(policy)
		if found == nil || seen[found[1]] || !strings.Contains(w.Body.String(), `content="`+found[1]+`"`) {
			t.Fatalf("%s: %s", policy, w.Body)
		}
		seen[found[1]] = true
		wantTexts(t, policy, "default-src 'none'", "script-src 'self';", "connect-src 'self' https://id.example.com;",
			"img-src 'self' data: blob: https:;", "frame-ancestors 'none'", "-unsafe", "-realms")
	}
	if _, err := Console(built, SignIn{Issuer: "nonsense"}); err == nil {
		t.Error("an issuer that is not a URL was accepted")
	}
}

func TestConsole_CompressesAndCachesFiles(t *testing.T) {
	t.Parallel()
	get := newConsole(t, built, SignIn{})
	for accept, want := range map[string]string{
		"": "plain", "gzip, deflate": "gzip", "gzip, br;q=1.0": "brotli", "br;q=0, gzip": "gzip", "brx": "plain",
	} {
		w := get("GET", "/assets/a-1.js", "Accept-Encoding", accept)
		h := w.Header()
		if w.Body.String() != want || h.Get("Vary") != "Accept-Encoding" ||
			!strings.Contains(h.Get("Cache-Control"), "immutable") ||
			h.Get("Content-Type") != "text/javascript; charset=utf-8" {
			t.Errorf("%q: %s %v", accept, w.Body, h)
		}
	}
	if w := get("GET", "/assets/f-1.woff2"); w.Header().Get("Content-Type") != "font/woff2" {
		t.Error(w.Header())
	}
	if w := get("GET", "/icon.svg"); w.Body.String() != "<svg/>" || w.Header().Get("Cache-Control") != "no-cache" {
		t.Error(w.Body, w.Header())
	}
}

func TestConsole_ServesSignInConfig(t *testing.T) {
	t.Parallel()
	get := newConsole(t, built, SignIn{
		Issuer: "https://id.example.com", ClientID: "console", Scope: "openid", Audience: "berth",
	})
	w := get("GET", ConfigPath)
	want := `{"issuer":"https://id.example.com","client_id":"console","scope":"openid","audience":"berth"}`
	if w.Body.String() != want {
		t.Error(w.Body)
	}
}

func TestConsole_WithoutAppsShowsNotice(t *testing.T) {
	t.Parallel()
	get := newConsole(t, fstest.MapFS{".gitkeep": {}}, SignIn{})
	if w := get("GET", "/app/week"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "make console") {
		t.Error(w.Code, w.Body)
	}
}
