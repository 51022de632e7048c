import { en as s } from "../count";

export const en = {
  triggers: {
    0: "",
    1: "A booking was cancelled",
    2: "Somebody did not come",
    3: "There are more seats",
    4: "Back on sale",
    5: "On sale",
    6: "The session moved",
    7: "A hold ran out",
    8: "A hold was released",
    9: "A booking moved away",
    10: "An offer was declined",
    11: "An offer ran out",
    12: "An offer was withdrawn",
    13: "Offered by staff",
    14: "Found by the sweep",
    15: "The rules were changed",
  } as Record<number, string>,
  moves: { 0: "", 1: "Nobody fits", 2: "Given", 3: "Passed on", 4: "Back to staff" } as Record<
    number,
    string
  >,
  you: {
    ask: "Why?",
    title: "What has happened so far",
    none: "No place has become free yet since you wait.",
    when: (when: string, what: string, seats: number | undefined) =>
      `${when}: ${what}${seats === undefined ? "" : `, ${s(seats, "place was", "places were")} free`}.`,
    line: (rank: number, of: number) => `You were number ${rank} of ${of} in line.`,
    before: (n: number, same: boolean) =>
      same
        ? `${s(n, "person", "people")} before you had the same chance.`
        : `${s(n, "person", "people")} before you got a place.`,
    promoted: (n: number) => `You got ${s(n, "place")} at once.`,
    offered: (n: number, until: string) => `You were offered ${s(n, "place")}, until ${until}.`,
    told: (n: number, until: string) =>
      `You were told, and could claim ${s(n, "place")} until ${until} unless others were faster.`,
    notChosen: (reason: string) => `You were not chosen: ${reason}.`,
    reasons: {
      NO_SEATS_LEFT: "all places went to those before you",
      PARTY_SIZE: "your party does not fit the places that were left",
      DOWN_FITTING: "the places are given away only as a whole",
      HAS_OFFER: "you had another offer already",
      SERVICE: "your wish is for another service",
      LOCATION: "your wish is for another location",
      RESOURCE: "your wish is for another court, room or chair",
      DATE: "your wish is for other days",
      TIME: "your wish is for another time of day",
      STAFF_PREFERENCE: "your wish is for somebody else",
      MAX_OFFERS: "the rules allow no more offers for one wish",
      TRIED: "you had been offered these places before",
      NOT_ELIGIBLE: "the rules give these places to others",
      RULE_FAILED: "a rule could not be worked out; the team knows of it",
      NO_TIME: "too little time was left to answer",
      QUIET_HOURS: "it was night, and by morning it would have been too late",
      TRY_CAP: "as many people had been asked as the rules allow",
      NO_CASCADE: "the team decides who is asked next",
    } as Record<string, string>,
  },
  staff: {
    open: (seats: number | undefined, line: number) =>
      `${seats === undefined ? "Places were open without limit" : `${s(seats, "place was", "places were")} open`}, ${line === 0 ? "nobody" : line} stood in line.`,
    tried: (n: number) => `${s(n, "person", "people")} had been asked for these places before.`,
    nobody: "Nobody got any of them.",
    booked: (who: string) => `Booked at once: ${who}.`,
    told: (who: string) => `All who fit were told, and the first to claim gets the places: ${who}.`,
    wentOn: (who: string) => `The offer went on to ${who}.`,
    offered: (who: string) => `An offer went to ${who}.`,
    got: (name: string, n: number, until: string) =>
      `${name} (${s(n, "place")}${until && `, until ${until}`})`,
    somebody: "somebody",
    more: (n: number) => `${n} more`,
    chosen: "Chosen",
    passed: "Not chosen",
    verdicts: {
      booked: (n: number) => `got ${s(n, "place")} at once`,
      offered: (n: number, until: string) =>
        `was offered ${s(n, "place")}${until && `, until ${until}`}`,
      told: (n: number, until: string) =>
        `was told, and could claim ${s(n, "place")}${until && ` until ${until}`} unless others were faster`,
    },
    left: {
      noLine: (n: number) => `${s(n, "place")} left: nobody stands in line.`,
      noneElse: (n: number) => `${s(n, "place")} left: nobody else in line fits.`,
      none: (n: number, line: number) => `${s(n, "place")} left: none of ${line} in line fits.`,
      asked: (n: number, asked: number, why: string) =>
        `${s(n, "place")} left after ${s(asked, "person was", "people were")} asked: ${why}.`,
    },
    spent: {
      cap: "the rules allow no more",
      staff: "the rules leave it to you whom to ask next",
      late: "it is too late to ask anybody else",
      list: "the list is spent",
    },
    todo: (n: number): string =>
      n === 1
        ? "It stays open to everybody: call somebody, take in a walk-in, or offer it by hand."
        : "They stay open to everybody: call somebody, take in walk-ins, or offer them by hand.",
    would: {
      mode: (how: string) => `Places would have been given another way: ${how}.`,
      gained: (who: string) => `Would have been chosen instead: ${who}.`,
      lost: (who: string) => `Would not have been chosen: ${who}.`,
      move: (what: string) => `It would have ended with: ${what}.`,
    },
    modes: {
      0: "",
      1: "at once, without asking",
      2: "by offers, one after the other",
      3: "to the first who claims them",
    } as Record<number, string>,
    reasons: {
      NO_SEATS_LEFT: "all open places went to those before",
      PARTY_SIZE: "the party does not fit the places that were left",
      DOWN_FITTING: "the party is smaller than what was open, which is given only as a whole",
      HAS_OFFER: "had another offer already",
      SERVICE: "the wish is for another service",
      LOCATION: "the wish is for another location",
      RESOURCE: "the wish is for another court, room or chair",
      DATE: "the wish is for other days",
      TIME: "the wish is for another time of day",
      STAFF_PREFERENCE: "the wish is for somebody else on the staff",
      MAX_OFFERS: "the rules allow no more offers for one wish",
      TRIED: "was offered these places before, and did not take them",
      NOT_ELIGIBLE: "the rules give these places to others",
      RULE_FAILED:
        "the rule on who may have these places could not be worked out, and needs mending",
      NO_TIME: "too little time was left to answer an offer",
      QUIET_HOURS: "it was night, and by morning it would have been too late",
      TRY_CAP: "as many people had been asked as the rules allow",
      NO_CASCADE: "the rules leave it to staff whom to ask next",
    } as Record<string, string>,
  },
  booking: {
    WAITLIST_CLOSED: "the waitlist is switched off",
    SESSION_NOT_OPEN: "the session could not be booked",
    ADVANCE_WINDOW: "it was too early to book the session",
    CHANNEL_CLOSED: "bookings of that kind are not taken at the location",
    ALREADY_BOOKED: "there was a booking of the session already",
    SESSION_FULL: "the session was full",
    NO_ACTIVE_PLAN: "no active plan covered the session",
    PLAN_CHOICE_REQUIRED: "several plans covered the session, and none was chosen",
    OUTSTANDING_BALANCE: "something was still to be paid",
    NO_CREDITS: "no credits were left",
    DAILY_LIMIT: "the plan allowed no more bookings on that day",
    WEEKLY_LIMIT: "the plan allowed no more bookings in that week",
    OVERLAP: "there was another booking at the same time",
    SUBSCRIPTION_STATE: "the plan was not active",
    MEMBER_NOT_FOUND: "the membership has ended",
    EXTERNAL_REF_CONFLICT: "its reference had been used for another booking",
  } as Record<string, string>,
};
