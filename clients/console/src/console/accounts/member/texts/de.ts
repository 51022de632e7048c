import type { en } from "./en";

export const de: typeof en = {
  member: {
    bookings: "Buchungen",
    messages: "Nachrichten",
    coming: "Demnächst",
    nothing: "Keine Buchungen",
    nothingNote: "Neue Buchungen erscheinen hier sofort.",
    waits: "Warteliste",
    waitsForNothing: "Auf keiner Warteliste",
    addressWaits: (old) =>
      `Damit kann sich niemand anmelden, bis ${old} per E-Mail zustimmt. Ohne Antwort geht es ab`,
    entered: (address) => `Eingegeben, nicht bestätigt: ${address}`,
    confirm: "Von Hand bestätigen",
    confirmTitle: (address) => `${address} bestätigen?`,
    confirmBody: (name) =>
      `Nur wenn Sie wissen, dass sie ${name} gehört: Fragen Sie persönlich, und lassen Sie sich dort eine Nachricht zeigen. Sie ersetzt dann die bisherige.`,
    devices: "Geräte",
    noDevices: "Keine Geräte",
    noDevicesNote:
      "Push-Nachrichten funktionieren, sobald sich das Mitglied in der App angemeldet hat.",
    deviceKinds: { 0: "Gerät", 1: "iPhone oder iPad", 2: "Android", 3: "Browser" },
    seen: "zuletzt gesehen",
    since: "seit",
    theirs: "Mitglieder wählen dies in ihrer App.",
    quiet: (from, to, zone) => `Ruhezeit von ${from} bis ${to} (${zone}).`,
    organizationQuietHours: "Es gilt die Ruhezeit der Organisation.",
    chosen: "ausgewählt",
  },
  led: {
    tab: "Als Coach",
    title: "Geleitete Termine",
    none: "Leitet keinen Termin",
    noneNote: "Künftige Termine mit diesem Coach stehen hier.",
    count: (count, shown) =>
      count > shown
        ? `${count} Termine. Das sind die ersten ${shown}.`
        : count === 1
          ? "Ein Termin."
          : `${count} Termine.`,
    leads: (title) => `Wer ${title} leitet`,
    choose: "Vertretung",
    nobody: "Niemand ist frei",
    chooseForAll: "Eine Vertretung für alle",
    freeFor: (name, free, all) => `${name} (frei für ${free} von ${all})`,
    replace: (count) => (count === 0 ? "Ersetzen" : `In ${count} ersetzen`),
    left: "Diese Termine nennen diese Person noch als Coach. Mitglieder sehen den Namen einer inaktiven Person nicht.",
  },
};
