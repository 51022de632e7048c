package session

// alsoCalled has the names that other programs give the columns of a file of sessions,
// the best first, in English, German and French.
var alsoCalled = map[string][]string{
	"service": {
		"Class", "Class name", "Service name", "Activity", "Leistung", "Kurs", "Kursname", "Angebot",
		"Prestation", "Cours", "Nom du cours", "Atelier",
	},
	"location": {"Site", "Studio", "Club", "Venue", "Standort", "Ort", "Lieu", "Salle de sport"},
	"resource": {"Room", "Court", "Raum", "Platz", "Ressource", "Salle", "Terrain"},
	"coach_email": {
		"Instructor email", "Teacher email", "Trainer email", "Staff email", "E-Mail des Coachs",
		"E-Mail des Trainers", "E-mail du coach",
	},
	"date": {"Start date", "Class date", "Day", "Datum", "Tag", "Date de début", "Jour"},
	"start": {
		"Start time", "Starts", "Begins", "Beginn", "Startzeit", "Uhrzeit", "Von", "Début", "Heure de début",
		"Heure",
	},
	"end": {"End time", "Ends", "Ende", "Endzeit", "Bis", "Fin", "Heure de fin"},
	"duration_minutes": {
		"Duration", "Duration (min)", "Minutes", "Dauer", "Dauer (Minuten)", "Durée", "Durée (minutes)",
	},
	"capacity": {"Max capacity", "Spots", "Places", "Seats", "Kapazität", "Plätze", "Teilnehmerzahl", "Capacité"},
	"waitlist_capacity": {
		"Waitlist size", "Waiting list capacity", "Warteliste", "Plätze auf der Warteliste",
		"Liste d’attente",
	},
	"title":  {"Titel", "Titre"},
	"notes":  {"Note", "Description", "Notizen", "Beschreibung", "Hinweise", "Remarques"},
	"status": {"Zustand", "Statut", "État"},
}
