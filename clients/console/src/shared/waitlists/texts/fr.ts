import { fr as s } from "../../i18n/count";
import type { en } from "./en";

export const fr: typeof en = {
  decisions: {
    triggers: {
      0: "",
      1: "Une réservation a été annulée",
      2: "Quelqu’un a été marqué absent",
      3: "Des places ont été ajoutées",
      4: "La séance a été débloquée",
      5: "La séance a été publiée",
      6: "La séance a été déplacée",
      7: "Une pré-réservation a expiré",
      8: "Une pré-réservation a été libérée",
      9: "Une réservation a été replanifiée",
      10: "Une offre a été refusée",
      11: "Une offre a expiré",
      12: "Une offre a été retirée",
      13: "Proposée par l’équipe",
      14: "Trouvée lors d’un contrôle régulier",
      15: "Les règles de la liste d’attente ont changé",
      16: "Une inscription qui avait été passée a été revue",
      17: "Les réservations ont ouvert",
    },
    moves: {
      0: "",
      1: "Aucune correspondance",
      2: "Attribuée",
      3: "Proposée au suivant",
      4: "Rendue à l’équipe",
    },
    you: {
      ask: "Pourquoi ?",
      title: "Votre parcours en liste d’attente",
      next: {
        0: "",
        1: "Si une place se libère, nous la réservons pour vous.",
        2: "Si une place se libère, nous vous la proposons.",
        3: "Si une place se libère, elle est proposée à tous : premier arrivé, premier servi.",
      },
      none: "Aucune place ne s’est libérée depuis votre inscription.",
      when: (when, what, seats) =>
        `${when} : ${what}${seats === undefined ? "" : `, ${s(seats, "place libre", "places libres")}`}.`,
      position: (rank, of) => `Vous étiez numéro ${rank} sur ${of} en liste d’attente.`,
      before: (n, same) =>
        same
          ? `${s(n, "personne")} avant vous ${n < 2 ? "avait" : "avaient"} la même chance.`
          : `${s(n, "personne")} avant vous ${n < 2 ? "a" : "ont"} eu une place.`,
      promoted: (n) => `${s(n, "place a été réservée", "places ont été réservées")} pour vous.`,
      offered: (n, until) => `On vous a proposé ${s(n, "place")}, jusqu’au ${until}.`,
      firstCome: (n, until) =>
        `On vous a proposé ${s(n, "place")} jusqu’au ${until}, premier arrivé, premier servi.`,
      notChosen: (reason) => `Vous n’avez pas eu de place : ${reason}.`,
      reasons: {
        NO_SEATS_LEFT: "toutes les places sont allées à des personnes avant vous",
        PARTY_SIZE: "il n’y avait pas assez de places pour votre groupe",
        DOWN_FITTING: "ces places ne sont attribuées qu’ensemble",
        HAS_OFFER: "vous aviez déjà une autre offre",
        SERVICE: "vous aviez demandé une autre prestation",
        LOCATION: "vous aviez demandé un autre lieu",
        RESOURCE: "vous aviez demandé une autre salle, un autre terrain ou un autre fauteuil",
        DATE: "vous aviez demandé d’autres jours",
        TIME: "vous aviez demandé une autre heure",
        STAFF_PREFERENCE: "vous aviez demandé un autre coach",
        MAX_OFFERS: "vous avez reçu autant d’offres que les règles le permettent",
        TRIED: "ces places vous avaient déjà été proposées",
        NOT_ELIGIBLE: "vous n’étiez pas éligible pour ces places",
        RULE_FAILED: "une règle n’a pas pu être évaluée ; l’équipe est prévenue",
        NO_TIME: "il restait trop peu de temps pour répondre",
        QUIET_HOURS: "les heures calmes se seraient terminées trop tard",
        GAVE_UP: "vous aviez renoncé à ces places",
        TRY_CAP: "ces places ont été proposées à autant de personnes que les règles le permettent",
        NO_CASCADE: "l’équipe décide à qui ces places sont proposées ensuite",
      },
    },
    staff: {
      next: {
        0: "",
        1: "serait inscrit(e)",
        2: "recevrait une offre",
        3: "recevrait une offre avec tous les autres",
      },
      open: (seats, line) =>
        `${seats === undefined ? "Places libres sans limite" : s(seats, "place libre", "places libres")}, ` +
        `${line === 0 ? "personne" : s(line, "personne")} en liste d’attente.`,
      tried: (n) =>
        `${s(n, "personne avait", "personnes avaient")} déjà reçu une offre pour ces places.`,
      noOne: "Personne n’a eu de place.",
      booked: (who) => `Inscription automatique : ${who}.`,
      firstCome: (who) =>
        `Proposé à toutes les personnes éligibles, premier arrivé, premier servi : ${who}.`,
      offeredNext: (who) => `Proposé au suivant : ${who}.`,
      offered: (who) => `Proposé à ${who}.`,
      got: (name, n, until) => `${name} (${s(n, "place")}${until && `, jusqu’au ${until}`})`,
      someone: "quelqu’un",
      more: (n) => `${n} de plus`,
      chosen: "A eu une place",
      passed: "Non retenu",
      verdicts: {
        booked: (n) => `${s(n, "place réservée", "places réservées")} automatiquement`,
        offered: (n, until) =>
          `${s(n, "place proposée", "places proposées")}${until && `, jusqu’au ${until}`}`,
        firstCome: (n, until) =>
          `${s(n, "place proposée", "places proposées")}${until && ` jusqu’au ${until}`}, premier arrivé, premier servi`,
      },
      left: {
        empty: (n) => `${s(n, "place reste", "places restent")} : la liste d’attente est vide.`,
        noOther: (n) =>
          `${s(n, "place reste", "places restent")} : personne d’autre en liste d’attente ne correspond.`,
        none: (n, line) =>
          `${s(n, "place reste", "places restent")} : sur ${line} en liste d’attente, personne ne correspond.`,
        asked: (n, asked, why) =>
          `${s(n, "place reste", "places restent")} après ${s(asked, "offre")} : ${why}.`,
      },
      stopped: {
        cap: "les règles n’autorisent plus d’offres",
        staff: "les règles vous laissent faire l’offre suivante",
        late: "il est trop tard pour une autre offre",
        list: "il n’y a plus personne à qui la proposer",
      },
      todo: (n) =>
        n < 2
          ? "Tout le monde peut la réserver. Vous pouvez aussi appeler quelqu’un, inscrire une " +
            "personne sur place ou proposer la place vous-même."
          : "Tout le monde peut les réserver. Vous pouvez aussi appeler quelqu’un, inscrire des " +
            "personnes sur place ou proposer les places vous-même.",
      would: {
        mode: (how) => `Les places auraient été attribuées autrement : ${how}.`,
        gained: (who) => `Auraient eu une place à la place : ${who}.`,
        lost: (who) => `N’auraient pas eu de place : ${who}.`,
        move: (what) => `Résultat : ${what}.`,
      },
      modes: {
        0: "",
        1: "inscription automatique",
        2: "offres, une par une",
        3: "offres à tous, premier arrivé, premier servi",
      },
      reasons: {
        NO_SEATS_LEFT: "toutes les places libres sont allées à des personnes avant",
        PARTY_SIZE: "pas assez de places pour le groupe",
        DOWN_FITTING:
          "le groupe est plus petit que le nombre de places libres, attribuées seulement ensemble",
        HAS_OFFER: "avait déjà une autre offre",
        SERVICE: "avait demandé une autre prestation",
        LOCATION: "avait demandé un autre lieu",
        RESOURCE: "avait demandé une autre ressource",
        DATE: "avait demandé d’autres jours",
        TIME: "avait demandé une autre heure",
        STAFF_PREFERENCE: "avait demandé un autre coach",
        MAX_OFFERS: "a reçu autant d’offres que les règles le permettent",
        TRIED: "avait déjà reçu une offre pour ces places sans l’accepter",
        NOT_ELIGIBLE: "non éligible selon les règles",
        RULE_FAILED: "la règle d’éligibilité n’a pas pu être évaluée et doit être corrigée",
        NO_TIME: "trop peu de temps pour répondre à une offre",
        QUIET_HOURS: "les heures calmes se seraient terminées trop tard",
        GAVE_UP: "avait renoncé à ces places",
        TRY_CAP: "ces places ont été proposées à autant de personnes que les règles le permettent",
        NO_CASCADE: "les règles laissent l’équipe faire l’offre suivante",
      },
    },
    refused: "la réservation aurait été refusée",
    booking: {
      WAITLIST_CLOSED: "la liste d’attente est désactivée",
      SESSION_NOT_OPEN: "la séance n’était pas réservable",
      ADVANCE_WINDOW: "il était trop tôt pour réserver la séance",
      CHANNEL_CLOSED: "le lieu n’accepte pas ce type de réservation",
      ALREADY_BOOKED: "une place était déjà réservée ou retenue",
      SESSION_FULL: "la séance était complète",
      NO_ACTIVE_PLAN: "aucune formule active ne couvrait la séance",
      PLAN_CHOICE_REQUIRED: "plusieurs formules couvraient la séance, et aucune n’était choisie",
      OUTSTANDING_BALANCE: "un montant restait dû sur la formule",
      NO_CREDITS: "il ne restait plus de crédits",
      DAILY_LIMIT: "la formule ne permettait plus de réservation ce jour-là",
      WEEKLY_LIMIT: "la formule ne permettait plus de réservation cette semaine-là",
      OVERLAP: "il y avait une autre réservation à la même heure",
      SUBSCRIPTION_STATE: "la formule n’était pas active",
      MEMBER_NOT_FOUND: "l’adhésion est terminée",
      EXTERNAL_REF_CONFLICT: "sa référence servait déjà à une autre réservation",
    },
  },
};
