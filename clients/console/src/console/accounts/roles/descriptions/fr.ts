import type { Descriptions } from "./type";

export const fr: Descriptions = {
  described: {
    roles: {
      owner: "Dirige l’organisation et peut tout faire.",
      admin: "Gère l’organisation au quotidien.",
      coach: "Anime des séances, tient les listes de participants et pointe les membres.",
      member: "Réserve, annule et pointe pour soi-même.",
      partner: "Un système intégré qui lit l’offre et réserve pour des membres.",
    },
    permissions: {
      "tenant.read": "Voir le nom et les réglages de l’organisation.",
      "tenant.update": "Modifier le nom et les réglages de l’organisation.",
      "catalog.read": "Voir les lieux, les ressources, les prestations et le matériel.",
      "catalog.write":
        "Créer et modifier les lieux, les ressources, les prestations et le matériel.",
      "policy.read":
        "Voir les règles de réservation, d’annulation, de replanification et de pointage, et l’origine de chaque valeur.",
      "policy.write":
        "Modifier les règles de réservation, d’annulation, de replanification et de pointage.",
      "member.read": "Trouver des membres et voir leur profil.",
      "member.write": "Créer des membres et modifier leur profil.",
      "member.confirm":
        "Confirmer à la main, sans code, les adresses e-mail et numéros de téléphone des membres.",
      "member.import": "Importer des membres depuis un fichier.",
      "role.read": "Voir les rôles et leurs permissions.",
      "role.write": "Créer, modifier et supprimer les rôles propres à l’organisation.",
      "role.assign": "Attribuer des rôles aux membres et les retirer.",
      "admin.manage":
        "Nommer propriétaires et administrateurs, leur retirer ces rôles et les modifier.",
      "access.check": "Vérifier si quelqu’un a une permission, et quel rôle la donne.",
      "account.manage": "Créer des comptes de service, renouveler leurs clés et les révoquer.",
      "session.create": "Créer des séances.",
      "session.update":
        "Modifier l’horaire, le lieu, l’équipe, les places et la description d’une séance.",
      "session.read": "Voir le planning avec les places libres, et ce que l’on peut réserver.",
      "session.read_drafts": "Voir les brouillons, et pourquoi des séances sont bloquées.",
      "session.create_published": "Publier des séances dès leur création.",
      "session.publish": "Publier et dépublier des séances.",
      "session.cancel": "Annuler une séance et ses réservations, et rembourser les crédits.",
      "session.delete": "Supprimer une séance sans réservations.",
      "session.block":
        "Bloquer et débloquer une séance. Les réservations existantes sont conservées.",
      "session.series": "Créer des séries de séances et en modifier une partie ou la totalité.",
      "session.bulk": "Prévisualiser, publier, annuler ou supprimer plusieurs séances à la fois.",
      "session.change_ended": "Annuler et supprimer des séances terminées, sans leurs présences.",
      "session.import": "Importer des séances depuis un fichier.",
      "import.read": "Voir les imports, leur progression et leurs problèmes.",
      "workout.write":
        "Créer, modifier et supprimer des entraînements, et les joindre aux séances.",
      "workout.read": "Voir les entraînements, y compris ceux des séances.",
      "booking.create": "Réserver des places.",
      "booking.hold": "Pré-réserver des places pour soi pendant le paiement, et les confirmer.",
      "booking.hold_for_others":
        "Pré-réserver des places pour d’autres membres et pour des invités.",
      "booking.confirm_any": "Confirmer et libérer les pré-réservations de tous les membres.",
      "booking.reschedule_any":
        "Replanifier les réservations de tous les membres, même après le délai d’annulation.",
      "booking.create_for_others":
        "Réserver des places pour d’autres membres, aussi par téléphone et pour qui vient sur place.",
      "booking.own_free": "Réserver ses propres places sans formule ni ses limites.",
      "booking.after_start": "Réserver de la clôture des réservations à la fin de la séance.",
      "booking.record_past": "Réserver dans des séances terminées.",
      "booking.before_opening": "Réserver avant l’ouverture des réservations.",
      "booking.blocked_session": "Réserver dans des séances bloquées.",
      "booking.over_capacity": "Augmenter la capacité d’une séance complète pour y réserver.",
      "booking.import": "Importer les réservations à venir depuis un fichier.",
      "booking.read": "Voir les réservations de tous les membres.",
      "booking.roster": "Voir les participants d’une séance.",
      "booking.cancel_any": "Annuler les réservations de tous les membres.",
      "booking.no_show": "Marquer des membres absents, et revenir dessus.",
      "payment.record": "Enregistrer des paiements et confirmer ainsi des pré-réservations.",
      "payment.refund": "Enregistrer des remboursements de paiements.",
      "waitlist.read": "Voir qui est en liste d’attente, ce qui a été proposé à qui, et pourquoi.",
      "waitlist.manage":
        "Ajouter, prioriser, déplacer et retirer des inscriptions en liste d’attente, et proposer des places soi-même.",
      "waitlist.read_rules": "Voir les règles de la liste d’attente, et qui les a modifiées.",
      "waitlist.rules": "Modifier et tester les règles de la liste d’attente.",
      "waitlist.analytics": "Voir les statistiques de la liste d’attente.",
      "plan.read": "Voir les formules en vente.",
      "plan.write": "Créer et modifier des formules.",
      "subscription.manage":
        "Démarrer, suspendre, reprendre et résilier les abonnements des membres.",
      "subscription.import":
        "Importer les formules des membres, avec leurs crédits, depuis un fichier.",
      "credit.grant": "Ajouter des crédits à l’abonnement d’un membre.",
      "credit.refund": "Rembourser le crédit d’une réservation.",
      "credit.read": "Voir le solde et l’historique des crédits de tous les membres.",
      "checkin.staff": "Pointer les membres, et revenir dessus.",
      "checkin.self": "Pointer ses propres réservations par code QR ou par GPS.",
      "checkin.display": "Afficher le code QR d’une séance et son écran de pointage.",
      "attendance.read": "Voir les présences de tous les membres.",
      "analytics.read": "Voir les statistiques de présence, de réservation et d’occupation.",
      "audit.read": "Lire le journal d’audit.",
      "event.read":
        "Suivre les événements sur tout ce que l’on peut lire, en direct et après coup.",
      "notification.read":
        "Voir les réglages, les modèles et les expéditeurs des messages, et le journal des envois.",
      "notification.write": "Modifier les réglages et les modèles des messages.",
      "notification.senders": "Modifier qui achemine les messages.",
      "notification.outbox": "Lire tous les messages de la boîte d’envoi locale.",
      "notification.test": "S’envoyer un message de test.",
    },
  },
};
