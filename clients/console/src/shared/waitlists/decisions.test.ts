import {
  PreviewedWaitlistMoveSchema,
  WaitlistVerdictReason as Reason,
  WaitlistDecisionSchema,
  WaitlistEntryVerdictSchema,
  WaitlistMode,
  WaitlistMove,
  WaitlistTrigger,
} from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import {
  describeDifference,
  describeForMember,
  describeForStaff,
  describeTodo,
  describeVerdict,
} from "./decisions";
import { de as german } from "./texts/de";
import { en as english } from "./texts/en";

const { decisions: de } = german;
const { decisions: en } = english;

const show = () => "noon";

const verdict = (rank: number, reason: Reason) => ({
  entryId: `e${rank}`,
  memberName: `M${rank}`,
  rank,
  reason,
  partySize: 2,
  ...(reason === Reason.OFFERED && { offerExpireTime: { seconds: 1n } }),
});

const decision = create(WaitlistDecisionSchema, {
  trigger: WaitlistTrigger.CANCELLATION,
  mode: WaitlistMode.OFFER,
  move: WaitlistMove.ROLL_ON,
  leftMove: WaitlistMove.HAND_BACK,
  seats: 3,
  given: 2,
  tried: 1,
  lineLength: 3,
  verdicts: [verdict(1, Reason.OFFERED), verdict(2, Reason.TRY_CAP), verdict(3, Reason.NO_CREDITS)],
});

it("tells staff what happened to freed seats", () => {
  expect(describeForStaff(decision, en, "en", show)).toEqual([
    "3 seats were open, 3 on the waitlist.",
    "1 person had already been offered these seats.",
    "Offered to the next: M1 (2 seats, until noon).",
    "1 seat left after 2 offers: the rules allow no more offers.",
  ]);
  expect(describeForStaff(decision, de, "de", show).at(-1)).toBe(
    "1 Platz bleibt nach 2 Angeboten frei: die Regeln erlauben keine weiteren Angebote.",
  );
  expect(describeTodo(decision, de)).toMatch(
    /Angebote\. Er ist für alle buchbar\. Sie können auch jemanden anrufen/,
  );
});

it("gives staff nothing to do if no seats are left", () => {
  expect(describeTodo({ ...decision, leftMove: WaitlistMove.UNSPECIFIED }, en)).toBe("");
});

it("tells staff the verdict on every entry, including unknown reasons", () => {
  const verdicts = decision.verdicts.map((one) => describeVerdict(one, decision, de, show));
  expect(verdicts).toEqual([
    "2 Plätze angeboten, bis noon",
    "die Plätze wurden so vielen Personen angeboten, wie die Regeln erlauben",
    "es waren keine Credits mehr übrig",
  ]);
  const [first] = decision.verdicts;
  expect(first && describeVerdict({ ...first, reason: 999 as Reason }, decision, de, show)).toBe(
    "die Buchung wäre abgelehnt worden",
  );
});

it("tells members about their own entry only", () => {
  const own = create(WaitlistEntryVerdictSchema, {
    decision,
    verdict: verdict(3, Reason.NO_CREDITS),
  });
  expect(describeForMember(own, de, show)).toEqual([
    ": Eine Buchung wurde storniert, 3 Plätze waren frei.",
    "Sie waren Nummer 3 von 3 auf der Warteliste.",
    "Sie haben keinen Platz bekommen: es waren keine Credits mehr übrig.",
  ]);
});

it("tells what other rules would have changed", () => {
  const move = create(PreviewedWaitlistMoveSchema, {
    decision,
    draftMode: WaitlistMode.AUTO_PROMOTE,
    draftMove: WaitlistMove.ROLL_ON,
    draftVerdicts: [verdict(2, Reason.PROMOTED), verdict(1, Reason.TRIED)],
  });
  expect(describeDifference(move, de, "de")).toEqual([
    "Plätze wären anders vergeben worden: automatisch gebucht.",
    "Stattdessen hätten einen Platz bekommen: M2.",
    "Keinen Platz bekommen hätten: M1.",
  ]);
});
