package main

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
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

// demoTokenLife is short, to show that renewing works.
const demoTokenLife = 15 * time.Minute

// before serves these pages, and passes everything else to next.
func (d demoPeople) before(next http.Handler) http.Handler {
	d.signIn.Development = true
	mux := http.NewServeMux()
	mux.Handle("GET "+web.ConfigPath, ownMachine(d.signIn))
	mux.Handle("GET /dev/people.json", ownMachine(http.HandlerFunc(d.list)))
	mux.Handle("POST /dev/token", ownMachine(http.HandlerFunc(d.token)))
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
		there := demoTenant{ID: t.ID, Name: t.Name}
		for _, role := range roleOrder {
			// Partners are programs and do not use the pages.
			if subject := t.Subjects[role]; subject != "" && role != tenant.RolePartner {
				there.People = append(there.People, demoPerson{Subject: subject, Role: role})
			}
		}
		all = append(all, there)
	}
	answer(w, all)
}

// token issues a token for the person of the list with the form values tenant and subject.
func (d demoPeople) token(w http.ResponseWriter, r *http.Request) {
	id, subject := r.PostFormValue("tenant"), r.PostFormValue("subject")
	for _, t := range d.tenants {
		for _, one := range t.Subjects {
			if t.ID.String() != id || one != subject {
				continue
			}
			grant := token.Claims{Subject: subject, Tenants: []tenant.TenantID{t.ID}}
			raw, expires, err := d.issuer.Issue(grant, demoTokenLife)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			answer(w, map[string]any{"access_token": raw, "expires_at": expires})
			return
		}
	}
	http.NotFound(w, r)
}

func answer(w http.ResponseWriter, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(body) // the browser may be gone
}

// ownMachine rejects requests from other machines and from pages of other sites. It accepts only loopback names as
// host, because another site could make its own name resolve to this machine. Other origins cannot read the response.
func ownMachine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !peer.Addr().Unmap().IsLoopback() || !loopbackName(r.Host) {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func loopbackName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
