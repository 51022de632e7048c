import { de as s } from "../../i18n/count";
import type { en } from "./en";

export const de: typeof en = {
  decisions: {
    triggers: {
      0: "",
      1: "Eine Buchung wurde storniert",
      2: "Jemand wurde als No-Show markiert",
      3: "Plätze kamen hinzu",
      4: "Der Termin wurde entsperrt",
      5: "Der Termin wurde veröffentlicht",
      6: "Der Termin wurde verschoben",
      7: "Eine Reservierung lief ab",
      8: "Eine Reservierung wurde freigegeben",
      9: "Eine Buchung wurde umgebucht",
      10: "Ein Angebot wurde abgelehnt",
      11: "Ein Angebot lief ab",
      12: "Ein Angebot wurde zurückgezogen",
      13: "Vom Team angeboten",
      14: "Bei einer regelmäßigen Prüfung gefunden",
      15: "Die Regeln der Warteliste wurden geändert",
      16: "Ein übergangener Eintrag wurde noch einmal geprüft",
      17: "Die Buchung hat begonnen",
    },
    moves: {
      0: "",
      1: "Niemand passt",
      2: "Vergeben",
      3: "Weiter angeboten",
      4: "Zurück ans Team",
    },
    you: {
      ask: "Warum?",
      title: "Ihr Verlauf auf der Warteliste",
      next: {
        0: "",
        1: "Wird ein Platz frei, buchen wir ihn für Sie.",
        2: "Wird ein Platz frei, bieten wir ihn Ihnen an.",
        3: "Wird ein Platz frei, bieten wir ihn allen Wartenden an: Wer zuerst annimmt, bekommt ihn.",
      },
      none: "Seit Ihrer Eintragung ist noch kein Platz frei geworden.",
      when: (when, what, seats) =>
        `${when}: ${what}${seats === undefined ? "" : `, ${s(seats, "Platz war", "Plätze waren")} frei`}.`,
      position: (rank, of) => `Sie waren Nummer ${rank} von ${of} auf der Warteliste.`,
      before: (n, same) =>
        same
          ? `${s(n, "Person", "Personen")} vor Ihnen ${n === 1 ? "hatte" : "hatten"} dieselbe Chance.`
          : `${s(n, "Person", "Personen")} vor Ihnen ${n === 1 ? "bekam" : "bekamen"} einen Platz.`,
      promoted: (n) => `${s(n, "Platz wurde", "Plätze wurden")} für Sie gebucht.`,
      offered: (n, until) =>
        `Ihnen ${n === 1 ? "wurde" : "wurden"} ${s(n, "Platz", "Plätze")} angeboten, bis ${until}.`,
      firstCome: (n, until) =>
        `Ihnen ${n === 1 ? "wurde" : "wurden"} ${s(n, "Platz", "Plätze")} bis ${until} ` +
        "angeboten; wer zuerst annimmt, bekommt ihn.",
      notChosen: (reason) => `Sie haben keinen Platz bekommen: ${reason}.`,
      reasons: {
        NO_SEATS_LEFT: "alle Plätze gingen an Personen vor Ihnen",
        PARTY_SIZE: "es gab nicht genug Plätze für Ihre Gruppe",
        DOWN_FITTING: "die Plätze werden nur zusammen vergeben",
        HAS_OFFER: "Sie hatten schon ein anderes Angebot",
        SERVICE: "Sie hatten eine andere Leistung gewünscht",
        LOCATION: "Sie hatten einen anderen Standort gewünscht",
        RESOURCE: "Sie hatten einen anderen Raum, Court oder Stuhl gewünscht",
        DATE: "Sie hatten andere Tage gewünscht",
        TIME: "Sie hatten eine andere Uhrzeit gewünscht",
        STAFF_PREFERENCE: "Sie hatten einen anderen Coach gewünscht",
        MAX_OFFERS: "Sie haben so viele Angebote erhalten, wie die Regeln erlauben",
        TRIED: "diese Plätze wurden Ihnen bereits angeboten",
        NOT_ELIGIBLE: "Sie waren für diese Plätze nicht berechtigt",
        RULE_FAILED: "eine Regel ließ sich nicht auswerten; das Team weiß Bescheid",
        NO_TIME: "es blieb zu wenig Zeit zum Antworten",
        QUIET_HOURS: "die Ruhezeit hätte zu spät geendet",
        GAVE_UP: "Sie hatten diese Plätze abgegeben",
        TRY_CAP: "die Plätze wurden so vielen Personen angeboten, wie die Regeln erlauben",
        NO_CASCADE: "das Team entscheidet, wem die Plätze als Nächstes angeboten werden",
      },
    },
    staff: {
      next: {
        0: "",
        1: "würde gebucht",
        2: "bekäme ein Angebot",
        3: "bekäme mit allen anderen ein Angebot",
      },
      open: (seats, line) =>
        `${seats === undefined ? "Plätze waren unbegrenzt frei" : `${s(seats, "Platz war", "Plätze waren")} frei`}, ` +
        `${line === 0 ? "niemand" : line} auf der Warteliste.`,
      tried: (n) =>
        `${s(n, "Person", "Personen")} ${n === 1 ? "hatte" : "hatten"} diese Plätze bereits angeboten bekommen.`,
      noOne: "Niemand hat einen Platz bekommen.",
      booked: (who) => `Automatisch gebucht: ${who}.`,
      firstCome: (who) => `Allen Passenden angeboten, wer zuerst annimmt: ${who}.`,
      offeredNext: (who) => `Weiter angeboten: ${who}.`,
      offered: (who) => `Angeboten: ${who}.`,
      got: (name, n, until) => `${name} (${s(n, "Platz", "Plätze")}${until && `, bis ${until}`})`,
      someone: "jemand",
      more: (n) => `${n} weitere`,
      chosen: "Hat einen Platz bekommen",
      passed: "Übersprungen",
      verdicts: {
        booked: (n) => `${s(n, "Platz", "Plätze")} automatisch gebucht`,
        offered: (n, until) => `${s(n, "Platz", "Plätze")} angeboten${until && `, bis ${until}`}`,
        firstCome: (n, until) =>
          `${s(n, "Platz", "Plätze")} angeboten${until && ` bis ${until}`}, wer zuerst annimmt`,
      },
      left: {
        empty: (n) => `${s(n, "Platz bleibt", "Plätze bleiben")} frei: Die Warteliste ist leer.`,
        noOther: (n) =>
          `${s(n, "Platz bleibt", "Plätze bleiben")} frei: Sonst passt niemand auf der Warteliste.`,
        none: (n, line) =>
          `${s(n, "Platz bleibt", "Plätze bleiben")} frei: Von ${line} auf der Warteliste passt niemand.`,
        asked: (n, asked, why) =>
          `${s(n, "Platz bleibt", "Plätze bleiben")} nach ${s(asked, "Angebot", "Angeboten")} frei: ${why}.`,
      },
      stopped: {
        cap: "die Regeln erlauben keine weiteren Angebote",
        staff: "die Regeln überlassen Ihnen das nächste Angebot",
        late: "für ein weiteres Angebot ist es zu spät",
        list: "es ist niemand mehr übrig",
      },
      todo: (n) =>
        n === 1
          ? "Er ist für alle buchbar. Sie können auch jemanden anrufen, vor Ort einbuchen oder den Platz selbst anbieten."
          : "Sie sind für alle buchbar. Sie können auch jemanden anrufen, vor Ort einbuchen oder die " +
            "Plätze selbst anbieten.",
      would: {
        mode: (how) => `Plätze wären anders vergeben worden: ${how}.`,
        gained: (who) => `Stattdessen hätten einen Platz bekommen: ${who}.`,
        lost: (who) => `Keinen Platz bekommen hätten: ${who}.`,
        move: (what) => `Ergebnis: ${what}.`,
      },
      modes: {
        0: "",
        1: "automatisch gebucht",
        2: "Angebote nacheinander",
        3: "Angebote an alle, wer zuerst annimmt",
      },
      reasons: {
        NO_SEATS_LEFT: "alle freien Plätze gingen an Personen davor",
        PARTY_SIZE: "nicht genug Plätze für die Gruppe",
        DOWN_FITTING:
          "die Gruppe ist kleiner als die Zahl der freien Plätze, die nur zusammen vergeben werden",
        HAS_OFFER: "hatte schon ein anderes Angebot",
        SERVICE: "hatte eine andere Leistung gewünscht",
        LOCATION: "hatte einen anderen Standort gewünscht",
        RESOURCE: "hatte eine andere Ressource gewünscht",
        DATE: "hatte andere Tage gewünscht",
        TIME: "hatte eine andere Uhrzeit gewünscht",
        STAFF_PREFERENCE: "hatte einen anderen Coach gewünscht",
        MAX_OFFERS: "hat so viele Angebote erhalten, wie die Regeln erlauben",
        TRIED: "hatte diese Plätze bereits angeboten bekommen und nicht angenommen",
        NOT_ELIGIBLE: "nach den Regeln nicht berechtigt",
        RULE_FAILED:
          "die Regel für Berechtigte ließ sich nicht auswerten und muss korrigiert werden",
        NO_TIME: "zu wenig Zeit, um ein Angebot anzunehmen",
        QUIET_HOURS: "die Ruhezeit hätte zu spät geendet",
        GAVE_UP: "hatte diese Plätze abgegeben",
        TRY_CAP: "die Plätze wurden so vielen Personen angeboten, wie die Regeln erlauben",
        NO_CASCADE: "die Regeln überlassen dem Team das nächste Angebot",
      },
    },
    refused: "die Buchung wäre abgelehnt worden",
    booking: {
      WAITLIST_CLOSED: "die Warteliste ist abgeschaltet",
      SESSION_NOT_OPEN: "der Termin war nicht buchbar",
      ADVANCE_WINDOW: "es war zu früh, um den Termin zu buchen",
      CHANNEL_CLOSED: "der Standort nimmt solche Buchungen nicht an",
      ALREADY_BOOKED: "ein Platz war bereits gebucht oder reserviert",
      SESSION_FULL: "der Termin war ausgebucht",
      NO_ACTIVE_PLAN: "kein aktiver Tarif galt für den Termin",
      PLAN_CHOICE_REQUIRED: "mehrere Tarife galten für den Termin, und keiner war ausgewählt",
      OUTSTANDING_BALANCE: "für den Tarif war noch ein Betrag offen",
      NO_CREDITS: "es waren keine Credits mehr übrig",
      DAILY_LIMIT: "der Tarif erlaubte an dem Tag keine weitere Buchung",
      WEEKLY_LIMIT: "der Tarif erlaubte in der Woche keine weitere Buchung",
      OVERLAP: "es gab eine andere Buchung zur selben Zeit",
      SUBSCRIPTION_STATE: "der Tarif war nicht aktiv",
      MEMBER_NOT_FOUND: "die Mitgliedschaft ist beendet",
      EXTERNAL_REF_CONFLICT: "die Referenz gehört schon zu einer anderen Buchung",
    },
  },
};
