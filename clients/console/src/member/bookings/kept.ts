import type { Session } from "@berthhq/client";
import { here, showTime, today, zoned } from "../../shared/format/time";
import { useI18n } from "../../shared/i18n";
import { memberTexts } from "../texts";

/** Until when seats of a session are kept for the member, by an offer of the waitlist. */
export function useKeptText({ eligibility }: Session): string | undefined {
  const { t, locale } = useI18n(memberTexts);
  const until = eligibility?.offerExpireTime;
  if (!until) return undefined;
  const ends = zoned(until, here()).toPlainDate();
  const at = showTime(until, here(), locale, ends.equals(today(here())) ? "time" : "dayTime");
  return eligibility.offerFirstToClaim ? t.app.openUntil(at) : t.app.keptUntil(at);
}
