package content

import (
	"github.com/berthhq/berth/internal/rules/notify"
)

// sessionGerman is the part of mails with the session's time and place.
const sessionGerman = `Wann: {{.When}} – {{.EndTime}}
Wo: {{.Location}}{{if .Resource}}, {{.Resource}}{{end}}{{if .Address}}, {{.Address}}{{end}}{{if .Coach}}
Mit: {{.Coach}}{{end}}{{if gt .Party 1}}
Für: {{.Party}} Personen{{end}}`

// defaultsGerman are the default texts in German.
var defaultsGerman = map[notify.Topic]texts{
	notify.BookingConfirmed: {
		name:    "neue Buchungen",
		sms:     "{{.Tenant}}: {{.Title}} am {{.When}} ist gebucht. Bis bald!",
		title:   "Gebucht: {{.Title}}",
		push:    "{{.When}}, {{.Location}}",
		subject: "Gebucht: {{.Title}}, {{.When}}",
		mail: `Hallo {{.Name}},

Ihr Platz bei {{.Title}} ist gebucht.

` + sessionGerman + `

Ihre Buchungen: {{.Link}}

Bis bald,
{{.Tenant}}`,
	},
	notify.Waitlisted: {
		name: "Plätze auf der Warteliste",
		sms: "{{.Tenant}}: Sie stehen auf Platz {{.Position}} der Warteliste für {{.Title}}, {{.When}}. Wird " +
			"etwas frei, melden wir uns.",
		title:   "Auf der Warteliste: {{.Title}}",
		push:    "Platz {{.Position}} für {{.When}}",
		subject: "Auf der Warteliste: {{.Title}}, {{.When}}",
		mail: `Hallo {{.Name}},

{{.Title}} ist im Moment ausgebucht. Sie stehen auf Platz {{.Position}} der Warteliste. Sobald für Sie ` +
			`etwas frei wird, melden wir uns.{{if eq .Mode "AUTO_PROMOTE"}} Wir buchen den Platz dann gleich für Sie; eine ` +
			`Zeit lang können Sie kostenlos stornieren.{{else if eq .Mode "FIRST_TO_CLAIM"}} Alle Wartenden können ihn ` +
			`nehmen: Wer zuerst annimmt, bekommt ihn.{{else}} Wir halten den Platz dann eine Zeit lang für Sie ` +
			`frei, bis Sie antworten.{{end}}

Wann: {{.When}}{{if .EndTime}} – {{.EndTime}}{{end}}
Wo: {{.Location}}{{if .Resource}}, {{.Resource}}{{end}}{{if .Address}}, {{.Address}}{{end}}{{if .Coach}}
Mit: {{.Coach}}{{end}}{{if gt .Party 1}}
Für: {{.Party}} Personen{{end}}

Ihre Buchungen: {{.Link}}

{{.Tenant}}`,
	},
	notify.Promoted: {
		name: "nachgerückte Plätze",
		sms: "{{.Tenant}}: Sie sind dabei! Bei {{.Title}} wurde ein Platz frei und ist für Sie gebucht: {{.When}}." +
			"{{if .CancelBy}} Kostenlos stornieren bis {{.CancelBy}}.{{end}}",
		title: "Sie sind dabei: {{.Title}}",
		push: "Ein Platz wurde frei und gehört Ihnen: {{.When}}{{if .CancelBy}}. Kostenlos stornieren bis " +
			"{{.CancelBy}}{{end}}",
		subject: "Sie sind dabei: {{.Title}}, {{.When}}",
		mail: `Hallo {{.Name}},

gute Nachrichten: Bei {{.Title}} ist ein Platz frei geworden, und er gehört Ihnen. Sie müssen nichts weiter tun.

` + sessionGerman + `

Keine Zeit? {{if .CancelBy}}Bis {{.CancelBy}} stornieren Sie kostenlos. {{end}}Geben Sie den Platz bitte bald ` +
			`zurück, damit jemand anders ihn bekommt: {{.Link}}

Bis bald,
{{.Tenant}}`,
	},
	notify.Offered: {
		name: "Angebote freier Plätze",
		sms: "{{.Tenant}}: {{.Title}}, {{.When}} frei bis {{.ExpiresAt}}. Antwort 1 {{.Code}}: ja, 2 " +
			"{{.Code}}: nein, oder {{.ClaimURL}}",
		title:   "Ein Platz für Sie: {{.Title}}",
		push:    "{{.When}}. Bis {{.ExpiresAt}} reserviert: zum Annehmen tippen.",
		subject: "Ein Platz für Sie: {{.Title}}, {{.When}}",
		mail: `Hallo {{.Name}},

bei {{.Title}} ist ein Platz frei geworden. Bis {{.ExpiresAt}} halten wir ihn für Sie frei.

` + sessionGerman + `

Annehmen oder ablehnen: {{.ClaimURL}}

Ohne Antwort bis {{.ExpiresAt}} geht der Platz an die nächste Person auf der Warteliste.

{{.Tenant}}`,
	},
	notify.OfferExpiring: {
		name: "ablaufende Angebote",
		sms: "{{.Tenant}}: {{.Title}}, {{.When}} frei für {{.Minutes}} Min. Antwort 1 {{.Code}}: ja, 2 " +
			"{{.Code}}: nein, oder {{.ClaimURL}}",
		title:   "Noch {{.Minutes}} Minuten: {{.Title}}",
		push:    "Ihr Platz am {{.When}} ist bis {{.ExpiresAt}} reserviert.",
		subject: "Noch {{.Minutes}} Minuten: {{.Title}}",
		mail: `Hallo {{.Name}},

der Platz bei {{.Title}} ist noch bis {{.ExpiresAt}} für Sie reserviert. Danach geht er an die nächste ` +
			`Person auf der Warteliste.

` + sessionGerman + `

Annehmen oder ablehnen: {{.ClaimURL}}

{{.Tenant}}`,
	},
	notify.BookingCancelled: {
		name: "stornierte Buchungen",
		sms: "{{.Tenant}}: {{if .Waitlist}}Ihr Platz auf der Warteliste{{else}}Ihre Buchung{{end}} für " +
			"{{.Title}}, {{.When}} ist storniert.{{if .Refunded}} Das Guthaben ist zurück.{{end}}",
		title:   "Storniert: {{.Title}}",
		push:    "{{.When}}{{if .Refunded}}. Das Guthaben ist zurück.{{end}}",
		subject: "Storniert: {{.Title}}, {{.When}}",
		mail: `Hallo {{.Name}},

{{if .Waitlist}}Ihr Platz auf der Warteliste{{else}}Ihre Buchung{{end}} für {{.Title}} am {{.When}} ist storniert.

{{if .Reason}}Grund: {{.Reason}}{{end}}

{{if .Refunded}}Das Guthaben ist wieder auf Ihrem Konto.{{else if .Late}}Die Stornofrist war vorbei, ` +
			`deshalb ist das Guthaben verbraucht.{{end}}

Andere Termine: {{.Link}}

{{.Tenant}}`,
	},
	notify.SessionCancelled: {
		name:    "abgesagte Termine",
		sms:     "{{.Tenant}}: {{.Title}}, {{.When}} fällt leider aus.{{if .Refunded}} Das Guthaben ist zurück.{{end}}",
		title:   "Fällt aus: {{.Title}}",
		push:    "{{.When}} fällt leider aus.{{if .Reason}} {{.Reason}}{{end}}",
		subject: "Fällt aus: {{.Title}}, {{.When}}",
		mail: `Hallo {{.Name}},

leider fällt {{.Title}} am {{.When}} aus.

{{if .Reason}}Grund: {{.Reason}}{{end}}

{{if .Refunded}}Das Guthaben ist wieder auf Ihrem Konto.{{end}}

Andere Termine: {{.Link}}

{{.Tenant}}`,
	},
	notify.Rescheduled: {
		name:    "geänderte Zeiten",
		sms:     "{{.Tenant}}: {{.Title}} ist jetzt am {{.When}}, {{.Location}}.{{if .OldWhen}} Bisher: {{.OldWhen}}.{{end}}",
		title:   "Geändert: {{.Title}}",
		push:    "Jetzt {{.When}}, {{.Location}}",
		subject: "Geändert: {{.Title}} ist jetzt am {{.When}}",
		mail: `Hallo {{.Name}},

Ihre Buchung von {{.Title}} hat sich geändert.{{if .OldWhen}} Bisher war der Termin am {{.OldWhen}}.{{end}}

` + sessionGerman + `

Ihre Buchungen: {{.Link}}

Bis bald,
{{.Tenant}}`,
	},
	notify.Reminder: {
		name:    "Erinnerungen",
		sms:     "{{.Tenant}}: {{.Title}} beginnt {{.In}}, um {{.Time}}. {{.Location}}",
		title:   "{{.Title}} {{.In}}",
		push:    "{{.When}}, {{.Location}}",
		subject: "Erinnerung: {{.Title}}, {{.When}}",
		mail: `Hallo {{.Name}},

{{.Title}} beginnt {{.In}}.

` + sessionGerman + `

Keine Zeit? {{.Link}}

Bis bald,
{{.Tenant}}`,
	},
	notify.CheckInOpen: {
		name:    "Check-in",
		sms:     "{{.Tenant}}: Der Check-in für {{.Title}} um {{.Time}} ist offen.",
		title:   "Der Check-in ist offen",
		push:    "{{.Title}}, {{.Time}}, {{.Location}}",
		subject: "Der Check-in ist offen: {{.Title}}, {{.Time}}",
		mail: `Hallo {{.Name}},

der Check-in für {{.Title}} ist offen.

` + sessionGerman + `

{{.Link}}

Bis gleich,
{{.Tenant}}`,
	},
	notify.CreditsLow: {
		name: "knappes Guthaben",
		sms: "{{.Tenant}}: {{if eq .Balance 0}}Ihr Guthaben ist aufgebraucht{{else}}Ihr Guthaben reicht noch " +
			"für {{.Balance}}{{end}} ({{.Plan}}).",
		title:   "{{if eq .Balance 0}}Guthaben aufgebraucht{{else}}Guthaben: noch {{.Balance}}{{end}}",
		push:    "{{.Plan}}, {{.Tenant}}",
		subject: "{{if eq .Balance 0}}Guthaben aufgebraucht{{else}}Guthaben: noch {{.Balance}}{{end}} ({{.Plan}})",
		mail: `Hallo {{.Name}},

Ihr Guthaben bei {{.Plan}} {{if eq .Balance 0}}ist aufgebraucht{{else if eq .Balance 1}}reicht noch für ` +
			`eine Buchung{{else}}reicht noch für {{.Balance}} Buchungen{{end}}.

Ihre Tarife: {{.Link}}

{{.Tenant}}`,
	},
	notify.StaffNote: {
		name:    "Hinweise für das Team",
		sms:     "{{.Title}}, {{.When}}: {{.Note}}",
		title:   "{{.Title}}, {{.When}}",
		push:    "{{.Note}}",
		subject: "{{.Title}}, {{.When}}: bitte ansehen",
		mail: `Hallo {{.Name}},

{{.Note}}

` + sessionGerman + `

{{.Link}}

{{.Tenant}}`,
	},
	notify.ContactCode: {
		sms:     "{{.Tenant}}: Ihr Code ist {{.Code}}. Er gilt {{.Minutes}} Minuten. Geben Sie ihn nicht weiter.",
		subject: "{{.Code}} ist Ihr Code für {{.Tenant}}",
		mail: `Guten Tag {{.Name}},

Ihr Code für {{.Tenant}} ist {{.Code}}. Er gilt {{.Minutes}} Minuten.

Oder öffnen Sie diese Seite: {{.ConfirmURL}}

Falls Sie diese Adresse bei {{.Tenant}} nicht eingegeben haben, müssen Sie nichts tun.`,
	},
	notify.ContactChanged: {
		sms: "{{.Tenant}}: Ihre Telefonnummer wird geändert oder entfernt. Waren Sie das nicht? Dann melden Sie " +
			"sich bei uns.",
		subject: "Ihre E-Mail-Adresse bei {{.Tenant}} wird geändert",
		mail: `Guten Tag {{.Name}},

Ihre E-Mail-Adresse bei {{.Tenant}} wird geändert oder entfernt. Wenn Sie das waren, müssen Sie nichts tun.

Wenn nicht, melden Sie sich bitte bei uns: {{.Link}}

{{.Tenant}}`,
	},
	notify.DomainLapsed: {
		subject: "E-Mails kommen nicht mehr von {{.From}}",
		mail: `Guten Tag {{.Name}},

die DNS-Einträge Ihrer Absenderdomain fehlen seit 3 Tagen. E-Mails von {{.Tenant}} kommen deshalb nicht mehr von ` +
			`{{.From}}, sondern von der Adresse der Plattform. Keine ging verloren.

Veröffentlichen Sie die Einträge erneut, und bestätigen Sie dann die Domain unter Nachrichten, Absender: {{.Link}}

{{.Tenant}}`,
	},
	notify.QuotaReached: {
		subject: "Codes werden nicht mehr gesendet",
		mail: `Guten Tag {{.Name}},

{{.Tenant}} hat in 24 Stunden {{.Used}} {{if .ByPhone}}SMS{{else}}E-Mails{{end}}{{if .Country}} nach ` +
			`{{.Country}}{{end}} gesendet, dreimal so viele wie das Kontingent von {{.Limit}}. Codes, mit denen Mitglieder ` +
			`ihre Kontakte bestätigen, und Testnachrichten werden deshalb nicht gesendet, bis es weniger sind. Andere ` +
			`Nachrichten schon.

Wenn Sie den Grund nicht kennen, sehen Sie im Protokoll unter Nachrichten nach: {{.Link}}

{{.Tenant}}`,
	},
	notify.WaitlistEnded: {
		name:    "das Ende einer Wartezeit",
		sms:     "{{.Tenant}}: In {{.Title}}, {{.When}} wurde leider kein Platz für Sie frei. Sie warten nicht mehr.",
		title:   "Diesmal kein Platz: {{.Title}}",
		push:    "Es wurde kein Platz für Sie frei, {{.When}}. Sie stehen nicht mehr auf der Warteliste.",
		subject: "Diesmal kein Platz: {{.Title}}, {{.When}}",
		mail: `Hallo {{.Name}},

leider wurde für {{.Title}}, {{.When}} kein Platz für Sie frei. Sie stehen nicht mehr auf der Warteliste, und ` +
			`es wurde nichts gebucht.

Andere Termine: {{.Link}}

{{.Tenant}}`,
	},
	notify.AccessChanged: {
		name:    "Leitung der Organisation",
		sms:     "{{.Tenant}}: {{.Change}}",
		title:   "Leitung von {{.Tenant}}",
		push:    "{{.Change}}",
		subject: "Änderung in der Leitung von {{.Tenant}}",
		mail: `Hallo {{.Name}},

{{.Change}}

Rollen und Protokoll: {{.Link}}

Wenn Sie das nicht erwartet haben, sprechen Sie mit den Inhabern.

{{.Tenant}}`,
	},
}
