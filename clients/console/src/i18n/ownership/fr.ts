import type { OwnershipTexts } from "../ownership";

export const fr: OwnershipTexts = {
  offered: (name: string) => `${name} vous propose de devenir propriétaire`,
  offeredNote: (name: string, until: string) =>
    `Vous aurez tous ses droits, et ${name} sera administrateur. Vous pouvez confirmer jusqu’au ${until}.`,
  confirm: "Devenir propriétaire",
  confirmed: "Vous êtes propriétaire",
  decline: "Refuser",
  transfer: "Transférer la propriété",
  transferTitle: (name: string) => `Nommer ${name} propriétaire à votre place ?`,
  transferBody:
    "Rien ne change avant sa confirmation, sous 7 jours. Vous serez alors administrateur. Tous les propriétaires en sont informés.",
  waiting: (name: string) => `${name} peut confirmer le transfert jusqu’au`,
  withdraw: "Retirer",
  started: (name: string) => `${name} peut confirmer maintenant`,
};
