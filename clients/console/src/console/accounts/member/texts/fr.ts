import type { en } from "./en";

export const fr: typeof en = {
  member: {
    bookings: "Réservations",
    messages: "Messages",
    coming: "À venir",
    nothing: "Aucune réservation",
    nothingNote: "Les nouvelles réservations apparaissent ici aussitôt.",
    waits: "Liste d’attente",
    waitsForNothing: "Sur aucune liste d’attente",
    addressWaits: (old) =>
      `Personne ne peut se connecter avec elle avant l’accord de ${old} par e-mail. Sans réponse, c’est possible à partir du`,
    entered: (address) => `Saisi, non confirmé : ${address}`,
    confirm: "Confirmer à la main",
    confirmTitle: (address) => `Confirmer ${address} ?`,
    confirmBody: (name) =>
      `Seulement si vous savez que c’est bien à ${name} : demandez en personne, et faites-vous montrer un message reçu là. Cela remplace alors l’ancien.`,
    devices: "Appareils",
    noDevices: "Aucun appareil",
    noDevicesNote:
      "Les notifications push fonctionnent dès que le membre s’est connecté à l’application.",
    deviceKinds: { 0: "Appareil", 1: "iPhone ou iPad", 2: "Android", 3: "Navigateur" },
    seen: "vu pour la dernière fois",
    since: "depuis le",
    theirs: "Les membres choisissent cela dans leur application.",
    quiet: (from, to, zone) => `Heures calmes de ${from} à ${to} (${zone}).`,
    organizationQuietHours: "Les heures calmes de l’organisation s’appliquent.",
    chosen: "choisi",
  },
  led: {
    tab: "Comme coach",
    title: "Séances animées",
    none: "N’anime aucune séance",
    noneNote: "Les prochaines séances avec ce coach s’affichent ici.",
    count: (count, shown) =>
      count > shown
        ? `${count} séances. Voici les ${shown} premières.`
        : count === 1
          ? "Une séance."
          : `${count} séances.`,
    leads: (title) => `Qui anime ${title}`,
    choose: "Remplaçant",
    nobody: "Personne n’est libre",
    chooseForAll: "Un remplaçant pour toutes",
    freeFor: (name, free, all) => `${name} (libre pour ${free} sur ${all})`,
    replace: (count) => (count === 0 ? "Remplacer" : `Remplacer dans ${count}`),
    left: "Ces séances indiquent encore cette personne comme coach. Les membres ne voient pas le nom d’une personne inactive.",
  },
};
