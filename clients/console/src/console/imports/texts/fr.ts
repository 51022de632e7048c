import { ImportStatus } from "@berthhq/client";
import { fr as s } from "../../../shared/i18n/count";
import type { en } from "./en";

export const fr: typeof en = {
  imports: {
    note: "Importez un tableur. Le fichier est d’abord vérifié ; puis toutes ses lignes sont importées, ou aucune.",
    drop: "Déposez un fichier CSV ici",
    dropNote: "Rien ne change avant votre confirmation.",
    choose: "Choisir un fichier",
    other: "Choisir un autre fichier",
    size: (rows, kilobytes) => `${s(rows, "ligne")}, ${Math.ceil(kilobytes)} ko`,
    tooLarge: (megabytes) =>
      `Le fichier est trop volumineux. Divisez-le en fichiers de ${Math.round(megabytes)} Mo au plus.`,
    trying: "Vérification du fichier",
    importing: "Importation",
    notRead: "Le fichier n’a pas pu être lu",
    unknown: "Impossible de savoir si l’importation a réussi",
    unknownNote:
      "La réponse du serveur s’est perdue. Vérifiez à nouveau le fichier : les lignes déjà " +
      "présentes sont signalées comme erreurs.",
    tryAgain: "Vérifier à nouveau le fichier",
    empty: "Le fichier a un en-tête mais aucune ligne.",
    problems: (wrong, of) => `${s(wrong, "ligne")} sur ${of} à corriger`,
    nothingTaken: "Rien n’a été importé",
    recent: "Derniers imports",
    started: "Début",
    state: "État",
    states: (status, dry) =>
      ({
        [ImportStatus.UNSPECIFIED]: "",
        [ImportStatus.PENDING]: "En attente",
        [ImportStatus.RUNNING]: dry ? "Vérification" : "Import en cours",
        [ImportStatus.SUCCEEDED]: dry ? "Vérifié" : "Importé",
        [ImportStatus.FAILED]: "Rien d’importé",
      })[status],
    progress: "Progression",
    rowsDone: (done, of) => `${done} sur ${s(of, "ligne")}`,
    showProblems: (n) => (n > 0 ? `${s(n, "ligne")} à corriger` : "Pourquoi ?"),
    row: "Ligne",
    column: "Colonne",
    cell: "Valeur",
    wrong: "Problème",
    emptyCell: "vide",
    moreProblems: (n) => `et ${n} de plus`,
    sample: "Premières lignes",
    nothingYet: "Rien n’a encore été importé.",
    view: "Voir",
    columnsTitle: "Colonnes",
    example: "Exemple",
    required: "obligatoire",
    format:
      "CSV avec une ligne d’en-tête, aussi comme d’anciens tableurs l’enregistrent. Les titres " +
      "au-dessus sont ignorés. L’ordre des colonnes et la casse n’importent pas.",
    sessions: {
      ready: (n) => `${s(n, "séance prête", "séances prêtes")} à importer`,
      run: (n) => `Importer ${s(n, "séance")}`,
      done: (n) => `${s(n, "séance importée", "séances importées")}`,
    },
    members: {
      ready: (n) => `${s(n, "membre prêt", "membres prêts")} à importer`,
      run: (n) => `Importer ${s(n, "membre")}`,
      done: (n) => `${s(n, "membre importé", "membres importés")}`,
    },
    columns: {
      sessions: {
        service: "Nom de la prestation",
        location: "Nom du lieu ; les heures sont dans son fuseau horaire",
        date: "2027-03-29",
        start: "18:00",
        duration_minutes: "60 ; ou end",
        end: "19:00 ; ou duration_minutes",
        resource: "Nom de la ressource dans le lieu",
        coach_email: "E-mail du coach",
        capacity: "Vide : celle de la prestation",
        waitlist_capacity: "Vide : celle de la prestation",
        title: "Vide : le nom de la prestation",
        notes: "Visible par les membres",
        status: "draft ou published",
      },
      members: {
        name: "Nom complet",
        email: "Sert à se connecter ; doit être unique",
        phone: "Avec l’indicatif : +351912345678",
        subject: "Identifiant chez votre fournisseur d’identité",
        tier: "Au choix",
        tags: "Séparées par des points-virgules",
        locale: "pt-PT",
        time_zone: "Europe/Lisbon",
        notes: "Pour l’équipe uniquement",
      },
    },
  },
};
