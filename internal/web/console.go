package web

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// ConfigPath is the path from which the browser apps read the sign-in configuration.
const ConfigPath = "/console/config.json"

// SignIn configures how users of the browser apps sign in: with this server, or at an OpenID provider, with the
// authorization code flow and PKCE.
type SignIn struct {
	Own      bool   `json:"sign_in,omitempty"`   // they sign in with this server
	Issuer   string `json:"issuer,omitempty"`    // URL of the provider; empty if there is none
	ClientID string `json:"client_id,omitempty"` // of the browser apps
	Scope    string `json:"scope,omitempty"`     // separated by spaces
	Audience string `json:"audience,omitempty"`  // required in access tokens
	// LinkByEmail says that an email which the provider has verified makes a user the member with it: see
	// MemberService.LinkMe.
	LinkByEmail bool `json:"link_by_email,omitempty"`
	// Development offers demo users instead. The server itself issues their tokens.
	Development bool `json:"development,omitempty"`
}

// ServeHTTP serves the configuration to the browser apps.
func (s SignIn) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	body, err := json.Marshal(s)
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(body) // a closed connection needs no response
}

// Console serves the browser apps: the staff's console at the root and the members' app at /app.
// Every path that is not a file is a page of an app, which routes it itself.
func Console(files fs.FS, in SignIn) (http.Handler, error) {
	c := &console{files: files, connect: "'self'"}
	if in.Issuer != "" {
		issuer, err := url.Parse(in.Issuer)
		if err != nil || issuer.Host == "" {
			return nil, fmt.Errorf("console: the issuer %q is not a URL", in.Issuer)
		}
		c.connect += " " + issuer.Scheme + "://" + issuer.Host
	}
	var err error
	if c.staff, err = readPage(files, "index.html"); err != nil {
		return nil, err
	}
	if c.members, err = readPage(files, "app/index.html"); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+ConfigPath, in)
	mux.HandleFunc("GET /assets/", c.asset)
	mux.HandleFunc("GET /app/", c.page)
	mux.HandleFunc("GET /", c.page)
	mux.HandleFunc("/", http.NotFound)
	return mux, nil
}

type console struct {
	files          fs.FS
	connect        string // allowed sources of connect-src
	staff, members []byte
}

// noncePlaceholder is replaced with the nonce of a page.
const noncePlaceholder = "__NONCE__"

// notBuilt is the page of a server that was built without the apps.
const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Berth</title>
<h1>The console is not part of this build</h1><p>Run <code>make console</code>, then build the server again. ` +
	`The API works without it.</p></html>
`

func readPage(files fs.FS, name string) ([]byte, error) {
	page, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return []byte(notBuilt), nil
	}
	return page, err
}

// page serves an app's only page. Styles that its components add carry the nonce; scripts come from files only.
func (c *console) page(w http.ResponseWriter, r *http.Request) {
	if name := strings.TrimPrefix(r.URL.Path, "/"); path.Ext(name) != "" {
		c.file(w, r, name, "no-cache")
		return
	}
	page := c.staff
	if r.URL.Path == "/app" || strings.HasPrefix(r.URL.Path, "/app/") {
		page = c.members
	}
	nonce := rand.Text()
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; "+
		"style-src 'self' 'nonce-"+nonce+"'; connect-src "+c.connect+"; img-src 'self' data: blob: https:; "+
		"media-src 'self' blob:; font-src 'self'; manifest-src 'self'; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Permissions-Policy", "camera=(self), geolocation=(self), microphone=(), payment=()")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(bytes.ReplaceAll(page, []byte(noncePlaceholder), []byte(nonce))) // a closed connection needs no page
}

// asset serves a file whose name changes with its content.
func (c *console) asset(w http.ResponseWriter, r *http.Request) {
	c.file(w, r, strings.TrimPrefix(r.URL.Path, "/"), "public, max-age=31536000, immutable")
}

// encodings are the compressed forms that a file may have, best first.
var encodings = []struct{ name, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

func (c *console) file(w http.ResponseWriter, r *http.Request, name, caching string) {
	content, err := fs.ReadFile(c.files, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	contentType := cmp.Or(contentTypes[path.Ext(name)], mime.TypeByExtension(path.Ext(name)), "application/octet-stream")
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", caching)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept-Encoding")
	for _, e := range encodings {
		if !accepts(r.Header.Get("Accept-Encoding"), e.name) {
			continue
		}
		if compressed, err := fs.ReadFile(c.files, name+e.suffix); err == nil {
			h.Set("Content-Encoding", e.name)
			content = compressed
			break
		}
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

// contentTypes are content types that the system's list may not have.
var contentTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".woff2": "font/woff2", ".svg": "image/svg+xml", ".webmanifest": "application/manifest+json",
}

// accepts reports whether a header Accept-Encoding allows an encoding.
func accepts(header, encoding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == encoding {
			return strings.TrimSpace(weight) != "q=0"
		}
	}
	return false
}
