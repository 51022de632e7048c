import type { BookingChannel } from "@berthhq/client";
import { en as s } from "../../../shared/i18n/count";

/** Texts that several areas of the console show. */
export const en = {
  invite: {
    send: "Send an invitation by mail",
    note: "The mail has a link that confirms the address and signs in. It works once, for seven days.",
    noteTo: (email: string) =>
      `The mail to ${email} has a link that confirms the address and signs in. It works once, for seven days.`,
    sent: (emails: readonly string[]) =>
      emails.length === 1 ? `Invitation sent to ${emails[0]}` : `${emails.length} invitations sent`,
  },
  ui: {
    when: "Time",
    who: "Actor",
    lastDays: (n: number) => `Last ${n} days`,
    byService: "By service",
    byLocation: "By location",
    name: "Name",
    none: "No data for this period",
    noMembers: "No members found",
    price: "Price",
    credits: (n: number) => s(n, "credit"),
    yes: "Yes",
    no: "No",
    pending: (n: number) => s(n, "unsaved change"),
    allLocations: "All locations",
    zone: (zone: string, name: string) => `Times in ${zone} (${name})`,
    days: "Days",
    noLimit: "no limit",
    member: "Member",
    party: "Seats",
    findMember: "Name, email or phone",
    unverified: "unverified",
    guest: "Guest",
    channel: { 0: "", 1: "Online", 2: "Phone", 3: "Walk-in" } satisfies Record<
      BookingChannel,
      string
    >,
    staffNote: "Note for staff",
    membershipNumber: "Membership number",
  },
};
