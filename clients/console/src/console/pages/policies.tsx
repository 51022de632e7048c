import { type EffectivePolicy, PolicyLevel, TenantService } from "@berthhq/client";
import { callUnaryMethod, useQuery, useTransport } from "@connectrpc/connect-query";
import { useText } from "../../i18n";
import { useDo } from "../../shared/calls";
import { useCan } from "../../shared/root";
import { PageHead, Shown } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";
import { LayerEditor, type Settings, writeAll } from "../layers";
import { LevelPicker, useLevel } from "../level";

const kinds = {
  advanceWindow: "days",
  bookingClosesBefore: "minutes",
  holdTtl: "minutes",
  cancellationWindow: "hours",
  tierCancellations: "tiers",
  allowLateCancellation: "switch",
  allowReschedule: "switch",
  checkinOpensBefore: "minutes",
  checkinClosesAfterEnd: "minutes",
  gpsMaxMeters: "meters",
  autoNoShow: "switch",
  autoNoShowAfter: "minutes",
} as const satisfies Settings["kinds"];

export function PoliciesPage() {
  const catalog = useCatalog();
  return <Shown of={catalog}>{(all) => <Policies catalog={all} />}</Shown>;
}

const layersOf = ({ layers }: EffectivePolicy) =>
  layers.map(({ level, targetId, etag, policy }) => ({ level, targetId, etag, set: policy }));

function Policies({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const can = useCan();
  const transport = useTransport();
  const { chosen, level, target, targetId } = useLevel();
  const policy = useQuery(TenantService.method.getPolicy, target);
  const update = useDo(TenantService.method.updatePolicy, { quiet: true, done: t.done.saved });
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
    <div className="page">
      <PageHead title={t.nav.policies} note={t.policies.note}>
        <LevelPicker catalog={catalog} />
      </PageHead>
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
                const answer = await callUnaryMethod(
                  transport,
                  TenantService.method.getPolicy,
                  target,
                );
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
    </div>
  );
}
