package booking

// alsoCalled has the names that other programs give the columns of a file of bookings, the best first, in English,
// German and French.
var alsoCalled = map[string][]string{
	"service": {
		"Class", "Class name", "Service name", "Session", "Session name", "Activity", "Leistung", "Kurs", "Kursname",
		"Angebot", "Termin", "Prestation", "Cours", "Nom du cours", "Séance", "Atelier",
	},
	"start": {
		"Start time", "Starts", "Starts at", "Time", "Class time", "Begins", "Beginn", "Startzeit", "Uhrzeit", "Von", "Début",
		"Heure de début", "Heure",
	},
	"date":     {"Start date", "Class date", "Session date", "Day", "Datum", "Tag", "Date de début", "Jour"},
	"location": {"Site", "Studio", "Club", "Venue", "Standort", "Ort", "Lieu", "Salle de sport"},
	"resource": {"Room", "Court", "Raum", "Platz", "Ressource", "Salle", "Terrain"},
	"seats": {
		"Spots", "Places", "Number of seats", "Party size", "Participants", "Quantity", "Plätze", "Anzahl", "Teilnehmer",
		"Personen", "Nombre de places", "Participants inscrits", "Quantité",
	},
	"credits_paid": {
		"Paid with credit", "Credits used", "Credit used", "Credits", "Mit Guthaben bezahlt", "Credits bezahlt",
		"Einheiten verbraucht", "Payé par crédit", "Crédits utilisés",
	},
	"plan": {
		"Plan name", "Membership", "Package", "Pass", "Pricing option", "Mitgliedschaft", "Tarif", "Abo", "Paket", "Karte",
		"Formule", "Forfait", "Carnet", "Abonnement",
	},
	"status": {"Booking status", "State", "Zustand", "Buchungsstatus", "Statut", "État", "Statut de la réservation"},
	"guest":  {"Guest name", "Drop-in name", "Gast", "Name des Gasts", "Invité", "Nom de l’invité"},
}
