import type { SignInMethod } from "@berthhq/client";
/** Texts about confirming a contact and about transfers of ownership, in both apps. */
export const en = {
  contact: {
    code: "Code",
    waiting: (address: string) =>
      `${address} waits for confirmation. Enter the code that we sent there.`,
    needed: "Confirm that this is yours. Enter the code that we sent.",
    confirm: "Confirm",
    resend: "Send a new code",
    cancel: "Discard",
    done: "Confirmed",
    sent: "A new code is on its way",
    confirmed: "Confirmed",
    unconfirmed: "Not confirmed",
    prove: "Confirm",
  },
  signIns: {
    tab: "Sign-ins",
    own: "Where you are signed in",
    title: "Where they are signed in",
    none: "Not signed in with Berth.",
    used: "Last used",
    since: "since",
    current: "This browser",
    unknown: "Unknown browser",
    end: "Sign out",
    endOthers: "Sign out everywhere else",
    endAll: "Sign out everywhere",
    endOthersTitle: "Sign out everywhere else?",
    endAllTitle: "Sign this member out everywhere?",
    endBody: "What is open there ends within a quarter of an hour.",
    ended: "Signed out",
    methods: {
      0: "",
      1: "by a code",
      2: "by passkey",
      3: "by invitation",
    } satisfies Record<SignInMethod, string>,
  },
  ownership: {
    offered: (name: string) => `${name} wants you to become the owner`,
    offeredNote: (_name: string, until: string) =>
      `You get all their rights, and they become an admin. You can confirm it until ${until}.`,
    confirm: "Become the owner",
    confirmed: "You are an owner now",
    decline: "Decline",
    transfer: "Transfer ownership",
    transferTitle: (name: string) => `Make ${name} the owner in your place?`,
    transferBody:
      "Nothing changes until they confirm it, within 7 days. Then you are an admin. All owners are told.",
    waiting: (name: string) => `${name} can confirm the transfer of ownership until`,
    withdraw: "Withdraw",
    started: (name: string) => `${name} can confirm it now`,
  },
};
