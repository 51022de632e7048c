import { fr as s } from "../count";
import type { Story } from "../story";

export const fr: Story = {
  triggers: {
    0: "",
    1: "Une réservation a été annulée",
    2: "Quelqu’un n’est pas venu",
    3: "Il y a plus de places",
    4: "De nouveau réservable",
    5: "Mise en vente",
    6: "La séance a changé",
    7: "Une mise en attente a expiré",
    8: "Une mise en attente a été levée",
    9: "Une réservation a été déplacée",
    10: "Une offre a été refusée",
    11: "Une offre a expiré",
    12: "Une offre a été retirée",
    13: "Proposée par l’équipe",
    14: "Trouvée lors d’un contrôle",
    15: "Les règles ont changé",
  },
  moves: {
    0: "",
    1: "Personne ne convient",
    2: "Donnée",
    3: "Transmise",
    4: "Rendue à l’équipe",
  },
  you: {
    ask: "Pourquoi ?",
    title: "Ce qui s’est passé jusqu’ici",
    none: "Aucune place ne s’est libérée depuis que vous attendez.",
    when: (when, what, seats) =>
      `${when} : ${what}${seats === undefined ? "" : `, ${s(seats, "place libre", "places libres")}`}.`,
    line: (rank, of) => `Vous étiez numéro ${rank} sur ${of}.`,
    before: (n, same) =>
      same
        ? `${s(n, "personne")} avant vous ${n < 2 ? "avait" : "avaient"} la même chance.`
        : `${s(n, "personne")} avant vous ${n < 2 ? "a" : "ont"} eu une place.`,
    promoted: (n) => `Vous avez eu ${s(n, "place")} aussitôt.`,
    offered: (n, until) => `On vous a proposé ${s(n, "place")}, jusqu’au ${until}.`,
    told: (n, until) =>
      `Vous avez été averti et pouviez prendre ${s(n, "place")} jusqu’au ${until}, au plus rapide.`,
    notChosen: (reason) => `Vous n’avez pas été choisi : ${reason}.`,
    reasons: {
      NO_SEATS_LEFT: "toutes les places sont allées à ceux qui vous précèdent",
      PARTY_SIZE: "votre groupe ne tient pas dans les places restantes",
      DOWN_FITTING: "ces places ne se donnent qu’ensemble",
      HAS_OFFER: "vous aviez déjà une autre proposition",
      SERVICE: "vous souhaitez une autre prestation",
      LOCATION: "vous souhaitez un autre lieu",
      RESOURCE: "vous souhaitez un autre terrain, une autre salle ou un autre siège",
      DATE: "vous souhaitez d’autres jours",
      TIME: "vous souhaitez une autre heure",
      STAFF_PREFERENCE: "vous souhaitez quelqu’un d’autre",
      MAX_OFFERS: "les règles n’autorisent plus de proposition pour un même souhait",
      TRIED: "ces places vous avaient déjà été proposées",
      NOT_ELIGIBLE: "les règles donnent ces places à d’autres",
      RULE_FAILED: "une règle n’a pas pu être évaluée ; l’équipe le sait",
      NO_TIME: "il restait trop peu de temps pour répondre",
      QUIET_HOURS: "c’était la nuit, et au matin il aurait été trop tard",
      TRY_CAP: "autant de personnes que les règles le permettent ont été consultées",
      NO_CASCADE: "l’équipe décide qui est consulté ensuite",
    },
  },
  staff: {
    open: (seats, line) =>
      `${seats === undefined ? "Places libres sans limite" : s(seats, "place libre", "places libres")}, ${line === 0 ? "personne" : s(line, "personne")} en file.`,
    tried: (n) =>
      `${s(n, "personne avait déjà été consultée", "personnes avaient déjà été consultées")} pour ces places.`,
    nobody: "Personne n’en a eu.",
    booked: (who) => `Inscription immédiate : ${who}.`,
    told: (who) => `Tous ceux qui convenaient ont été avertis, au plus rapide : ${who}.`,
    wentOn: (who) => `La proposition est passée à ${who}.`,
    offered: (who) => `Une proposition est allée à ${who}.`,
    got: (name, n, until) => `${name} (${s(n, "place")}${until && `, jusqu’au ${until}`})`,
    somebody: "quelqu’un",
    more: (n) => `${n} de plus`,
    chosen: "Choisi",
    passed: "Non choisi",
    verdicts: {
      booked: (n) => `a eu ${s(n, "place")} aussitôt`,
      offered: (n, until) => `s’est vu proposer ${s(n, "place")}${until && `, jusqu’au ${until}`}`,
      told: (n, until) =>
        `a été averti et pouvait prendre ${s(n, "place")}${until && ` jusqu’au ${until}`}, au plus rapide`,
    },
    left: {
      noLine: (n) => `${s(n, "place reste", "places restent")} : personne n’attend.`,
      noneElse: (n) => `${s(n, "place reste", "places restent")} : personne d’autre ne convient.`,
      none: (n, line) =>
        `${s(n, "place reste", "places restent")} : sur ${line} en file, personne ne convient.`,
      asked: (n, asked, why) =>
        `${s(n, "place reste", "places restent")} après ${s(asked, "personne consultée", "personnes consultées")} : ${why}.`,
    },
    spent: {
      cap: "les règles n’en permettent pas plus",
      staff: "les règles vous laissent choisir qui consulter ensuite",
      late: "il est trop tard pour consulter quelqu’un d’autre",
      list: "la liste est épuisée",
    },
    todo: (n) =>
      n < 2
        ? "Elle reste ouverte à tous : appelez quelqu’un, accueillez quelqu’un sur place ou proposez-la vous-même."
        : "Elles restent ouvertes à tous : appelez quelqu’un, accueillez sur place ou proposez-les vous-même.",
    would: {
      mode: (how) => `Les places auraient été données autrement : ${how}.`,
      gained: (who) => `Auraient été choisis à la place : ${who}.`,
      lost: (who) => `N’auraient pas été choisis : ${who}.`,
      move: (what) => `Cela aurait fini ainsi : ${what}.`,
    },
    modes: {
      0: "",
      1: "aussitôt, sans demander",
      2: "par propositions, l’une après l’autre",
      3: "au plus rapide",
    },
    reasons: {
      NO_SEATS_LEFT: "toutes les places libres sont allées à ceux qui précèdent",
      PARTY_SIZE: "le groupe ne tient pas dans les places restantes",
      DOWN_FITTING: "le groupe est plus petit que ce qui était libre et ne se donne qu’ensemble",
      HAS_OFFER: "avait déjà une autre proposition",
      SERVICE: "souhaite une autre prestation",
      LOCATION: "souhaite un autre lieu",
      RESOURCE: "souhaite un autre terrain, une autre salle ou un autre siège",
      DATE: "souhaite d’autres jours",
      TIME: "souhaite une autre heure",
      STAFF_PREFERENCE: "souhaite quelqu’un d’autre de l’équipe",
      MAX_OFFERS: "les règles n’autorisent plus de proposition pour un même souhait",
      TRIED: "s’est déjà vu proposer ces places et ne les a pas prises",
      NOT_ELIGIBLE: "les règles donnent ces places à d’autres",
      RULE_FAILED:
        "la règle qui dit qui peut avoir ces places n’a pas pu être évaluée ; elle est à corriger",
      NO_TIME: "il restait trop peu de temps pour répondre",
      QUIET_HOURS: "c’était la nuit, et au matin il aurait été trop tard",
      TRY_CAP: "autant de personnes que les règles le permettent ont été consultées",
      NO_CASCADE: "les règles laissent l’équipe choisir qui consulter ensuite",
    },
  },
  booking: {
    WAITLIST_CLOSED: "la liste d’attente est désactivée",
    SESSION_NOT_OPEN: "la séance n’était pas réservable",
    ADVANCE_WINDOW: "il était trop tôt pour réserver la séance",
    CHANNEL_CLOSED: "le lieu ne prend pas de réservations de ce type",
    ALREADY_BOOKED: "il y avait déjà une réservation pour la séance",
    SESSION_FULL: "la séance était complète",
    NO_ACTIVE_PLAN: "aucun abonnement actif ne couvrait la séance",
    PLAN_CHOICE_REQUIRED: "plusieurs abonnements couvraient la séance, et aucun n’était choisi",
    OUTSTANDING_BALANCE: "il restait quelque chose à payer",
    NO_CREDITS: "il ne restait plus de crédits",
    DAILY_LIMIT: "l’abonnement ne permettait plus de réservation ce jour-là",
    WEEKLY_LIMIT: "l’abonnement ne permettait plus de réservation cette semaine-là",
    OVERLAP: "il y avait une autre réservation à la même heure",
    SUBSCRIPTION_STATE: "l’abonnement n’était pas actif",
    MEMBER_NOT_FOUND: "l’adhésion est terminée",
    EXTERNAL_REF_CONFLICT: "sa référence servait déjà à une autre réservation",
  },
};
