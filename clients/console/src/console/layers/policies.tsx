import { type EffectivePolicy, PolicyLevel, TenantService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { type Messages, useText } from "../../i18n";
import { useCall, useRead } from "../../shared/calls";
import { useCan } from "../../shared/me";
import { PageHead, Shown } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";
import { LayerEditor, type Settings, settingsIn } from "./editor";
import { writeAll } from "./kind";
import { flag, meters, span, windows } from "./kinds";
import { LevelPicker, useLevel } from "./level";

/** The settings of a policy. */
export const policySettings = (t: Messages): Settings => ({
  texts: t.policies.fields,
  ...settingsIn([
    [
      t.policies.groups.booking,
      {
        advanceWindow: span("days"),
        bookingClosesBefore: span("minutes"),
        holdTtl: span("minutes"),
      },
    ],
    [
      t.policies.groups.cancelling,
      {
        cancellationWindow: span("hours"),
        tierCancellations: windows,
        allowLateCancellation: flag,
        allowReschedule: flag,
      },
    ],
    [
      t.policies.groups.checkIn,
      {
        checkinOpensBefore: span("minutes"),
        checkinClosesAfterEnd: span("minutes"),
        gpsMaxMeters: meters,
        autoNoShow: flag,
        autoNoShowAfter: span("minutes"),
      },
    ],
  ]),
});

export function PoliciesPage() {
  const t = useText();
  const catalog = useCatalog();
  return (
    <div className="page">
      <PageHead title={t.nav.policies} note={t.policies.note}>
        {catalog.data && <LevelPicker catalog={catalog.data} />}
      </PageHead>
      <Shown of={catalog} rows={14}>
        {(all) => <Policies catalog={all} />}
      </Shown>
    </div>
  );
}

const layersOf = ({ layers }: EffectivePolicy) =>
  layers.map(({ level, targetId, etag, policy }) => ({ level, targetId, etag, set: policy }));

function Policies({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const can = useCan();
  const read = useRead();
  const { chosen, level, target, targetId } = useLevel();
  const policy = useQuery(TenantService.method.getPolicy, target);
  const update = useCall(TenantService.method.updatePolicy, { quiet: true, done: t.done.saved });
  const settings = policySettings(t);
  return (
    <Shown of={policy} rows={14}>
      {({ effective }) =>
        effective && (
          <LayerEditor
            key={chosen}
            settings={settings}
            layers={layersOf(effective)}
            level={level}
            catalog={catalog}
            editable={can("policy.write")}
            reread={async () => {
              const answer = await read(TenantService.method.getPolicy, target);
              return layersOf(answer.effective ?? effective);
            }}
            save={(values, paths, etag) =>
              update.run({
                layer: {
                  level: level ?? PolicyLevel.TENANT,
                  targetId,
                  etag,
                  policy: writeAll(values, settings.kinds),
                },
                updateMask: { paths },
              })
            }
          />
        )
      }
    </Shown>
  );
}
