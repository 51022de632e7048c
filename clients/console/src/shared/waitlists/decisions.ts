import {
  type PreviewedWaitlistMove,
  WaitlistVerdictReason as Reason,
  type WaitlistDecision,
  type WaitlistEntryVerdict,
  WaitlistMode,
  WaitlistMove,
  type WaitlistVerdict,
} from "@berthhq/client";
import type { Timestamp } from "../format/time";
import { sessionOf } from "../schedules/summary";
import type { DecisionTexts } from "./texts";

type Texts = DecisionTexts["decisions"];

type Show = (at: Timestamp, zone: string) => string;

const until = (at: Timestamp | undefined, zone: string, show: Show) => (at ? show(at, zone) : "");

/** Describes what a decision meant for an entry, for its member. */
export function describeForMember(
  { decision, verdict }: WaitlistEntryVerdict,
  texts: Texts,
  show: Show,
) {
  if (!decision) return [];
  const { you } = texts;
  const { trigger, seats, mode, lineLength } = decision;
  const zone = sessionOf(decision).timeZone;
  const sentences = [
    you.when(until(decision.decideTime, zone, show), texts.triggers[trigger] ?? "", seats),
  ];
  if (!verdict) return sentences;
  const { rank, reason, chosenBefore, partySize, offerExpireTime } = verdict;
  const shared = mode === WaitlistMode.FIRST_TO_CLAIM;
  sentences.push(you.position(rank, lineLength));
  if (chosenBefore > 0) sentences.push(you.before(chosenBefore, shared));
  const end = until(offerExpireTime, zone, show);
  if (reason === Reason.PROMOTED) sentences.push(you.promoted(partySize));
  else if (reason !== Reason.OFFERED) sentences.push(you.notChosen(memberReason(reason, texts)));
  else sentences.push(shared ? you.firstCome(partySize, end) : you.offered(partySize, end));
  return sentences;
}

/** Why an entry was not chosen, for its member. */
export const memberReason = (reason: Reason, { you, booking, refused }: Texts): string =>
  you.reasons[nameOf(reason)] ?? booking[nameOf(reason)] ?? refused;

/** Why an entry was not chosen, for staff. */
export const staffReason = (reason: Reason, { staff, booking, refused }: Texts): string =>
  staff.reasons[nameOf(reason)] ?? booking[nameOf(reason)] ?? refused;

/** The name of a reason; "" of one that this app does not know. */
const nameOf = (reason: Reason): string => Reason[reason] ?? "";

export const isChosen = ({ reason }: Pick<WaitlistVerdict, "reason">): boolean =>
  reason === Reason.PROMOTED || reason === Reason.OFFERED;

const isOffered = ({ reason }: Pick<WaitlistVerdict, "reason">): boolean =>
  reason === Reason.OFFERED;

/** Only this many names are listed; the rest are counted. */
const most = 10;

/**
 * Describes a decision for staff: how many seats were open, who got them, and what happened to the
 * rest.
 */
export function describeForStaff(
  decision: WaitlistDecision,
  texts: Texts,
  locale: string,
  show: Show,
) {
  const { staff } = texts;
  const { mode, move, seats, tried, verdicts, lineLength } = decision;
  const zone = sessionOf(decision).timeZone;
  const sentences = [staff.open(seats, lineLength)];
  if (tried > 0) sentences.push(staff.tried(tried));
  const shared = mode === WaitlistMode.FIRST_TO_CLAIM;
  const names = (chosen: readonly WaitlistVerdict[]) =>
    named(
      chosen.map(({ memberName, partySize, offerExpireTime }) =>
        staff.got(
          memberName || staff.someone,
          partySize,
          shared ? "" : until(offerExpireTime, zone, show),
        ),
      ),
      staff.more,
      locale,
    );
  const booked = verdicts.filter(({ reason }) => reason === Reason.PROMOTED);
  const offered = verdicts.filter(isOffered);
  if (booked.length > 0) sentences.push(staff.booked(names(booked)));
  if (offered.length > 0) {
    const next = move === WaitlistMove.ROLL_ON ? staff.offeredNext : staff.offered;
    sentences.push((shared ? staff.firstCome : next)(names(offered)));
  }
  if (booked.length + offered.length === 0) sentences.push(staff.noOne);
  const rest = describeRest(decision, texts);
  if (rest) sentences.push(rest);
  return sentences;
}

function named(names: readonly string[], more: (n: number) => string, locale: string): string {
  const all = names.slice(0, most);
  if (names.length > most) all.push(more(names.length - most));
  return new Intl.ListFormat(locale, { type: "conjunction" }).format(all);
}

/** What staff can do about seats that no one on the waitlist gets. */
export function describeTodo(decision: WaitlistDecision, texts: Texts): string {
  const rest = describeRest(decision, texts);
  return rest && `${rest} ${texts.staff.todo(leftOf(decision))}`;
}

const leftOf = ({ seats, given }: WaitlistDecision): number =>
  seats === undefined ? 0 : seats - given;

/** Seats that no one on the waitlist gets, and why; "" if there are none. */
function describeRest(decision: WaitlistDecision, { staff }: Texts): string {
  const { leftMove, tried, verdicts, lineLength } = decision;
  if (leftMove === WaitlistMove.UNSPECIFIED) return "";
  const chosen = verdicts.filter(isChosen).length;
  const n = leftOf(decision);
  if (leftMove === WaitlistMove.NOBODY_FITS) {
    if (lineLength === 0) return staff.left.empty(n);
    return chosen > 0 ? staff.left.noOther(n) : staff.left.none(n, lineLength);
  }
  return staff.left.asked(
    n,
    tried + verdicts.filter(isOffered).length,
    staff.stopped[whyStopped(verdicts)],
  );
}

/** Why no further offers are made. */
function whyStopped(verdicts: readonly WaitlistVerdict[]): keyof Texts["staff"]["stopped"] {
  const reasons = new Set(verdicts.map(({ reason }) => reason));
  if (reasons.has(Reason.TRY_CAP)) return "cap";
  if (reasons.has(Reason.NO_CASCADE)) return "staff";
  return reasons.has(Reason.NO_TIME) || reasons.has(Reason.QUIET_HOURS) ? "late" : "list";
}

/** The verdict on an entry, for staff. */
export function describeVerdict(
  { reason, partySize, offerExpireTime }: WaitlistVerdict,
  { mode, session }: WaitlistDecision,
  texts: Texts,
  show: Show,
): string {
  const { verdicts } = texts.staff;
  const end = until(offerExpireTime, sessionOf({ session }).timeZone, show);
  if (reason === Reason.PROMOTED) return verdicts.booked(partySize);
  if (reason !== Reason.OFFERED) return staffReason(reason, texts);
  return mode === WaitlistMode.FIRST_TO_CLAIM
    ? verdicts.firstCome(partySize, end)
    : verdicts.offered(partySize, end);
}

/** What a draft of the rules would have changed about a decision. */
export function describeDifference(
  { decision, draftMode, draftMove, draftVerdicts }: PreviewedWaitlistMove,
  texts: Texts,
  locale: string,
): string[] {
  if (!decision) return [];
  const { would, modes, someone, more } = texts.staff;
  const before = decision.verdicts.filter(isChosen);
  const after = draftVerdicts.filter(isChosen);
  const without = (all: readonly WaitlistVerdict[], others: readonly WaitlistVerdict[]) => {
    const known = new Set(others.map(({ entryId }) => entryId));
    const names = all.filter(({ entryId }) => !known.has(entryId));
    return named(
      names.map(({ memberName }) => memberName || someone),
      more,
      locale,
    );
  };
  const sentences: string[] = [];
  if (draftMode !== decision.mode) sentences.push(would.mode(modes[draftMode] ?? ""));
  const gained = without(after, before);
  if (gained) sentences.push(would.gained(gained));
  const lost = without(before, after);
  if (lost) sentences.push(would.lost(lost));
  if (draftMove !== decision.move) sentences.push(would.move(texts.moves[draftMove] ?? ""));
  return sentences;
}
