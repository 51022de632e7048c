import type { en } from "./en";

export const de: typeof en = {
  palette: {
    open: "Suchen",
    hint: "Seiten, Personen und Aktionen suchen …",
    nothing: "Keine Ergebnisse",
    pages: "Gehe zu",
    actions: "Aktionen",
  },
  keys: {
    title: "Tastenkürzel",
    turn: "Vorherige oder nächste Woche, vorheriger oder nächster Tag",
    move: "Ausgewählten Termin um 15 Minuten oder einen Tag verschieben",
  },
};
