import type { en } from "./en";

export const de: typeof en = {
  reasons: {
    INTERNAL: () => "Bei uns ist etwas schiefgegangen. Bitte versuchen Sie es erneut.",
    INVALID_FIELD: (f) => `Bitte prüfen Sie Ihre Eingaben${f.field ? `: ${f.field}` : ""}.`,
    UNAUTHENTICATED: () => "Bitte melden Sie sich erneut an.",
    TENANT_FORBIDDEN: () => "Ihr Konto gehört nicht zu dieser Organisation.",
    TENANT_REQUIRED: () => "Bitte wählen Sie zuerst eine Organisation.",
    NOT_A_MEMBER: () => "Ihr Konto gehört hier zu keinem Mitglied.",
    MEMBER_INACTIVE: () =>
      "Ihre Mitgliedschaft ist deaktiviert. Bitte wenden Sie sich an den Empfang.",
    INVITATION_REQUIRED: () =>
      "Inhaber, Administratoren und wer inzwischen mehr Rechte hat, brauchen eine Einladung.",
    INVITATION_NOT_FOUND: () => "Diese Einladung gibt es nicht mehr.",
    INVITATION_ENDED: () => "Die Einladung wurde schon angenommen oder zurückgezogen.",
    ADDRESS_IN_DOUBT: () =>
      "Zuerst wird die alte E-Mail-Adresse gefragt. Sie können die neue einladen, wenn sie zustimmt, oder nach sieben Tagen ohne Antwort.",
    STEP_UP_REQUIRED: () => "Bitte melden Sie sich dafür noch einmal an.",
    OWNERSHIP_TRANSFER_NOT_FOUND: () => "Diese Übergabe ist nicht mehr offen.",
    PERMISSION_DENIED: (f) =>
      f.own
        ? "Für eigene Buchungen und Tarife erfassen das andere oder Inhaber."
        : `Ihre Rolle erlaubt das nicht${f.permission ? ` (${f.permission})` : ""}.`,
    REQUEST_TOO_LARGE: () => "Die Anfrage ist zu groß.",
    TENANT_NOT_FOUND: () => "Diese Organisation gibt es nicht.",
    LOCATION_NOT_FOUND: () => "Diesen Standort gibt es nicht.",
    RESOURCE_NOT_FOUND: () => "Diese Ressource gibt es nicht.",
    SERVICE_NOT_FOUND: () => "Diese Leistung gibt es nicht.",
    MEMBER_NOT_FOUND: () => "Dieses Mitglied gibt es nicht.",
    ROLE_NOT_FOUND: () => "Diese Rolle gibt es nicht.",
    SERVICE_ACCOUNT_NOT_FOUND: () => "Dieses Dienstkonto gibt es nicht, oder es wurde widerrufen.",
    SESSION_NOT_FOUND: () => "Diesen Termin gibt es nicht. Vielleicht wurde er gelöscht.",
    SERIES_NOT_FOUND: () => "Diese Serie gibt es nicht.",
    BOOKING_NOT_FOUND: () => "Diese Buchung gibt es nicht.",
    PLAN_NOT_FOUND: () => "Dieser Tarif ist nicht im Verkauf.",
    SUBSCRIPTION_NOT_FOUND: () => "Dieses Abo gibt es nicht.",
    ALREADY_EXISTS: (f) => `Das gibt es bereits${f.field ? `: ${f.field}` : ""}.`,
    ROLE_IN_USE: (f) =>
      `Mitglieder haben diese Rolle noch (${f.holders}). Entfernen Sie sie dort zuerst.`,
    ROLE_BUILT_IN: () => "Vordefinierte Rollen sind nicht änderbar. Legen Sie eine eigene an.",
    LAST_OWNER: () =>
      "Es muss einen aktiven Inhaber geben. Machen Sie zuerst jemand anderen zum Inhaber.",
    COACH_INVALID: () =>
      "Diese Person kann keine Termine leiten: Sie ist inaktiv oder nicht im Team.",
    RECURRENCE_INVALID: () => "Diese Wiederholung ergibt keine oder zu viele Termine.",
    SESSION_STATE: () => "Das ist im aktuellen Status des Termins nicht mehr möglich.",
    CAPACITY_BELOW_TAKEN: (f) =>
      `${f.seats_taken} Plätze sind schon belegt. Weniger sind nicht möglich.`,
    RESOURCE_BUSY: () => "Die Ressource hat zu dieser Zeit einen anderen Termin.",
    STAFF_BUSY: () => "Der Coach hat zu dieser Zeit einen anderen Termin.",
    SESSION_NOT_OPEN: () => "Dieser Termin ist gerade nicht buchbar.",
    ADVANCE_WINDOW: (f) => `Es ist zu früh. Buchbar ab ${f.opens_at}.`,
    CHANNEL_CLOSED: () => "Dieser Standort nimmt solche Buchungen nicht an.",
    PARTY_SIZE: (f) => `Sie können ${f.min} bis ${f.max} Plätze auf einmal buchen.`,
    ALREADY_BOOKED: () => "Bereits gebucht oder auf der Warteliste.",
    SESSION_FULL: () => "Der Termin und seine Warteliste sind voll.",
    WAITLIST_FULL: () => "Die Warteliste ist voll.",
    WAITLIST_CLOSED: () => "Dieser Termin hat keine Warteliste.",
    SEATS_AVAILABLE: () => "Es sind Plätze frei. Bitte buchen Sie direkt.",
    NO_ACTIVE_PLAN: () => "Zum Buchen ist ein aktiver Tarif nötig.",
    PLAN_CHOICE_REQUIRED: () => "Mehrere Tarife sind aktiv. Bitte wählen Sie einen.",
    OUTSTANDING_BALANCE: () =>
      "Für diesen Tarif ist noch ein Betrag offen. Bitte begleichen Sie ihn zuerst.",
    NO_CREDITS: () => "Es sind keine Credits mehr übrig.",
    DAILY_LIMIT: (f) => `Der Tarif erlaubt ${f.limit} Buchungen pro Tag.`,
    WEEKLY_LIMIT: (f) => `Der Tarif erlaubt ${f.limit} Buchungen pro Woche.`,
    OVERLAP: () => "Zu dieser Zeit gibt es schon eine Buchung.",
    HOLD_EXPIRED: () => "Die Reservierung ist abgelaufen, der Platz ist wieder frei.",
    BOOKING_STATE: () => "Die Buchung hat sich geändert. Das ist nicht mehr möglich.",
    CANCELLATION_WINDOW: (f) =>
      `Zum Stornieren ist es zu spät${f.deadline ? `. Die Frist endete ${f.deadline}` : ""}.`,
    RESCHEDULE_TARGET: () => "Die Buchung kann nicht auf diesen Termin umgebucht werden.",
    IDEMPOTENCY_CONFLICT: () => "Das wurde bereits mit anderen Angaben gesendet.",
    ITEM_UNAVAILABLE: (f) =>
      f.name
        ? `${f.name}: zu dieser Zeit nur noch ${f.available} verfügbar.`
        : "Gewähltes Zubehör ist zu dieser Zeit nicht verfügbar.",
    BENEFIT_INVALID: () => "Die Partnermitgliedschaft ist nicht gültig.",
    BENEFIT_IN_USE: () =>
      "Ein anderes Mitglied benutzt diese Mitgliedsnummer. Geben Sie sie unter „Partnervorteile“ frei.",
    BENEFIT_PROVIDER_NOT_FOUND: () => "Diesen Partner gibt es nicht.",
    ACTIVE_BOOKINGS: (f) =>
      `Es gibt noch Buchungen oder Wartelisteneinträge (${f.active_bookings}).`,
    NOTHING_DUE: () => "Für diese Buchung ist nichts zu zahlen.",
    NOTHING_TO_REFUND: () => "Es gibt keinen Credit zu erstatten.",
    REFUND_EXCEEDS_CAPTURED: () =>
      "Die Rückzahlung ist höher als der noch nicht zurückgezahlte Betrag.",
    SUBSCRIPTION_STATE: () => "Das ist im aktuellen Status des Abos nicht möglich.",
    CHECK_IN_WINDOW: (f) => `Der Check-in ist von ${f.opens_at} bis ${f.closes_at} geöffnet.`,
    QR_INVALID: () =>
      "Dieser QR-Code ist veraltet oder gehört zu einem anderen Termin. Scannen Sie den auf der Check-in-Anzeige.",
    GPS_TOO_FAR: (f) =>
      `Sie sind ${f.distance_meters} m entfernt. Der Check-in ist bis ${f.max_meters} m möglich.`,
    GPS_IMPRECISE: () =>
      "Ihr Gerät kennt seinen Standort nicht genau genug. Gehen Sie ans Fenster oder scannen Sie den Code.",
    GPS_OUTDATED: () => "Ihr Standort ist zu alt. Bitte versuchen Sie es noch einmal.",
    QR_REQUIRED: () =>
      "Scannen Sie den Code auf der Check-in-Anzeige. Ein Standort genügt hier nicht.",
    GPS_NOT_AVAILABLE: () => "Check-in per GPS ist hier nicht möglich.",
    NOT_CONFIRMED: () => "Die Buchung ist nicht bestätigt.",
    NOT_BOOKED: () => "Für diesen Termin gibt es keine Buchung.",
    BOOKING_CANCELLED: () => "Die Buchung wurde storniert.",
    LINK_INVALID: () => "Dieser Link ist nicht mehr gültig.",
    WAITLIST_OFFER_NOT_LIVE: () => "Dieses Angebot ist nicht mehr verfügbar.",
    WAITLIST_ENTRY_STATE: () =>
      "Der Wartelisteneintrag hat sich geändert. Das ist nicht mehr möglich.",
    RULES_INVALID: (f) =>
      `Diese Regeln sind ungültig${f.line ? `: Zeile ${f.line}, Spalte ${f.column}` : ""}.`,
    TEMPLATE_INVALID: (f) => `Der Text ist ungültig: Zeile ${f.line}, Spalte ${f.column}.`,
    TEMPLATE_HTML: () =>
      "Eigenes HTML braucht ein eigenes Mailkonto oder eine bestätigte Domain (Nachrichten, Absender).",
    SENDING_DOMAIN_INVALID: () =>
      "Diese Domain geht nicht. Es muss eine sein, die Sie registriert haben, oder eine darunter.",
    SENDING_DOMAIN_NOT_FOUND: () => "Es gibt keine Domain zu bestätigen.",
    DNS_RECORD_MISSING: (f) =>
      `Der TXT-Eintrag ${f.name} wurde nicht gefunden. Bis ein neuer Eintrag überall zu sehen ist, können Stunden vergehen.`,
    DNS_RECORD_DIFFERENT: (f) => `Der TXT-Eintrag ${f.name} hat einen anderen Text: ${f.found}`,
    DNS_UNAVAILABLE: (f) =>
      `Die Nameserver antworten nicht für ${f.name}. Versuchen Sie es später noch einmal.`,
    RECIPIENT_UNREACHABLE: () => "Es gibt keine Telefonnummer, keine Adresse und kein Gerät dafür.",
    IMPORT_MISMATCH: (f) =>
      `Datei und Berth hätten in Zeile ${f.row} verschiedene Summen. Es wurde nichts importiert.`,
    IMPORT_STATE: () => "Der Import hat nichts angelegt, das sich rückgängig machen ließe.",
    IMPORT_UNDO_EXPIRED: () =>
      "Ein Import lässt sich 24 Stunden lang rückgängig machen. Sie sind vorbei.",
    IMPORT_IN_USE: (f) =>
      `Es wurde nichts rückgängig gemacht: ${f.count} Importierte sind in Benutzung oder seither geändert worden. Zum Beispiel: ${f.first}.`,
    IMPORT_NOT_FOUND: () => "Diesen Import gibt es nicht, oder er ist zu lange her.",
    SIGN_IN_ENDED: () => "Sie sind nicht mehr angemeldet. Bitte melden Sie sich neu an.",
    PASSKEY_INVALID: () =>
      "Dieser Passkey meldet hier niemanden an. Versuchen Sie es noch einmal, oder nehmen Sie einen Code.",
    SIGN_IN_CODE_INVALID: () =>
      "Der Code stimmt nicht oder gilt nicht mehr. Nehmen Sie den aus der neuesten E-Mail, oder fordern Sie einen neuen an.",
    BULK_TOO_LARGE: (f) =>
      f.of === "seats"
        ? `Die Termine haben mehr als ${f.limit} belegte Plätze und Wartende. Bitte in Teilen vorgehen.`
        : `Mehr als ${f.limit} Termine passen. Bitte weniger Tage wählen und in Teilen vorgehen.`,
    ETAG_MISMATCH: () =>
      "Jemand anderes hat das geändert. Bitte prüfen Sie es und versuchen Sie es erneut.",
    RATE_LIMITED: (f) =>
      `Zu viele Anfragen. Versuchen Sie es in ${f.retry_after ?? "einigen"} Sekunden erneut.`,
    QUOTA_EXCEEDED: (f) =>
      f.quota === "sent_messages"
        ? "Heute wurden so viele Nachrichten gesendet, dass kein Code gesendet werden kann. Versuchen Sie es später erneut, oder fragen Sie am Empfang."
        : /^(contact_codes|test_messages|invitations_to_address)$/.test(f.quota ?? "")
          ? `In 24 Stunden werden höchstens ${f.limit} gesendet. Versuchen Sie es morgen noch einmal.`
          : `Die Grenze von ${f.limit ?? "Einträgen"} ist erreicht. Bitten Sie den Betreiber, sie zu erhöhen.`,
    CONTACT_CODE_INVALID: (f) => `Der Code ist falsch. Verbleibende Versuche: ${f.guesses_left}.`,
    CONTACT_CODE_EXPIRED: () => "Der Code ist abgelaufen. Fordern Sie einen neuen an.",
    CONTACT_NOT_PENDING: () => "Es gibt nichts zu bestätigen.",
    CONTACT_COUNTRY: () => "An Nummern dieses Landes werden keine Codes gesendet.",
    CONTACT_NOT_MOBILE: () =>
      "Codes gehen nur an Mobilnummern. Andere Nummern kann der Empfang bestätigen.",
    CONTENTION: () =>
      "Zu viele gleichzeitig. Es wurde nichts geändert; bitte versuchen Sie es erneut.",
    DEADLINE_EXCEEDED: () => "Das hat zu lange gedauert. Bitte versuchen Sie es erneut.",
  },
};
