package web

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/berthhq/berth/internal/fault"
)

// claimWords are the texts of the page of an offer in one language.
type claimWords struct {
	Lang                               string
	Accept, Decline, LeftWord, Retry   string
	When, Where, SeatsWord, ErrorTitle string
	reservedUntil, openUntil           string // before the time until which a place is kept, or open to the fastest
	Over                               string // announced by a script when the time is up

	weekdays              [7]string // from Sunday
	months                [12]string
	date                  func(w *claimWords, t time.Time) string
	cityTime              string
	one, many             string // seats
	withoutName, withName string // headline of a live offer, without and with a name

	invalid, unavailable           message
	states                         map[state]message
	fastest, started, stillWaiting string
	errors                         map[fault.Reason]string
	otherError                     string
}

// message is a headline and a text.
type message struct{ headline, text string }

var (
	languages     = []language.Tag{language.English, language.German, language.French}
	matcher       = language.NewMatcher(languages)
	allClaimWords = []*claimWords{&english, &german, &french}
)

// languageOf returns the index in languages of the one that the browser prefers.
func languageOf(r *http.Request) int {
	tags, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return 0
	}
	_, at, _ := matcher.Match(tags...)
	return at
}

func claimWordsFor(r *http.Request) *claimWords { return allClaimWords[languageOf(r)] }

func (w *claimWords) day(t time.Time) string { return w.date(w, t) }

func (*claimWords) clock(t time.Time) string { return t.Format("15:04") }

// zone names a time zone by its city and its offset from UTC at that time.
func (w *claimWords) zone(t time.Time) string {
	name := t.Location().String()
	city := strings.ReplaceAll(name[strings.LastIndexByte(name, '/')+1:], "_", " ")
	_, seconds := t.Zone()
	if seconds == 0 && city == "UTC" {
		return city
	}
	offset := "UTC"
	if seconds != 0 {
		sign := "+"
		if seconds < 0 {
			sign, seconds = "−", -seconds
		}
		offset += sign + fmt.Sprint(seconds/3600)
		if minutes := seconds / 60 % 60; minutes != 0 {
			offset += fmt.Sprintf(":%02d", minutes)
		}
	}
	return fmt.Sprintf(w.cityTime, city, offset)
}

func (w *claimWords) seats(n int) string {
	if n == 1 {
		return w.one
	}
	return fmt.Sprintf(w.many, n)
}

func (w *claimWords) headline(name string) string {
	if name == "" {
		return w.withoutName
	}
	return fmt.Sprintf(w.withName, name)
}

func (w *claimWords) errorText(reason fault.Reason) string {
	if text, ok := w.errors[reason]; ok {
		return text
	}
	return w.otherError
}

var english = claimWords{
	Lang: "en", Accept: "Yes, I’ll take it", Decline: "No, thanks", LeftWord: "left to answer", Retry: "Try again",
	When: "When", Where: "Where", SeatsWord: "For", reservedUntil: "Kept for you until", openUntil: "Open until",
	ErrorTitle: "That did not work",
	Over:       "The time to answer is over.",
	weekdays:   [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
	months: [12]string{"January", "February", "March", "April", "May", "June",
		"July", "August", "September", "October", "November", "December"},
	date: func(w *claimWords, t time.Time) string {
		return fmt.Sprintf("%s, %d %s", w.weekdays[t.Weekday()], t.Day(), w.months[t.Month()-1])
	},
	cityTime: "%s time (%s)", one: "1 person", many: "%d people",
	withoutName: "A place is free for you", withName: "A place is free for you, %s",
	invalid:     message{"This link is not valid", "It may be incomplete. Please open it again from your message."},
	unavailable: message{"One moment", "We cannot answer right now, and nothing has been changed. Please try again."},
	states: map[state]message{
		isLive: {"", "We are keeping it for you. Say no, and it goes to the next in line."},
		isAccepted: {"You’re in", "Your place is booked, and there is nothing else to do. " +
			"If you cannot come after all, please cancel the booking in time."},
		isReturned:  {"You were in", "You accepted this place, and the booking has been cancelled since."},
		isDeclined:  {"You said no", "Thanks for telling us: the place goes to the next in line."},
		isExpired:   {"The time is up", "This offer was not answered in time, and the place went to the next in line."},
		isStarted:   {"It started without you", "The session has started, and this offer has ended."},
		isTaken:     {"Someone was faster", "The place has been taken."},
		isWithdrawn: {"This offer was withdrawn", "The place is no longer free. Sorry."},
		isCalledOff: {"Not taking place", "This session has been called off."},
	},
	fastest:      "Others were asked, too. The first to say yes gets it.",
	started:      "It has already started. Say yes only if you can be there right away.",
	stillWaiting: "You are still on the waitlist, in the same position.",
	errors: map[fault.Reason]string{
		fault.NoCredits:    "You have no credits left for it. Get some, and press again while the offer stands.",
		fault.NoActivePlan: "None of your plans covers this session. Get one, and press again while the offer stands.",
		fault.PlanChoiceRequired: "Several of your plans cover this session. " +
			"Please accept in the app, where you can choose one.",
		fault.SubscriptionState:  "Your plan is not active at the moment.",
		fault.OutstandingBalance: "Something is still to be paid. Settle it, and press again while the offer stands.",
		fault.DailyLimit:         "Your plan allows no more bookings on that day.",
		fault.WeeklyLimit:        "Your plan allows no more bookings in that week.",
		fault.Overlap: "You have another booking at the same time. " +
			"Cancel that one first, and press again while the offer stands.",
		fault.AlreadyBooked:  "You have a booking for this session already.",
		fault.SessionNotOpen: "This session cannot be booked at the moment.",
		fault.MemberNotFound: "Your membership has ended.",
	},
	otherError: "The place could not be booked. Please ask at the desk while the offer stands.",
}

var german = claimWords{
	Lang: "de", Accept: "Ja, ich nehme ihn", Decline: "Nein, danke",
	LeftWord: "Zeit zu antworten", Retry: "Noch einmal versuchen",
	When: "Wann", Where: "Wo", SeatsWord: "Für", reservedUntil: "Für Sie freigehalten bis", openUntil: "Offen bis",
	ErrorTitle: "Das hat nicht geklappt",
	Over:       "Die Zeit zum Antworten ist um.",
	weekdays:   [7]string{"Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"},
	months: [12]string{"Januar", "Februar", "März", "April", "Mai", "Juni",
		"Juli", "August", "September", "Oktober", "November", "Dezember"},
	date: func(w *claimWords, t time.Time) string {
		return fmt.Sprintf("%s, %d. %s", w.weekdays[t.Weekday()], t.Day(), w.months[t.Month()-1])
	},
	cityTime: "Ortszeit %s (%s)", one: "1 Person", many: "%d Personen",
	withoutName: "Ein Platz ist frei für Sie", withName: "Ein Platz ist frei für Sie, %s",
	invalid: message{"Dieser Link ist ungültig",
		"Vielleicht wurde er abgeschnitten. Bitte öffnen Sie ihn noch einmal vollständig aus Ihrer Nachricht."},
	unavailable: message{"Einen Moment",
		"Wir können gerade nicht antworten, und es wurde nichts geändert. Bitte versuchen Sie es noch einmal."},
	states: map[state]message{
		isLive: {"", "Wir halten ihn für Sie frei. Sagen Sie ab, bekommt ihn die nächste Person in der Reihe."},
		isAccepted: {"Sie sind dabei", "Ihr Platz ist gebucht, mehr ist nicht zu tun. " +
			"Falls Sie doch nicht können, stornieren Sie bitte rechtzeitig."},
		isReturned: {"Sie waren dabei",
			"Sie hatten diesen Platz angenommen, und die Buchung wurde inzwischen storniert."},
		isDeclined: {"Sie haben abgesagt", "Danke für die Antwort: Den Platz bekommt die nächste Person in der Reihe."},
		isExpired: {"Die Zeit ist um", "Dieses Angebot wurde nicht rechtzeitig beantwortet, " +
			"und der Platz ging an die nächste Person in der Reihe."},
		isStarted:   {"Es hat ohne Sie begonnen", "Der Termin hat angefangen, und dieses Angebot ist beendet."},
		isTaken:     {"Jemand war schneller", "Der Platz ist vergeben."},
		isWithdrawn: {"Dieses Angebot wurde zurückgezogen", "Der Platz ist leider nicht mehr frei."},
		isCalledOff: {"Findet nicht statt", "Dieser Termin wurde abgesagt."},
	},
	fastest:      "Andere wurden auch gefragt: Wer zuerst zusagt, bekommt ihn.",
	started:      "Es hat schon begonnen. Sagen Sie nur zu, wenn Sie gleich da sein können.",
	stillWaiting: "Sie stehen weiter auf der Warteliste, an derselben Stelle.",
	errors: map[fault.Reason]string{
		fault.NoCredits: "Sie haben dafür kein Guthaben mehr. " +
			"Laden Sie welches auf und drücken Sie noch einmal, solange das Angebot gilt.",
		fault.NoActivePlan: "Keiner Ihrer Tarife gilt für diesen Termin. " +
			"Kaufen Sie einen und drücken Sie noch einmal, solange das Angebot gilt.",
		fault.PlanChoiceRequired: "Mehrere Ihrer Tarife gelten für diesen Termin. " +
			"Bitte sagen Sie in der App zu, dort können Sie einen wählen.",
		fault.SubscriptionState: "Ihr Tarif ist gerade nicht aktiv.",
		fault.OutstandingBalance: "Es ist noch etwas zu bezahlen. " +
			"Begleichen Sie es und drücken Sie noch einmal, solange das Angebot gilt.",
		fault.DailyLimit:  "Ihr Tarif erlaubt an diesem Tag keine weitere Buchung.",
		fault.WeeklyLimit: "Ihr Tarif erlaubt in dieser Woche keine weitere Buchung.",
		fault.Overlap: "Sie haben zur selben Zeit eine andere Buchung. " +
			"Stornieren Sie sie zuerst und drücken Sie noch einmal, solange das Angebot gilt.",
		fault.AlreadyBooked:  "Sie haben diesen Termin schon gebucht.",
		fault.SessionNotOpen: "Dieser Termin kann gerade nicht gebucht werden.",
		fault.MemberNotFound: "Ihre Mitgliedschaft ist beendet.",
	},
	otherError: "Der Platz konnte nicht gebucht werden. Bitte fragen Sie am Empfang, solange das Angebot gilt.",
}

var french = claimWords{
	Lang: "fr", Accept: "Oui, je la prends", Decline: "Non, merci", LeftWord: "pour répondre", Retry: "Réessayer",
	When: "Quand", Where: "Où", SeatsWord: "Pour",
	reservedUntil: "Gardée pour vous jusqu’à", openUntil: "Ouverte jusqu’à",
	ErrorTitle: "Cela n’a pas fonctionné",
	Over:       "Le temps de réponse est écoulé.",
	weekdays:   [7]string{"dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"},
	months: [12]string{"janvier", "février", "mars", "avril", "mai", "juin",
		"juillet", "août", "septembre", "octobre", "novembre", "décembre"},
	date: func(w *claimWords, t time.Time) string {
		day := fmt.Sprint(t.Day())
		if t.Day() == 1 {
			day = "1er"
		}
		return fmt.Sprintf("%s %s %s", w.weekdays[t.Weekday()], day, w.months[t.Month()-1])
	},
	cityTime: "heure de %s (%s)", one: "1 personne", many: "%d personnes",
	withoutName: "Une place est libre pour vous", withName: "Une place est libre pour vous, %s",
	invalid: message{"Ce lien n’est pas valide", "Il a peut-être été coupé. Rouvrez-le en entier depuis votre message."},
	unavailable: message{"Un instant",
		"Nous ne pouvons pas répondre pour le moment, et rien n’a été modifié. Veuillez réessayer."},
	states: map[state]message{
		isLive: {"", "Nous vous la gardons. Si vous refusez, elle ira à la personne suivante."},
		isAccepted: {"C’est réservé", "Votre place est réservée, il n’y a rien d’autre à faire. " +
			"Si vous ne pouvez finalement pas venir, annulez à temps."},
		isReturned: {"C’était réservé", "Vous aviez accepté cette place, et la réservation a été annulée depuis."},
		isDeclined: {"Vous avez refusé", "Merci de votre réponse : la place va à la personne suivante."},
		isExpired: {"Le temps est écoulé", "Cette offre n’a pas reçu de réponse à temps, " +
			"et la place est allée à la personne suivante."},
		isStarted:   {"C’est déjà commencé", "La séance a commencé, et cette offre a pris fin."},
		isTaken:     {"Quelqu’un a été plus rapide", "La place est prise."},
		isWithdrawn: {"Cette offre a été retirée", "La place n’est malheureusement plus libre."},
		isCalledOff: {"Séance annulée", "Cette séance n’aura pas lieu."},
	},
	fastest:      "D’autres ont aussi été contactés : la première réponse l’emporte.",
	started:      "C’est déjà commencé. N’acceptez que si vous pouvez venir tout de suite.",
	stillWaiting: "Vous restez sur la liste d’attente, à votre place.",
	errors: map[fault.Reason]string{
		fault.NoCredits: "Vous n’avez plus de crédits. Rechargez, puis appuyez à nouveau tant que l’offre est valable.",
		fault.NoActivePlan: "Aucun de vos abonnements ne couvre cette séance. " +
			"Prenez-en un, puis appuyez à nouveau tant que l’offre est valable.",
		fault.PlanChoiceRequired: "Plusieurs de vos abonnements couvrent cette séance. " +
			"Acceptez dans l’application, où vous pouvez choisir.",
		fault.SubscriptionState: "Votre abonnement n’est pas actif en ce moment.",
		fault.OutstandingBalance: "Il reste quelque chose à payer. " +
			"Réglez-le, puis appuyez à nouveau tant que l’offre est valable.",
		fault.DailyLimit:  "Votre abonnement ne permet plus de réservation ce jour-là.",
		fault.WeeklyLimit: "Votre abonnement ne permet plus de réservation cette semaine-là.",
		fault.Overlap: "Vous avez une autre réservation à la même heure. " +
			"Annulez-la d’abord, puis appuyez à nouveau tant que l’offre est valable.",
		fault.AlreadyBooked:  "Vous avez déjà réservé cette séance.",
		fault.SessionNotOpen: "Cette séance ne peut pas être réservée en ce moment.",
		fault.MemberNotFound: "Votre adhésion a pris fin.",
	},
	otherError: "La place n’a pas pu être réservée. Demandez à l’accueil tant que l’offre est valable.",
}
