import { useText } from "../../i18n";
import { DAY, HOUR, MINUTE } from "../../shared/time";
import type { Settings } from "../layers/editor";
import { bonuses, choice, expression, flag, night, number, span } from "../layers/kinds";

/** The settings of the waitlist rules, with the bounds of the contract. */
export function useRulesSettings(): Settings {
  const t = useText();
  const after = choice(t.rules.after);
  const { how, offers, order, time } = t.rules.groups;
  return {
    texts: t.rules.fields,
    unfit: { priorityExpression: t.rules.needsExpression },
    kinds: {
      enabled: flag,
      mode: choice(t.rules.modes),
      maxQueueSize: number(1, 10_000),
      offerWindow: span("minutes", MINUTE, 7 * DAY),
      minOfferWindow: span("minutes", MINUTE, DAY),
      maxOffersPerEntry: number(0, 100),
      maxTriesPerSlot: number(0, 1000),
      autoCascade: flag,
      afterExpiry: after,
      afterDecline: after,
      allowDownFitting: flag,
      timeFlexibility: span("minutes", 0, 12 * HOUR),
      autoPromoteCutoff: span("hours", 0, 30 * DAY),
      promotionGrace: span("minutes", 0, 7 * DAY),
      fillAfterStart: span("minutes", 0, DAY),
      expireStale: flag,
      staleAfter: span("hours", HOUR, 365 * DAY),
      order: choice(t.rules.orders),
      baseScore: number(0, 10_000),
      tierBonuses: bonuses,
      earlyBirdPointsPerDay: number(0, 100),
      earlyBirdMaxPoints: number(0, 1000),
      eligibilityExpression: expression,
      priorityExpression: expression,
      quietHours: night,
      offersInQuietHours: flag,
      smsMinScore: number(0, 1_000_000),
    },
    groups: [
      [how, ["enabled", "mode", "maxQueueSize", "allowDownFitting", "timeFlexibility"]],
      [
        offers,
        [
          "offerWindow",
          "minOfferWindow",
          "maxOffersPerEntry",
          "maxTriesPerSlot",
          "autoCascade",
          "afterExpiry",
          "afterDecline",
        ],
      ],
      [
        order,
        [
          "order",
          "baseScore",
          "tierBonuses",
          "earlyBirdPointsPerDay",
          "earlyBirdMaxPoints",
          "eligibilityExpression",
          "priorityExpression",
        ],
      ],
      [
        time,
        [
          "autoPromoteCutoff",
          "promotionGrace",
          "fillAfterStart",
          "expireStale",
          "staleAfter",
          "quietHours",
          "offersInQuietHours",
          "smsMinScore",
        ],
      ],
    ],
  };
}
