import { type EffectiveWaitlistRules, WaitlistService } from "@berthhq/client";
import { callUnaryMethod, useQuery, useTransport } from "@connectrpc/connect-query";
import { Button, Tabs } from "@mantine/core";
import { IconFlask } from "@tabler/icons-react";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { useSpeech, useText } from "../../i18n";
import { useStory } from "../../i18n/story";
import { useDo } from "../../shared/calls";
import { useCan, useMe } from "../../shared/root";
import { tellDifference } from "../../shared/story";
import { PageHead, Shown, State, Tag, Time } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";
import { LayerEditor, type Settings, type Values, writeAll } from "../layers";
import { LevelPicker, useLevel } from "../level";
import { WaitlistFigures } from "../waitlist-figures";

export function RulesPage() {
  const t = useText();
  const can = useCan();
  const catalog = useCatalog();
  const [params, setParams] = useSearchParams();
  const tabs = [
    can("waitlist.rules") && { key: "rules", label: t.rules.rules },
    can("waitlist.rules") && { key: "versions", label: t.rules.versions },
    can("waitlist.analytics") && { key: "figures", label: t.rules.figures },
  ].filter((tab) => tab !== false);
  const tab = params.get("tab") ?? tabs[0]?.key ?? "";
  return (
    <div className="page">
      <PageHead title={t.nav.waitlist} note={t.rules.note} />
      <Tabs
        value={tab}
        onChange={(value) => setParams({ tab: value ?? "" }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {tabs.map(({ key, label }) => (
            <Tabs.Tab key={key} value={key}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="rules">
          <Shown of={catalog}>{(all) => <Rules catalog={all} />}</Shown>
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <Shown of={catalog}>{(all) => <Versions catalog={all} />}</Shown>
        </Tabs.Panel>
        <Tabs.Panel value="figures">
          <WaitlistFigures />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}

const layersOf = ({ layers }: EffectiveWaitlistRules) =>
  layers.map(({ level, targetId, etag, rules }) => ({ level, targetId, etag, set: rules }));

function Rules({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const transport = useTransport();
  const { chosen, level, target } = useLevel();
  const rules = useQuery(WaitlistService.method.getRules, target);
  const update = useDo(WaitlistService.method.updateRules, { quiet: true, done: t.done.saved });
  const kinds: Settings["kinds"] = {
    enabled: "switch",
    mode: t.rules.modes,
    maxQueueSize: "number",
    offerWindow: "minutes",
    minOfferWindow: "minutes",
    maxOffersPerEntry: "number",
    maxTriesPerSlot: "number",
    autoCascade: "switch",
    afterExpiry: t.rules.after,
    afterDecline: t.rules.after,
    allowDownFitting: "switch",
    timeFlexibility: "minutes",
    autoPromoteCutoff: "hours",
    promotionGrace: "minutes",
    fillAfterStart: "minutes",
    expireStale: "switch",
    staleAfter: "hours",
    order: t.rules.orders,
    baseScore: "number",
    tierBonuses: "bonuses",
    earlyBirdPointsPerDay: "number",
    earlyBirdMaxPoints: "number",
    eligibilityExpression: "expression",
    priorityExpression: "expression",
    quietHours: "night",
    offersInQuietHours: "switch",
    smsMinScore: "number",
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
                const answer = await callUnaryMethod(
                  transport,
                  WaitlistService.method.getRules,
                  target,
                );
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

/** What the draft would have done with the seats that were freed in the last month. */
function Preview({
  target,
  values,
  paths,
  kinds,
}: {
  target: { locationId?: string; serviceId?: string };
  values: Values;
  paths: string[];
  kinds: Settings["kinds"];
}) {
  const t = useText();
  const story = useStory();
  const { locale } = useSpeech();
  const [asked, setAsked] = useState(false);
  const preview = useQuery(
    WaitlistService.method.previewRules,
    { ...target, rules: writeAll(values, kinds), updateMask: { paths } },
    { enabled: asked, placeholderData: (before) => before },
  );
  return (
    <section className="card">
      <header>
        <h2 style={{ margin: 0, fontSize: 14, fontWeight: 600 }}>{t.rules.preview}</h2>
        {!asked && (
          <Button
            size="compact-sm"
            variant="light"
            leftSection={<IconFlask size={15} />}
            onClick={() => setAsked(true)}
          >
            {t.rules.tryOut}
          </Button>
        )}
      </header>
      <div className="body" aria-live="polite">
        {!asked ? (
          <p className="muted" style={{ margin: 0 }}>
            {t.rules.previewNote}
          </p>
        ) : (
          <Shown of={preview} rows={3}>
            {(would) =>
              would.moves.length === 0 ? (
                <State title={t.rules.noHistory} />
              ) : (
                <>
                  <p style={{ marginTop: 0 }}>
                    <strong>{t.rules.wouldChange(would.changed, would.moves.length)}</strong>{" "}
                    <span className="muted">
                      {t.rules.granted(would.grantedBefore, would.grantedDraft)} ·{" "}
                      {t.rules.handedBack(would.handedBackBefore, would.handedBackDraft)}
                    </span>
                  </p>
                  <table className="table">
                    <tbody>
                      {would.moves
                        .filter(({ changed }) => changed)
                        .slice(0, 20)
                        .map((move) => (
                          <tr key={move.decision?.id}>
                            <td className="muted" style={{ whiteSpace: "nowrap" }}>
                              <Time
                                at={move.decision?.decideTime}
                                zone={move.decision?.timeZone || "UTC"}
                                as="dateTime"
                              />
                            </td>
                            <td>{move.decision?.sessionTitle}</td>
                            <td>{tellDifference(move, story, locale).join(" ")}</td>
                          </tr>
                        ))}
                    </tbody>
                  </table>
                </>
              )
            }
          </Shown>
        )}
      </div>
    </section>
  );
}

function Versions({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const { tenant } = useMe();
  const versions = useQuery(WaitlistService.method.listRulesVersions, { pageSize: 100 });
  return (
    <div className="card">
      <Shown of={versions}>
        {({ versions: all }) =>
          all.length === 0 ? (
            <State title={t.rules.noVersions} />
          ) : (
            <table className="table">
              <tbody>
                {all.map((version) => (
                  <tr key={version.version}>
                    <td className="num">#{version.version}</td>
                    <td className="muted">
                      <Time at={version.createTime} zone={tenant.timeZone} as="dateTime" />
                    </td>
                    <td>{version.authorName}</td>
                    <td>
                      <Tag tone="plain">
                        {catalog.location(version.targetId)?.name ??
                          catalog.service(version.targetId)?.name ??
                          t.policies.levels[version.level]}
                      </Tag>
                    </td>
                    <td>{version.reset ? t.rules.reset : version.reason}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Shown>
    </div>
  );
}
