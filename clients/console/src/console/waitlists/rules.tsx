import { type WaitlistRulesLayer, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Group } from "@mantine/core";
import { useCall } from "../../shared/api/calls";
import { useCan } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { PageHead, QueryResult } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { WithCatalog } from "../catalog/loaded";
import { LayerEditor } from "../settings/editor";
import { writeAll } from "../settings/kind";
import { LevelPicker, useLevel } from "../settings/level";
import { Page, Tabbed } from "../ui";
import { useSave } from "../ui/edit-form";
import { useRulesSettings } from "./settings";
import { waitlistTexts } from "./texts";

const WaitlistAnalytics = later(() => import("./analytics"), "WaitlistAnalytics");
const Versions = later(() => import("./versions"), "Versions");
const Preview = later(() => import("./preview"), "Preview");

export function RulesPage() {
  const t = useText(waitlistTexts);
  const can = useCan();
  return (
    <Page>
      <PageHead title={t.nav.waitlistRules} note={t.rules.note} />
      <WithCatalog>
        <Tabbed
          parts={[
            ["rules", t.rules.rules, () => <Rules />],
            ["versions", t.rules.versions, () => <Versions />],
            can("waitlist.analytics") && [
              "figures",
              t.rules.analytics,
              () => <WaitlistAnalytics />,
            ],
          ]}
        />
      </WithCatalog>
    </Page>
  );
}

const layerOf = ({ rules, ...layer }: WaitlistRulesLayer) => ({ ...layer, set: rules });

function Rules() {
  const t = useText();
  const can = useCan();
  const settings = useRulesSettings();
  const { chosen, target } = useLevel();
  const rules = useQuery(WaitlistService.method.getWaitlistRules, target);
  const update = useSave(WaitlistService.method.updateWaitlistRules);
  const reset = useCall(WaitlistService.method.resetWaitlistRules, { done: t.done.saved });
  const { kinds } = settings;
  return (
    <>
      <Group gap={8} mb={12}>
        <LevelPicker />
      </Group>
      <QueryResult query={rules} rows={14}>
        {({ effective }) =>
          effective && (
            <LayerEditor
              key={chosen}
              settings={settings}
              layers={effective.layers.map(layerOf)}
              editable={can("waitlist.rules")}
              save={(values, updateMask, etag, reason) =>
                update({ ...target, rules: writeAll(values, kinds), updateMask, reason, etag })
              }
              reset={(etag, reason) => reset.run({ ...target, reason, etag })}
            >
              {(draft) => <Preview target={target} draft={draft} kinds={kinds} />}
            </LayerEditor>
          )
        }
      </QueryResult>
    </>
  );
}
