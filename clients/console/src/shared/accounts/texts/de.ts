import type { SignInMethod } from "@berthhq/client";
import type { en } from "./en";

export const de: typeof en = {
  contact: {
    code: "Code",
    waiting: (address: string) =>
      `${address} wartet auf die Bestätigung. Geben Sie den Code ein, den wir dorthin geschickt haben.`,
    needed: "Bestätigen Sie, dass das Ihre ist. Geben Sie den Code ein, den wir geschickt haben.",
    confirm: "Bestätigen",
    resend: "Neuen Code senden",
    cancel: "Verwerfen",
    done: "Bestätigt",
    sent: "Ein neuer Code ist unterwegs",
    confirmed: "Bestätigt",
    unconfirmed: "Nicht bestätigt",
    prove: "Bestätigen",
  },
  signIns: {
    tab: "Anmeldungen",
    own: "Wo Sie angemeldet sind",
    title: "Wo die Person angemeldet ist",
    none: "Nicht bei Berth angemeldet.",
    used: "Zuletzt benutzt",
    since: "seit",
    current: "Dieser Browser",
    unknown: "Unbekannter Browser",
    end: "Abmelden",
    endOthers: "Überall sonst abmelden",
    endAll: "Überall abmelden",
    endOthersTitle: "Überall sonst abmelden?",
    endAllTitle: "Diese Person überall abmelden?",
    endBody: "Was dort offen ist, endet innerhalb einer Viertelstunde.",
    ended: "Abgemeldet",
    methods: {
      0: "",
      1: "mit Code",
      2: "mit Passkey",
      3: "mit Einladung",
    } satisfies Record<SignInMethod, string>,
  },
  ownership: {
    offered: (name: string) => `${name} möchte, dass Sie Inhaber werden`,
    offeredNote: (name: string, until: string) =>
      `Sie bekommen alle Rechte, ${name} wird Admin. Sie können es bis ${until} bestätigen.`,
    confirm: "Inhaber werden",
    confirmed: "Sie sind jetzt Inhaber",
    decline: "Ablehnen",
    transfer: "Inhaberschaft übergeben",
    transferTitle: (name: string) => `${name} an Ihrer Stelle zum Inhaber machen?`,
    transferBody:
      "Es ändert sich nichts, bis die Person es bestätigt, innerhalb von 7 Tagen. Dann sind Sie Admin. Alle Inhaber erfahren davon.",
    waiting: (name: string) => `${name} kann die Übergabe bestätigen bis`,
    withdraw: "Zurückziehen",
    started: (name: string) => `${name} kann es jetzt bestätigen`,
  },
};
