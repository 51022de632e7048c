import type { en } from "./en";

export const de: typeof en = {
  calendar: {
    title: "Kalender",
    note: "Ihre Buchungen im Kalender Ihres Handys oder Computers, immer aktuell.",
    secret: "Wer diesen Link hat, kann Ihre Buchungen sehen. Er wird nur einmal angezeigt.",
    address: "Kalender-Link",
    make: "Link erstellen",
    open: "Sie haben einen Kalender-Link. Kalender, die ihn verwenden, bleiben aktuell.",
    add: "Zu meinem Kalender hinzufügen",
    renew: "Neuer Link",
    renewTitle: "Neuen Link erstellen?",
    renewBody: "Kalender mit dem alten Link werden nicht mehr aktualisiert.",
    revoke: "Link entfernen",
    revokeTitle: "Kalender-Link entfernen?",
    revokeBody: "Kalender mit diesem Link werden nicht mehr aktualisiert.",
    revoked: "Kalender-Link entfernt",
    copied: "Kopiert",
  },
};
