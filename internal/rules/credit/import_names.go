package credit

// alsoCalled has the names that other programs give the columns of a file of plans, the best first, in English, German
// and French.
var alsoCalled = map[string][]string{
	"plan": {
		"Plan name", "Membership", "Membership name", "Package", "Package name", "Pass", "Class pass", "Pricing option",
		"Product", "Mitgliedschaft", "Tarif", "Abo", "Abonnement", "Paket", "Karte", "Vertrag", "Produkt", "Formule",
		"Forfait", "Carnet", "Adhésion", "Produit",
	},
	"balance": {
		"Credits left", "Credits remaining", "Remaining credits", "Credits", "Visits remaining", "Remaining visits",
		"Sessions remaining", "Remaining sessions", "Classes remaining", "Classes left", "Remaining", "Restguthaben",
		"Guthaben", "Verbleibende Einheiten", "Verbleibende Besuche", "Offene Einheiten", "Resteinheiten", "Rest",
		"Crédits restants", "Séances restantes", "Cours restants", "Crédits", "Solde", "Restant",
	},
	"start": {
		"Start date", "Starts", "Activation date", "Active date", "Valid from", "Begin", "Startdatum", "Beginn",
		"Vertragsbeginn", "Gültig ab", "Von", "Date de début", "Début", "Valable à partir du",
	},
	"renewal": {
		"Renewal date", "Next renewal", "Renews", "Renews on", "Period end", "End of period", "Next billing date",
		"Next payment date", "Verlängerung", "Nächste Verlängerung", "Periodenende", "Nächste Abrechnung",
		"Nächste Abbuchung", "Renouvellement", "Date de renouvellement", "Prochain renouvellement",
		"Prochaine échéance", "Fin de période",
	},
	"end": {
		"End date", "Ends", "Expiration date", "Expiration", "Expires", "Expires on", "Expiry", "Expiry date", "Valid until",
		"Enddatum", "Ende", "Vertragsende", "Gültig bis", "Ablaufdatum", "Bis", "Date de fin", "Fin",
		"Date d’expiration", "Valable jusqu’au",
	},
}
