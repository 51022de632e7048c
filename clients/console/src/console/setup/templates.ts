import { DeliveryMode, PlanKind } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { DAY, HOUR, MINUTE } from "../../shared/format/time";
import type { SetupTexts } from "./texts";

/*
 * What a kind of organization usually starts with. The names are texts. Prices are left to the
 * organization.
 */

type Names = SetupTexts["starters"];

export interface Template {
  readonly services: Readonly<Partial<Record<keyof Names["services"], ReturnType<typeof service>>>>;
  readonly plans: Readonly<Partial<Record<keyof Names["plans"], ReturnType<typeof plan>>>>;
  readonly policy: ReturnType<typeof policy>;
}

const colors = ["#0f766e", "#2563eb", "#7c3aed", "#be185d"];

/** Of a length in minutes, for a number of people, as single seats or as parties of several. */
const service = (color: number, minutes: number, seats: number, waitlist: number, party = 1) => ({
  color: colors[color] ?? "",
  duration: durationFromMs(minutes * MINUTE),
  defaultCapacity: seats,
  defaultWaitlistCapacity: waitlist,
  minParty: 1,
  maxParty: party,
  delivery: DeliveryMode.IN_PERSON,
});

const days = (value: number) => ({ length: { case: "days" as const, value } });

/** With a number of credits or, if it is 0, without a limit; valid for a number of days or until it is cancelled. */
const plan = (credits: number, term = 0) => ({
  kind: credits > 0 ? PlanKind.CREDITS : PlanKind.UNLIMITED,
  credits,
  ...(term > 0 && { term: days(term) }),
  active: true,
});

/** When booking opens, until when cancelling is free, and when booking closes before the start. */
const policy = (openDays: number, cancelHours: number, closeMinutes: number) => ({
  advanceWindow: durationFromMs(openDays * DAY),
  cancellationWindow: durationFromMs(cancelHours * HOUR),
  bookingClosesBefore: durationFromMs(closeMinutes * MINUTE),
});

export const templates: Readonly<Record<keyof Names["kinds"], Template>> = {
  studio: {
    services: {
      groupClass: service(0, 60, 12, 6),
      beginners: service(1, 75, 10, 5),
      smallGroup: service(2, 45, 6, 4),
      personal: service(3, 60, 1, 2),
    },
    plans: { trial: plan(1, 30), ten: plan(10, 180), monthly: plan(0) },
    policy: policy(14, 12, 0),
  },
  club: {
    services: {
      teeTime: service(0, 8, 4, 4, 4),
      lesson: service(1, 60, 1, 2),
      groupLesson: service(2, 90, 6, 4),
    },
    plans: { membership: plan(0, 365), rounds: plan(10, 365) },
    policy: policy(7, 24, 0),
  },
  salon: {
    services: {
      haircut: service(0, 45, 1, 3),
      coloring: service(1, 120, 1, 2),
      treatment: service(2, 60, 1, 3),
    },
    plans: { five: plan(5, 365) },
    policy: policy(60, 24, 120),
  },
  facility: {
    services: {
      court: service(0, 60, 1, 2),
      openSession: service(1, 90, 30, 10, 4),
      course: service(2, 60, 12, 6),
    },
    plans: { visits: plan(10, 365), pass: plan(0) },
    policy: policy(7, 6, 0),
  },
};

export type TemplateName = keyof typeof templates;
