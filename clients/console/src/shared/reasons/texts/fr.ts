import type { en } from "./en";

export const fr: typeof en = {
  reasons: {
    INTERNAL: () => "Un problème est survenu de notre côté. Veuillez réessayer.",
    INVALID_FIELD: (f) => `Veuillez vérifier votre saisie${f.field ? ` : ${f.field}` : ""}.`,
    UNAUTHENTICATED: () => "Veuillez vous reconnecter.",
    TENANT_FORBIDDEN: () => "Votre compte n’appartient pas à cette organisation.",
    TENANT_REQUIRED: () => "Choisissez d’abord une organisation.",
    NOT_A_MEMBER: () => "Votre compte n’appartient à aucun membre ici.",
    MEMBER_INACTIVE: () => "Votre adhésion est désactivée. Adressez-vous à l’accueil.",
    INVITATION_REQUIRED: () =>
      "Les propriétaires, les administrateurs et ceux qui ont reçu plus de droits depuis ont besoin d’une invitation.",
    INVITATION_NOT_FOUND: () => "Cette invitation n’existe plus.",
    INVITATION_ENDED: () => "L’invitation a déjà été acceptée ou révoquée.",
    ADDRESS_IN_DOUBT: () =>
      "L’ancienne adresse e-mail est d’abord consultée. Vous pourrez inviter la nouvelle quand elle accepte, ou après sept jours sans réponse.",
    STEP_UP_REQUIRED: () => "Reconnectez-vous pour continuer.",
    OWNERSHIP_TRANSFER_NOT_FOUND: () => "Ce transfert n’est plus en cours.",
    PERMISSION_DENIED: (f) =>
      f.own
        ? "Pour vos propres réservations et formules, une autre personne ou un propriétaire s’en charge."
        : `Votre rôle ne le permet pas${f.permission ? ` (${f.permission})` : ""}.`,
    REQUEST_TOO_LARGE: () => "La requête est trop volumineuse.",
    TENANT_NOT_FOUND: () => "Cette organisation n’existe pas.",
    LOCATION_NOT_FOUND: () => "Ce lieu n’existe pas.",
    RESOURCE_NOT_FOUND: () => "Cette ressource n’existe pas.",
    SERVICE_NOT_FOUND: () => "Cette prestation n’existe pas.",
    MEMBER_NOT_FOUND: () => "Ce membre n’existe pas.",
    ROLE_NOT_FOUND: () => "Ce rôle n’existe pas.",
    SERVICE_ACCOUNT_NOT_FOUND: () => "Ce compte de service n’existe pas, ou a été révoqué.",
    SESSION_NOT_FOUND: () => "Cette séance n’existe pas. Elle a peut-être été supprimée.",
    SERIES_NOT_FOUND: () => "Cette série n’existe pas.",
    BOOKING_NOT_FOUND: () => "Cette réservation n’existe pas.",
    PLAN_NOT_FOUND: () => "Cette formule n’est pas en vente.",
    SUBSCRIPTION_NOT_FOUND: () => "Cet abonnement n’existe pas.",
    ALREADY_EXISTS: (f) => `Cela existe déjà${f.field ? ` : ${f.field}` : ""}.`,
    ROLE_IN_USE: (f) => `Des membres ont encore ce rôle (${f.holders}). Retirez-le-leur d’abord.`,
    ROLE_BUILT_IN: () =>
      "Les rôles prédéfinis ne sont pas modifiables. Créez un rôle personnalisé.",
    LAST_OWNER: () => "Il faut un propriétaire actif. Nommez-en d’abord un autre.",
    COACH_INVALID: () =>
      "Cette personne ne peut pas animer de séances : elle est inactive ou hors de l’équipe.",
    RECURRENCE_INVALID: () => "Cette répétition ne donne aucune séance, ou trop de séances.",
    SESSION_STATE: () => "L’état de la séance ne le permet plus.",
    CAPACITY_BELOW_TAKEN: (f) =>
      `${f.seats_taken} places sont déjà prises. La capacité ne peut pas être inférieure.`,
    RESOURCE_BUSY: () => "La ressource a une autre séance à cette heure.",
    STAFF_BUSY: () => "Le coach a une autre séance à cette heure.",
    SESSION_NOT_OPEN: () => "Cette séance n’est pas réservable en ce moment.",
    ADVANCE_WINDOW: (f) => `Il est trop tôt. Ouverture ${f.opens_at}.`,
    CHANNEL_CLOSED: () => "Ce lieu n’accepte pas ce type de réservation.",
    PARTY_SIZE: (f) => `Vous pouvez réserver de ${f.min} à ${f.max} places à la fois.`,
    ALREADY_BOOKED: () => "Déjà réservé ou en liste d’attente.",
    SESSION_FULL: () => "La séance et sa liste d’attente sont complètes.",
    WAITLIST_FULL: () => "La liste d’attente est complète.",
    WAITLIST_CLOSED: () => "Cette séance n’a pas de liste d’attente.",
    SEATS_AVAILABLE: () => "Des places sont disponibles. Réservez directement.",
    NO_ACTIVE_PLAN: () => "Une formule active est nécessaire pour réserver.",
    PLAN_CHOICE_REQUIRED: () => "Plusieurs formules sont actives. Choisissez-en une.",
    OUTSTANDING_BALANCE: () => "Un montant est dû sur cette formule. Réglez-le d’abord.",
    NO_CREDITS: () => "Il ne reste plus de crédits.",
    DAILY_LIMIT: (f) => `La formule permet ${f.limit} réservations par jour.`,
    WEEKLY_LIMIT: (f) => `La formule permet ${f.limit} réservations par semaine.`,
    OVERLAP: () => "Il y a déjà une réservation à cette heure.",
    HOLD_EXPIRED: () => "La pré-réservation a expiré et la place est de nouveau libre.",
    BOOKING_STATE: () => "La réservation a changé. Ce n’est plus possible.",
    CANCELLATION_WINDOW: (f) =>
      `Il est trop tard pour annuler${f.deadline ? `. La limite était le ${f.deadline}` : ""}.`,
    RESCHEDULE_TARGET: () => "La réservation ne peut pas être replanifiée sur cette séance.",
    IDEMPOTENCY_CONFLICT: () => "Cela a déjà été envoyé avec d’autres informations.",
    ITEM_UNAVAILABLE: (f) =>
      f.name
        ? `${f.name} : plus que ${f.available} à cette heure.`
        : "Un matériel choisi n’est pas disponible à cette heure.",
    BENEFIT_INVALID: () => "L’adhésion partenaire n’est pas valable.",
    BENEFIT_IN_USE: () =>
      "Un autre membre utilise ce numéro. Libérez-le sous « Avantages partenaires ».",
    BENEFIT_PROVIDER_NOT_FOUND: () => "Ce partenaire n’existe pas.",
    ACTIVE_BOOKINGS: (f) =>
      `Il reste des réservations ou des inscriptions en attente (${f.active_bookings}).`,
    NOTHING_DUE: () => "Rien n’est dû pour cette réservation.",
    NOTHING_TO_REFUND: () => "Il n’y a pas de crédit à rembourser.",
    REFUND_EXCEEDS_CAPTURED: () => "Le remboursement dépasse ce qui reste du paiement.",
    SUBSCRIPTION_STATE: () => "L’état de l’abonnement ne le permet pas.",
    CHECK_IN_WINDOW: (f) => `Le pointage est ouvert de ${f.opens_at} à ${f.closes_at}.`,
    QR_INVALID: () =>
      "Ce code QR est périmé, ou celui d’une autre séance. Scannez celui de l’écran de pointage.",
    GPS_TOO_FAR: (f) =>
      `Vous êtes à ${f.distance_meters} m. Le pointage est possible jusqu’à ${f.max_meters} m.`,
    GPS_IMPRECISE: () =>
      "Votre appareil ne connaît pas assez précisément sa position. Approchez-vous d’une fenêtre, ou scannez le code.",
    GPS_OUTDATED: () => "Votre position est trop ancienne. Veuillez réessayer.",
    QR_REQUIRED: () => "Scannez le code de l’écran de pointage. Une position ne suffit pas ici.",
    GPS_NOT_AVAILABLE: () => "Le pointage par GPS n’est pas possible ici.",
    NOT_CONFIRMED: () => "La réservation n’est pas confirmée.",
    NOT_BOOKED: () => "Il n’y a pas de réservation pour cette séance.",
    BOOKING_CANCELLED: () => "La réservation a été annulée.",
    LINK_INVALID: () => "Ce lien n’est plus valable.",
    WAITLIST_OFFER_NOT_LIVE: () => "Cette offre n’est plus disponible.",
    WAITLIST_ENTRY_STATE: () =>
      "L’inscription sur la liste d’attente a changé. Ce n’est plus possible.",
    RULES_INVALID: (f) =>
      `Ces règles ne sont pas valables${f.line ? ` : ligne ${f.line}, colonne ${f.column}` : ""}.`,
    TEMPLATE_INVALID: (f) => `Le texte n’est pas valable : ligne ${f.line}, colonne ${f.column}.`,
    TEMPLATE_HTML: () =>
      "Votre propre HTML demande votre propre compte de messagerie ou un domaine vérifié (Messages, Expéditeurs).",
    SENDING_DOMAIN_INVALID: () =>
      "Ce domaine n’est pas possible. Il doit être enregistré par vous, ou se trouver sous un tel domaine.",
    SENDING_DOMAIN_NOT_FOUND: () => "Il n’y a pas de domaine à vérifier.",
    DNS_RECORD_MISSING: (f) =>
      `L’enregistrement TXT ${f.name} est introuvable. Il peut falloir quelques heures pour qu’il soit visible partout.`,
    DNS_RECORD_DIFFERENT: (f) => `L’enregistrement TXT ${f.name} a un autre texte : ${f.found}`,
    DNS_UNAVAILABLE: (f) =>
      `Les serveurs de noms ne répondent pas pour ${f.name}. Réessayez plus tard.`,
    RECIPIENT_UNREACHABLE: () =>
      "Il n’y a ni numéro de téléphone, ni adresse, ni appareil pour cet envoi.",
    IMPORT_MISMATCH: (f) =>
      `Le fichier et Berth n’auraient pas la même somme à la ligne ${f.row}. Rien n’a été importé.`,
    IMPORT_STATE: () => "L’import n’a rien créé que l’on puisse annuler.",
    IMPORT_UNDO_EXPIRED: () => "Un import peut être annulé pendant 24 heures. Elles sont passées.",
    IMPORT_IN_USE: (f) =>
      `Rien n’a été annulé : ${f.count} des éléments importés sont utilisés ou ont été modifiés depuis. Par exemple : ${f.first}.`,
    IMPORT_NOT_FOUND: () => "Cet import n’existe pas, ou il est trop ancien.",
    SIGN_IN_ENDED: () => "Vous n’êtes plus connecté. Reconnectez-vous.",
    PASSKEY_INVALID: () =>
      "Cette clé d’accès ne connecte personne ici. Réessayez, ou utilisez un code.",
    SIGN_IN_CODE_INVALID: () =>
      "Le code est incorrect ou n’est plus valable. Prenez celui du dernier e-mail, ou demandez-en un nouveau.",
    BULK_TOO_LARGE: (f) =>
      f.of === "seats"
        ? `Les séances ont plus de ${f.limit} places prises et personnes en attente. Procédez par parties.`
        : `Plus de ${f.limit} séances correspondent. Choisissez moins de jours et procédez par parties.`,
    ETAG_MISMATCH: () => "Quelqu’un d’autre a modifié ceci. Vérifiez, puis réessayez.",
    RATE_LIMITED: (f) =>
      `Trop de requêtes. Réessayez dans ${f.retry_after ?? "quelques"} secondes.`,
    QUOTA_EXCEEDED: (f) =>
      f.quota === "sent_messages"
        ? "Tant de messages ont été envoyés aujourd’hui qu’aucun code ne peut l’être. Réessayez plus tard, ou demandez à l’accueil."
        : /^(contact_codes|test_messages|invitations_to_address)$/.test(f.quota ?? "")
          ? `Au plus ${f.limit} sont envoyés en 24 heures. Réessayez demain.`
          : `La limite de ${f.limit ?? "places"} est atteinte. Demandez à l’exploitant de l’augmenter.`,
    CONTACT_CODE_INVALID: (f) => `Le code est faux. Essais restants : ${f.guesses_left}.`,
    CONTACT_CODE_EXPIRED: () => "Le code a expiré. Demandez-en un nouveau.",
    CONTACT_NOT_PENDING: () => "Il n’y a rien à confirmer.",
    CONTACT_COUNTRY: () => "Aucun code n’est envoyé aux numéros de ce pays.",
    CONTACT_NOT_MOBILE: () =>
      "Seuls les numéros mobiles reçoivent des codes. L’accueil peut confirmer les autres.",
    CONTENTION: () => "Trop de monde à la fois. Rien n’a été modifié ; veuillez réessayer.",
    DEADLINE_EXCEEDED: () => "Cela a pris trop de temps. Veuillez réessayer.",
  },
};
