export const en = {
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
};
