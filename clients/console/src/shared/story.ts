import {
  type EntryVerdict,
  type PreviewedMove,
  type WaitlistDecision,
  WaitlistMode,
  WaitlistMove,
  type WaitlistVerdict,
} from "@berthhq/client";
import type { Story } from "../i18n/story";
import type { Timestamp } from "./time";

type Show = (at: Timestamp, zone: string) => string;

const until = (at: Timestamp | undefined, zone: string, show: Show) => (at ? show(at, zone) : "");

/** Describes what a decision meant for an entry, for its member. */
export function tellMember({ decision, verdict }: EntryVerdict, story: Story, show: Show) {
  if (!decision) return [];
  const { you } = story;
  const { timeZone: zone, trigger, seats, mode, lineLength } = decision;
  const told = [
    you.when(until(decision.decideTime, zone, show), story.triggers[trigger] ?? "", seats),
  ];
  if (!verdict) return told;
  const { rank, reason, chosenBefore, partySize, expireTime } = verdict;
  const shared = mode === WaitlistMode.FIRST_TO_CLAIM;
  told.push(you.line(rank, lineLength));
  if (chosenBefore > 0) told.push(you.before(chosenBefore, shared));
  const end = until(expireTime, zone, show);
  if (reason === "PROMOTED") told.push(you.promoted(partySize));
  else if (reason !== "OFFERED") told.push(you.notChosen(whyNotYou(reason, story)));
  else told.push(shared ? you.told(partySize, end) : you.offered(partySize, end));
  return told;
}

/**
 * Why an entry was not chosen, for its member. Reasons that this app does not know are shown as
 * they are.
 */
export const whyNotYou = (reason: string, { you, booking }: Story): string =>
  you.reasons[reason] ?? booking[reason] ?? reason;

/** Why an entry was not chosen, for staff. */
export const whyNot = (reason: string, { staff, booking }: Story): string =>
  staff.reasons[reason] ?? booking[reason] ?? reason;

export const isChosen = ({ reason }: Pick<WaitlistVerdict, "reason">): boolean =>
  reason === "PROMOTED" || reason === "OFFERED";

/** Only this many names are listed; the rest are counted. */
const most = 10;

/**
 * Describes a decision for staff: how many seats were open, who got them, and what happened to the
 * rest.
 */
export function tellStaff(decision: WaitlistDecision, story: Story, locale: string, show: Show) {
  const { staff } = story;
  const { mode, move, seats, tried, verdicts, timeZone: zone, lineLength } = decision;
  const told = [staff.open(seats, lineLength)];
  if (tried > 0) told.push(staff.tried(tried));
  const chosen = verdicts.filter(isChosen);
  const inTurn = mode === WaitlistMode.OFFER;
  const who = named(
    chosen.map(({ memberName, partySize, expireTime }) =>
      staff.got(
        memberName || staff.somebody,
        partySize,
        inTurn ? until(expireTime, zone, show) : "",
      ),
    ),
    staff.more,
    locale,
  );
  if (chosen.length === 0) told.push(staff.nobody);
  else if (mode === WaitlistMode.AUTO_PROMOTE) told.push(staff.booked(who));
  else if (mode === WaitlistMode.FIRST_TO_CLAIM) told.push(staff.told(who));
  else told.push(move === WaitlistMove.ROLL_ON ? staff.wentOn(who) : staff.offered(who));
  const rest = tellLeft(decision, story);
  if (rest) told.push(rest);
  return told;
}

function named(names: readonly string[], more: (n: number) => string, locale: string): string {
  const all = names.slice(0, most);
  if (names.length > most) all.push(more(names.length - most));
  return new Intl.ListFormat(locale, { type: "conjunction" }).format(all);
}

/** What staff can do about seats that nobody on the waitlist gets. */
export function tellTodo(decision: WaitlistDecision, story: Story): string {
  const rest = tellLeft(decision, story);
  return rest && `${rest} ${story.staff.todo(leftOf(decision))}`;
}

const leftOf = ({ seats, given }: WaitlistDecision): number =>
  seats === undefined ? 0 : seats - given;

/** Seats that nobody on the waitlist gets, and why; "" if there are none. */
function tellLeft(decision: WaitlistDecision, { staff }: Story): string {
  const { mode, leftMove, tried, verdicts, lineLength } = decision;
  if (leftMove === WaitlistMove.UNSPECIFIED) return "";
  const chosen = verdicts.filter(isChosen).length;
  const n = leftOf(decision);
  if (leftMove === WaitlistMove.NOBODY_FITS) {
    if (lineLength === 0) return staff.left.noLine(n);
    return chosen > 0 ? staff.left.noneElse(n) : staff.left.none(n, lineLength);
  }
  const asked = tried + (mode === WaitlistMode.AUTO_PROMOTE ? 0 : chosen);
  return staff.left.asked(n, asked, staff.spent[spent(verdicts)]);
}

/** Why no further offers are made. */
function spent(verdicts: readonly WaitlistVerdict[]): keyof Story["staff"]["spent"] {
  const met = new Set(verdicts.map(({ reason }) => reason));
  if (met.has("TRY_CAP")) return "cap";
  if (met.has("NO_CASCADE")) return "staff";
  return met.has("NO_TIME") || met.has("QUIET_HOURS") ? "late" : "list";
}

/** The verdict on an entry, for staff. */
export function tellVerdict(
  { reason, partySize, expireTime }: WaitlistVerdict,
  { mode, timeZone }: WaitlistDecision,
  story: Story,
  show: Show,
): string {
  const { verdicts } = story.staff;
  const end = until(expireTime, timeZone, show);
  if (reason === "PROMOTED") return verdicts.booked(partySize);
  if (reason !== "OFFERED") return whyNot(reason, story);
  return mode === WaitlistMode.FIRST_TO_CLAIM
    ? verdicts.told(partySize, end)
    : verdicts.offered(partySize, end);
}

/** What a draft of the rules would have changed about a decision. */
export function tellDifference(
  { decision, draftMode, draftMove, draftVerdicts }: PreviewedMove,
  story: Story,
  locale: string,
): string[] {
  if (!decision) return [];
  const { would, modes, somebody, more } = story.staff;
  const before = decision.verdicts.filter(isChosen);
  const after = draftVerdicts.filter(isChosen);
  const without = (all: readonly WaitlistVerdict[], others: readonly WaitlistVerdict[]) => {
    const known = new Set(others.map(({ entryId }) => entryId));
    const names = all.filter(({ entryId }) => !known.has(entryId));
    return named(
      names.map(({ memberName }) => memberName || somebody),
      more,
      locale,
    );
  };
  const told: string[] = [];
  if (draftMode !== decision.mode) told.push(would.mode(modes[draftMode] ?? ""));
  const gained = without(after, before);
  if (gained) told.push(would.gained(gained));
  const lost = without(before, after);
  if (lost) told.push(would.lost(lost));
  if (draftMove !== decision.move) told.push(would.move(story.moves[draftMove] ?? ""));
  return told;
}
