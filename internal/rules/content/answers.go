package content

import (
	"fmt"

	"github.com/berthhq/berth/internal/rules/delivery"
)

// Answer is the automatic response to an SMS from a recipient.
type Answer string

// The answers.
const (
	NoAnswer        Answer = ""
	Booked          Answer = "BOOKED"
	OfferDeclined   Answer = "OFFER_DECLINED" // the offer was declined
	NotOpen         Answer = "NOT_OPEN"       // the offer does not exist or has ended
	BookingFailed   Answer = "BOOKING_FAILED" // the offer is open, but the booking failed
	Ambiguous       Answer = "AMBIGUOUS"      // several offers have the code
	Helped          Answer = "HELPED"
	MessagesStopped Answer = "MESSAGES_STOPPED" // after a word for STOP that carriers do not answer
)

// answerTexts are the answers in the default languages. Each fits one segment. %s is the tenant's name.
var answerTexts = map[string]map[Answer]string{
	"en": {
		Booked:        "Booked. See you there!",
		OfferDeclined: "All right, we will offer it to the next person.",
		NotOpen:       "That offer is no longer open.",
		BookingFailed: "That could not be booked. Please open the link in the message to see why.",
		Ambiguous:     "Several offers have that code. Please open the link in the message.",
		Helped: "%s: reply 1 and the code to accept an offer, 2 and the code to decline it. " +
			"Reply STOP to end all messages.",
		MessagesStopped: "%s will send you no more text messages. Reply START to get them again.",
	},
	"de": {
		Booked:        "Gebucht. Bis bald!",
		OfferDeclined: "In Ordnung, der Platz geht an die nächste Person.",
		NotOpen:       "Dieses Angebot gilt nicht mehr.",
		BookingFailed: "Das konnte nicht gebucht werden. Der Link in der Nachricht sagt, warum.",
		Ambiguous:     "Zu diesem Code gehören mehrere Angebote. Bitte den Link in der Nachricht öffnen.",
		Helped: "%s: Mit 1 und dem Code nehmen Sie ein Angebot an, mit 2 und dem Code lehnen Sie es ab. " +
			"STOP beendet alle Nachrichten.",
		MessagesStopped: "%s schickt Ihnen keine SMS mehr. Mit START geht es weiter.",
	},
	"fr": {
		Booked:        "C'est réservé. À bientôt !",
		OfferDeclined: "Entendu, la place va à la personne suivante.",
		NotOpen:       "Cette offre n'est plus valable.",
		BookingFailed: "La réservation n'a pas abouti. Le lien du message vous dit pourquoi.",
		Ambiguous:     "Ce code correspond à plusieurs offres. Ouvrez le lien du message.",
		Helped: "%s : répondez 1 et le code pour accepter une offre, 2 et le code pour la refuser. " +
			"STOP arrête tous les messages.",
		MessagesStopped: "%s ne vous envoie plus de SMS. START les rétablit.",
	},
}

// Text returns the answer's text in the first of the locales that has texts, or in English. NoAnswer has none.
func (a Answer) Text(tenant string, locales ...string) string {
	text := answerTexts["en"][a]
find:
	for _, locale := range locales {
		for _, tag := range fallbacks(locale) {
			if texts, ok := answerTexts[tag]; ok {
				text = texts[a]
				break find
			}
		}
	}
	if a == Helped || a == MessagesStopped {
		text = fmt.Sprintf(text, short(tenant, 28))
	}
	return delivery.FoldToGSM(text)
}
