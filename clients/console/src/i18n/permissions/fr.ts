import type { Described } from "../permissions";

export const fr: Described = {
  roles: {
    owner: "Dirige l’organisation et peut tout faire.",
    admin: "Gère l’organisation au quotidien.",
    coach: "Anime des séances, tient leurs listes et pointe les arrivées.",
    member: "Réserve, annule et pointe pour soi-même.",
    partner: "Un système intégré qui lit l’offre et réserve pour des membres.",
  },
  permissions: {
    "tenant.read": "Voir le nom et les réglages de l’organisation.",
    "tenant.update": "Modifier le nom et les réglages de l’organisation.",
    "catalog.read":
      "Voir les lieux, les ressources, les prestations et ce qui se réserve avec elles.",
    "catalog.write":
      "Créer et modifier les lieux, les ressources, les prestations et ce qui se réserve avec elles.",
    "policy.read":
      "Voir les règles en vigueur de réservation, d’annulation, de report et de pointage, et l’origine de chaque valeur.",
    "policy.write": "Modifier les règles de réservation, d’annulation, de report et de pointage.",
    "member.read": "Trouver des membres et voir leur profil.",
    "member.write": "Créer des membres et modifier leur profil.",
    "member.import": "Importer des membres depuis un fichier.",
    "role.read": "Voir les rôles et les droits que chacun donne.",
    "role.write": "Créer, modifier et supprimer les rôles propres à l’organisation.",
    "role.assign": "Donner des rôles aux membres et les retirer.",
    "access.check": "Demander si quelqu’un a un droit, et par quel rôle.",
    "account.manage": "Créer des comptes de service, renouveler leurs clés et les révoquer.",
    "session.create": "Créer des séances.",
    "session.update":
      "Modifier l’horaire, le lieu, l’équipe, les places et la description d’une séance.",
    "session.read":
      "Voir le planning, avec les places libres et ce que l’on peut soi-même réserver.",
    "session.publish": "Mettre des séances en vente et les remettre en brouillon.",
    "session.cancel": "Annuler une séance avec ses réservations, et les rembourser.",
    "session.block":
      "Retirer une séance de la vente sans toucher à ses réservations, et la remettre.",
    "session.series": "Créer des séries de séances et en modifier une partie ou la totalité.",
    "session.bulk": "Prévisualiser, publier, annuler ou supprimer beaucoup de séances à la fois.",
    "session.import": "Importer des séances depuis un fichier.",
    "workout.write": "Créer des entraînements et les associer à des séances.",
    "workout.read": "Voir les entraînements et ceux associés aux séances.",
    "booking.create": "Réserver des places.",
    "booking.hold": "Retenir des places pour soi pendant le paiement, et les confirmer.",
    "booking.hold_for_others": "Retenir des places pour d’autres membres et pour des invités.",
    "booking.confirm_any": "Confirmer et libérer les places retenues de tous.",
    "booking.reschedule_any":
      "Déplacer la réservation de tous vers une autre séance, quel que soit le délai d’annulation.",
    "booking.create_for_others": "Réserver des places pour un autre membre.",
    "booking.read": "Voir les réservations de tous les membres.",
    "booking.roster": "Voir qui a réservé une séance.",
    "booking.cancel_any": "Annuler la réservation de tout membre.",
    "booking.no_show": "Noter que quelqu’un n’est pas venu, et revenir dessus.",
    "waitlist.read": "Voir qui attend, ce qui a été proposé à qui, et pourquoi.",
    "waitlist.manage":
      "Inscrire, signaler, déplacer et retirer tout le monde sur la liste d’attente, et proposer des places soi-même.",
    "waitlist.read_rules":
      "Voir les règles qui donnent les places libérées, et qui les a modifiées.",
    "waitlist.rules": "Modifier et essayer les règles qui donnent les places libérées.",
    "waitlist.analytics": "Voir les chiffres de la liste d’attente.",
    "plan.read": "Voir les formules en vente.",
    "plan.write": "Créer et modifier des formules.",
    "subscription.manage":
      "Démarrer, suspendre, reprendre et résilier les abonnements des membres.",
    "credit.grant": "Ajouter des crédits à l’abonnement d’un membre.",
    "credit.refund": "Rendre un crédit pris par une réservation.",
    "credit.read": "Voir le solde et le relevé de tout membre.",
    "checkin.staff": "Pointer les membres soi-même, et revenir dessus.",
    "checkin.self": "Pointer sa propre réservation par code QR ou par position.",
    "checkin.display": "Afficher le code QR d’une séance et sa page murale.",
    "attendance.read": "Voir les présences de tout membre.",
    "analytics.read": "Voir les chiffres de présence, de réservation et d’occupation.",
    "audit.read": "Lire le journal d’audit.",
    "event.read": "Suivre tout ce qui se passe dans l’organisation, en direct et après coup.",
    "notification.read":
      "Voir les réglages, les textes et les expéditeurs des messages, et le journal des envois.",
    "notification.write": "Modifier les réglages et les textes des messages.",
    "notification.senders": "Modifier qui achemine les messages.",
    "notification.outbox":
      "Lire les messages de la boîte d’envoi locale, quel qu’en soit le destinataire.",
    "notification.test": "S’envoyer un exemple de message.",
  },
};
