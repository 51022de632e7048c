package web

import (
	"fmt"
	"net/http"
	"time"
)

// displayWords are the texts of the display in one language.
type displayWords struct {
	Lang         string
	Here         string // after the number of arrivals: how many are expected
	NextUp, Lost string
	CodeName     string // name of the code for screen readers

	dates                   *claimWords
	with                    string
	scan, closed            string
	opensToday, opensOn     string // with the time; with the day and the time
	ended, calledOff, later message
}

var allDisplayWords = []*displayWords{ // in the order of languages
	{
		Lang: "en", Here: "of %d here", NextUp: "Next up",
		Lost:     "No connection. A new code comes as soon as it is back.",
		CodeName: "QR code to check in",
		dates:    &english, with: "with %s", scan: "Scan to check in", closed: "Check-in is closed",
		opensToday: "Check-in opens at %s", opensOn: "Check-in opens on %s at %s",
		ended:     message{"This page has ended", "Please open it again from the session."},
		calledOff: message{"Not taking place", "This session has been called off."},
		later:     message{"One moment", "This page will reload by itself."},
	},
	{
		Lang: "de", Here: "von %d da", NextUp: "Als Nächstes",
		Lost:     "Keine Verbindung. Sobald sie wieder da ist, kommt ein neuer Code.",
		CodeName: "QR-Code zum Einchecken",
		dates:    &german, with: "mit %s", scan: "Zum Einchecken scannen", closed: "Der Check-in ist geschlossen",
		opensToday: "Check-in ab %s Uhr", opensOn: "Check-in ab %s um %s Uhr",
		ended:     message{"Diese Seite gilt nicht mehr", "Bitte öffnen Sie sie noch einmal vom Termin aus."},
		calledOff: message{"Findet nicht statt", "Dieser Termin wurde abgesagt."},
		later:     message{"Einen Moment", "Diese Seite lädt von selbst neu."},
	},
	{
		Lang: "fr", Here: "sur %d sur place", NextUp: "Ensuite",
		Lost:     "Pas de connexion. Un nouveau code viendra dès son retour.",
		CodeName: "Code QR pour pointer",
		dates:    &french, with: "avec %s", scan: "Scannez pour pointer", closed: "Le pointage est fermé",
		opensToday: "Pointage à partir de %s", opensOn: "Pointage à partir du %s à %s",
		ended:     message{"Cette page n’est plus valable", "Rouvrez-la depuis la séance."},
		calledOff: message{"N’a pas lieu", "Cette séance a été annulée."},
		later:     message{"Un instant", "Cette page se recharge d’elle-même."},
	},
}

func displayWordsFor(r *http.Request) *displayWords { return allDisplayWords[languageOf(r)] }

func (w *displayWords) opens(at, now time.Time) string {
	clock := w.dates.clock(at)
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return fmt.Sprintf(w.opensToday, clock)
	}
	return fmt.Sprintf(w.opensOn, w.dates.day(at), clock)
}
