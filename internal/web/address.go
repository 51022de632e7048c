package web

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/berthhq/berth/internal/app/accounts"
	"github.com/berthhq/berth/internal/fault"
)

// addressPages serve the links by which an old address agrees to a change of the address, or refuses it.
type addressPages struct {
	accounts *accounts.Service
	log      *slog.Logger
}

// agreeField is the field of the button that agrees. The other one refuses.
const agreeField = "agree"

// show shows the change. It changes nothing, because scanners open links before people do.
func (a addressPages) show(w http.ResponseWriter, r *http.Request) {
	link, err := a.accounts.GetAddressLink(r.Context(), r.PathValue("link"))
	words := allAddressWords[languageOf(r)]
	text := words.Text
	buttons := []mailButton{{Text: words.Refuse}, {words.Agree, agreeField}}
	if link.Agreed {
		text, buttons = words.AgreedText, buttons[:1]
	}
	page := mailPageData{
		pageHead: newPageHead(link.Tenant, link.Brand), Lang: words.Lang, Title: words.Title,
		Headline: fmt.Sprintf(words.Ask, link.Tenant, link.Address), Text: text, Buttons: buttons,
	}
	a.write(w, r, words, page, err)
}

// decide handles the buttons of the page.
func (a addressPages) decide(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<10)
	words := allAddressWords[languageOf(r)]
	decide, headline, text := a.accounts.RefuseAddress, words.Refused, words.RefusedText
	if r.FormValue(agreeField) == "yes" {
		decide, headline, text = a.accounts.AgreeToAddress, words.Agreed, words.AgreedText
	}
	err := decide(r.Context(), r.PathValue("link"))
	a.write(w, r, words, words.page(headline, text), err)
}

func (a addressPages) write(w http.ResponseWriter, r *http.Request, words addressWords, page mailPageData, err error) {
	status := http.StatusOK
	switch {
	case err == nil:
	case fault.ReasonOf(err) == fault.LinkInvalid:
		status, page = http.StatusNotFound, words.page(words.Invalid, words.InvalidText)
	default:
		unavailable(w, r, a.log, err)
		return
	}
	writeMailPage(w, r, a.log, page, status)
}

// addressWords are the texts of the page, in one language.
type addressWords struct {
	Lang, Title          string
	Ask                  string // with the tenant's name and the new address
	Text                 string
	Refuse, Agree        string // buttons
	Refused, RefusedText string
	Agreed, AgreedText   string
	Invalid, InvalidText string
}

func (a addressWords) page(headline, text string) mailPageData {
	return mailPageData{Lang: a.Lang, Title: a.Title, Headline: headline, Text: text}
}

var allAddressWords = []addressWords{ // in the order of languages
	{
		Lang: "en", Title: "Email address", Ask: "%s has changed your email address to %s. Is that right?",
		Text: "If you agree, the new address can sign in with your account as soon as it is confirmed. " +
			"If you refuse, your old address is put back.",
		Refuse: "No, put my address back", Agree: "Yes, I agree",
		Refused: "You have refused", RefusedText: "The new address cannot sign in with your account.",
		Agreed:     "You have agreed",
		AgreedText: "The new address can sign in with your account as soon as it is confirmed. Until then you can refuse.",
		Invalid:    "This link is not valid", InvalidText: "It may have been used. If something is wrong, ask the staff.",
	},
	{
		Lang: "de", Title: "E-Mail-Adresse", Ask: "%s hat Ihre E-Mail-Adresse in %s geändert. Ist das richtig?",
		Text: "Wenn Sie zustimmen, kann sich die neue Adresse mit Ihrem Konto anmelden, sobald sie bestätigt ist. " +
			"Wenn Sie ablehnen, gilt wieder Ihre alte Adresse.",
		Refuse: "Nein, alte Adresse behalten", Agree: "Ja, ich stimme zu",
		Refused: "Sie haben abgelehnt", RefusedText: "Die neue Adresse kann sich mit Ihrem Konto nicht anmelden.",
		Agreed: "Sie haben zugestimmt",
		AgreedText: "Die neue Adresse kann sich mit Ihrem Konto anmelden, sobald sie bestätigt ist. " +
			"Bis dahin können Sie noch ablehnen.",
		Invalid:     "Dieser Link ist ungültig",
		InvalidText: "Vielleicht wurde er schon benutzt. Wenn etwas nicht stimmt, fragen Sie das Team.",
	},
	{
		Lang: "fr", Title: "Adresse e-mail", Ask: "%s a remplacé votre adresse e-mail par %s. Est-ce correct ?",
		Text: "Si vous acceptez, la nouvelle adresse pourra se connecter à votre compte dès qu’elle sera confirmée. " +
			"Si vous refusez, votre ancienne adresse est rétablie.",
		Refuse: "Non, garder mon adresse", Agree: "Oui, j’accepte",
		Refused: "Vous avez refusé", RefusedText: "La nouvelle adresse ne peut pas se connecter à votre compte.",
		Agreed: "Vous avez accepté",
		AgreedText: "La nouvelle adresse pourra se connecter à votre compte dès qu’elle sera confirmée. " +
			"D’ici là, vous pouvez encore refuser.",
		Invalid:     "Ce lien n’est pas valide",
		InvalidText: "Il a peut-être déjà servi. En cas de doute, adressez-vous à l’équipe.",
	},
}
