import { fr as s } from "../../../shared/i18n/count";
import type { en } from "./en";

export const fr: typeof en = {
  invite: {
    send: "Envoyer une invitation par e-mail",
    note: "L’e-mail contient un lien qui confirme l’adresse et connecte. Il sert une fois, pendant sept jours.",
    noteTo: (email) =>
      `L’e-mail à ${email} contient un lien qui confirme l’adresse et connecte. Il sert une fois, pendant sept jours.`,
    sent: (emails: readonly string[]) =>
      emails.length === 1
        ? `Invitation envoyée à ${emails[0]}`
        : `${emails.length} invitations envoyées`,
  },
  ui: {
    when: "Date",
    who: "Auteur",
    lastDays: (n) => `${n} derniers jours`,
    byService: "Par prestation",
    byLocation: "Par lieu",
    name: "Nom",
    none: "Aucune donnée sur cette période",
    noMembers: "Aucun membre trouvé",
    price: "Prix",
    credits: (n) => s(n, "crédit"),
    yes: "Oui",
    no: "Non",
    pending: (n) => s(n, "modification non enregistrée", "modifications non enregistrées"),
    allLocations: "Tous les lieux",
    zone: (zone, name) => `Heures de ${zone} (${name})`,
    days: "Jours",
    noLimit: "sans limite",
    member: "Membre",
    party: "Places",
    findMember: "Nom, e-mail ou téléphone",
    unverified: "non vérifié",
    guest: "Invité",
    channel: { 0: "", 1: "En ligne", 2: "Téléphone", 3: "Sur place" },
    staffNote: "Note pour l’équipe",
    membershipNumber: "Numéro d’adhérent",
  },
};
