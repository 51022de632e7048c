import type { OwnershipTexts } from "../ownership";

export const de: OwnershipTexts = {
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
};
