import { DAY, HOUR, MINUTE } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { bonuses, choice, expression, flag, limit, night, number, span } from "../settings/kinds";
import { type Settings, settingsIn } from "../settings/settings";
import { type WaitlistTexts, waitlistTexts } from "./texts";

export const useRulesSettings = (): Settings => rulesSettings(useText(waitlistTexts));

/** The settings of the waitlist rules, with the bounds of the contract. */
export const rulesSettings = (t: WaitlistTexts): Settings => ({
  texts: t.rules.fields,
  unfit: { priorityExpression: t.rules.needsExpression },
  ...settingsIn(t.rules.groups, {
    how: {
      enabled: flag,
      mode: choice(t.rules.modes),
      maxQueueSize: number(1, 10_000),
      allowDownFitting: flag,
      timeFlexibility: span("minutes", 0, 12 * HOUR),
    },
    offers: {
      offerWindow: span("minutes", MINUTE, 7 * DAY),
      minOfferWindow: span("minutes", MINUTE, DAY),
      maxOffersPerEntry: limit(100),
      maxTriesPerSlot: limit(1000),
      autoCascade: flag,
      afterExpiry: choice(t.rules.after),
      afterDecline: choice(t.rules.after),
    },
    order: {
      order: choice(t.rules.orders),
      baseScore: number(0, 10_000),
      tierBonuses: bonuses,
      earlyBirdPointsPerDay: number(0, 100),
      earlyBirdMaxPoints: number(0, 1000),
      eligibilityExpression: expression,
      priorityExpression: expression,
    },
    time: {
      autoPromoteCutoff: span("hours", 0, 30 * DAY),
      promoteAfterCancellationWindow: flag,
      promotionGrace: span("minutes", 0, 7 * DAY),
      fillAfterStart: span("minutes", 0, DAY),
      fillAfterStartSingle: span("minutes", 0, DAY),
      expireStale: flag,
      staleAfter: span("hours", HOUR, 365 * DAY),
      quietHours: night,
      offersInQuietHours: flag,
      smsMinScore: number(0, 1_000_000),
    },
  }),
});
