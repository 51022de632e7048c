import {
  EntryVerdictSchema,
  PreviewedMoveSchema,
  WaitlistDecisionSchema,
  WaitlistMode,
  WaitlistMove,
  WaitlistTrigger,
} from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { de } from "../i18n/story/de";
import { en } from "../i18n/story/en";
import { tellDifference, tellMember, tellStaff, tellTodo, tellVerdict } from "./story";

const show = () => "noon";

const verdict = (rank: number, reason: string) => ({
  entryId: `e${rank}`,
  memberName: `M${rank}`,
  rank,
  reason,
  partySize: 2,
  ...(reason === "OFFERED" && { expireTime: { seconds: 1n } }),
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
  verdicts: [verdict(1, "OFFERED"), verdict(2, "TRY_CAP"), verdict(3, "NO_CREDITS")],
});

it("tells staff what became of freed places", () => {
  expect(tellStaff(decision, en, "en", show)).toEqual([
    "3 places were open, 3 stood in line.",
    "1 person had been asked for these places before.",
    "The offer went on to M1 (2 places, until noon).",
    "1 place left after 2 people were asked: the rules allow no more.",
  ]);
  expect(tellStaff(decision, de, "de", show).at(-1)).toBe(
    "1 Platz bleibt frei, nachdem 2 Personen gefragt wurden: mehr erlauben die Regeln nicht.",
  );
  expect(tellTodo(decision, de)).toMatch(/nicht\. Er steht allen offen: Ruft jemanden an/);
});

it("leaves staff nothing to do where no place is left", () => {
  expect(tellTodo({ ...decision, leftMove: WaitlistMove.UNSPECIFIED }, en)).toBe("");
});

it("tells staff how everybody was judged, also by a server that knows more reasons", () => {
  const told = decision.verdicts.map((one) => tellVerdict(one, decision, de, show));
  expect(told).toEqual([
    "bekam 2 Plätze angeboten, bis noon",
    "so viele, wie die Regeln erlauben, waren schon gefragt",
    "es war kein Guthaben mehr da",
  ]);
  const [first] = decision.verdicts;
  expect(first && tellVerdict({ ...first, reason: "SOLAR_FLARE" }, decision, de, show)).toBe(
    "SOLAR_FLARE",
  );
});

it("tells members of their own entry alone", () => {
  const own = create(EntryVerdictSchema, { decision, verdict: verdict(3, "NO_CREDITS") });
  expect(tellMember(own, de, show)).toEqual([
    ": Eine Buchung wurde storniert, 3 Plätze waren frei.",
    "Du warst Nummer 3 von 3.",
    "Du wurdest nicht gewählt: es war kein Guthaben mehr da.",
  ]);
});

it("tells what other rules would have made of it", () => {
  const move = create(PreviewedMoveSchema, {
    decision,
    draftMode: WaitlistMode.AUTO_PROMOTE,
    draftMove: WaitlistMove.ROLL_ON,
    draftVerdicts: [verdict(2, "PROMOTED"), verdict(1, "TRIED")],
  });
  expect(tellDifference(move, de, "de")).toEqual([
    "Plätze wären anders vergeben worden: sofort, ohne zu fragen.",
    "Stattdessen wären gewählt worden: M2.",
    "Nicht gewählt worden wären: M1.",
  ]);
});
