package content

// platformMails are the texts of the platform's mails, by language. Only the platform words them.
var platformMails = map[string]map[MailKind]texts{
	"en": {
		MailCode: {
			subject: "Your code to sign in",
			mail: `Hello{{if .Name}} {{.Name}}{{end}},

your code to sign in is:

{{.Code}}

It is good for ten minutes. Enter it only on the page where you asked for it, and tell it to nobody: the staff of ` +
				`{{.Tenant}} never ask for it.

Did you not ask for a code? Then ignore this mail. Nobody can sign in without the code.`,
		},
		MailInvitation: {
			subject: "Your invitation to {{.Tenant}}",
			mail: `Hello{{if .Name}} {{.Name}}{{end}},

{{.Tenant}} invites you. Confirm your email address and sign in:

Accept the invitation: {{.Link}}

The link is for you alone and works once, until {{.Until}}.

Do you not know {{.Tenant}}? Then ignore this mail.`,
		},
		MailPasskeyAdded: {
			subject: "A passkey was added to your account at {{.Tenant}}",
			mail: `Hello{{if .Name}} {{.Name}}{{end}},

a passkey was added to your account at {{.Tenant}}. It signs in without a code.

Was that not you? Then sign in, remove the passkey, end all sign-ins, and tell {{.Tenant}} about it.`,
		},
		MailAddressChanged: {
			subject: "The email address of your account at {{.Tenant}} was changed",
			mail: `Hello{{if .Name}} {{.Name}}{{end}},

the email address of your account at {{.Tenant}} was changed to {{.Address}}.
{{if .Link}}
Unless you agree, nobody can sign in with the new address before {{.Until}}.

Agree or refuse: {{.Link}}
{{else}}
Did you not want that? Then please tell {{.Tenant}} about it.
{{end}}`,
		},
		MailAccountLinked: {
			subject: "Your account at {{.Tenant}} has a new sign-in",
			mail: `Hello{{if .Name}} {{.Name}}{{end}},

the account with which you have just signed in was linked to your membership at {{.Tenant}}. It signs in from now on.

Was that not you? Then please tell {{.Tenant}} about it at once.`,
		},
	},
	"de": {
		MailCode: {
			subject: "Ihr Code zum Anmelden",
			mail: `Guten Tag{{if .Name}} {{.Name}}{{end}},

Ihr Code zum Anmelden lautet:

{{.Code}}

Er gilt zehn Minuten. Geben Sie ihn nur auf der Seite ein, auf der Sie ihn angefordert haben, und sagen Sie ihn ` +
				`niemandem: Das Team von {{.Tenant}} fragt nie danach.

Sie haben keinen Code angefordert? Dann ignorieren Sie diese Mail. Ohne den Code kann sich niemand anmelden.`,
		},
		MailInvitation: {
			subject: "Ihre Einladung zu {{.Tenant}}",
			mail: `Guten Tag{{if .Name}} {{.Name}}{{end}},

{{.Tenant}} lädt Sie ein. Bestätigen Sie Ihre E-Mail-Adresse und melden Sie sich an:

Einladung annehmen: {{.Link}}

Der Link ist nur für Sie bestimmt und lässt sich einmal verwenden, bis {{.Until}}.

Sie kennen {{.Tenant}} nicht? Dann ignorieren Sie diese Mail.`,
		},
		MailPasskeyAdded: {
			subject: "Neuer Passkey für Ihr Konto bei {{.Tenant}}",
			mail: `Guten Tag{{if .Name}} {{.Name}}{{end}},

zu Ihrem Konto bei {{.Tenant}} wurde ein Passkey hinzugefügt. Mit ihm meldet man sich ohne Code an.

Das waren nicht Sie? Dann melden Sie sich an, entfernen Sie den Passkey, beenden Sie alle Anmeldungen und sagen Sie ` +
				`{{.Tenant}} Bescheid.`,
		},
		MailAddressChanged: {
			subject: "Die E-Mail-Adresse Ihres Kontos bei {{.Tenant}} wurde geändert",
			mail: `Guten Tag{{if .Name}} {{.Name}}{{end}},

die E-Mail-Adresse Ihres Kontos bei {{.Tenant}} wurde in {{.Address}} geändert.
{{if .Link}}
Solange Sie nicht zustimmen, kann sich vor {{.Until}} niemand mit der neuen Adresse anmelden.

Zustimmen oder ablehnen: {{.Link}}
{{else}}
Das wollten Sie nicht? Dann sagen Sie bitte {{.Tenant}} Bescheid.
{{end}}`,
		},
		MailAccountLinked: {
			subject: "Neue Anmeldung für Ihr Konto bei {{.Tenant}}",
			mail: `Guten Tag{{if .Name}} {{.Name}}{{end}},

das Konto, mit dem Sie sich gerade angemeldet haben, ist jetzt mit Ihrer Mitgliedschaft bei {{.Tenant}} verbunden. ` +
				`Sie melden sich von nun an damit an.

Das waren nicht Sie? Dann sagen Sie bitte sofort {{.Tenant}} Bescheid.`,
		},
	},
	"fr": {
		MailCode: {
			subject: "Votre code de connexion",
			mail: `Bonjour{{if .Name}} {{.Name}}{{end}},

votre code de connexion est :

{{.Code}}

Il est valable dix minutes. Saisissez-le uniquement sur la page où vous l’avez demandé et ne le communiquez à ` +
				`personne : l’équipe de {{.Tenant}} ne le demande jamais.

Vous n’avez pas demandé de code ? Ignorez cet e-mail. Sans le code, personne ne peut se connecter.`,
		},
		MailInvitation: {
			subject: "Votre invitation chez {{.Tenant}}",
			mail: `Bonjour{{if .Name}} {{.Name}}{{end}},

{{.Tenant}} vous invite. Confirmez votre adresse e-mail et connectez-vous :

Accepter l’invitation : {{.Link}}

Le lien est pour vous seul et ne sert qu’une fois, jusqu’au {{.Until}}.

Vous ne connaissez pas {{.Tenant}} ? Ignorez cet e-mail.`,
		},
		MailPasskeyAdded: {
			subject: "Une clé d’accès a été ajoutée à votre compte chez {{.Tenant}}",
			mail: `Bonjour{{if .Name}} {{.Name}}{{end}},

une clé d’accès a été ajoutée à votre compte chez {{.Tenant}}. Elle permet de se connecter sans code.

Ce n’était pas vous ? Connectez-vous, supprimez la clé d’accès, mettez fin à toutes les connexions et prévenez ` +
				`{{.Tenant}}.`,
		},
		MailAddressChanged: {
			subject: "L’adresse e-mail de votre compte chez {{.Tenant}} a changé",
			mail: `Bonjour{{if .Name}} {{.Name}}{{end}},

l’adresse e-mail de votre compte chez {{.Tenant}} a été remplacée par {{.Address}}.
{{if .Link}}
Sans votre accord, personne ne peut se connecter avec la nouvelle adresse avant le {{.Until}}.

Accepter ou refuser : {{.Link}}
{{else}}
Vous ne le vouliez pas ? Prévenez {{.Tenant}}.
{{end}}`,
		},
		MailAccountLinked: {
			subject: "Nouvelle connexion à votre compte chez {{.Tenant}}",
			mail: `Bonjour{{if .Name}} {{.Name}}{{end}},

le compte avec lequel vous venez de vous connecter est désormais lié à votre adhésion chez {{.Tenant}}. Il ` +
				`vous connecte maintenant.

Ce n’était pas vous ? Prévenez {{.Tenant}} sans attendre.`,
		},
	},
}
