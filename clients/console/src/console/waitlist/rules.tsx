import { type EffectiveWaitlistRules, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useText } from "../../i18n";
import { useCall, useRead } from "../../shared/calls";
import { useCan } from "../../shared/me";
import { PageHead, Shown } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";
import { LayerEditor } from "../layers/editor";
import { writeAll } from "../layers/kind";
import { LevelPicker, useLevel } from "../layers/level";
import { Tabbed } from "../tabbed";
import { WaitlistAnalytics } from "./analytics";
import { Preview } from "./preview";
import { useRulesSettings } from "./settings";
import { Versions } from "./versions";

export function RulesPage() {
  const t = useText();
  const can = useCan();
  const catalog = useCatalog();
  const parts = [
    {
      key: "rules",
      label: t.rules.rules,
      shown: <Shown of={catalog}>{(all) => <Rules catalog={all} />}</Shown>,
    },
    {
      key: "versions",
      label: t.rules.versions,
      shown: <Shown of={catalog}>{(all) => <Versions catalog={all} />}</Shown>,
    },
    can("waitlist.analytics") && {
      key: "figures",
      label: t.rules.analytics,
      shown: <Shown of={catalog}>{(all) => <WaitlistAnalytics catalog={all} />}</Shown>,
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
  const can = useCan();
  const read = useRead();
  const settings = useRulesSettings();
  const { chosen, level, target } = useLevel();
  const rules = useQuery(WaitlistService.method.getRules, target);
  const update = useCall(WaitlistService.method.updateRules, { quiet: true, done: t.done.saved });
  const reset = useCall(WaitlistService.method.resetRules, { done: t.done.saved });
  const { kinds } = settings;
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
              editable={can("waitlist.rules")}
              reread={async () => {
                const answer = await read(WaitlistService.method.getRules, target);
                return layersOf(answer.effective ?? effective);
              }}
              save={(values, paths, etag, reason) =>
                update.run({
                  ...target,
                  rules: writeAll(values, kinds),
                  updateMask: { paths },
                  reason,
                  etag,
                })
              }
              reset={(etag, reason) => reset.run({ ...target, reason, etag })}
            >
              {(draft) => <Preview target={target} draft={draft} kinds={kinds} />}
            </LayerEditor>
          )
        }
      </Shown>
    </>
  );
}
