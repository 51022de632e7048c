package main

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/berthhq/berth/internal/app"
	"github.com/berthhq/berth/internal/fold"
	"github.com/berthhq/berth/internal/rules/delivery"
	"github.com/berthhq/berth/internal/rules/grant"
	"github.com/berthhq/berth/internal/rules/member"
	"github.com/berthhq/berth/internal/tenant"
	"github.com/berthhq/berth/internal/token"
	"github.com/berthhq/berth/internal/web"
	"github.com/berthhq/berth/server/demo"
)

// devPeople lets a developer sign in as a person of any tenant in a browser, with one click: of the demo tenants, and
// of those created since. Only `berth dev` serves it, and only to this machine.
type devPeople struct {
	demo   []demo.Tenant
	app    *app.Services
	issuer *token.Issuer
	signIn web.SignIn
	mails  func() []delivery.Message // about signing in, if there is no mail server
	log    *slog.Logger
}

// tenantsAtOnce is how many tenants one answer lists. The sign-in page asks for more, or for some by name.
const tenantsAtOnce = 20

// mostRoles is how many roles of a tenant, and members of a role, are looked at.
const mostRoles = 50

// peopleTokenTTL is short, to show that renewing works.
const peopleTokenTTL = 15 * time.Minute

// wrap serves these pages, and passes everything else to next.
func (d devPeople) wrap(next http.Handler) http.Handler {
	d.signIn.Development = true
	mux := http.NewServeMux()
	mux.Handle("GET "+web.ConfigPath, localOnly(d.signIn))
	mux.Handle("GET /dev/people.json", localOnly(http.HandlerFunc(d.list)))
	mux.Handle("GET /dev/mails.json", localOnly(http.HandlerFunc(d.listMails)))
	mux.Handle("POST /dev/token", localOnly(http.HandlerFunc(d.token)))
	mux.Handle("/", next)
	return mux
}

type tenantPeople struct {
	ID     tenant.TenantID `json:"id"`
	Name   string          `json:"name"`
	People []personToBe    `json:"people"`
}

type personToBe struct {
	Subject string `json:"subject"`
	Role    string `json:"role"`
}

// tenantsToBe is a page of tenants.
type tenantsToBe struct {
	Tenants []tenantPeople `json:"tenants"`
	After   string         `json:"after,omitempty"` // the id of the last one, if more follow
}

// list lists tenants whose name has the text query, or all. After is the id of the last one of the page before.
func (d devPeople) list(w http.ResponseWriter, r *http.Request) {
	page, err := d.tenants(r.Context(), r.FormValue("query"), r.FormValue("after"))
	if err != nil {
		d.failed(w, r, err)
		return
	}
	writeJSON(w, page)
}

// tenants returns a page of tenants: those of the demo, and then the others, the newest first.
func (d devPeople) tenants(ctx context.Context, query, after string) (tenantsToBe, error) {
	ids, err := d.app.Engine.Tenants(ctx)
	if err != nil {
		return tenantsToBe{}, err
	}
	var order []tenant.TenantID
	for _, t := range d.demo {
		order = append(order, t.ID)
	}
	for _, id := range slices.Backward(ids) {
		if !slices.Contains(order[:len(d.demo)], id) {
			order = append(order, id)
		}
	}
	last := slices.IndexFunc(order, func(id tenant.TenantID) bool { return id.String() == after })
	page := tenantsToBe{Tenants: []tenantPeople{}}
	for _, id := range order[last+1:] {
		found, err := d.find(ctx, id)
		switch {
		case err != nil:
			return tenantsToBe{}, err
		case !strings.Contains(fold.Text(found.Name), fold.Text(query)):
			continue
		case len(page.Tenants) == tenantsAtOnce:
			page.After = page.Tenants[tenantsAtOnce-1].ID.String()
			return page, nil
		}
		if found.People, err = d.people(ctx, id); err != nil {
			return tenantsToBe{}, err
		}
		page.Tenants = append(page.Tenants, found)
	}
	return page, nil
}

// find returns a tenant without its people.
func (d devPeople) find(ctx context.Context, id tenant.TenantID) (tenantPeople, error) {
	for _, t := range d.demo {
		if t.ID == id {
			return tenantPeople{ID: id, Name: t.Name}, nil
		}
	}
	found, err := d.app.Accounts.GetTenant(ctx, tenant.System(id))
	return tenantPeople{ID: id, Name: found.Name}, err
}

// people returns one person for each role of a tenant that somebody has.
func (d devPeople) people(ctx context.Context, id tenant.TenantID) ([]personToBe, error) {
	people := []personToBe{}
	for _, t := range d.demo {
		if t.ID != id {
			continue
		}
		for _, role := range roleOrder {
			// Partners are programs and do not use the pages.
			if subject := t.Subjects[role]; subject != "" && role != tenant.RolePartner {
				people = append(people, personToBe{Subject: subject, Role: role})
			}
		}
		return people, nil
	}
	caller := tenant.System(id)
	roles, err := d.app.Accounts.ListRoles(ctx, caller, grant.RoleSearch{Limit: mostRoles})
	if err != nil {
		return nil, err
	}
	rank := func(r grant.Role) int {
		return (slices.Index(roleOrder, r.Name) + len(roleOrder) + 1) % (len(roleOrder) + 1)
	}
	slices.SortStableFunc(roles, func(a, b grant.Role) int { return rank(a) - rank(b) })
	for _, role := range roles {
		members, err := d.app.Accounts.ListMembers(ctx, caller, member.Search{
			Role: role.Name, Statuses: []member.Status{member.Active}, Limit: mostRoles,
		})
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			subject := cmp.Or(m.Subject, tenant.MemberSubject(m.ID))
			if !slices.ContainsFunc(people, func(p personToBe) bool { return p.Subject == subject }) {
				people = append(people, personToBe{Subject: subject, Role: role.Name})
				break
			}
		}
	}
	return people, nil
}

// mailToRead is a mail about signing in.
type mailToRead struct {
	ID      string `json:"id"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// listMails lists the mails about signing in that would have left, the newest first.
func (d devPeople) listMails(w http.ResponseWriter, _ *http.Request) {
	all := []mailToRead{}
	for _, m := range d.mails() {
		all = append(all, mailToRead{m.ID.String(), m.To, m.Subject, m.Text})
	}
	writeJSON(w, all)
}

// token issues a token for the person of the list with the form values tenant and subject.
func (d devPeople) token(w http.ResponseWriter, r *http.Request) {
	id, err := tenant.Parse[tenant.TenantID](r.PostFormValue("tenant"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	people, err := d.people(r.Context(), id)
	if err != nil {
		d.failed(w, r, err)
		return
	}
	subject := r.PostFormValue("subject")
	if !slices.ContainsFunc(people, func(p personToBe) bool { return p.Subject == subject }) {
		http.NotFound(w, r)
		return
	}
	grant := token.Claims{Subject: subject, Tenants: []tenant.TenantID{id}, SignedInAt: time.Now()}
	raw, expires, err := d.issuer.Issue(grant, peopleTokenTTL)
	if err != nil {
		d.failed(w, r, err)
		return
	}
	writeJSON(w, map[string]any{"access_token": raw, "expires_at": expires})
}

func (d devPeople) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil { // somebody signed in or searched on before all were there
		return
	}
	d.log.ErrorContext(r.Context(), "listing the people to sign in as failed", slog.Any("error", err))
	http.Error(w, "The people to sign in as could not be read: see the log of the server.", http.StatusInternalServerError)
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
