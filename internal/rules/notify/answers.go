package notify

import "fmt"

// Answer is what an SMS from a recipient is answered with.
type Answer string

// The answers.
const (
	NoAnswer    Answer = ""
	Booked      Answer = "BOOKED"
	HandedOn    Answer = "HANDED_ON"    // the offer was declined
	NotOpen     Answer = "NOT_OPEN"     // there is no such offer, or it is over
	NotPossible Answer = "NOT_POSSIBLE" // the offer stands, but cannot be booked like this
	Ambiguous   Answer = "AMBIGUOUS"    // the code is that of several offers
	Helped      Answer = "HELPED"
	Silenced    Answer = "SILENCED" // after a word for STOP that nobody else answers
)

// answers are all of them in the languages of the defaults, each in one segment. Those that take it name the tenant.
var answers = map[string]map[Answer]string{
	"en": {
		Booked: "Booked. See you there!", HandedOn: "All right, it goes to the next person.", NotOpen: "That offer is no longer open.",
		NotPossible: "That could not be booked. Please open the link in the message: it says why.",
		Ambiguous:   "That code is the one of several offers. Please open the link in the message.",
		Helped:      "%s: answer an offer with 1 and its code to accept it, 2 and its code to decline it. STOP ends all messages.",
		Silenced:    "%s sends you no more text messages. START resumes them.",
	},
	"de": {
		Booked: "Gebucht. Bis bald!", HandedOn: "In Ordnung, der Platz geht an die nächste Person.", NotOpen: "Dieses Angebot gilt nicht mehr.",
		NotPossible: "Das konnte nicht gebucht werden. Der Link in der Nachricht sagt, warum.",
		Ambiguous:   "Zu diesem Code gehören mehrere Angebote. Bitte den Link in der Nachricht öffnen.",
		Helped:      "%s: Mit 1 und dem Code nimmst du ein Angebot an, mit 2 und dem Code lehnst du es ab. STOP beendet alle Nachrichten.",
		Silenced:    "%s schickt dir keine SMS mehr. Mit START geht es weiter.",
	},
	"fr": {
		Booked: "C'est réservé. À bientôt !", HandedOn: "Entendu, la place va à la personne suivante.", NotOpen: "Cette offre n'est plus valable.",
		NotPossible: "La réservation n'a pas abouti. Le lien du message vous dit pourquoi.",
		Ambiguous:   "Ce code correspond à plusieurs offres. Ouvrez le lien du message.",
		Helped:      "%s : répondez 1 et le code pour accepter une offre, 2 et le code pour la refuser. STOP arrête tous les messages.",
		Silenced:    "%s ne vous envoie plus de SMS. START les rétablit.",
	},
}

// Text puts the answer in words, in the first of the languages in which there are any, or in English.
func (a Answer) Text(tenant string, locales ...string) string {
	if a == NoAnswer {
		return ""
	}
	text := answers["en"][a]
find:
	for _, locale := range locales {
		for _, tag := range chain(locale) {
			if known, ok := answers[tag]; ok {
				text = known[a]
				break find
			}
		}
	}
	if a == Helped || a == Silenced {
		text = fmt.Sprintf(text, short(tenant, 28))
	}
	return foldToGSM(text)
}
