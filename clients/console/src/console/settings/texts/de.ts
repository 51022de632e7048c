import { de as s } from "../../../shared/i18n/count";
import type { en } from "./en";

export const de: typeof en = {
  policies: {
    note:
      "Ein Wert für eine Leistung überschreibt den des Standorts, dieser den der Organisation " +
      "und dieser den Standardwert.",
    level: "Gilt für",
    tenant: "Die ganze Organisation",
    forLocation: (name) => `Standort: ${name}`,
    forService: (name) => `Leistung: ${name}`,
    value: "Wert",
    from: "Quelle",
    inherited: "Geerbt",
    setHere: "Hier gesetzt",
    levels: { 0: "", 1: "Standardwert", 2: "Organisation", 3: "Standort", 4: "Leistung" },
    override: "Anpassen",
    inherit: "Geerbten Wert verwenden",
    hours: "Stunden",
    minutes: "Minuten",
    days: "Tage",
    meters: "Meter",
    before: "vor Beginn",
    fields: {
      advanceWindow: [
        "Buchbar ab",
        "Wie lange vor Beginn ein Termin frühestens gebucht werden kann.",
      ],
      bookingClosesBefore: [
        "Buchungsschluss",
        "Wie lange vor Beginn Mitglieder nicht mehr buchen können.",
      ],
      cancellationWindow: [
        "Kostenlos stornieren",
        "Bis wie lange vor Beginn Mitglieder kostenlos stornieren können.",
      ],
      allowLateCancellation: [
        "Späte Stornierung",
        "Mitglieder dürfen spät stornieren, erhalten aber keine Credits zurück.",
      ],
      allowReschedule: [
        "Späte Umbuchung",
        "Mitglieder dürfen noch umbuchen, wenn es zum Stornieren zu spät ist.",
      ],
      tierCancellations: ["Stornofristen nach Stufe", "Stufen mit eigener Stornofrist."],
      holdTtl: [
        "Reservierungsdauer",
        "Wie lange ein Platz reserviert bleibt, während jemand bezahlt.",
      ],
      checkInOpensBefore: ["Check-in öffnet", "Wie lange vor Beginn."],
      checkInClosesAfterEnd: ["Check-in schließt", "Wie lange nach dem Ende."],
      gpsMaxMeters: [
        "Check-in-Umkreis",
        "Wie nah am Standort Mitglieder für den Check-in per GPS sein müssen.",
      ],
      checkInRequiresQr: [
        "Check-in nur mit Code",
        "Mitglieder brauchen den Code auf der Check-in-Anzeige. Der Standort des Handys genügt nicht.",
      ],
      autoNoShow: ["Automatische No-Shows", "Wer nicht eincheckt, wird als No-Show markiert."],
      autoNoShowAfter: [
        "No-Shows markieren",
        "Wie lange nach dem Ende, nie vor dem Schluss des Check-ins.",
      ],
      autoNoShowAfterStart: [
        "No-Shows nach Beginn markieren",
        "Wie lange nach Beginn statt nach dem Ende: Mitglieder können dann nicht mehr einchecken. 0 schaltet es aus.",
      ],
    },
    groups: { booking: "Buchung", cancelling: "Stornierung", checkIn: "Check-in und No-Shows" },
    none: "Keine",
    addTier: "Stufe hinzufügen",
    between: (least, most) => `Muss zwischen ${least} und ${most} liegen.`,
    nightTooLong: "Geben Sie beide Zeiten an. Mindestens eine Stunde des Tages muss frei bleiben.",
    tierTwice: (tier) => `„${tier}“ ist doppelt aufgeführt.`,
    unfit: "Das widerspricht anderen Einstellungen.",
    wrongAt: (line, column, what) => `Zeile ${line}, Spalte ${column}: ${what}`,
    whyChanged: "Grund (im Verlauf sichtbar)",
    ownSettings: (n) => s(n, "Anpassung", "Anpassungen"),
    resetAll: "Alle Anpassungen entfernen",
    resetTitle: "Alle Anpassungen entfernen?",
    resetBody: (n) =>
      `${s(n, "Anpassung wird", "Anpassungen werden")} sofort entfernt. Stattdessen gelten die geerbten Werte.`,
  },
};
