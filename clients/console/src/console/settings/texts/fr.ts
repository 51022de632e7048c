import { fr as s } from "../../../shared/i18n/count";
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
      checkInOpensBefore: ["Ouverture du pointage", "Combien de temps avant le début."],
      checkInClosesAfterEnd: ["Fermeture du pointage", "Combien de temps après la fin."],
      gpsMaxMeters: [
        "Rayon de pointage",
        "À quelle distance du lieu les membres peuvent pointer par GPS.",
      ],
      checkInRequiresQr: [
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
      autoNoShowAfterStart: [
        "Absences marquées après le début",
        "Combien de temps après le début plutôt qu’après la fin : les membres ne peuvent alors plus pointer. 0 désactive.",
      ],
    },
    groups: { booking: "Réservation", cancelling: "Annulation", checkIn: "Pointage et absences" },
    none: "Aucun",
    addTier: "Ajouter un niveau",
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
};
