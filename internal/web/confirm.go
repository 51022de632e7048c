package web

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
)

// confirmPages serve the links that confirm an email address.
type confirmPages struct {
	accounts *accounts.Service
	log      *slog.Logger
}

// show shows what a link confirms. It changes nothing, because scanners open links before people do.
func (c confirmPages) show(w http.ResponseWriter, r *http.Request) {
	link, err := c.accounts.GetContactLink(r.Context(), r.PathValue("link"))
	words := allConfirmWords[languageOf(r)]
	page := mailPageData{
		pageHead: newPageHead(link.Tenant, link.Brand), Lang: words.Lang, Title: words.Title,
		Headline: fmt.Sprintf(words.Ask, link.Tenant), Text: link.Address,
		Buttons: []mailButton{{Text: words.Confirm}},
	}
	status := http.StatusOK
	switch {
	case fault.ReasonOf(err) == fault.LinkInvalid:
		status, page = http.StatusNotFound, words.page(words.Invalid, words.InvalidText)
	case err == nil && !link.Open:
		status, page = http.StatusGone, words.page(words.Expired, words.ExpiredText)
	case err != nil:
		unavailable(w, r, c.log, err)
		return
	}
	writeMailPage(w, r, c.log, page, status)
}

// confirm handles the button of the page.
func (c confirmPages) confirm(w http.ResponseWriter, r *http.Request) {
	err := c.accounts.ConfirmByLink(r.Context(), r.PathValue("link"))
	words := allConfirmWords[languageOf(r)]
	status, page := http.StatusOK, words.page(words.Done, words.DoneText)
	switch reason := fault.ReasonOf(err); {
	case err == nil:
	case reason == fault.LinkInvalid:
		status, page = http.StatusNotFound, words.page(words.Invalid, words.InvalidText)
	case reason == fault.ContactNotPending, reason == fault.ContactCodeExpired, reason == fault.MemberNotFound:
		status, page = http.StatusGone, words.page(words.Expired, words.ExpiredText)
	case reason == fault.AlreadyExistsReason:
		status, page = http.StatusConflict, words.page(words.Taken, words.TakenText)
	default:
		unavailable(w, r, c.log, err)
		return
	}
	writeMailPage(w, r, c.log, page, status)
}

// confirmWords are the texts of the page that confirms an email address, in one language.
type confirmWords struct {
	Lang, Title          string
	Ask                  string // with the tenant's name
	Confirm              string // button
	Done, DoneText       string
	Expired, ExpiredText string
	Taken, TakenText     string
	Invalid, InvalidText string
}

func (c confirmWords) page(headline, text string) mailPageData {
	return mailPageData{Lang: c.Lang, Title: c.Title, Headline: headline, Text: text}
}

var allConfirmWords = []confirmWords{ // in the order of languages
	{
		Lang: "en", Title: "Email address", Ask: "Is this your email address at %s?", Confirm: "Yes, confirm it",
		Done: "Done", DoneText: "Your email address is confirmed.",
		Expired: "This link has expired", ExpiredText: "Ask for a new code in the app.",
		Taken: "Another membership has this address", TakenText: "Please contact the staff.",
		Invalid: "This link is not valid", InvalidText: "Please use the link in a newer email.",
	},
	{
		Lang: "de", Title: "E-Mail-Adresse", Ask: "Ist das Ihre E-Mail-Adresse bei %s?", Confirm: "Ja, bestätigen",
		Done: "Erledigt", DoneText: "Ihre E-Mail-Adresse ist bestätigt.",
		Expired: "Dieser Link ist abgelaufen", ExpiredText: "Fordern Sie in der App einen neuen Code an.",
		Taken: "Eine andere Mitgliedschaft hat diese Adresse", TakenText: "Bitte wenden Sie sich an das Team.",
		Invalid: "Dieser Link ist ungültig", InvalidText: "Bitte nehmen Sie den Link aus einer neueren Mail.",
	},
	{
		Lang: "fr", Title: "Adresse e-mail", Ask: "Est-ce votre adresse e-mail chez %s ?", Confirm: "Oui, confirmer",
		Done: "C’est fait", DoneText: "Votre adresse e-mail est confirmée.",
		Expired: "Ce lien a expiré", ExpiredText: "Demandez un nouveau code dans l’application.",
		Taken: "Une autre adhésion a cette adresse", TakenText: "Adressez-vous à l’équipe.",
		Invalid: "Ce lien n’est pas valide", InvalidText: "Utilisez le lien d’un e-mail plus récent.",
	},
}
