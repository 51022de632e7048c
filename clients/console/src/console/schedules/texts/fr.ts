import { fr as s } from "../../../shared/i18n/count";
import type { en } from "./en";

export const fr: typeof en = {
  schedule: {
    moveHint: "Appuyez sur Alt et une flèche pour déplacer cette séance.",
    today: "Aujourd’hui",
    before: "Précédent",
    after: "Suivant",
    view: "Vue",
    week: "Semaine",
    day: "Jour",
    by: "Colonnes",
    byLocation: "Par lieu",
    byResource: "Par ressource",
    byCoach: "Par coach",
    newSession: "Nouvelle séance",
    first: "Créer votre première séance",
    firstNote: "Commencez par le lieu des séances et ce qui s’y réserve.",
    bulk: "Actions groupées",
    publishDrafts: (n) => `Publier ${s(n, "brouillon")}`,
    mixedZones: "Chaque séance est affichée dans le fuseau horaire de son lieu",
    count: (n) => s(n, "séance"),
    empty: "Aucune séance prévue",
    noResource: "Sans ressource",
    noResources: "Aucune ressource",
    noCoach: "Aucun coach",
    otherLocation: "Cette ressource appartient à un autre lieu.",
    moved: (title, when) => `${title} a été déplacée : ${when}`,
    moveTitle: (title) => `Déplacer ${title} ?`,
    moveBooked: (n, when) =>
      `La séance et ses ${s(n, "place réservée", "places réservées")} seront déplacées : ${when}.`,
    move: "Déplacer",
    bookedMove: (n) =>
      `${s(n, "place est prise", "places sont prises")}. Les réservations suivent la séance.`,
    made: (title) => `${title} a été ajoutée au planning`,
    repeats: "Se répète",
    howMany: "Nombre de séances",
    seriesPreview: (n, from, to) =>
      `${s(n, "séance")}, du ${from} au ${to}, à la même heure locale.`,
    makeMany: (n) => `Créer ${s(n, "séance")}`,
    publishNow: "Publier",
    scope: "Appliquer à",
    scopeOne: "Cette séance",
    scopeFollowing: "Celle-ci et suivantes",
    scopeAll: "Toute la série",
    seriesSaved: (changed, made, dropped) =>
      `${changed} modifiées, ${made} ajoutées, ${dropped} supprimées`,
  },
  sessionState: {
    draft: "Brouillon",
    published: "Publiée",
    cancelled: "Annulée",
    blocked: "Bloquée",
    over: "Terminée",
    running: "En cours",
  },
  board: {
    byTime: "Par heure",
    add: (whose, day) => `Nouvelle séance : ${whose}, ${day}`,
    staysThere: "Une séance ne peut pas changer de lieu. Créez-en une nouvelle là-bas.",
    onDays: "Répéter le",
    often: "Fréquence",
    frequencies: {
      DAILY: "Tous les jours",
      WEEKLY: "Toutes les semaines",
      MONTHLY: "Tous les mois",
    },
    every: {
      DAILY: "Intervalle (jours)",
      WEEKLY: "Intervalle (semaines)",
      MONTHLY: "Intervalle (mois)",
    },
    inMonth: "Jour du mois",
    onDate: (day) => `Le ${day}`,
    onNth: (n, weekday) =>
      `Le ${["", "premier", "deuxième", "troisième", "quatrième", "cinquième"][n]} ${weekday}`,
    onLast: (weekday) => `Le dernier ${weekday}`,
    ends: "Se termine",
    afterMany: "Par nombre",
    onDay: "Par date",
    lastDay: "Date de fin",
    changeDays: "Modifier la répétition",
    changeDaysNote:
      "Les séances qui ne correspondent plus sont annulées et leurs crédits remboursés.",
    otherRule: (rule) =>
      `Cette série suit une règle personnalisée, conservée tant que vous ne la modifiez pas : ${rule}`,
  },
  bulk: {
    title: "Actions groupées",
    act: "Action",
    publish: "Publier",
    cancel: "Annuler",
    delete: "Supprimer",
    services: "Prestations",
    allServices: "Toutes les prestations",
    includeBooked: "Inclure les séances avec des réservations",
    includeEnded: "Inclure les séances terminées",
    endedNote: "Les présences et les absences restent, avec leurs crédits.",
    endedLeftOut: (n) =>
      `${s(n, "séance est terminée et reste inchangée", "séances sont terminées et restent inchangées")}.`,
    reasonNote: "Visible par toutes les personnes inscrites.",
    preview: (n) => `${s(n, "séance concernée", "séances concernées")}`,
    bookings: (n) => s(n, "réservation"),
    more: (n) => `et ${n} de plus`,
    none: "Aucune séance ne correspond.",
    run: {
      publish: (n) => `Publier ${s(n, "séance")}`,
      cancel: (n) => `Annuler ${s(n, "séance")}`,
      delete: (n) => `Supprimer ${s(n, "séance")}`,
    },
    done: {
      publish: (n) => `${s(n, "séance publiée", "séances publiées")}`,
      cancel: (n) => `${s(n, "séance annulée", "séances annulées")}`,
      delete: (n) => `${s(n, "séance supprimée", "séances supprimées")}`,
    },
  },
  session: {
    details: "Détails",
    seats: "Places",
    kept: (n) =>
      n < 2 ? `dont ${n} réservée pour une offre` : `dont ${n} réservées pour des offres`,
    ofSeats: (taken, of) => `${taken} sur ${of} prises`,
    full: "Complet",
    book: "Inscrire un membre",
    checkedIn: "Présent",
    publish: "Publier",
    published: "Séance publiée",
    unpublish: "Dépublier",
    block: "Bloquer",
    blockTitle: "Bloquer cette séance ?",
    blockBody:
      "Les réservations existantes sont conservées. Personne ne peut réserver tant que la séance est bloquée.",
    unblock: "Débloquer",
    cancel: "Annuler la séance",
    cancelSessionTitle: (title) => `Annuler ${title} ?`,
    cancelEndedBody:
      "Les présences et les absences restent, avec leurs crédits. Les autres réservations sont annulées " +
      "et remboursées. Cette action est irréversible.",
    cancelSessionBody: (n) =>
      n > 0
        ? `${s(n, "place est prise", "places sont prises")}. Toutes les réservations seront ` +
          "annulées et leurs crédits remboursés. Cette action est irréversible."
        : "Cette action est irréversible.",
    sessionCancelled: (bookings, credits) =>
      `Séance annulée : ${s(bookings, "réservation annulée", "réservations annulées")}, ` +
      `${s(credits, "crédit remboursé", "crédits remboursés")}`,
    delete: "Supprimer la séance",
    deleteSessionTitle: (title) => `Supprimer ${title} ?`,
    deleteSessionBody: "Elle disparaît du planning. Cette action est irréversible.",
    sessionDeleted: "Séance supprimée",
    endSeries: "Terminer la série ici",
    endSeriesTitle: (title) => `Terminer la série ${title} ce jour-là ?`,
    endSeriesBody:
      "À partir de ce jour, les séances avec des réservations ou des personnes en attente sont annulées, " +
      "et les autres supprimées. Les séances modifiées individuellement restent.",
    seriesEnded: (cancelled, deleted) =>
      `Série terminée : ${s(cancelled, "séance annulée", "séances annulées")}, ` +
      `${s(deleted, "séance supprimée", "séances supprimées")}`,
    display: "Écran de pointage",
    displayNote:
      "Ouvre une page pour l’écran de l’entrée : le code QR de pointage et les arrivées.",
    displays: "Liens d’affichage",
    displaysNote:
      "Chaque lien montre l’écran de pointage sur un seul écran jusqu’à la fin du pointage. Désactivez ceux dont vous n’avez plus besoin.",
    displayNone: "Aucun lien n’a été ouvert pour cette séance.",
    displayMade: "Créé",
    displayOn: "Utilisé depuis",
    displaySecond: "Attention, un second écran l’a lu à",
    displayWaiting: "Pas encore sur un écran",
    displayOver: "Expiré",
    displayOff: "Désactivé",
    turnOff: "Désactiver",
    partOfSeries: "Fait partie d’une série",
    next: "Séance suivante",
    previous: "Séance précédente",
    workouts: "Entraînements",
  },
  tees: {
    note: "Tous les départs d’une journée : joueurs, arrivées et places libres.",
    open: (n) => (n < 2 ? `${n} place libre` : `${n} places libres`),
    players: (n) => s(n, "joueur"),
    times: (n) => s(n, "départ"),
    full: "Complet",
    empty: "Aucun départ ce jour-là",
    none: "Aucun départ pour l’instant",
    noneNote: "Ajoutez une ressource de type « tee » pour voir ses départs ici.",
    onlyOpen: "Avec des places libres uniquement",
    course: "Parcours",
  },
};
