package content

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/berthhq/berth/internal/rules/notify"
	"github.com/berthhq/berth/internal/tenant"
)

// locale has the formats of dates and times in a language, from the Unicode CLDR: abbreviated weekdays and months, and
// the order of the medium date. golang.org/x/text does not format dates.
type locale struct {
	days        [7]string  // from Sunday
	months      [12]string // from January
	dayFormat   string     // %[1]s weekday, %[2]d day, %[3]s month, %[4]d year
	dateAndTime string
	timeLayout  string // for time.Format

	inMinutes, inHour, inHours, inDays string // "in 30 minutes"

	unsubscribe string // label of the unsubscribe link
	open        string // label of a link without text
	sentFor     string // at the end of the platform's mails, with the tenant's name
	report      string // with an address

	secondScreen string // empty: as in English

	access *accessWords // nil: those of English
}

// accessWords are the sentences of a language. %[1]s is who did it, %[2]s for whom it changed, and %[3]s the role.
type accessWords struct {
	owner, admin, operator string
	sentences              map[notify.AccessChangeKind]string
}

var english = locale{
	days:      [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
	months:    [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	dayFormat: "%[1]s %[2]d %[3]s", dateAndTime: "%s, %s", timeLayout: "15:04",
	inMinutes: "in %d minutes", inHour: "in 1 hour", inHours: "in %d hours", inDays: "in %d days",
	unsubscribe: "Unsubscribe from mails of this kind", open: "Open",
	sentFor: "Sent for %s through Berth’s account.", report: "Report misuse to %s",
	secondScreen: "A second screen is reading the check-in display of this session. The screen that came first keeps " +
		"it. If that is not yours, turn the link off in the console.",
	access: &accessWords{
		owner: "an owner", admin: "an admin", operator: "The operator of the service",
		sentences: map[notify.AccessChangeKind]string{
			notify.RoleGiven:     "%[1]s made %[2]s %[3]s.",
			notify.RoleTaken:     "%[1]s took the role from %[2]s, who is no longer %[3]s.",
			notify.Deactivated:   "%[1]s deactivated the membership of %[2]s, who is %[3]s.",
			notify.Reactivated:   "%[1]s activated the membership of %[2]s, who is %[3]s.",
			notify.ContactEdited: "%[1]s changed the email address, the phone number or the sign-in of %[2]s, who is %[3]s.",
			notify.TransferOffered: "%[1]s asks %[2]s to become the owner in their place. %[2]s can confirm it " +
				"in their profile within 7 days.",
			notify.TransferConfirmed: "%[2]s confirmed the transfer of %[1]s, and is now the owner in their place.",
			notify.TransferCancelled: "%[1]s ended the transfer of ownership to %[2]s. Nothing has changed.",
		},
	},
}

func american() locale {
	l := english
	l.dayFormat, l.timeLayout = "%[1]s, %[3]s %[2]d", "3:04 PM"
	return l
}

// locales are the supported locales for dates and times. The first three have default templates.
var locales = []struct {
	tag    language.Tag
	locale locale
}{
	{language.English, english},
	{language.German, locale{
		days:      [7]string{"So", "Mo", "Di", "Mi", "Do", "Fr", "Sa"},
		months:    [12]string{"Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."},
		dayFormat: "%[1]s, %[2]d. %[3]s", dateAndTime: "%s, %s", timeLayout: "15:04",
		inMinutes: "in %d Minuten", inHour: "in 1 Stunde", inHours: "in %d Stunden", inDays: "in %d Tagen",
		unsubscribe: "Mails dieser Art abbestellen", open: "Öffnen",
		sentFor: "Im Auftrag von %s über das Konto von Berth gesendet.", report: "Missbrauch melden: %s",
		secondScreen: "Ein zweiter Bildschirm liest die Check-in-Anzeige dieses Termins. Der erste behält sie. Ist das " +
			"nicht Ihrer, schalten Sie den Link in der Konsole ab.",
		access: &accessWords{
			owner: "Inhaber", admin: "Admin", operator: "Der Betreiber des Dienstes",
			sentences: map[notify.AccessChangeKind]string{
				notify.RoleGiven:   "%[2]s ist jetzt %[3]s. Geändert von: %[1]s.",
				notify.RoleTaken:   "%[2]s ist nicht mehr %[3]s. Geändert von: %[1]s.",
				notify.Deactivated: "Die Mitgliedschaft von %[2]s (%[3]s) wurde deaktiviert. Geändert von: %[1]s.",
				notify.Reactivated: "Die Mitgliedschaft von %[2]s (%[3]s) wurde aktiviert. Geändert von: %[1]s.",
				notify.ContactEdited: "E-Mail-Adresse, Telefonnummer oder Anmeldung von %[2]s (%[3]s) wurde geändert. " +
					"Geändert von: %[1]s.",
				notify.TransferOffered: "%[1]s bittet %[2]s, an eigener Stelle Inhaber zu werden. %[2]s kann das 7 Tage lang " +
					"im eigenen Profil bestätigen.",
				notify.TransferConfirmed: "%[2]s hat die Übergabe von %[1]s bestätigt und ist jetzt an deren Stelle Inhaber.",
				notify.TransferCancelled: "Die Übergabe an %[2]s wurde beendet, es ändert sich nichts. Beendet von: %[1]s.",
			},
		},
	}},
	{language.French, locale{
		days: [7]string{"dim.", "lun.", "mar.", "mer.", "jeu.", "ven.", "sam."},
		months: [12]string{
			"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc.",
		},
		dayFormat: "%[1]s %[2]d %[3]s", dateAndTime: "%s à %s", timeLayout: "15:04",
		inMinutes: "dans %d minutes", inHour: "dans 1 heure", inHours: "dans %d heures", inDays: "dans %d jours",
		unsubscribe: "Ne plus recevoir ces messages", open: "Ouvrir",
		sentFor: "Envoyé pour %s par le compte de Berth.", report: "Signaler un abus : %s",
		secondScreen: "Un second écran lit l’affichage d’accueil de cette séance. Le premier le garde. Si ce " +
			"n’est pas le vôtre, désactivez le lien dans la console.",
		access: &accessWords{
			owner: "propriétaire", admin: "administrateur", operator: "L’exploitant du service",
			sentences: map[notify.AccessChangeKind]string{
				notify.RoleGiven:     "%[2]s a maintenant le rôle de %[3]s. Modifié par : %[1]s.",
				notify.RoleTaken:     "%[2]s n’a plus le rôle de %[3]s. Modifié par : %[1]s.",
				notify.Deactivated:   "Le compte de %[2]s (%[3]s) a été désactivé. Modifié par : %[1]s.",
				notify.Reactivated:   "Le compte de %[2]s (%[3]s) a été activé. Modifié par : %[1]s.",
				notify.ContactEdited: "L’e-mail, le numéro ou la connexion de %[2]s (%[3]s) a changé. Modifié par : %[1]s.",
				notify.TransferOffered: "%[1]s propose à %[2]s de devenir propriétaire à sa place. %[2]s a 7 jours pour " +
					"confirmer dans son profil.",
				notify.TransferConfirmed: "%[2]s a confirmé le transfert de %[1]s et devient propriétaire à sa place.",
				notify.TransferCancelled: "Le transfert à %[2]s a pris fin, rien ne change. Terminé par : %[1]s.",
			},
		},
	}},
	{language.AmericanEnglish, american()},
	{language.Spanish, locale{
		days:      [7]string{"dom", "lun", "mar", "mié", "jue", "vie", "sáb"},
		months:    [12]string{"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"},
		dayFormat: "%[1]s, %[2]d %[3]s", dateAndTime: "%s, %s", timeLayout: "15:04",
		inMinutes: "en %d minutos", inHour: "en 1 hora", inHours: "en %d horas", inDays: "en %d días",
		unsubscribe: "No recibir más correos de este tipo", open: "Abrir",
		sentFor: "Enviado para %s con la cuenta de Berth.", report: "Denunciar un abuso: %s",
	}},
	{language.Italian, locale{
		days:      [7]string{"dom", "lun", "mar", "mer", "gio", "ven", "sab"},
		months:    [12]string{"gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"},
		dayFormat: "%[1]s %[2]d %[3]s", dateAndTime: "%s, %s", timeLayout: "15:04",
		inMinutes: "tra %d minuti", inHour: "tra 1 ora", inHours: "tra %d ore", inDays: "tra %d giorni",
		unsubscribe: "Non ricevere più queste email", open: "Apri",
		sentFor: "Inviato per %s dall’account di Berth.", report: "Segnala un abuso: %s",
	}},
	{language.Portuguese, locale{
		days:      [7]string{"dom.", "seg.", "ter.", "qua.", "qui.", "sex.", "sáb."},
		months:    [12]string{"jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.", "out.", "nov.", "dez."},
		dayFormat: "%[1]s, %[2]d de %[3]s", dateAndTime: "%s, %s", timeLayout: "15:04",
		inMinutes: "em %d minutos", inHour: "em 1 hora", inHours: "em %d horas", inDays: "em %d dias",
		unsubscribe: "Não receber mais emails deste tipo", open: "Abrir",
		sentFor: "Enviado para %s pela conta da Berth.", report: "Denunciar abuso: %s",
	}},
	{language.Dutch, locale{
		days:      [7]string{"zo", "ma", "di", "wo", "do", "vr", "za"},
		months:    [12]string{"jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec"},
		dayFormat: "%[1]s %[2]d %[3]s", dateAndTime: "%s, %s", timeLayout: "15:04",
		inMinutes: "over %d minuten", inHour: "over 1 uur", inHours: "over %d uur", inDays: "over %d dagen",
		unsubscribe: "Geen mails van deze soort meer", open: "Openen",
		sentFor: "Verstuurd voor %s via het account van Berth.", report: "Misbruik melden: %s",
	}},
}

var localeMatcher = func() language.Matcher {
	tags := make([]language.Tag, len(locales))
	for i, l := range locales {
		tags[i] = l.tag
	}
	return language.NewMatcher(tags)
}()

// localeFor returns the supported locale nearest to a BCP 47 tag.
func localeFor(name string) locale {
	tag, err := language.Parse(name)
	if err != nil {
		return english
	}
	_, at, _ := localeMatcher.Match(tag)
	return locales[at].locale
}

func (l locale) date(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	return fmt.Sprintf(l.dayFormat, l.days[t.Weekday()], t.Day(), l.months[t.Month()-1], t.Year())
}

func (l locale) clock(t time.Time, zone *time.Location) string {
	return t.In(zone).Format(l.timeLayout)
}

// dateTime formats a date and time. It adds the name of the zone if the other zone has a different offset then.
func (l locale) dateTime(t time.Time, zone, other *time.Location) string {
	text := fmt.Sprintf(l.dateAndTime, l.date(t, zone), l.clock(t, zone))
	if other == nil {
		return text
	}
	_, offset := t.In(zone).Zone()
	if _, otherOffset := t.In(other).Zone(); offset == otherOffset {
		return text
	}
	return text + " (" + abbreviation(t, zone) + ")"
}

// abbreviation returns the abbreviation of the zone, or its offset if it has none.
func abbreviation(t time.Time, zone *time.Location) string {
	name, _ := t.In(zone).Zone()
	if strings.ContainsAny(name, "+-0123456789") {
		return "UTC" + t.In(zone).Format("-07:00")
	}
	return name
}

// span formats the time until a start.
func (l locale) span(d time.Duration) string {
	switch minutes := int(d.Round(time.Minute) / time.Minute); {
	case minutes%(24*60) == 0 && minutes > 24*60:
		return fmt.Sprintf(l.inDays, minutes/(24*60))
	case minutes%60 == 0 && minutes > 60:
		return fmt.Sprintf(l.inHours, minutes/60)
	case minutes == 60:
		return l.inHour
	default:
		return fmt.Sprintf(l.inMinutes, minutes)
	}
}

// aboutSecondScreen returns a sentence that tells staff of a second screen that reads a display.
func (l locale) aboutSecondScreen() string { return cmp.Or(l.secondScreen, english.secondScreen) }

// accessChange returns the change as a sentence.
func (l locale) accessChange(c notify.AccessChange) string {
	words := l.access
	if words == nil {
		words = english.access
	}
	role := words.admin
	if c.Role == tenant.RoleOwner {
		role = words.owner
	}
	return fmt.Sprintf(words.sentences[c.Kind], cmp.Or(c.By, words.operator), c.Name, role)
}
