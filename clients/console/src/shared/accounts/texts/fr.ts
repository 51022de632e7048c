import type { SignInMethod } from "@berthhq/client";
import type { en } from "./en";

export const fr: typeof en = {
  contact: {
    code: "Code",
    waiting: (address: string) =>
      `${address} attend une confirmation. Saisissez le code que nous y avons envoyé.`,
    needed: "Confirmez que c’est le vôtre. Saisissez le code que nous avons envoyé.",
    confirm: "Confirmer",
    resend: "Envoyer un nouveau code",
    cancel: "Abandonner",
    done: "Confirmé",
    sent: "Un nouveau code est en route",
    confirmed: "Confirmé",
    unconfirmed: "Non confirmé",
    prove: "Confirmer",
  },
  signIns: {
    tab: "Connexions",
    own: "Où vous êtes connecté",
    title: "Où cette personne est connectée",
    none: "Pas de connexion avec Berth.",
    used: "Dernière utilisation",
    since: "depuis",
    current: "Ce navigateur",
    unknown: "Navigateur inconnu",
    end: "Déconnecter",
    endOthers: "Déconnecter partout ailleurs",
    endAll: "Déconnecter partout",
    endOthersTitle: "Déconnecter partout ailleurs ?",
    endAllTitle: "Déconnecter cette personne partout ?",
    endBody: "Ce qui y est ouvert se termine en un quart d’heure.",
    ended: "Déconnecté",
    methods: {
      0: "",
      1: "par code",
      2: "par clé d’accès",
      3: "par invitation",
    } satisfies Record<SignInMethod, string>,
  },
  ownership: {
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
  },
};
