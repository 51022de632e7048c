import { fr as s } from "../count";
import type { en } from "./en";

export const fr: typeof en = {
  policies: {
    note:
      "Une valeur définie pour une prestation remplace celle du lieu, qui remplace celle de " +
      "l’organisation, qui remplace la valeur par défaut.",
    level: "S’applique à",
    tenant: "Toute l’organisation",
    forLocation: (name) => `Lieu : ${name}`,
    forService: (name) => `Prestation : ${name}`,
    value: "Valeur",
    from: "Origine",
    inherited: "Héritée",
    setHere: "Définie ici",
    levels: { 0: "", 1: "Par défaut", 2: "Organisation", 3: "Lieu", 4: "Prestation" },
    override: "Personnaliser",
    inherit: "Utiliser la valeur héritée",
    yes: "Oui",
    no: "Non",
    hours: "heures",
    minutes: "minutes",
    days: "jours",
    meters: "mètres",
    before: "avant le début",
    fields: {
      advanceWindow: [
        "Ouverture des réservations",
        "Combien de temps avant le début on peut réserver au plus tôt.",
      ],
      bookingClosesBefore: [
        "Clôture des réservations",
        "Combien de temps avant le début les membres ne peuvent plus réserver.",
      ],
      cancellationWindow: [
        "Annulation sans frais",
        "Jusqu’à combien de temps avant le début les membres annulent sans frais.",
      ],
      allowLateCancellation: [
        "Annulation tardive",
        "Les membres peuvent annuler tardivement, sans remboursement de crédits.",
      ],
      allowReschedule: [
        "Report tardif",
        "Les membres peuvent encore reporter quand il est trop tard pour annuler.",
      ],
      tierCancellations: ["Annulation par niveau", "Niveaux ayant leur propre délai d’annulation."],
      holdTtl: [
        "Durée de pré-réservation",
        "Combien de temps une place est gardée pendant le paiement.",
      ],
      checkinOpensBefore: ["Ouverture du pointage", "Combien de temps avant le début."],
      checkinClosesAfterEnd: ["Fermeture du pointage", "Combien de temps après la fin."],
      gpsMaxMeters: [
        "Rayon de pointage",
        "À quelle distance du lieu les membres peuvent pointer par GPS.",
      ],
      checkinRequiresQr: [
        "Pointage par code seulement",
        "Les membres ont besoin du code de l’écran de pointage. La position du téléphone ne suffit pas.",
      ],
      autoNoShow: [
        "Absences automatiques",
        "Les membres qui ne pointent pas sont marqués absents.",
      ],
      autoNoShowAfter: [
        "Marquage des absences",
        "Combien de temps après la fin, jamais avant la fermeture du pointage.",
      ],
    },
    groups: { booking: "Réservation", cancelling: "Annulation", checkIn: "Pointage et absences" },
    none: "Aucun",
    addTier: "Ajouter un niveau",
    pending: (n) => s(n, "modification non enregistrée", "modifications non enregistrées"),
    between: (least, most) => `Doit être compris entre ${least} et ${most}.`,
    nightTooLong: "Saisissez les deux heures. Au moins une heure de la journée doit rester libre.",
    tierTwice: (tier) => `« ${tier} » figure deux fois.`,
    unfit: "Ceci est incompatible avec d’autres réglages.",
    wrongAt: (line, column, what) => `Ligne ${line}, colonne ${column} : ${what}`,
    whyChanged: "Motif (visible dans l’historique)",
    ownSettings: (n) => s(n, "valeur personnalisée", "valeurs personnalisées"),
    resetAll: "Supprimer les valeurs personnalisées",
    resetTitle: "Supprimer les valeurs personnalisées ?",
    resetBody: (n) =>
      `${s(n, "valeur personnalisée sera supprimée", "valeurs personnalisées seront supprimées")} ` +
      "immédiatement. Les valeurs héritées s’appliqueront.",
  },
  rules: {
    note:
      "Comment les places libérées vont à la liste d’attente : à qui, dans quel ordre, et " +
      "combien de temps une offre est valable.",
    rules: "Règles",
    versions: "Historique",
    analytics: "Statistiques",
    modes: [
      "",
      "Inscrire automatiquement la personne suivante",
      "Envoyer les offres une par une",
      "Envoyer une offre à tous, premier arrivé, premier servi",
    ],
    after: ["", "Reste en liste d’attente", "Quitte la liste d’attente"],
    orders: ["", "Première inscription", "Meilleur score", "Expression personnalisée"],
    groups: {
      how: "Attribution des places",
      offers: "Offres",
      order: "Ordre et score",
      time: "Délais et heures calmes",
    },
    fields: {
      enabled: [
        "Liste d’attente",
        "Les membres peuvent s’inscrire en attente d’une séance complète ; les places libérées leur reviennent.",
      ],
      mode: ["Mode", "Comment les places libérées sont attribuées."],
      maxQueueSize: ["Longueur maximale", "Inscriptions par prestation, lieu et jour."],
      offerWindow: [
        "Temps de réponse",
        "Combien de temps une offre est valable ; moins près du début.",
      ],
      minOfferWindow: [
        "Temps de réponse minimal",
        "Aucune offre n’est envoyée s’il reste moins de temps.",
      ],
      timeFlexibility: [
        "Souplesse horaire",
        "Écart permis entre le début et les heures demandées.",
      ],
      maxOffersPerEntry: [
        "Offres par inscription",
        "Combien d’offres peuvent rester sans suite avant la fin de l’inscription. 0 : sans limite.",
      ],
      maxTriesPerSlot: [
        "Offres par place",
        "À combien de personnes une place est proposée avant de revenir à l’équipe. 0 : sans limite.",
      ],
      afterExpiry: ["Sans réponse", "Ce que devient une inscription quand son offre expire."],
      afterDecline: [
        "Après un refus",
        "Ce que devient une inscription quand son offre est refusée.",
      ],
      autoCascade: [
        "Proposer au suivant",
        "Les places refusées ou sans réponse sont proposées automatiquement à la personne suivante.",
      ],
      expireStale: [
        "Clore les anciennes",
        "Les inscriptions prennent fin après l’attente maximale.",
      ],
      staleAfter: ["Attente maximale", "Combien de temps une inscription peut attendre."],
      allowDownFitting: [
        "Remplissage partiel",
        "Un groupe peut être plus petit que le nombre de places libres.",
      ],
      order: [
        "Ordre",
        "Qui passe en premier. Les inscriptions prioritaires de l’équipe passent toujours avant.",
      ],
      baseScore: ["Score de base", "Le score de départ de chaque inscription."],
      tierBonuses: ["Bonus par niveau", "Points pour les membres d’un niveau."],
      earlyBirdPointsPerDay: [
        "Points d’inscription précoce",
        "Points par jour entre l’inscription et le début.",
      ],
      earlyBirdMaxPoints: [
        "Maximum d’inscription précoce",
        "Le maximum de points pour une inscription précoce.",
      ],
      eligibilityExpression: [
        "Éligibilité",
        "Une expression CEL qui décide qui peut obtenir une place. Vide : tout le monde.",
      ],
      priorityExpression: [
        "Score personnalisé",
        "Une expression CEL, utilisée avec l’ordre « Expression personnalisée ».",
      ],
      quietHours: [
        "Heures calmes",
        "Les offres sont suspendues pendant ces heures, dans le fuseau du membre.",
      ],
      offersInQuietHours: [
        "Offres en heures calmes",
        "Les offres sont envoyées, et leur délai court, aussi pendant les heures calmes.",
      ],
      autoPromoteCutoff: [
        "Proposer au lieu d’inscrire",
        "À partir de ce délai avant le début, les places sont proposées au lieu d’être réservées.",
      ],
      promotionGrace: [
        "Délai de grâce",
        "Combien de temps un membre inscrit depuis la liste d’attente peut annuler sans frais.",
      ],
      fillAfterStart: [
        "Attribuer après le début",
        "Combien de temps après le début les places des absents sont encore attribuées.",
      ],
      smsMinScore: [
        "Score minimal pour SMS",
        "Les offres d’un score inférieur ne sont pas envoyées par SMS.",
      ],
    },
    preview: "Qu’est-ce qui aurait changé ?",
    tryOut: "Tester sur les 30 derniers jours",
    previewNote: "Voyez avant d’enregistrer à qui ce brouillon aurait proposé quelles places.",
    noHistory: "Aucune place libérée pour tester",
    needsExpression: "L’ordre « Expression personnalisée » demande une expression ici.",
    notTried: "Corrigez les champs signalés ci-dessus pour lancer le test.",
    allTheSame: "Rien n’aurait changé.",
    moreMoves: (n) => `et ${n} de plus`,
    decided: "Décidé",
    forSession: "Séance",
    instead: "Différence",
    wouldChange: (n, of) => `${n} décisions sur ${of} auraient été différentes.`,
    granted: (before, after) => `places attribuées : ${before} → ${after}`,
    handedBack: (before, after) => `rendues à l’équipe : ${before} → ${after}`,
    version: "Version",
    noVersions: "Les règles n’ont pas encore été modifiées",
    reset: "Utiliser les valeurs héritées",
    changes: "Modifications",
    inheritedAgain: "hérité",
    joined: "Inscrits",
    stillWaiting: (n) => `${n} ${n < 2 ? "attend" : "attendent"} encore`,
    gotPlace: "Ont eu une place",
    promoted: "Inscrits automatiquement",
    offered: "Offres",
    accepted: "Acceptées",
    answerTime: "Temps de réponse",
    depth: "Offres par acceptation",
    countedFor: "Afficher pour",
    outOf: (n, of) => `${n} sur ${of}`,
    deepest: (n) => `jusqu’à ${n}`,
    depths: "Offres avant une acceptation",
    offersUntil: (n) => (n < 2 ? `${n} offre` : `${n} offres`),
  },
};
