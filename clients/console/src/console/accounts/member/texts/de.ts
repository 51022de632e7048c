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
};
