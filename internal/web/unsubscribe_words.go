package web

import (
	"fmt"
	"net/http"
)

// unsubscribeWords are the texts of the page to unsubscribe from mails in one language.
type unsubscribeWords struct {
	Lang                    string
	Title, TitleFrom        string // without and with a tenant's name
	Ask, AskFrom            string
	ThisKind, AllKinds      string // buttons; the first names the topic
	Done, DoneKind, DoneAll string
	Invalid, InvalidText    string
}

var allUnsubscribeWords = []*unsubscribeWords{ // in the order of languages
	{
		Lang: "en", Title: "Emails", TitleFrom: "Emails from %s", Ask: "Fewer emails?", AskFrom: "Fewer emails from %s?",
		ThisKind: "No more emails of this kind: %s", AllKinds: "No more emails at all",
		Done: "Done", DoneKind: "You will get no more emails of this kind: %s.", DoneAll: "You will get no more emails.",
		Invalid: "This link is not valid", InvalidText: "Please use the link in a newer email.",
	},
	{
		Lang: "de", Title: "Mails", TitleFrom: "Mails von %s", Ask: "Weniger Mails?", AskFrom: "Weniger Mails von %s?",
		ThisKind: "Keine mehr dieser Art: %s", AllKinds: "Gar keine Mails mehr",
		Done: "Erledigt", DoneKind: "Sie bekommen keine Mails dieser Art mehr: %s.",
		DoneAll: "Sie bekommen keine Mails mehr.",
		Invalid: "Dieser Link ist ungültig", InvalidText: "Bitte nehmen Sie den Link aus einer neueren Mail.",
	},
	{
		Lang: "fr", Title: "E-mails", TitleFrom: "E-mails de %s",
		Ask: "Moins d’e-mails ?", AskFrom: "Moins d’e-mails de %s ?",
		ThisKind: "Plus aucun de ce type : %s", AllKinds: "Plus aucun e-mail",
		Done: "C’est fait", DoneKind: "Vous ne recevrez plus d’e-mails de ce type : %s.",
		DoneAll: "Vous ne recevrez plus d’e-mails.",
		Invalid: "Ce lien n’est pas valide", InvalidText: "Utilisez le lien d’un e-mail plus récent.",
	},
}

func unsubscribeWordsFor(r *http.Request) *unsubscribeWords {
	return allUnsubscribeWords[languageOf(r)]
}

// withTenant adds the tenant's name if there is one.
func withTenant(without, with, tenant string) string {
	if tenant == "" {
		return without
	}
	return fmt.Sprintf(with, tenant)
}
