import type { DeviceKind } from "@berthhq/client";
/** Texts of the page of a member. */
export const en = {
  member: {
    bookings: "Bookings",
    messages: "Messages",
    coming: "Upcoming",
    nothing: "No bookings",
    nothingNote: "New bookings appear here right away.",
    waits: "Waitlist",
    waitsForNothing: "Not on any waitlist",
    addressWaits: (old: string) =>
      `Nobody can sign in with it until ${old} agrees by mail. Without an answer, it works from`,
    entered: (address: string) => `Entered, not confirmed: ${address}`,
    confirm: "Confirm by hand",
    confirmTitle: (address: string) => `Confirm ${address}?`,
    confirmBody: (name: string) =>
      `Only do this if you know that it is ${name}’s: ask them in person, and look at a message there. It then replaces the one before.`,
    devices: "Devices",
    noDevices: "No devices",
    noDevicesNote: "Push notifications work once the member has signed in to the app.",
    deviceKinds: { 0: "Device", 1: "iPhone or iPad", 2: "Android", 3: "Browser" } satisfies Record<
      DeviceKind,
      string
    >,
    seen: "last seen",
    since: "since",
    theirs: "Members choose this in their app.",
    quiet: (from: string, to: string, zone: string) =>
      `Quiet hours from ${from} to ${to} (${zone}).`,
    organizationQuietHours: "The organization’s quiet hours apply.",
    chosen: "selected",
  },
  led: {
    tab: "As coach",
    title: "Sessions they lead",
    none: "Leads no session",
    noneNote: "Future sessions with this coach appear here.",
    count: (count: number, shown: number) =>
      count > shown
        ? `${count} sessions. These are the first ${shown}.`
        : count === 1
          ? "One session."
          : `${count} sessions.`,
    leads: (title: string) => `Who leads ${title}`,
    choose: "Substitute",
    nobody: "Nobody is free",
    chooseForAll: "A substitute for all",
    freeFor: (name: string, free: number, all: number) => `${name} (free for ${free} of ${all})`,
    replace: (count: number) => (count === 0 ? "Replace" : `Replace in ${count}`),
    left: "These sessions still name them as coach. Members do not see the name of somebody inactive.",
  },
};
