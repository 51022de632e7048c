import { WaitlistMove } from "@berthhq/client";
import type { Tone } from "../../shared/ui";

/** How the result of a decision looks. */
export const moveTones: Record<WaitlistMove, Tone> = {
  [WaitlistMove.UNSPECIFIED]: "",
  [WaitlistMove.NOBODY_FITS]: "warn",
  [WaitlistMove.OFFER]: "good",
  [WaitlistMove.ROLL_ON]: "accent",
  [WaitlistMove.HAND_BACK]: "warn",
};
