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
