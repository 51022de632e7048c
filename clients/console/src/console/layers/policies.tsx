import { type EffectivePolicy, PolicyLevel, TenantService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useText } from "../../i18n";
import { useCall, useRead } from "../../shared/calls";
import { useCan } from "../../shared/me";
import { PageHead, Shown } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";
import { LayerEditor, type Settings } from "./editor";
import { type Kinds, writeAll } from "./kind";
import { flag, meters, span, windows } from "./kinds";
import { LevelPicker, useLevel } from "./level";

const kinds: Kinds = {
  advanceWindow: span("days"),
  bookingClosesBefore: span("minutes"),
  holdTtl: span("minutes"),
  cancellationWindow: span("hours"),
  tierCancellations: windows,
  allowLateCancellation: flag,
  allowReschedule: flag,
  checkinOpensBefore: span("minutes"),
  checkinClosesAfterEnd: span("minutes"),
  gpsMaxMeters: meters,
  autoNoShow: flag,
  autoNoShowAfter: span("minutes"),
};

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
  const settings: Settings = {
    kinds,
    texts: t.policies.fields,
    groups: [
      [t.policies.groups.booking, ["advanceWindow", "bookingClosesBefore", "holdTtl"]],
      [
        t.policies.groups.cancelling,
        ["cancellationWindow", "tierCancellations", "allowLateCancellation", "allowReschedule"],
      ],
      [
        t.policies.groups.checkIn,
        [
          "checkinOpensBefore",
          "checkinClosesAfterEnd",
          "gpsMaxMeters",
          "autoNoShow",
          "autoNoShowAfter",
        ],
      ],
    ],
  };
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
                  policy: writeAll(values, kinds),
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
