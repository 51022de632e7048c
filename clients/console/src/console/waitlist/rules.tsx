import { type EffectiveWaitlistRules, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useText } from "../../i18n";
import { useDo, useRead } from "../../shared/calls";
import { useCan } from "../../shared/me";
import { PageHead, Shown } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";
import { LayerEditor, type Settings } from "../layers/editor";
import { type Kinds, writeAll } from "../layers/kind";
import { bonuses, choice, expression, flag, night, number, span } from "../layers/kinds";
import { LevelPicker, useLevel } from "../layers/level";
import { Tabbed } from "../tabbed";
import { WaitlistFigures } from "./figures";
import { Preview } from "./preview";
import { Versions } from "./versions";

export function RulesPage() {
  const t = useText();
  const can = useCan();
  const catalog = useCatalog();
  const parts = [
    can("waitlist.rules") && {
      key: "rules",
      label: t.rules.rules,
      shown: <Shown of={catalog}>{(all) => <Rules catalog={all} />}</Shown>,
    },
    can("waitlist.rules") && {
      key: "versions",
      label: t.rules.versions,
      shown: <Shown of={catalog}>{(all) => <Versions catalog={all} />}</Shown>,
    },
    can("waitlist.analytics") && {
      key: "figures",
      label: t.rules.figures,
      shown: <WaitlistFigures />,
    },
  ].filter((part) => part !== false);
  return (
    <div className="page">
      <PageHead title={t.nav.waitlist} note={t.rules.note} />
      <Tabbed parts={parts} />
    </div>
  );
}

const layersOf = ({ layers }: EffectiveWaitlistRules) =>
  layers.map(({ level, targetId, etag, rules }) => ({ level, targetId, etag, set: rules }));

function Rules({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const read = useRead();
  const { chosen, level, target } = useLevel();
  const rules = useQuery(WaitlistService.method.getRules, target);
  const update = useDo(WaitlistService.method.updateRules, { quiet: true, done: t.done.saved });
  const after = choice(t.rules.after);
  const kinds: Kinds = {
    enabled: flag,
    mode: choice(t.rules.modes),
    maxQueueSize: number,
    offerWindow: span("minutes"),
    minOfferWindow: span("minutes"),
    maxOffersPerEntry: number,
    maxTriesPerSlot: number,
    autoCascade: flag,
    afterExpiry: after,
    afterDecline: after,
    allowDownFitting: flag,
    timeFlexibility: span("minutes"),
    autoPromoteCutoff: span("hours"),
    promotionGrace: span("minutes"),
    fillAfterStart: span("minutes"),
    expireStale: flag,
    staleAfter: span("hours"),
    order: choice(t.rules.orders),
    baseScore: number,
    tierBonuses: bonuses,
    earlyBirdPointsPerDay: number,
    earlyBirdMaxPoints: number,
    eligibilityExpression: expression,
    priorityExpression: expression,
    quietHours: night,
    offersInQuietHours: flag,
    smsMinScore: number,
  };
  const settings: Settings = {
    kinds,
    texts: t.rules.fields,
    groups: [
      [
        t.rules.groups.how,
        ["enabled", "mode", "maxQueueSize", "allowDownFitting", "timeFlexibility"],
      ],
      [
        t.rules.groups.offers,
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
        t.rules.groups.order,
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
        t.rules.groups.time,
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
  return (
    <>
      <div className="filters">
        <LevelPicker catalog={catalog} />
      </div>
      <Shown of={rules} rows={14}>
        {({ effective }) =>
          effective && (
            <LayerEditor
              key={chosen}
              settings={settings}
              layers={layersOf(effective)}
              level={level}
              catalog={catalog}
              editable
              reread={async () => {
                const answer = await read(WaitlistService.method.getRules, target);
                return layersOf(answer.effective ?? effective);
              }}
              save={(values, paths, etag) =>
                update.run({
                  ...target,
                  rules: writeAll(values, kinds),
                  updateMask: { paths },
                  etag,
                })
              }
            >
              {(values, paths) => (
                <Preview target={target} values={values} paths={paths} kinds={kinds} />
              )}
            </LayerEditor>
          )
        }
      </Shown>
    </>
  );
}
