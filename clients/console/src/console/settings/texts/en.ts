import type { SettingLevel } from "@berthhq/client";
import { en as s } from "../../../shared/i18n/count";

/** Texts about policies, and about settings that are inherited by level. */
export const en = {
  policies: {
    note:
      "A value set for a service overrides its location’s, which overrides the organization’s, " +
      "which overrides the default.",
    level: "Applies to",
    tenant: "The whole organization",
    forLocation: (name: string) => `Location: ${name}`,
    forService: (name: string) => `Service: ${name}`,
    value: "Value",
    from: "Source",
    inherited: "Inherited",
    setHere: "Set here",
    levels: {
      0: "",
      1: "Default",
      2: "Organization",
      3: "Location",
      4: "Service",
    } satisfies Record<SettingLevel, string>,
    override: "Override",
    inherit: "Use inherited value",
    hours: "hours",
    minutes: "minutes",
    days: "days",
    meters: "meters",
    before: "before the start",
    fields: {
      advanceWindow: ["Booking opens", "How long before the start a session can first be booked."],
      bookingClosesBefore: [
        "Booking closes",
        "How long before the start booking closes for members.",
      ],
      cancellationWindow: [
        "Free cancellation",
        "How long before the start members can still cancel free of charge.",
      ],
      allowLateCancellation: [
        "Late cancellation",
        "Members may cancel late, without a refund of their credits.",
      ],
      allowReschedule: [
        "Late rescheduling",
        "Members may still reschedule when it is too late to cancel.",
      ],
      tierCancellations: ["Cancellation by tier", "Tiers with their own cancellation window."],
      holdTtl: ["Hold time", "How long a seat is held while someone pays."],
      checkInOpensBefore: ["Check-in opens", "How long before the start."],
      checkInClosesAfterEnd: ["Check-in closes", "How long after the end."],
      gpsMaxMeters: [
        "Check-in radius",
        "How close to the location members must be to check in by GPS.",
      ],
      checkInRequiresQr: [
        "Check-in by code only",
        "Members need the code on the check-in display. Their phone’s position is not enough.",
      ],
      autoNoShow: ["Automatic no-shows", "Members who do not check in are marked as no-shows."],
      autoNoShowAfter: ["No-shows marked", "How long after the end, never before check-in closes."],
      autoNoShowAfterStart: [
        "No-shows marked after the start",
        "How long after the start instead: members can then no longer check in. 0 turns it off.",
      ],
    } as Record<string, [string, string]>,
    groups: { booking: "Booking", cancelling: "Cancellation", checkIn: "Check-in and no-shows" },
    none: "None",
    addTier: "Add a tier",
    between: (least: string, most: string) => `Must be between ${least} and ${most}.`,
    nightTooLong: "Enter both times. At least one hour of the day must stay free.",
    tierTwice: (tier: string) => `“${tier}” is listed twice.`,
    unfit: "This conflicts with other settings.",
    wrongAt: (line: string, column: string, what: string) =>
      `Line ${line}, column ${column}: ${what}`,
    whyChanged: "Reason (shown in the history)",
    ownSettings: (n: number) => s(n, "override"),
    resetAll: "Remove all overrides",
    resetTitle: "Remove all overrides?",
    resetBody: (n: number) =>
      `${s(n, "override")} will be removed immediately. The inherited values apply instead.`,
  },
};
