package web

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"github.com/berthhq/berth/internal/testkit/expect"
)

func newConsole(
	t *testing.T, files fstest.MapFS, in SignIn,
) func(method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	handler := expect.Value(Console(files, in))(t)
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
		test.EqOp(t, http.StatusOK, w.Code, test.Sprintf("%s: %d %s", path, w.Code, w.Body))
		test.StrHasPrefix(t, want, w.Body.String(), test.Sprintf("%s: %d %s", path, w.Code, w.Body))
		test.EqOp(t, "no-cache", w.Header().Get("Cache-Control"), test.Sprintf("%s: %v", path, w.Header()))
	}
	for _, path := range []string{"/berth.v1.NoSuch/Thing", "/"} {
		test.EqOp(t, http.StatusNotFound, get("POST", path).Code, test.Sprintf("POST %s", path))
	}
	for _, path := range []string{"/absent.png", "/assets/absent.js", "/assets/", "/assets/../index.html.br"} {
		w := get("GET", path)
		test.NotEqOp(t, http.StatusOK, w.Code, test.Sprintf("%s: %d %s", path, w.Code, w.Body))
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
		must.NotNil(t, found, must.Sprintf("%s: %s", policy, w.Body))
		must.False(t, seen[found[1]], must.Sprintf("%s: %s", policy, w.Body))
		must.StrContains(t, w.Body.String(), `content="`+found[1]+`"`, must.Sprintf("%s: %s", policy, w.Body))
		seen[found[1]] = true
		wantTexts(t, policy, "default-src 'none'", "script-src 'self';", "connect-src 'self' https://id.example.com;",
			"img-src 'self' data: blob: https:;", "frame-ancestors 'none'", "-unsafe", "-realms")
	}
	test.Error(
		t, expect.Error(Console(built, SignIn{Issuer: "nonsense"})),
		test.Sprint("an issuer that is not a URL was accepted"),
	)
}

func TestConsole_CompressesAndCachesFiles(t *testing.T) {
	t.Parallel()
	get := newConsole(t, built, SignIn{})
	for accept, want := range map[string]string{
		"": "plain", "gzip, deflate": "gzip", "gzip, br;q=1.0": "brotli", "br;q=0, gzip": "gzip", "brx": "plain",
	} {
		w := get("GET", "/assets/a-1.js", "Accept-Encoding", accept)
		h := w.Header()
		test.EqOp(t, want, w.Body.String(), test.Sprintf("%q: %s %v", accept, w.Body, h))
		test.EqOp(t, "Accept-Encoding", h.Get("Vary"), test.Sprintf("%q: %s %v", accept, w.Body, h))
		test.StrContains(t, h.Get("Cache-Control"), "immutable", test.Sprintf("%q: %s %v", accept, w.Body, h))
		test.EqOp(t, "text/javascript; charset=utf-8", h.Get("Content-Type"),
			test.Sprintf("%q: %s %v", accept, w.Body, h))
	}
	w := get("GET", "/assets/f-1.woff2")
	test.EqOp(t, "font/woff2", w.Header().Get("Content-Type"), test.Sprint(w.Header()))
	w = get("GET", "/icon.svg")
	test.EqOp(t, "<svg/>", w.Body.String())
	test.EqOp(t, "no-cache", w.Header().Get("Cache-Control"))
}

func TestConsole_ServesSignInConfig(t *testing.T) {
	t.Parallel()
	get := newConsole(t, built, SignIn{
		Issuer: "https://id.example.com", ClientID: "console", Scope: "openid", Audience: "berth",
	})
	w := get("GET", ConfigPath)
	test.EqOp(t, `{"issuer":"https://id.example.com","client_id":"console","scope":"openid","audience":"berth"}`,
		w.Body.String(), test.Sprint(w.Body))
}

func TestConsole_WithoutAppsShowsNotice(t *testing.T) {
	t.Parallel()
	w := newConsole(t, fstest.MapFS{".gitkeep": {}}, SignIn{})("GET", "/app/week")
	test.EqOp(t, http.StatusOK, w.Code)
	test.StrContains(t, w.Body.String(), "make console")
}
