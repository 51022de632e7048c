package content

import (
	"github.com/berthhq/berth/internal/rules/notify"
)

// sessionEnglish is the part of mails with the session's time and place.
const sessionEnglish = `When: {{.When}} – {{.EndTime}}
Where: {{.Location}}{{if .Resource}}, {{.Resource}}{{end}}{{if .Address}}, {{.Address}}{{end}}{{if .Coach}}
With: {{.Coach}}{{end}}{{if gt .Party 1}}
For: {{.Party}} people{{end}}`

// defaultsEnglish are the default texts in English.
var defaultsEnglish = map[notify.Topic]texts{
	notify.BookingConfirmed: {
		name:    "new bookings",
		sms:     "{{.Tenant}}: {{.Title}} is booked for {{.When}}. See you there!",
		title:   "Booked: {{.Title}}",
		push:    "{{.When}}, {{.Location}}",
		subject: "Booked: {{.Title}}, {{.When}}",
		mail: `Hello {{.Name}},

your place in {{.Title}} is booked.

` + sessionEnglish + `

Your bookings: {{.Link}}

See you there,
{{.Tenant}}`,
	},
	notify.Waitlisted: {
		name: "places on a waitlist",
		sms: "{{.Tenant}}: you are number {{.Position}} on the waitlist for {{.Title}}, {{.When}}. We'll be " +
			"in touch if a place comes free.",
		title:   "On the waitlist: {{.Title}}",
		push:    "Number {{.Position}} for {{.When}}",
		subject: "On the waitlist: {{.Title}}, {{.When}}",
		mail: `Hello {{.Name}},

{{.Title}} is full at the moment. You are number {{.Position}} on the waitlist, and you will hear from us ` +
			`as soon as a place comes free for you.{{if eq .Mode "AUTO_PROMOTE"}} We book it for you at once; you can ` +
			`cancel for a while for free.{{else if eq .Mode "FIRST_TO_CLAIM"}} All who wait can take it: the first to ` +
			`claim it gets it.{{else}} We keep it for you until you answer, for a limited time.{{end}}

When: {{.When}}{{if .EndTime}} – {{.EndTime}}{{end}}
Where: {{.Location}}{{if .Resource}}, {{.Resource}}{{end}}{{if .Address}}, {{.Address}}{{end}}{{if .Coach}}
With: {{.Coach}}{{end}}{{if gt .Party 1}}
For: {{.Party}} people{{end}}

Your bookings: {{.Link}}

{{.Tenant}}`,
	},
	notify.Promoted: {
		name: "places from the waitlist",
		sms: "{{.Tenant}}: you're in! A place in {{.Title}} came free and is booked for you: {{.When}}." +
			"{{if .CancelBy}} Free to cancel until {{.CancelBy}}.{{end}}",
		title:   "You're in: {{.Title}}",
		push:    "A place came free and is yours: {{.When}}{{if .CancelBy}}. Free to cancel until {{.CancelBy}}{{end}}",
		subject: "You're in: {{.Title}}, {{.When}}",
		mail: `Hello {{.Name}},

good news: a place in {{.Title}} came free, and it is yours. You don't need to do anything.

` + sessionEnglish + `

Can't make it? {{if .CancelBy}}Cancelling is free until {{.CancelBy}}. {{end}}Please give the place back soon, so ` +
			`that someone else can have it: {{.Link}}

See you there,
{{.Tenant}}`,
	},
	notify.Offered: {
		name: "offers of free places",
		sms: "{{.Tenant}}: {{.Title}}, {{.When}} is yours until {{.ExpiresAt}}. Reply 1 {{.Code}}: yes, 2 " +
			"{{.Code}}: no, or {{.ClaimURL}}",
		title:   "A place for you: {{.Title}}",
		push:    "{{.When}}. Yours until {{.ExpiresAt}}: tap to take it.",
		subject: "A place for you: {{.Title}}, {{.When}}",
		mail: `Hello {{.Name}},

a place in {{.Title}} has come free, and we are keeping it for you until {{.ExpiresAt}}.

` + sessionEnglish + `

Take it or pass: {{.ClaimURL}}

Without an answer by {{.ExpiresAt}} it goes to the next person in line.

{{.Tenant}}`,
	},
	notify.OfferExpiring: {
		name: "expiring offers",
		sms: "{{.Tenant}}: {{.Title}}, {{.When}} is yours for {{.Minutes}} more min. Reply 1 {{.Code}}: yes, " +
			"2 {{.Code}}: no, or {{.ClaimURL}}",
		title:   "{{.Minutes}} minutes left: {{.Title}}",
		push:    "Your place on {{.When}} is kept until {{.ExpiresAt}}.",
		subject: "{{.Minutes}} minutes left: {{.Title}}",
		mail: `Hello {{.Name}},

the place in {{.Title}} is kept for you until {{.ExpiresAt}}. After that it goes to the next person in line.

` + sessionEnglish + `

Take it or pass: {{.ClaimURL}}

{{.Tenant}}`,
	},
	notify.BookingCancelled: {
		name: "cancelled bookings",
		sms: "{{.Tenant}}: your {{if .Waitlist}}place on the waitlist{{else}}booking{{end}} for {{.Title}}, " +
			"{{.When}} is cancelled.{{if .Refunded}} Your credit is back.{{end}}",
		title:   "Cancelled: {{.Title}}",
		push:    "{{.When}}{{if .Refunded}}. Your credit is back.{{end}}",
		subject: "Cancelled: {{.Title}}, {{.When}}",
		mail: `Hello {{.Name}},

your {{if .Waitlist}}place on the waitlist{{else}}booking{{end}} for {{.Title}} on {{.When}} is cancelled.

{{if .Reason}}Reason: {{.Reason}}{{end}}

{{if .Refunded}}Your credit is back on your account.{{else if .Late}}It was too late to cancel for free, so ` +
			`the credit is used.{{end}}

Find another time: {{.Link}}

{{.Tenant}}`,
	},
	notify.SessionCancelled: {
		name: "cancelled sessions",
		sms: "{{.Tenant}}: we are sorry, {{.Title}}, {{.When}} has been cancelled.{{if .Refunded}} Your " +
			"credit is back.{{end}}",
		title:   "Session cancelled: {{.Title}}",
		push:    "{{.When}} has been cancelled.{{if .Reason}} {{.Reason}}{{end}}",
		subject: "Session cancelled: {{.Title}}, {{.When}}",
		mail: `Hello {{.Name}},

we are sorry: {{.Title}} on {{.When}} has been cancelled.

{{if .Reason}}Reason: {{.Reason}}{{end}}

{{if .Refunded}}Your credit is back on your account.{{end}}

Find another time: {{.Link}}

{{.Tenant}}`,
	},
	notify.Rescheduled: {
		name:    "changed times",
		sms:     "{{.Tenant}}: {{.Title}} is now on {{.When}}, {{.Location}}.{{if .OldWhen}} It was {{.OldWhen}}.{{end}}",
		title:   "Changed: {{.Title}}",
		push:    "Now {{.When}}, {{.Location}}",
		subject: "Changed: {{.Title}} is now on {{.When}}",
		mail: `Hello {{.Name}},

your booking of {{.Title}} has changed.{{if .OldWhen}} It was on {{.OldWhen}}.{{end}}

` + sessionEnglish + `

Your bookings: {{.Link}}

See you there,
{{.Tenant}}`,
	},
	notify.Reminder: {
		name:    "reminders",
		sms:     "{{.Tenant}}: {{.Title}} starts {{.In}}, at {{.Time}}. {{.Location}}",
		title:   "{{.Title}} {{.In}}",
		push:    "{{.When}}, {{.Location}}",
		subject: "Reminder: {{.Title}}, {{.When}}",
		mail: `Hello {{.Name}},

{{.Title}} starts {{.In}}.

` + sessionEnglish + `

Can't make it? {{.Link}}

See you there,
{{.Tenant}}`,
	},
	notify.CheckInOpen: {
		name:    "check-in",
		sms:     "{{.Tenant}}: check-in for {{.Title}} at {{.Time}} is open.",
		title:   "Check-in is open",
		push:    "{{.Title}}, {{.Time}}, {{.Location}}",
		subject: "Check-in is open: {{.Title}}, {{.Time}}",
		mail: `Hello {{.Name}},

check-in for {{.Title}} is open.

` + sessionEnglish + `

{{.Link}}

See you there,
{{.Tenant}}`,
	},
	notify.CreditsLow: {
		name: "credits running low",
		sms: "{{.Tenant}}: {{if eq .Balance 0}}you have no credits left{{else if eq .Balance 1}}you have 1 " +
			"credit left{{else}}you have {{.Balance}} credits left{{end}} ({{.Plan}}).",
		title: "{{if eq .Balance 0}}No credits left{{else if eq .Balance 1}}1 credit left{{else}}" +
			"{{.Balance}} credits left{{end}}",
		push: "{{.Plan}}, {{.Tenant}}",
		subject: "{{if eq .Balance 0}}No credits left{{else if eq .Balance 1}}1 credit left{{else}}" +
			"{{.Balance}} credits left{{end}} on {{.Plan}}",
		mail: `Hello {{.Name}},

{{if eq .Balance 0}}you have used your last credit{{else if eq .Balance 1}}you have 1 credit left` +
			`{{else}}you have {{.Balance}} credits left{{end}} on {{.Plan}}.

Your plans: {{.Link}}

{{.Tenant}}`,
	},
	notify.StaffNote: {
		name:    "notes for staff",
		sms:     "{{.Title}}, {{.When}}: {{.Note}}",
		title:   "{{.Title}}, {{.When}}",
		push:    "{{.Note}}",
		subject: "{{.Title}}, {{.When}}: please have a look",
		mail: `Hello {{.Name}},

{{.Note}}

` + sessionEnglish + `

{{.Link}}

{{.Tenant}}`,
	},
	notify.ContactCode: {
		sms:     "{{.Tenant}}: your code is {{.Code}}. It is valid for {{.Minutes}} minutes. Give it to no one.",
		subject: "{{.Code}} is your code for {{.Tenant}}",
		mail: `Hello {{.Name}},

your code for {{.Tenant}} is {{.Code}}. It is valid for {{.Minutes}} minutes.

Or open this page: {{.ConfirmURL}}

If you have not entered this address at {{.Tenant}}, you need not do anything.`,
	},
	notify.ContactChanged: {
		sms:     "{{.Tenant}}: your phone number is being changed or removed. If that was not you, please contact us.",
		subject: "Your email address at {{.Tenant}} is being changed",
		mail: `Hello {{.Name}},

your email address at {{.Tenant}} is being changed or removed. If that was you, you need not do anything.

If it was not you, please contact us: {{.Link}}

{{.Tenant}}`,
	},
	notify.DomainLapsed: {
		subject: "Emails no longer come from {{.From}}",
		mail: `Hello {{.Name}},

the DNS records of your sending domain have been missing for 3 days. Emails of {{.Tenant}} therefore no longer come ` +
			`from {{.From}}, but from the platform’s address. None were lost.

Publish the records again, then verify the domain under Messages, Senders: {{.Link}}

{{.Tenant}}`,
	},
	notify.QuotaReached: {
		subject: "Codes are no longer sent",
		mail: `Hello {{.Name}},

in 24 hours, {{.Tenant}} has sent {{.Used}} {{if .ByPhone}}text messages{{else}}emails{{end}}{{if .Country}} to ` +
			`{{.Country}}{{end}}: three times as many as its quota of {{.Limit}}. Codes, with which members confirm their ` +
			`contacts, and test messages are therefore not sent until there are fewer. Other messages are.

If you do not know the reason, look at the delivery log under Messages: {{.Link}}

{{.Tenant}}`,
	},
	notify.WaitlistEnded: {
		name:    "the end of a wait",
		sms:     "{{.Tenant}}: no place came free for you in {{.Title}}, {{.When}}. You are no longer on the waitlist.",
		title:   "No place this time: {{.Title}}",
		push:    "No place came free for you, {{.When}}. You are no longer on the waitlist.",
		subject: "No place this time: {{.Title}}, {{.When}}",
		mail: `Hello {{.Name}},

we are sorry: no place came free for you in {{.Title}}, {{.When}}. You are no longer on the waitlist, and nothing ` +
			`was booked.

Find another time: {{.Link}}

{{.Tenant}}`,
	},
	notify.AccessChanged: {
		name:    "who runs the organization",
		sms:     "{{.Tenant}}: {{.Change}}",
		title:   "Who runs {{.Tenant}}",
		push:    "{{.Change}}",
		subject: "Who runs {{.Tenant}} has changed",
		mail: `Hello {{.Name}},

{{.Change}}

Roles and audit log: {{.Link}}

If you did not expect this, talk to the owners.

{{.Tenant}}`,
	},
}
