package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/web"
	"github.com/berthhq/berth/server/demo"
)

// demoPeople lets a developer sign in as a person of the demo tenants in a browser, with one click. Only `berth dev`
// serves it, and only to this machine.
type demoPeople struct {
	tenants []demo.Tenant
	issuer  *token.Issuer
	signIn  web.SignIn
}

// demoTokenTTL is short, to show that renewing works.
const demoTokenTTL = 15 * time.Minute

// wrap serves these pages, and passes everything else to next.
func (d demoPeople) wrap(next http.Handler) http.Handler {
	d.signIn.Development = true
	mux := http.NewServeMux()
	mux.Handle("GET "+web.ConfigPath, localOnly(d.signIn))
	mux.Handle("GET /dev/people.json", localOnly(http.HandlerFunc(d.list)))
	mux.Handle("POST /dev/token", localOnly(http.HandlerFunc(d.token)))
	mux.Handle("/", next)
	return mux
}

type demoTenant struct {
	ID     tenant.TenantID `json:"id"`
	Name   string          `json:"name"`
	People []demoPerson    `json:"people"`
}

type demoPerson struct {
	Subject string `json:"subject"`
	Role    string `json:"role"`
}

func (d demoPeople) list(w http.ResponseWriter, _ *http.Request) {
	all := []demoTenant{}
	for _, t := range d.tenants {
		people := demoTenant{ID: t.ID, Name: t.Name}
		for _, role := range roleOrder {
			// Partners are programs and do not use the pages.
			if subject := t.Subjects[role]; subject != "" && role != tenant.RolePartner {
				people.People = append(people.People, demoPerson{Subject: subject, Role: role})
			}
		}
		all = append(all, people)
	}
	writeJSON(w, all)
}

// token issues a token for the person of the list with the form values tenant and subject.
func (d demoPeople) token(w http.ResponseWriter, r *http.Request) {
	id, subject := r.PostFormValue("tenant"), r.PostFormValue("subject")
	for _, t := range d.tenants {
		for _, s := range t.Subjects {
			if t.ID.String() != id || s != subject {
				continue
			}
			grant := token.Claims{Subject: subject, Tenants: []tenant.TenantID{t.ID}, SignedInAt: time.Now()}
			raw, expires, err := d.issuer.Issue(grant, demoTokenTTL)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			writeJSON(w, map[string]any{"access_token": raw, "expires_at": expires})
			return
		}
	}
	http.NotFound(w, r)
}

func writeJSON(w http.ResponseWriter, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(body) // fails only if the connection is closed
}

// localOnly rejects requests from other machines, also through a proxy on this one, and from pages of other sites. It
// accepts only loopback names as host, because another site could make its own name resolve to this machine. Other
// origins cannot read the response.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !peer.Addr().Unmap().IsLoopback() || !isLoopbackHost(r.Host) || isForwarded(r.Header) {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isForwarded reports whether a proxy added its headers to a request.
func isForwarded(h http.Header) bool {
	for name := range h {
		switch {
		case strings.HasPrefix(name, "X-Forwarded"), strings.HasPrefix(name, "X-Original-"),
			strings.HasSuffix(name, "-Ip"), name == "Forwarded", name == "Via":
			return true
		}
	}
	return false
}

func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
