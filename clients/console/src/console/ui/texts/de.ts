import { de as s } from "../../../shared/i18n/count";
import type { en } from "./en";

export const de: typeof en = {
  invite: {
    send: "Einladung per E-Mail senden",
    note: "Die E-Mail hat einen Link, der die Adresse bestätigt und anmeldet. Er gilt einmal, sieben Tage lang.",
    noteTo: (email) =>
      `Die E-Mail an ${email} hat einen Link, der die Adresse bestätigt und anmeldet. Er gilt einmal, sieben Tage lang.`,
    sent: (emails: readonly string[]) =>
      emails.length === 1
        ? `Einladung an ${emails[0]} gesendet`
        : `${emails.length} Einladungen gesendet`,
  },
  ui: {
    when: "Zeit",
    who: "Akteur",
    lastDays: (n) => `Letzte ${n} Tage`,
    byService: "Nach Leistung",
    byLocation: "Nach Standort",
    name: "Name",
    none: "Keine Daten für diesen Zeitraum",
    noMembers: "Keine Mitglieder gefunden",
    price: "Preis",
    credits: (n) => s(n, "Credit", "Credits"),
    yes: "Ja",
    no: "Nein",
    pending: (n) => s(n, "ungespeicherte Änderung", "ungespeicherte Änderungen"),
    allLocations: "Alle Standorte",
    zone: (zone, name) => `Zeiten in ${zone} (${name})`,
    days: "Tage",
    noLimit: "unbegrenzt",
    member: "Mitglied",
    party: "Plätze",
    findMember: "Name, E-Mail oder Telefon",
    unverified: "ungeprüft",
    guest: "Gast",
    channel: { 0: "", 1: "Online", 2: "Telefon", 3: "Vor Ort" },
    staffNote: "Notiz für das Team",
    membershipNumber: "Mitgliedsnummer",
  },
};
