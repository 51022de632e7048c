package member

// alsoCalled has the names that other programs give the columns of a file of members,
// the best first, in English, German and French.
var alsoCalled = map[string][]string{
	"name": {
		"Full name", "Display name", "Member name", "Client name", "Customer name", "Contact name", "Client", "Customer",
		"Member", "Vollständiger Name", "Kundenname", "Mitgliedsname", "Kunde", "Mitglied", "Nom complet",
		"Nom et prénom", "Prénom et nom", "Nom du client", "Nom du membre", "Client / Cliente", "Nom",
	},
	"first_name": {
		"Firstname", "Given name", "Forename", "First", "Vorname", "Rufname", "Prénom", "Prénoms",
	},
	"last_name": {
		"Surname", "Family name", "Last", "Nachname", "Familienname", "Zuname", "Nom de famille",
	},
	"email": {
		"Email address", "Mail", "Mail address", "Member email", "Client email", "Customer email", "Contact email",
		"Primary email", "E-Mail-Adresse", "Mailadresse", "Adresse e-mail", "Adresse mail", "Adresse électronique",
		"Courriel", "Adresse courriel",
	},
	// A mobile number before others, since text messages reach it.
	"phone": {
		"Mobile phone", "Mobile", "Mobile number", "Mobile phone number", "Cell phone", "Cell", "Cellphone number",
		"Mobiltelefon", "Mobilnummer", "Mobil", "Handy", "Handynummer", "Téléphone portable", "Téléphone mobile",
		"Tél. portable", "Tél. mobile", "Portable", "Numéro de portable", "Phone number", "Telephone", "Tel",
		"Telephone number", "Primary phone", "Contact number", "Telefon", "Telefonnummer", "Tel. Nr.", "Téléphone",
		"Numéro de téléphone", "Home phone", "Festnetz", "Téléphone fixe", "Work phone",
	},
	"tags":      {"Tag", "Labels", "Label", "Schlagwörter", "Schlagworte", "Étiquettes", "Étiquette"},
	"locale":    {"Language", "Sprache", "Langue"},
	"time_zone": {"Zeitzone", "Fuseau horaire"},
	"notes": {
		"Note", "Comments", "Comment", "Remarks", "Notizen", "Notiz", "Bemerkungen", "Bemerkung", "Anmerkungen",
		"Kommentar", "Remarques", "Remarque", "Commentaires", "Commentaire",
	},
}
