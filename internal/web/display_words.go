package web

import (
	"fmt"
	"net/http"
	"time"
)

// wallWords are all that the page for the wall says in one language.
type wallWords struct {
	Lang         string
	Here         string // behind the number of those who have come: of how many
	NextUp, Lost string
	CodeName     string // what a screen reader calls the code

	dates                   *words
	with                    string
	scan, closed            string
	opensToday, opensOn     string // the clock; the day and the clock
	ended, calledOff, later telling
}

var wallSpoken = []*wallWords{ // in the order of languages
	{
		Lang: "en", Here: "of %d here", NextUp: "Next up", Lost: "No connection. A new code comes as soon as it is back.",
		CodeName: "QR code to check in",
		dates:    &english, with: "with %s", scan: "Scan to check in", closed: "Check-in is closed",
		opensToday: "Check-in opens at %s", opensOn: "Check-in opens on %s at %s",
		ended:     telling{"This page has ended", "Please open it again from the session."},
		calledOff: telling{"Not taking place", "This session has been called off."},
		later:     telling{"One moment", "This page comes back by itself."},
	},
	{
		Lang: "de", Here: "von %d da", NextUp: "Als Nächstes", Lost: "Keine Verbindung. Sobald sie wieder da ist, kommt ein neuer Code.",
		CodeName: "QR-Code zum Einchecken",
		dates:    &german, with: "mit %s", scan: "Zum Einchecken scannen", closed: "Der Check-in ist geschlossen",
		opensToday: "Check-in ab %s Uhr", opensOn: "Check-in ab %s um %s Uhr",
		ended:     telling{"Diese Seite gilt nicht mehr", "Bitte öffne sie noch einmal vom Termin aus."},
		calledOff: telling{"Findet nicht statt", "Dieser Termin wurde abgesagt."},
		later:     telling{"Einen Moment", "Diese Seite kommt von selbst wieder."},
	},
	{
		Lang: "fr", Here: "sur %d sur place", NextUp: "Ensuite", Lost: "Pas de connexion. Un nouveau code viendra dès son retour.",
		CodeName: "Code QR pour pointer",
		dates:    &french, with: "avec %s", scan: "Scannez pour pointer", closed: "Le pointage est fermé",
		opensToday: "Pointage à partir de %s", opensOn: "Pointage à partir du %s à %s",
		ended:     telling{"Cette page n’est plus valable", "Rouvrez-la depuis la séance."},
		calledOff: telling{"N’a pas lieu", "Cette séance a été annulée."},
		later:     telling{"Un instant", "Cette page revient d’elle-même."},
	},
}

func wallWordsFor(r *http.Request) *wallWords { return wallSpoken[languageOf(r)] }

func (w *wallWords) opens(at, now time.Time) string {
	clock := w.dates.clock(at)
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return fmt.Sprintf(w.opensToday, clock)
	}
	return fmt.Sprintf(w.opensOn, w.dates.day(at), clock)
}
