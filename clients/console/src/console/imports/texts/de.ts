import { ImportStatus } from "@berthhq/client";
import { de as s } from "../../../shared/i18n/count";
import type { en } from "./en";

export const de: typeof en = {
  imports: {
    note: "Importieren Sie eine Tabelle. Die Datei wird zuerst geprüft; dann werden alle Zeilen importiert oder keine.",
    drop: "CSV-Datei hier ablegen",
    dropNote: "Nichts ändert sich, bis Sie bestätigen.",
    choose: "Datei wählen",
    other: "Andere Datei wählen",
    size: (rows, kilobytes) => `${s(rows, "Zeile", "Zeilen")}, ${Math.ceil(kilobytes)} kB`,
    tooLarge: (megabytes) =>
      `Die Datei ist zu groß. Teilen Sie sie in Dateien bis ${Math.round(megabytes)} MB auf.`,
    trying: "Datei wird geprüft",
    importing: "Wird importiert",
    notRead: "Die Datei konnte nicht gelesen werden",
    unknown: "Es ist unklar, ob der Import erfolgreich war",
    unknownNote:
      "Die Antwort des Servers ging verloren. Prüfen Sie die Datei erneut: Bereits vorhandene " +
      "Zeilen werden als Fehler gemeldet.",
    tryAgain: "Datei erneut prüfen",
    empty: "Die Datei hat eine Kopfzeile, aber keine Zeilen.",
    problems: (wrong, of) => `${wrong} von ${s(of, "Zeile", "Zeilen")} zu korrigieren`,
    nothingTaken: "Es wurde nichts importiert",
    recent: "Letzte Importe",
    started: "Begonnen",
    state: "Status",
    states: (status, dry) =>
      ({
        [ImportStatus.UNSPECIFIED]: "",
        [ImportStatus.PENDING]: "Wartet",
        [ImportStatus.RUNNING]: dry ? "Wird geprüft" : "Wird importiert",
        [ImportStatus.SUCCEEDED]: dry ? "Geprüft" : "Importiert",
        [ImportStatus.FAILED]: "Nichts importiert",
      })[status],
    progress: "Fortschritt",
    rowsDone: (done, of) => `${done} von ${s(of, "Zeile", "Zeilen")}`,
    showProblems: (n) => (n > 0 ? `${s(n, "Zeile", "Zeilen")} zu korrigieren` : "Warum?"),
    row: "Zeile",
    column: "Spalte",
    cell: "Wert",
    wrong: "Problem",
    emptyCell: "leer",
    moreProblems: (n) => `und ${n} weitere`,
    sample: "Erste Zeilen",
    nothingYet: "Es wurde noch nichts importiert.",
    view: "Ansehen",
    columnsTitle: "Spalten",
    example: "Beispiel",
    required: "erforderlich",
    format:
      "CSV mit Kopfzeile, auch wie ältere Programme es speichern. Titel über der Kopfzeile werden " +
      "weggelassen. Reihenfolge der Spalten und Groß- und Kleinschreibung sind egal.",
    sessions: {
      ready: (n) => `${s(n, "Termin", "Termine")} bereit zum Import`,
      run: (n) => `${s(n, "Termin", "Termine")} importieren`,
      done: (n) => `${s(n, "Termin", "Termine")} importiert`,
    },
    members: {
      ready: (n) => `${s(n, "Mitglied", "Mitglieder")} bereit zum Import`,
      run: (n) => `${s(n, "Mitglied", "Mitglieder")} importieren`,
      done: (n) => `${s(n, "Mitglied", "Mitglieder")} importiert`,
    },
    columns: {
      sessions: {
        service: "Name der Leistung",
        location: "Name des Standorts; Zeiten gelten in dessen Zeitzone",
        date: "2027-03-29",
        start: "18:00",
        duration_minutes: "60; oder end",
        end: "19:00; oder duration_minutes",
        resource: "Name der Ressource am Standort",
        coach_email: "E-Mail des Coachs",
        capacity: "Leer: Wert der Leistung",
        waitlist_capacity: "Leer: Wert der Leistung",
        title: "Leer: der Name der Leistung",
        notes: "Für Mitglieder",
        status: "draft oder published",
      },
      members: {
        name: "Vollständiger Name",
        email: "Zur Anmeldung; muss eindeutig sein",
        phone: "Mit Ländervorwahl: +351912345678",
        subject: "Nutzer-ID bei Ihrem Anmeldedienst",
        tier: "Frei wählbar",
        tags: "Durch Semikolon getrennt",
        locale: "pt-PT",
        time_zone: "Europe/Lisbon",
        notes: "Nur für das Team",
      },
    },
  },
};
