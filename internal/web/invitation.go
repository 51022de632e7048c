package web

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/app/engine"
	"github.com/berthhq/berth/internal/app/signins"
	"github.com/berthhq/berth/internal/fault"
	"github.com/berthhq/berth/internal/rules/signin"
	"github.com/berthhq/berth/internal/tenant"
)

// invitePages serve the links of invitations. Accepting one signs in, or leads into the apps, which link the account of
// a provider: if people sign in there alone, if the member has one already, or if they choose it.
type invitePages struct {
	accounts *accounts.Service
	signIns  *signins.Service
	cookie   signInCookie
	browser  browserCookie
	own      bool   // people sign in with this service
	provider bool   // they sign in at a provider, too
	origin   string // of the service's URL
	events   *prometheus.CounterVec
	log      *slog.Logger
}

func newInvitePages(c Config) invitePages {
	return invitePages{
		accounts: c.Services.Accounts, signIns: c.Services.SignIns, own: c.Issuer != nil, provider: c.Provider,
		cookie: newSignInCookie(c.PublicURL, c.Services.SignIns), browser: newBrowserCookie(c.PublicURL, c.Services.SignIns),
		origin: originOf(c.PublicURL),
		events: securityEvents(c.Metrics), log: c.Log,
	}
}

// ownPage refuses a form of another site, like ownForms, and what does not say where it is from: another site knows the
// link of its own invitation, and could sign in somebody as its own member, who then types what it can read.
func (p invitePages) ownPage(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
		own := origin == p.origin || originOf(origin) == origin && hostOf(origin) == r.Host
		if site != "same-origin" && (site != "" || !own) {
			p.events.WithLabelValues("sign_in_refused", "origin").Inc()
			http.Error(w, "Open the link in your message and answer there.", http.StatusForbidden)
			return
		}
		next(w, r)
	}
}

func hostOf(text string) string {
	at, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return at.Host
}

// show shows what a link invites to. It changes nothing, because scanners open links before people do.
func (p invitePages) show(w http.ResponseWriter, r *http.Request) {
	link, err := p.accounts.GetInvitationLink(r.Context(), r.PathValue("link"))
	if err != nil {
		p.failed(w, r, err)
		return
	}
	words := allInviteWords[languageOf(r)]
	page := mailPageData{
		pageHead: newPageHead(link.Tenant, link.Brand), Lang: words.Lang, Title: words.Title,
		Headline: fmt.Sprintf(words.Ask, link.Tenant), Text: fmt.Sprintf(words.Text, link.Name, link.Address),
		Buttons: []mailButton{{Text: words.Accept}},
	}
	switch {
	case p.atProvider(link):
		page.Text = fmt.Sprintf(words.ProviderText, link.Name, link.Address)
		page.Buttons = []mailButton{{Text: words.Provider}}
	case p.provider:
		page.Text += " " + words.OrAccount
		page.Buttons = append(page.Buttons, mailButton{words.Account, accountField})
	}
	w.Header().Set("Referrer-Policy", "same-origin") // for the Origin of its form: see ownPage
	writeMailPage(w, r, p.log, page, http.StatusOK)
}

// accountField is the field of the button that leads to the provider, where people sign in with this service, too.
const accountField = "account"

// atProvider reports whether the invited member signs in at a provider: those whom it knows do so only there.
func (p invitePages) atProvider(link accounts.InvitationLink) bool {
	return !p.own || p.provider && link.Linked
}

// accept handles the buttons of the page.
func (p invitePages) accept(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<10)
	if !p.own || p.provider {
		link, err := p.accounts.GetInvitationLink(r.Context(), r.PathValue("link"))
		if err != nil {
			p.failed(w, r, err)
			return
		}
		if p.atProvider(link) || r.FormValue(accountField) == "yes" {
			query := url.Values{"invitation": {r.PathValue("link")}}
			http.Redirect(w, r, appOf(link.Staff)+"?"+query.Encode(), http.StatusSeeOther)
			return
		}
	}
	before, err := p.signedIn(r)
	if err != nil {
		unavailable(w, r, p.log, err)
		return
	}
	secret := signins.NewSecret()
	var began *signin.SignIn
	m, err := p.accounts.AcceptInvitation(r.Context(), r.PathValue("link"),
		func(tx *engine.Tx, as tenant.MemberID) {
			if began = nil; before.Claims.Members[tx.Tenant] == as {
				return // the browser is theirs already, perhaps in more tenants than the invitation's
			}
			secret.Tenants = []tenant.TenantID{tx.Tenant}
			s := signins.Start(tx, secret, as, signin.ByInvitation)
			began = &s
		})
	if err != nil {
		p.failed(w, r, err)
		return
	}
	p.events.WithLabelValues("invitation_accepted", "").Inc()
	if began != nil {
		p.cookie.set(w, secret, began.ExpiresAt)
		p.browser.set(w, p.browser.read(r).Knowing(m.Email), began.CreatedAt)
		if err := p.signIns.End(r.Context(), before.Secret); err != nil { // no browser has it any more
			p.log.WarnContext(r.Context(), "a sign-in that was replaced goes on", slog.Any("error", err))
		}
	}
	http.Redirect(w, r, appOf(m.IsStaff()), http.StatusSeeOther)
}

// signedIn says who the browser is signed in as already; a zero Session if it is not.
func (p invitePages) signedIn(r *http.Request) (signins.Session, error) {
	secret, err := p.cookie.read(r)
	if err != nil {
		return signins.Session{}, nil //nolint:nilerr // it has no sign-in, or none that is good
	}
	used, err := p.signIns.Use(r.Context(), secret)
	if fault.ReasonOf(err) == fault.SignInEnded {
		return signins.Session{}, nil
	}
	return used, err
}

// appOf returns the path of the console or the members' app.
func appOf(staff bool) string {
	if staff {
		return "/"
	}
	return "/app/"
}

// failed answers a link that is not good, or an error. The page is the same whatever is wrong with the link, and
// whoever it was for.
func (p invitePages) failed(w http.ResponseWriter, r *http.Request, err error) {
	if fault.ReasonOf(err) != fault.LinkInvalid {
		unavailable(w, r, p.log, err)
		return
	}
	words := allInviteWords[languageOf(r)]
	writeMailPage(w, r, p.log, mailPageData{
		Lang: words.Lang, Title: words.Title, Headline: words.Invalid, Text: words.InvalidText,
		Link: appOf(false), LinkText: words.SignIn,
	}, http.StatusNotFound)
}

// inviteWords are the texts of the page of an invitation, in one language.
type inviteWords struct {
	Lang, Title          string
	Ask                  string // with the tenant's name
	Text, ProviderText   string // with the member's name and address
	OrAccount            string
	Accept, Provider     string // buttons
	Account              string // another button
	Invalid, InvalidText string
	SignIn               string // a link
}

var allInviteWords = []inviteWords{ // in the order of languages
	{
		Lang: "en", Title: "Invitation", Ask: "%s invites you",
		Text:         "%[1]s, is %[2]s your email address? Then accept: you are signed in on this device.",
		ProviderText: "%[1]s, is %[2]s your email address? Then sign in to accept.",
		Accept:       "Accept and sign in", Provider: "Sign in",
		OrAccount: "If you have an account for signing in, you can use it instead.",
		Account:   "Sign in with my account",
		Invalid:   "This invitation is not valid",
		InvalidText: "A link works once, for seven days, until a newer one is sent. If you have accepted already, sign in. " +
			"If not, ask to be invited again.",
		SignIn: "Sign in",
	},
	{
		Lang: "de", Title: "Einladung", Ask: "%s lädt Sie ein",
		Text:         "%[1]s, ist %[2]s Ihre E-Mail-Adresse? Dann nehmen Sie an: Sie sind auf diesem Gerät angemeldet.",
		ProviderText: "%[1]s, ist %[2]s Ihre E-Mail-Adresse? Dann melden Sie sich an, um anzunehmen.",
		Accept:       "Annehmen und anmelden", Provider: "Anmelden",
		OrAccount: "Wenn Sie ein Konto zum Anmelden haben, können Sie stattdessen dieses nehmen.",
		Account:   "Mit meinem Konto anmelden",
		Invalid:   "Diese Einladung ist ungültig",
		InvalidText: "Ein Link gilt einmal, sieben Tage lang, und nur bis ein neuerer verschickt wird. Haben Sie schon " +
			"angenommen, melden Sie sich an. Sonst bitten Sie um eine neue Einladung.",
		SignIn: "Anmelden",
	},
	{
		Lang: "fr", Title: "Invitation", Ask: "%s vous invite",
		Text:         "%[1]s, est-ce que %[2]s est votre adresse e-mail ? Alors acceptez pour vous connecter ici.",
		ProviderText: "%[1]s, est-ce que %[2]s est votre adresse e-mail ? Alors connectez-vous pour accepter.",
		Accept:       "Accepter et se connecter", Provider: "Se connecter",
		OrAccount: "Si vous avez un compte pour vous connecter, vous pouvez l’utiliser à la place.",
		Account:   "Me connecter avec mon compte",
		Invalid:   "Cette invitation n’est pas valable",
		InvalidText: "Un lien est valable une fois, pendant sept jours, tant qu’aucun autre n’est envoyé. Si vous avez " +
			"déjà accepté, connectez-vous. Sinon, demandez une nouvelle invitation.",
		SignIn: "Se connecter",
	},
}
