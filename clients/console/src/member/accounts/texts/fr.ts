import type { en } from "./en";

export const fr: typeof en = {
  calendar: {
    title: "Agenda",
    note: "Vos réservations dans l’agenda de votre téléphone ou ordinateur, toujours à jour.",
    secret:
      "Toute personne ayant ce lien peut voir vos réservations. Il n’est affiché qu’une fois.",
    address: "Lien d’agenda",
    make: "Créer un lien",
    open: "Vous avez un lien d’agenda. Les agendas qui l’utilisent restent à jour.",
    add: "Ajouter à mon agenda",
    renew: "Nouveau lien",
    renewTitle: "Créer un nouveau lien ?",
    renewBody: "Les agendas qui utilisent l’ancien lien ne seront plus mis à jour.",
    revoke: "Supprimer le lien",
    revokeTitle: "Supprimer le lien d’agenda ?",
    revokeBody: "Les agendas qui l’utilisent ne seront plus mis à jour.",
    revoked: "Lien d’agenda supprimé",
    copied: "Copié",
  },
};
