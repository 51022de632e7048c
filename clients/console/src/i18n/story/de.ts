import { de as s } from "../count";
import type { Story } from "../story";

export const de: Story = {
  triggers: {
    0: "",
    1: "Eine Buchung wurde storniert",
    2: "Jemand kam nicht",
    3: "Es gibt mehr Plätze",
    4: "Wieder freigegeben",
    5: "Veröffentlicht",
    6: "Der Termin wurde verlegt",
    7: "Eine Reservierung lief ab",
    8: "Eine Reservierung wurde gelöst",
    9: "Eine Buchung zog um",
    10: "Ein Angebot wurde abgelehnt",
    11: "Ein Angebot lief ab",
    12: "Ein Angebot wurde zurückgezogen",
    13: "Vom Team angeboten",
    14: "Beim Durchsehen gefunden",
    15: "Die Regeln wurden geändert",
  },
  moves: { 0: "", 1: "Niemand passt", 2: "Vergeben", 3: "Weitergereicht", 4: "Zurück ans Team" },
  you: {
    ask: "Warum?",
    title: "Was bisher geschah",
    none: "Seit du wartest, ist noch kein Platz frei geworden.",
    when: (when, what, seats) =>
      `${when}: ${what}${seats === undefined ? "" : `, ${s(seats, "Platz war", "Plätze waren")} frei`}.`,
    line: (rank, of) => `Du warst Nummer ${rank} von ${of}.`,
    before: (n, same) =>
      same
        ? `${s(n, "Person", "Personen")} vor dir ${n === 1 ? "hatte" : "hatten"} dieselbe Chance.`
        : `${s(n, "Person", "Personen")} vor dir ${n === 1 ? "bekam" : "bekamen"} einen Platz.`,
    promoted: (n) => `Du hast sofort ${s(n, "Platz", "Plätze")} bekommen.`,
    offered: (n, until) =>
      `Dir ${n === 1 ? "wurde" : "wurden"} ${s(n, "Platz", "Plätze")} angeboten, bis ${until}.`,
    told: (n, until) =>
      `Du hast Bescheid bekommen und konntest bis ${until} ${s(n, "Platz", "Plätze")} nehmen, wenn niemand schneller war.`,
    notChosen: (reason) => `Du wurdest nicht gewählt: ${reason}.`,
    reasons: {
      NO_SEATS_LEFT: "alle Plätze gingen an die vor dir",
      PARTY_SIZE: "deine Gruppe passt nicht auf die Plätze, die übrig waren",
      DOWN_FITTING: "die Plätze werden nur zusammen vergeben",
      HAS_OFFER: "du hattest schon ein anderes Angebot",
      SERVICE: "du wünschst dir etwas anderes",
      LOCATION: "du wünschst dir einen anderen Standort",
      RESOURCE: "du wünschst dir einen anderen Platz, Raum oder Stuhl",
      DATE: "du wünschst dir andere Tage",
      TIME: "du wünschst dir eine andere Uhrzeit",
      STAFF_PREFERENCE: "du wünschst dir jemand anderen",
      MAX_OFFERS: "die Regeln erlauben keine weiteren Angebote für einen Wunsch",
      TRIED: "diese Plätze wurden dir schon angeboten",
      NOT_ELIGIBLE: "die Regeln geben diese Plätze anderen",
      RULE_FAILED: "eine Regel ließ sich nicht auswerten; das Team weiß davon",
      NO_TIME: "zum Antworten war zu wenig Zeit",
      QUIET_HOURS: "es war Nacht, und am Morgen wäre es zu spät gewesen",
      TRY_CAP: "es wurden schon so viele gefragt, wie die Regeln erlauben",
      NO_CASCADE: "das Team entscheidet, wer als Nächstes gefragt wird",
    },
  },
  staff: {
    open: (seats, line) =>
      `${seats === undefined ? "Plätze waren unbegrenzt frei" : `${s(seats, "Platz war", "Plätze waren")} frei`}, ${line === 0 ? "niemand" : line} in der Schlange.`,
    tried: (n) => `${s(n, "Person war", "Personen waren")} für diese Plätze schon gefragt worden.`,
    nobody: "Niemand hat einen davon bekommen.",
    booked: (who) => `Sofort gebucht: ${who}.`,
    told: (who) => `Alle, die passen, bekamen Bescheid; wer zuerst zugreift, hat sie: ${who}.`,
    wentOn: (who) => `Das Angebot ging weiter an ${who}.`,
    offered: (who) => `Ein Angebot ging an ${who}.`,
    got: (name, n, until) => `${name} (${s(n, "Platz", "Plätze")}${until && `, bis ${until}`})`,
    somebody: "jemand",
    more: (n) => `${n} weitere`,
    chosen: "Gewählt",
    passed: "Nicht gewählt",
    verdicts: {
      booked: (n) => `hat sofort ${s(n, "Platz", "Plätze")} bekommen`,
      offered: (n, until) =>
        `bekam ${s(n, "Platz", "Plätze")} angeboten${until && `, bis ${until}`}`,
      told: (n, until) =>
        `bekam Bescheid und konnte ${until && `bis ${until} `}${s(n, "Platz", "Plätze")} nehmen, wenn niemand schneller war`,
    },
    left: {
      noLine: (n) => `${s(n, "Platz bleibt", "Plätze bleiben")} frei: Niemand wartet.`,
      noneElse: (n) => `${s(n, "Platz bleibt", "Plätze bleiben")} frei: Sonst passt niemand.`,
      none: (n, line) =>
        `${s(n, "Platz bleibt", "Plätze bleiben")} frei: Von ${line} Wartenden passt niemand.`,
      asked: (n, asked, why) =>
        `${s(n, "Platz bleibt", "Plätze bleiben")} frei, nachdem ${s(asked, "Person", "Personen")} gefragt ${asked === 1 ? "wurde" : "wurden"}: ${why}.`,
    },
    spent: {
      cap: "mehr erlauben die Regeln nicht",
      staff: "wen ihr als Nächstes fragt, überlassen die Regeln euch",
      late: "es ist zu spät, noch jemanden zu fragen",
      list: "die Liste ist zu Ende",
    },
    todo: (n) =>
      n === 1
        ? "Er steht allen offen: Ruft jemanden an, nehmt jemanden auf, der vorbeikommt, oder bietet ihn von Hand an."
        : "Sie stehen allen offen: Ruft jemanden an, nehmt auf, wer vorbeikommt, oder bietet sie von Hand an.",
    would: {
      mode: (how) => `Plätze wären anders vergeben worden: ${how}.`,
      gained: (who) => `Stattdessen wären gewählt worden: ${who}.`,
      lost: (who) => `Nicht gewählt worden wären: ${who}.`,
      move: (what) => `Ausgang wäre gewesen: ${what}.`,
    },
    modes: {
      0: "",
      1: "sofort, ohne zu fragen",
      2: "durch Angebote, nacheinander",
      3: "an die, die zuerst zugreifen",
    },
    reasons: {
      NO_SEATS_LEFT: "alle freien Plätze gingen an die davor",
      PARTY_SIZE: "die Gruppe passt nicht auf die Plätze, die übrig waren",
      DOWN_FITTING: "die Gruppe ist kleiner als das, was frei war und nur zusammen vergeben wird",
      HAS_OFFER: "hatte schon ein anderes Angebot",
      SERVICE: "wünscht sich etwas anderes",
      LOCATION: "wünscht sich einen anderen Standort",
      RESOURCE: "wünscht sich einen anderen Platz, Raum oder Stuhl",
      DATE: "wünscht sich andere Tage",
      TIME: "wünscht sich eine andere Uhrzeit",
      STAFF_PREFERENCE: "wünscht sich jemand anderen vom Team",
      MAX_OFFERS: "mehr Angebote für einen Wunsch erlauben die Regeln nicht",
      TRIED: "bekam diese Plätze schon angeboten und nahm sie nicht",
      NOT_ELIGIBLE: "diese Plätze geben die Regeln anderen",
      RULE_FAILED:
        "die Regel, wer diese Plätze haben darf, ließ sich nicht auswerten und ist zu berichtigen",
      NO_TIME: "zum Antworten war zu wenig Zeit",
      QUIET_HOURS: "es war Nacht, und am Morgen wäre es zu spät gewesen",
      TRY_CAP: "so viele, wie die Regeln erlauben, waren schon gefragt",
      NO_CASCADE: "wen man als Nächstes fragt, überlassen die Regeln dem Team",
    },
  },
  booking: {
    WAITLIST_CLOSED: "die Warteliste ist abgeschaltet",
    SESSION_NOT_OPEN: "der Termin war nicht buchbar",
    ADVANCE_WINDOW: "es war zu früh, um den Termin zu buchen",
    CHANNEL_CLOSED: "Buchungen dieser Art nimmt der Standort nicht an",
    ALREADY_BOOKED: "es gab schon eine Buchung für den Termin",
    SESSION_FULL: "der Termin war voll",
    NO_ACTIVE_PLAN: "kein aktiver Tarif galt für den Termin",
    PLAN_CHOICE_REQUIRED: "mehrere Tarife galten für den Termin, und keiner war gewählt",
    OUTSTANDING_BALANCE: "es war noch etwas zu bezahlen",
    NO_CREDITS: "es war kein Guthaben mehr da",
    DAILY_LIMIT: "der Tarif erlaubte an dem Tag keine weitere Buchung",
    WEEKLY_LIMIT: "der Tarif erlaubte in der Woche keine weitere Buchung",
    OVERLAP: "es gab eine andere Buchung zur selben Zeit",
    SUBSCRIPTION_STATE: "der Tarif war nicht aktiv",
    MEMBER_NOT_FOUND: "die Mitgliedschaft ist beendet",
    EXTERNAL_REF_CONFLICT: "die Referenz gehört schon zu einer anderen Buchung",
  },
};
