import { fr as s } from "../../../shared/i18n/count";
import type { en } from "./en";

export const fr: typeof en = {
  timeWindow: {
    title: "Attendre une plage horaire",
    note:
      "Choisissez les jours et horaires qui vous conviennent. Dès qu’une place se libère, nous " +
      "la réservons pour vous ou vous la proposons.",
    first: "Du",
    last: "Au",
    earliest: "Début après",
    latest: "Début avant",
    coach: "Coach",
    anyCoach: "Peu importe",
    join: "Liste d’attente",
    joined: (position) => `Vous êtes numéro ${position} en liste d’attente.`,
    free: (title) => `${title} a des places libres.`,
    see: "Voir la séance",
    days: (first, last) => (first === last ? first : `${first} au ${last}`),
    times: (earliest, latest) => `${earliest} à ${latest}`,
    anyTime: "à toute heure",
    anyOf: (n) => `L’une de ${s(n, "séance")}`,
  },
  any: {
    title: "Attendre l’une de plusieurs séances",
    note: "Choisissez des séances complètes. Dès que vous avez une place, vous quittez la liste d’attente des autres.",
    none: "Aucune séance complète avec liste d’attente",
    join: (n) => (n > 1 ? `Liste d’attente pour l’une des ${n}` : "Liste d’attente"),
    here: "Attendre l’une de plusieurs séances",
    or: "Ou choisir plusieurs séances complètes",
  },
};
