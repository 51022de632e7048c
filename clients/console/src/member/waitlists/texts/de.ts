import { de as s } from "../../../shared/i18n/count";
import type { en } from "./en";

export const de: typeof en = {
  timeWindow: {
    title: "Auf ein Zeitfenster warten",
    note:
      "Wählen Sie Tage und Zeiten, die Ihnen passen. Wird ein Platz frei, buchen wir ihn für " +
      "Sie oder bieten ihn Ihnen an.",
    first: "Von",
    last: "Bis",
    earliest: "Beginn ab",
    latest: "Beginn bis",
    coach: "Coach",
    anyCoach: "Beliebig",
    join: "Auf die Warteliste",
    joined: (position) => `Sie sind Nummer ${position} auf der Warteliste.`,
    free: (title) => `${title} hat freie Plätze.`,
    see: "Zum Termin",
    days: (first, last) => (first === last ? first : `${first} bis ${last}`),
    times: (earliest, latest) => `${earliest} bis ${latest}`,
    anyTime: "zu jeder Zeit",
    anyOf: (n) => `Einer von ${s(n, "Termin", "Terminen")}`,
  },
  any: {
    title: "Auf einen von mehreren Terminen warten",
    note: "Wählen Sie ausgebuchte Termine. Sobald Sie einen Platz haben, verlassen Sie die Warteliste der anderen.",
    none: "Keine ausgebuchten Termine mit Warteliste",
    join: (n) => (n > 1 ? `Warteliste für einen von ${n}` : "Auf die Warteliste"),
    here: "Auf einen von mehreren Terminen warten",
    or: "Oder mehrere ausgebuchte Termine wählen",
  },
};
