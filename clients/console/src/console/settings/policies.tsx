import { CatalogService, type PolicyLayer } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useCan } from "../../shared/auth/user";
import { HOUR, MINUTE } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { PageHead, QueryResult } from "../../shared/ui";
import { WithCatalog } from "../catalog/loaded";
import { Page } from "../ui";
import { useSave } from "../ui/edit-form";
import { LayerEditor } from "./editor";
import { writeAll } from "./kind";
import { flag, meters, span, spanOrOff, windows } from "./kinds";
import { LevelPicker, useLevel } from "./level";
import { type Settings, settingsIn } from "./settings";
import { type SettingTexts, settingTexts } from "./texts";

/** The settings of a policy. */
export const policySettings = (t: SettingTexts): Settings => ({
  texts: t.policies.fields,
  ...settingsIn(t.policies.groups, {
    booking: {
      advanceWindow: span("days"),
      bookingClosesBefore: span("minutes"),
      holdTtl: span("minutes"),
    },
    cancelling: {
      cancellationWindow: span("hours"),
      tierCancellations: windows,
      allowLateCancellation: flag,
      allowReschedule: flag,
    },
    checkIn: {
      checkInOpensBefore: span("minutes"),
      checkInClosesAfterEnd: span("minutes"),
      gpsMaxMeters: meters,
      checkInRequiresQr: flag,
      autoNoShow: flag,
      autoNoShowAfter: span("minutes"),
      autoNoShowAfterStart: spanOrOff("minutes", 5 * MINUTE, 24 * HOUR),
    },
  }),
});

const layerOf = ({ policy, ...layer }: PolicyLayer) => ({ ...layer, set: policy });

export function PoliciesPage() {
  const t = useText(settingTexts);
  const can = useCan();
  const { chosen, level, target, targetId } = useLevel();
  const policy = useQuery(CatalogService.method.getPolicy, target);
  const update = useSave(CatalogService.method.updatePolicy);
  const settings = policySettings(t);
  return (
    <Page>
      <PageHead title={t.nav.policies} note={t.policies.note}>
        <LevelPicker />
      </PageHead>
      <WithCatalog rows={14}>
        <QueryResult query={policy} rows={14}>
          {({ effective }) =>
            effective && (
              <LayerEditor
                key={chosen}
                settings={settings}
                layers={effective.layers.map(layerOf)}
                editable={can("policy.write")}
                save={(values, updateMask, etag) => {
                  const policy = writeAll(values, settings.kinds);
                  return update({ level, targetId, policy, updateMask, etag });
                }}
              />
            )
          }
        </QueryResult>
      </WithCatalog>
    </Page>
  );
}
