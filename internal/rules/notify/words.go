package notify

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/language"
)

// words are how a language writes days and times, after the Unicode CLDR: its abbreviated weekdays and months, and the
// order of its medium date. golang.org/x/text has no dates yet.
type words struct {
	days   [7]string  // from Sunday
	months [12]string // from January
	day    string     // %[1]s weekday, %[2]d day, %[3]s month, %[4]d year
	joined string     // date and time
	hours  string     // Go's layout of a time of day

	minutes, hour, hoursN, dayOne, daysN string // "in 30 minutes"

	unsubscribe string
	open        string
}

var english = words{
	days:   [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
	months: [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
	day:    "%[1]s %[2]d %[3]s", joined: "%s, %s", hours: "15:04",
	minutes: "in %d minutes", hour: "in 1 hour", hoursN: "in %d hours", dayOne: "in 1 day", daysN: "in %d days",
	unsubscribe: "No more mails of this kind", open: "Open",
}

func american() words {
	w := english
	w.day, w.hours = "%[1]s, %[3]s %[2]d", "3:04 PM"
	return w
}

// speaks are the languages in which dates and times are written. Defaults of all texts exist in the first three.
var speaks = []struct {
	tag   language.Tag
	words words
}{
	{language.English, english},
	{language.German, words{
		days:   [7]string{"So", "Mo", "Di", "Mi", "Do", "Fr", "Sa"},
		months: [12]string{"Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."},
		day:    "%[1]s, %[2]d. %[3]s", joined: "%s, %s", hours: "15:04",
		minutes: "in %d Minuten", hour: "in 1 Stunde", hoursN: "in %d Stunden", dayOne: "in 1 Tag", daysN: "in %d Tagen",
		unsubscribe: "Keine Mails dieser Art mehr", open: "Öffnen",
	}},
	{language.French, words{
		days:   [7]string{"dim.", "lun.", "mar.", "mer.", "jeu.", "ven.", "sam."},
		months: [12]string{"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."},
		day:    "%[1]s %[2]d %[3]s", joined: "%s à %s", hours: "15:04",
		minutes: "dans %d minutes", hour: "dans 1 heure", hoursN: "dans %d heures", dayOne: "dans 1 jour", daysN: "dans %d jours",
		unsubscribe: "Ne plus recevoir ces messages", open: "Ouvrir",
	}},
	{language.AmericanEnglish, american()},
	{language.Spanish, words{
		days:   [7]string{"dom", "lun", "mar", "mié", "jue", "vie", "sáb"},
		months: [12]string{"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"},
		day:    "%[1]s, %[2]d %[3]s", joined: "%s, %s", hours: "15:04",
		minutes: "en %d minutos", hour: "en 1 hora", hoursN: "en %d horas", dayOne: "en 1 día", daysN: "en %d días",
		unsubscribe: "No recibir más correos de este tipo", open: "Abrir",
	}},
	{language.Italian, words{
		days:   [7]string{"dom", "lun", "mar", "mer", "gio", "ven", "sab"},
		months: [12]string{"gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"},
		day:    "%[1]s %[2]d %[3]s", joined: "%s, %s", hours: "15:04",
		minutes: "tra %d minuti", hour: "tra 1 ora", hoursN: "tra %d ore", dayOne: "tra 1 giorno", daysN: "tra %d giorni",
		unsubscribe: "Non ricevere più queste email", open: "Apri",
	}},
	{language.Portuguese, words{
		days:   [7]string{"dom.", "seg.", "ter.", "qua.", "qui.", "sex.", "sáb."},
		months: [12]string{"jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.", "out.", "nov.", "dez."},
		day:    "%[1]s, %[2]d de %[3]s", joined: "%s, %s", hours: "15:04",
		minutes: "em %d minutos", hour: "em 1 hora", hoursN: "em %d horas", dayOne: "em 1 dia", daysN: "em %d dias",
		unsubscribe: "Não receber mais emails deste tipo", open: "Abrir",
	}},
	{language.Dutch, words{
		days:   [7]string{"zo", "ma", "di", "wo", "do", "vr", "za"},
		months: [12]string{"jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec"},
		day:    "%[1]s %[2]d %[3]s", joined: "%s, %s", hours: "15:04",
		minutes: "over %d minuten", hour: "over 1 uur", hoursN: "over %d uur", dayOne: "over 1 dag", daysN: "over %d dagen",
		unsubscribe: "Geen mails van deze soort meer", open: "Openen",
	}},
}

var speakers = func() language.Matcher {
	tags := make([]language.Tag, len(speaks))
	for i, s := range speaks {
		tags[i] = s.tag
	}
	return language.NewMatcher(tags)
}()

// wordsFor gives those of the language nearest to a locale.
func wordsFor(locale string) words {
	tag, err := language.Parse(locale)
	if err != nil {
		return english
	}
	// Plain English is no country's: only who says so reads dates as in America.
	if base, _ := tag.Base(); base.String() == "en" {
		if region, how := tag.Region(); region.String() != "US" || how != language.Exact {
			return english
		}
	}
	_, at, _ := speakers.Match(tag)
	return speaks[at].words
}

func (w words) date(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	return fmt.Sprintf(w.day, w.days[t.Weekday()], t.Day(), w.months[t.Month()-1], t.Year())
}

func (w words) clock(t time.Time, zone *time.Location) string { return t.In(zone).Format(w.hours) }

// dateTime names the zone, too, where the clocks at the other place show something else.
func (w words) dateTime(t time.Time, zone, other *time.Location) string {
	text := fmt.Sprintf(w.joined, w.date(t, zone), w.clock(t, zone))
	if other == nil {
		return text
	}
	_, here := t.In(zone).Zone()
	if _, there := t.In(other).Zone(); here == there {
		return text
	}
	return text + " (" + abbreviation(t, zone) + ")"
}

// abbreviation is the zone's, or its offset where it has none.
func abbreviation(t time.Time, zone *time.Location) string {
	name, _ := t.In(zone).Zone()
	if strings.ContainsAny(name, "+-0123456789") {
		return "UTC" + t.In(zone).Format("-07:00")
	}
	return name
}

// span says how long until something begins.
func (w words) span(d time.Duration) string {
	switch minutes := int(d.Round(time.Minute) / time.Minute); {
	case minutes%(24*60) == 0 && minutes > 24*60:
		return fmt.Sprintf(w.daysN, minutes/(24*60))
	case minutes%60 == 0 && minutes > 60:
		return fmt.Sprintf(w.hoursN, minutes/60)
	case minutes == 60:
		return w.hour
	default:
		return fmt.Sprintf(w.minutes, minutes)
	}
}
