package content

import (
	"github.com/berthhq/berth/internal/rules/notify"
)

// sessionFrench is the part of mails with the session's time and place.
const sessionFrench = `Quand : {{.When}} – {{.EndTime}}
Où : {{.Location}}{{if .Resource}}, {{.Resource}}{{end}}{{if .Address}}, {{.Address}}{{end}}{{if .Coach}}
Avec : {{.Coach}}{{end}}{{if gt .Party 1}}
Pour : {{.Party}} personnes{{end}}`

// defaultsFrench are the default texts in French.
var defaultsFrench = map[notify.Topic]texts{
	notify.BookingConfirmed: {
		name:    "réservations",
		sms:     "{{.Tenant}} : {{.Title}}, {{.When}}, c'est réservé. À bientôt !",
		title:   "Réservé : {{.Title}}",
		push:    "{{.When}}, {{.Location}}",
		subject: "Réservé : {{.Title}}, {{.When}}",
		mail: `Bonjour {{.Name}},

votre place pour {{.Title}} est réservée.

` + sessionFrench + `

Vos réservations : {{.Link}}

À bientôt,
{{.Tenant}}`,
	},
	notify.Waitlisted: {
		name: "places en liste d’attente",
		sms: "{{.Tenant}} : vous êtes n° {{.Position}} sur la liste d'attente, {{.Title}}, {{.When}}. Nous " +
			"vous préviendrons si une place se libère.",
		title:   "Sur liste d'attente : {{.Title}}",
		push:    "N° {{.Position}} pour {{.When}}",
		subject: "Sur liste d'attente : {{.Title}}, {{.When}}",
		mail: `Bonjour {{.Name}},

{{.Title}} affiche complet pour le moment. Vous êtes n° {{.Position}} sur la liste d'attente, et nous vous ` +
			`préviendrons dès qu'une place se libère pour vous.{{if eq .Mode "AUTO_PROMOTE"}} Nous la réservons alors ` +
			`aussitôt ; vous pourrez annuler sans frais pendant un moment.{{else if eq .Mode "FIRST_TO_CLAIM"}} Tous ` +
			`peuvent la prendre : premier arrivé, premier servi.{{else}} Nous vous la gardons pendant un temps ` +
			`limité, en attendant votre réponse.{{end}}

Quand : {{.When}}{{if .EndTime}} – {{.EndTime}}{{end}}
Où : {{.Location}}{{if .Resource}}, {{.Resource}}{{end}}{{if .Address}}, {{.Address}}{{end}}{{if .Coach}}
Avec : {{.Coach}}{{end}}{{if gt .Party 1}}
Pour : {{.Party}} personnes{{end}}

Vos réservations : {{.Link}}

{{.Tenant}}`,
	},
	notify.Promoted: {
		name: "places obtenues de la liste d’attente",
		sms: "{{.Tenant}} : une place s'est libérée pour {{.Title}}, elle est à vous : {{.When}}." +
			"{{if .CancelBy}} Annulation gratuite jusqu'à {{.CancelBy}}.{{end}}",
		title: "La place est à vous : {{.Title}}",
		push: "Une place s'est libérée : {{.When}}{{if .CancelBy}}. Annulation gratuite jusqu'à " +
			"{{.CancelBy}}{{end}}",
		subject: "La place est à vous : {{.Title}}, {{.When}}",
		mail: `Bonjour {{.Name}},

bonne nouvelle : une place s'est libérée pour {{.Title}}, et elle est à vous. Vous n'avez rien à faire.

` + sessionFrench + `

Un empêchement ? {{if .CancelBy}}L'annulation est gratuite jusqu'à {{.CancelBy}}. {{end}}Merci de rendre la place ` +
			`rapidement pour qu'une autre personne en profite : {{.Link}}

À bientôt,
{{.Tenant}}`,
	},
	notify.Offered: {
		name: "offres de places libres",
		sms: "{{.Tenant}} : {{.Title}}, {{.When}}, libre jusqu'à {{.ExpiresAt}}. Répondez 1 {{.Code}}: oui, " +
			"2 {{.Code}}: non ou {{.ClaimURL}}",
		title:   "Une place pour vous : {{.Title}}",
		push:    "{{.When}}. Gardée jusqu'à {{.ExpiresAt}} : touchez pour la prendre.",
		subject: "Une place pour vous : {{.Title}}, {{.When}}",
		mail: `Bonjour {{.Name}},

une place s'est libérée pour {{.Title}}. Nous vous la gardons jusqu'à {{.ExpiresAt}}.

` + sessionFrench + `

Accepter ou refuser : {{.ClaimURL}}

Sans réponse avant {{.ExpiresAt}}, elle sera proposée à la personne suivante.

{{.Tenant}}`,
	},
	notify.OfferExpiring: {
		name: "offres bientôt terminées",
		sms: "{{.Tenant}} : {{.Title}}, {{.When}}, plus que {{.Minutes}} min. Répondez 1 {{.Code}}: oui, 2 " +
			"{{.Code}}: non ou {{.ClaimURL}}",
		title:   "Plus que {{.Minutes}} minutes : {{.Title}}",
		push:    "Votre place, {{.When}}, est gardée jusqu'à {{.ExpiresAt}}.",
		subject: "Plus que {{.Minutes}} minutes : {{.Title}}",
		mail: `Bonjour {{.Name}},

la place pour {{.Title}} vous est gardée jusqu'à {{.ExpiresAt}}. Ensuite, elle sera proposée à la personne suivante.

` + sessionFrench + `

Accepter ou refuser : {{.ClaimURL}}

{{.Tenant}}`,
	},
	notify.BookingCancelled: {
		name: "réservations annulées",
		sms: "{{.Tenant}} : votre {{if .Waitlist}}place sur la liste d'attente{{else}}réservation{{end}}, " +
			"{{.Title}}, {{.When}}, est annulée.{{if .Refunded}} Votre crédit est rendu.{{end}}",
		title:   "Annulé : {{.Title}}",
		push:    "{{.When}}{{if .Refunded}}. Votre crédit est rendu.{{end}}",
		subject: "Annulé : {{.Title}}, {{.When}}",
		mail: `Bonjour {{.Name}},

votre {{if .Waitlist}}place sur la liste d'attente{{else}}réservation{{end}} pour {{.Title}}, {{.When}}, est annulée.

{{if .Reason}}Motif : {{.Reason}}{{end}}

{{if .Refunded}}Votre crédit est de nouveau sur votre compte.{{else if .Late}}Le délai d'annulation était ` +
			`dépassé : le crédit est consommé.{{end}}

Trouver un autre horaire : {{.Link}}

{{.Tenant}}`,
	},
	notify.SessionCancelled: {
		name: "séances annulées",
		sms: "{{.Tenant}} : {{.Title}}, {{.When}}, n'aura pas lieu.{{if .Refunded}} Votre crédit est rendu." +
			"{{end}} Toutes nos excuses.",
		title:   "N'aura pas lieu : {{.Title}}",
		push:    "{{.When}} est annulé.{{if .Reason}} {{.Reason}}{{end}}",
		subject: "N'aura pas lieu : {{.Title}}, {{.When}}",
		mail: `Bonjour {{.Name}},

nous sommes désolés : {{.Title}}, {{.When}}, n'aura pas lieu.

{{if .Reason}}Motif : {{.Reason}}{{end}}

{{if .Refunded}}Votre crédit est de nouveau sur votre compte.{{end}}

Trouver un autre horaire : {{.Link}}

{{.Tenant}}`,
	},
	notify.Rescheduled: {
		name:    "horaires modifiés",
		sms:     "{{.Tenant}} : {{.Title}} a lieu {{.When}}, {{.Location}}.{{if .OldWhen}} Avant : {{.OldWhen}}.{{end}}",
		title:   "Modifié : {{.Title}}",
		push:    "Désormais {{.When}}, {{.Location}}",
		subject: "Modifié : {{.Title}} a lieu {{.When}}",
		mail: `Bonjour {{.Name}},

votre réservation pour {{.Title}} a changé.{{if .OldWhen}} L'horaire précédent était {{.OldWhen}}.{{end}}

` + sessionFrench + `

Vos réservations : {{.Link}}

À bientôt,
{{.Tenant}}`,
	},
	notify.Reminder: {
		name:    "rappels",
		sms:     "{{.Tenant}} : {{.Title}} commence {{.In}}, à {{.Time}}. {{.Location}}",
		title:   "{{.Title}} {{.In}}",
		push:    "{{.When}}, {{.Location}}",
		subject: "Rappel : {{.Title}}, {{.When}}",
		mail: `Bonjour {{.Name}},

{{.Title}} commence {{.In}}.

` + sessionFrench + `

Un empêchement ? {{.Link}}

À bientôt,
{{.Tenant}}`,
	},
	notify.CheckInOpen: {
		name:    "enregistrement",
		sms:     "{{.Tenant}} : l'enregistrement pour {{.Title}} à {{.Time}} est ouvert.",
		title:   "L'enregistrement est ouvert",
		push:    "{{.Title}}, {{.Time}}, {{.Location}}",
		subject: "L'enregistrement est ouvert : {{.Title}}, {{.Time}}",
		mail: `Bonjour {{.Name}},

l'enregistrement pour {{.Title}} est ouvert.

` + sessionFrench + `

{{.Link}}

À tout de suite,
{{.Tenant}}`,
	},
	notify.CreditsLow: {
		name: "crédits bientôt épuisés",
		sms: "{{.Tenant}} : {{if eq .Balance 0}}vous n'avez plus de crédits{{else if eq .Balance 1}}il vous " +
			"reste 1 crédit{{else}}il vous reste {{.Balance}} crédits{{end}} ({{.Plan}}).",
		title: "{{if eq .Balance 0}}Plus de crédits{{else if eq .Balance 1}}Il vous reste 1 crédit{{else}}Il " +
			"vous reste {{.Balance}} crédits{{end}}",
		push: "{{.Plan}}, {{.Tenant}}",
		subject: "{{if eq .Balance 0}}Plus de crédits{{else if eq .Balance 1}}Il vous reste 1 crédit" +
			"{{else}}Il vous reste {{.Balance}} crédits{{end}} : {{.Plan}}",
		mail: `Bonjour {{.Name}},

{{if eq .Balance 0}}vous avez utilisé votre dernier crédit{{else if eq .Balance 1}}il vous reste 1 crédit` +
			`{{else}}il vous reste {{.Balance}} crédits{{end}} ({{.Plan}}).

Vos formules : {{.Link}}

{{.Tenant}}`,
	},
	notify.StaffNote: {
		name:    "notes pour l’équipe",
		sms:     "{{.Title}}, {{.When}} : {{.Note}}",
		title:   "{{.Title}}, {{.When}}",
		push:    "{{.Note}}",
		subject: "{{.Title}}, {{.When}} : à regarder",
		mail: `Bonjour {{.Name}},

{{.Note}}

` + sessionFrench + `

{{.Link}}

{{.Tenant}}`,
	},
	notify.ContactCode: {
		sms:     "{{.Tenant}} : votre code est {{.Code}}. Valable {{.Minutes}} minutes. Ne le donnez à personne.",
		subject: "{{.Code}} est votre code pour {{.Tenant}}",
		mail: `Bonjour {{.Name}},

votre code pour {{.Tenant}} est {{.Code}}. Il est valable {{.Minutes}} minutes.

Ou ouvrez cette page : {{.ConfirmURL}}

Si vous n’avez pas saisi cette adresse chez {{.Tenant}}, vous n’avez rien à faire.`,
	},
	notify.ContactChanged: {
		sms:     "{{.Tenant}} : votre numéro de téléphone va être modifié ou supprimé. Ce n'était pas vous ? Contactez-nous.",
		subject: "Votre adresse e-mail chez {{.Tenant}} va être modifiée",
		mail: `Bonjour {{.Name}},

votre adresse e-mail chez {{.Tenant}} va être modifiée ou supprimée. Si c’était vous, vous n’avez rien à faire.

Sinon, contactez-nous : {{.Link}}

{{.Tenant}}`,
	},
	notify.DomainLapsed: {
		subject: "Les e-mails ne viennent plus de {{.From}}",
		mail: `Bonjour {{.Name}},

les enregistrements DNS de votre domaine d’envoi manquent depuis 3 jours. Les e-mails de {{.Tenant}} ne viennent ` +
			`donc plus de {{.From}}, mais de l’adresse de la plateforme. Aucun n’a été perdu.

Publiez à nouveau les enregistrements, puis vérifiez le domaine sous Messages, Expéditeurs : {{.Link}}

{{.Tenant}}`,
	},
	notify.QuotaReached: {
		subject: "Les codes ne sont plus envoyés",
		mail: `Bonjour {{.Name}},

en 24 heures, {{.Tenant}} a envoyé {{.Used}} {{if .ByPhone}}SMS{{else}}e-mails{{end}}{{if .Country}} vers ` +
			`{{.Country}}{{end}}, trois fois son quota de {{.Limit}}. Les codes, avec lesquels les membres confirment leurs ` +
			`contacts, et les messages de test ne sont donc plus envoyés jusqu’à ce qu’il y en ait moins. Les autres ` +
			`messages le sont.

Si vous n’en connaissez pas la raison, consultez le journal sous Messages : {{.Link}}

{{.Tenant}}`,
	},
	notify.WaitlistEnded: {
		name:    "fins d'attente",
		sms:     "{{.Tenant}} : aucune place ne s'est libérée pour vous, {{.Title}}, {{.When}}. Votre attente est terminée.",
		title:   "Pas de place cette fois : {{.Title}}",
		push:    "Aucune place ne s'est libérée pour vous, {{.When}}. Vous n'êtes plus sur la liste d'attente.",
		subject: "Pas de place cette fois : {{.Title}}, {{.When}}",
		mail: `Bonjour {{.Name}},

nous sommes désolés : aucune place ne s'est libérée pour vous pour {{.Title}}, {{.When}}. Vous n'êtes plus sur la ` +
			`liste d'attente, et rien n'a été réservé.

Trouver un autre horaire : {{.Link}}

{{.Tenant}}`,
	},
	notify.AccessChanged: {
		name:    "direction de l’organisation",
		sms:     "{{.Tenant}} : {{.Change}}",
		title:   "Direction de {{.Tenant}}",
		push:    "{{.Change}}",
		subject: "Changement à la direction de {{.Tenant}}",
		mail: `Bonjour {{.Name}},

{{.Change}}

Rôles et journal : {{.Link}}

Si vous ne vous y attendiez pas, parlez-en aux propriétaires.

{{.Tenant}}`,
	},
}
