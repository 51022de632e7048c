import type { WaitlistMode, WaitlistMove, WaitlistTrigger } from "@berthhq/client";
import { en as s } from "../../i18n/count";

/** Explanations of waitlist decisions, for members and staff. */
export const en = {
  decisions: {
    triggers: {
      0: "",
      1: "A booking was cancelled",
      2: "Someone was marked as a no-show",
      3: "Seats were added",
      4: "The session was unblocked",
      5: "The session was published",
      6: "The session was moved",
      7: "A hold expired",
      8: "A hold was released",
      9: "A booking was rescheduled",
      10: "An offer was declined",
      11: "An offer expired",
      12: "An offer was withdrawn",
      13: "Offered by staff",
      14: "Found in a regular check",
      15: "The waitlist rules were changed",
      16: "An entry that was passed over was checked again",
      17: "Booking opened",
    } satisfies Record<WaitlistTrigger, string>,
    moves: {
      0: "",
      1: "No match",
      2: "Filled",
      3: "Offered to the next",
      4: "Returned to staff",
    } satisfies Record<WaitlistMove, string>,
    you: {
      ask: "Why?",
      title: "Your time on the waitlist",
      next: {
        0: "",
        1: "If a seat opens, we book it for you.",
        2: "If a seat opens, we offer it to you.",
        3: "If a seat opens, it is offered to everyone who waits: first come, first served.",
      } satisfies Record<WaitlistMode, string>,
      none: "No seat has opened since you joined the waitlist.",
      when: (when: string, what: string, seats: number | undefined) =>
        `${when}: ${what}${seats === undefined ? "" : `, ${s(seats, "seat was", "seats were")} open`}.`,
      position: (rank: number, of: number) => `You were number ${rank} of ${of} on the waitlist.`,
      before: (n: number, same: boolean) =>
        same
          ? `${s(n, "person", "people")} ahead of you had the same chance.`
          : `${s(n, "person", "people")} ahead of you got a seat.`,
      promoted: (n: number) => `${s(n, "seat was", "seats were")} booked for you.`,
      offered: (n: number, until: string) => `You were offered ${s(n, "seat")}, until ${until}.`,
      firstCome: (n: number, until: string) =>
        `You were offered ${s(n, "seat")} until ${until}, first come, first served.`,
      notChosen: (reason: string) => `You did not get a seat: ${reason}.`,
      reasons: {
        NO_SEATS_LEFT: "all seats went to people ahead of you",
        PARTY_SIZE: "there were not enough seats for your party",
        DOWN_FITTING: "the seats are only given out together",
        HAS_OFFER: "you already had another offer",
        SERVICE: "you asked for another service",
        LOCATION: "you asked for another location",
        RESOURCE: "you asked for another room, court or chair",
        DATE: "you asked for other days",
        TIME: "you asked for another time of day",
        STAFF_PREFERENCE: "you asked for another coach",
        MAX_OFFERS: "you have had as many offers as the rules allow",
        TRIED: "you had already been offered these seats",
        NOT_ELIGIBLE: "you were not eligible for these seats",
        RULE_FAILED: "a rule could not be evaluated; the team has been told",
        NO_TIME: "there was too little time left to answer",
        QUIET_HOURS: "quiet hours would have ended too late",
        GAVE_UP: "you gave these seats up",
        TRY_CAP: "the seats had been offered to as many people as the rules allow",
        NO_CASCADE: "the team decides who is offered the seats next",
      } as Record<string, string>,
    },
    staff: {
      next: {
        0: "",
        1: "would be booked",
        2: "would get an offer",
        3: "would get an offer with all others",
      } satisfies Record<WaitlistMode, string>,
      open: (seats: number | undefined, line: number) =>
        `${seats === undefined ? "Unlimited seats were open" : `${s(seats, "seat was", "seats were")} open`}, ` +
        `${line === 0 ? "no one" : line} on the waitlist.`,
      tried: (n: number) => `${s(n, "person", "people")} had already been offered these seats.`,
      noOne: "No one got a seat.",
      booked: (who: string) => `Booked automatically: ${who}.`,
      firstCome: (who: string) =>
        `Offered to everyone who matches, first come, first served: ${who}.`,
      offeredNext: (who: string) => `Offered to the next: ${who}.`,
      offered: (who: string) => `Offered to ${who}.`,
      got: (name: string, n: number, until: string) =>
        `${name} (${s(n, "seat")}${until && `, until ${until}`})`,
      someone: "someone",
      more: (n: number) => `${n} more`,
      chosen: "Got a seat",
      passed: "Skipped",
      verdicts: {
        booked: (n: number) => `${s(n, "seat")} booked automatically`,
        offered: (n: number, until: string) =>
          `offered ${s(n, "seat")}${until && `, until ${until}`}`,
        firstCome: (n: number, until: string) =>
          `offered ${s(n, "seat")}${until && ` until ${until}`}, first come, first served`,
      },
      left: {
        empty: (n: number) => `${s(n, "seat")} left: the waitlist is empty.`,
        noOther: (n: number) => `${s(n, "seat")} left: no one else on the waitlist matches.`,
        none: (n: number, line: number) =>
          `${s(n, "seat")} left: no one on the waitlist matches (${s(line, "entry", "entries")}).`,
        asked: (n: number, asked: number, why: string) =>
          `${s(n, "seat")} left after ${s(asked, "offer")}: ${why}.`,
      },
      stopped: {
        cap: "the rules allow no more offers",
        staff: "the rules leave the next offer to you",
        late: "it is too late for another offer",
        list: "there is no one left to offer to",
      },
      todo: (n: number): string =>
        n === 1
          ? "Anyone can book it. You can also call someone, book a walk-in, or offer the seat yourself."
          : "Anyone can book them. You can also call someone, book walk-ins, or offer the seats yourself.",
      would: {
        mode: (how: string) => `Seats would have been filled another way: ${how}.`,
        gained: (who: string) => `Would have got a seat instead: ${who}.`,
        lost: (who: string) => `Would not have got a seat: ${who}.`,
        move: (what: string) => `Outcome: ${what}.`,
      },
      modes: {
        0: "",
        1: "booked automatically",
        2: "offers, one at a time",
        3: "offers to everyone, first come, first served",
      } satisfies Record<WaitlistMode, string>,
      reasons: {
        NO_SEATS_LEFT: "all open seats went to people ahead",
        PARTY_SIZE: "not enough seats for the party",
        DOWN_FITTING: "the party is smaller than the open seats, which are only given out together",
        HAS_OFFER: "already had another offer",
        SERVICE: "asked for another service",
        LOCATION: "asked for another location",
        RESOURCE: "asked for another resource",
        DATE: "asked for other days",
        TIME: "asked for another time of day",
        STAFF_PREFERENCE: "asked for another coach",
        MAX_OFFERS: "has had as many offers as the rules allow",
        TRIED: "had already been offered these seats and did not take them",
        NOT_ELIGIBLE: "not eligible under the rules",
        RULE_FAILED: "the eligibility rule could not be evaluated and must be fixed",
        NO_TIME: "too little time left to answer an offer",
        QUIET_HOURS: "quiet hours would have ended too late",
        GAVE_UP: "gave these seats up",
        TRY_CAP: "the seats had been offered to as many people as the rules allow",
        NO_CASCADE: "the rules leave the next offer to staff",
      } as Record<string, string>,
    },
    refused: "the booking would have been refused",
    booking: {
      WAITLIST_CLOSED: "the waitlist is switched off",
      SESSION_NOT_OPEN: "the session could not be booked",
      ADVANCE_WINDOW: "it was too early to book the session",
      CHANNEL_CLOSED: "the location does not take bookings this way",
      ALREADY_BOOKED: "a place was already booked or held",
      SESSION_FULL: "the session was full",
      NO_ACTIVE_PLAN: "no active plan covered the session",
      PLAN_CHOICE_REQUIRED: "several plans covered the session, and none was chosen",
      OUTSTANDING_BALANCE: "the plan had an unpaid balance",
      NO_CREDITS: "no credits were left",
      DAILY_LIMIT: "the plan allowed no more bookings on that day",
      WEEKLY_LIMIT: "the plan allowed no more bookings in that week",
      OVERLAP: "there was another booking at the same time",
      SUBSCRIPTION_STATE: "the plan was not active",
      MEMBER_NOT_FOUND: "the membership has ended",
      EXTERNAL_REF_CONFLICT: "its reference was already used for another booking",
    } as Record<string, string>,
  },
};
