/** Texts about the calendar link. */
export const en = {
  calendar: {
    title: "Calendar",
    note: "See your bookings in the calendar of your phone or computer, always up to date.",
    secret: "Anyone with this link can see your bookings. It is shown only once.",
    address: "Calendar link",
    make: "Create link",
    open: "You have a calendar link. Calendars that use it stay up to date.",
    add: "Add to my calendar",
    renew: "New link",
    renewTitle: "Create a new link?",
    renewBody: "Calendars that use the old link will no longer be updated.",
    revoke: "Remove link",
    revokeTitle: "Remove the calendar link?",
    revokeBody: "Calendars that use it will no longer be updated.",
    revoked: "Calendar link removed",
    copied: "Copied",
  },
};
