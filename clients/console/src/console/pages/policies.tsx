import {
  type EffectivePolicy,
  type Policy,
  PolicyLevel,
  TenantService,
  type TierCancellation,
} from "@berthhq/client";
import { type Duration, durationFromMs } from "@bufbuild/protobuf/wkt";
import { callUnaryMethod, useQuery, useTransport } from "@connectrpc/connect-query";
import {
  ActionIcon,
  Alert,
  Button,
  NumberInput,
  SegmentedControl,
  Select,
  Switch,
  TextInput,
} from "@mantine/core";
import { IconArrowBackUp, IconPencil, IconPlus, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { type Messages, useSpeech, useText } from "../../i18n";
import { useDo } from "../../shared/calls";
import { useEditing } from "../../shared/editing";
import { explain } from "../../shared/errors";
import { useCan } from "../../shared/root";
import { HOUR, here, MINUTE, showSpan } from "../../shared/time";
import { PageHead, Shown, Tag } from "../../shared/ui";
import { Conflict } from "../conflict";
import { type Catalog, useCatalog } from "../data";

/** What can be set, and how it is counted. */
const kinds = {
  advanceWindow: "days",
  bookingClosesBefore: "minutes",
  holdTtl: "minutes",
  cancellationWindow: "hours",
  allowLateCancellation: "switch",
  allowReschedule: "switch",
  tierCancellations: "tiers",
  checkinOpensBefore: "minutes",
  checkinClosesAfterEnd: "minutes",
  gpsMaxMeters: "meters",
  autoNoShow: "switch",
  autoNoShowAfter: "minutes",
} as const;

type Field = keyof typeof kinds;

const groups: readonly [keyof Messages["policies"]["groups"], readonly Field[]][] = [
  ["booking", ["advanceWindow", "bookingClosesBefore", "holdTtl"]],
  [
    "cancelling",
    ["cancellationWindow", "tierCancellations", "allowLateCancellation", "allowReschedule"],
  ],
  [
    "checkIn",
    [
      "checkinOpensBefore",
      "checkinClosesAfterEnd",
      "gpsMaxMeters",
      "autoNoShow",
      "autoNoShowAfter",
    ],
  ],
];

const units = { days: 24 * HOUR, hours: HOUR, minutes: MINUTE };

interface Tier {
  tier: string;
  hours: number;
  allowReschedule?: boolean | undefined;
}

/** A value as the form has it: spans in milliseconds; undefined where it is inherited. */
type Value = number | boolean | readonly Tier[] | undefined;
type Values = Record<Field, Value>;

const snake = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const span = (duration: Duration | undefined) =>
  duration && Number(duration.seconds) * 1000 + duration.nanos / 1e6;

function readValue(policy: Policy | undefined, field: Field): Value {
  if (!policy) return undefined;
  if (field === "tierCancellations") {
    return policy.tierCancellations?.overrides.map(
      ({ tier, cancellationWindow, allowReschedule }: TierCancellation) => ({
        tier,
        hours: (span(cancellationWindow) ?? 0) / HOUR,
        ...(allowReschedule !== undefined && { allowReschedule }),
      }),
    );
  }
  const value = policy[field];
  return typeof value === "object" ? span(value) : value;
}

function readAll(policy: Policy | undefined): Values {
  const values = {} as Values;
  for (const field of Object.keys(kinds) as Field[]) values[field] = readValue(policy, field);
  return values;
}

function writePolicy(values: Values) {
  const policy: Record<string, unknown> = {};
  for (const field of Object.keys(kinds) as Field[]) {
    const value = values[field];
    if (value === undefined) continue;
    if (field === "tierCancellations") {
      policy[field] = {
        overrides: (value as Tier[])
          .filter(({ tier }) => tier.trim())
          .map(({ tier, hours, allowReschedule }) => ({
            tier: tier.trim(),
            cancellationWindow: durationFromMs(hours * HOUR),
            ...(allowReschedule !== undefined && { allowReschedule }),
          })),
      };
    } else if (kinds[field] in units) policy[field] = durationFromMs(value as number);
    else policy[field] = value;
  }
  return policy;
}

export function PoliciesPage() {
  const catalog = useCatalog();
  return <Shown of={catalog}>{(all) => <Policies catalog={all} />}</Shown>;
}

function Policies({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const [params, setParams] = useSearchParams();
  const chosen = params.get("for") ?? "tenant";
  const [kind = "", id = ""] = chosen.split(":");
  const target = {
    ...(kind === "location" && { locationId: id }),
    ...(kind === "service" && { serviceId: id }),
  };
  const policy = useQuery(TenantService.method.getPolicy, target);
  const level =
    kind === "location"
      ? PolicyLevel.LOCATION
      : kind === "service"
        ? PolicyLevel.SERVICE
        : PolicyLevel.TENANT;
  return (
    <div className="page">
      <PageHead title={t.nav.policies} note={t.policies.note}>
        <Select
          aria-label={t.policies.level}
          w={270}
          searchable
          allowDeselect={false}
          value={chosen}
          onChange={(value) =>
            setParams(value && value !== "tenant" ? { for: value } : {}, { replace: true })
          }
          data={[
            { value: "tenant", label: t.policies.tenant },
            {
              group: t.fields.location,
              items: catalog.locations.map((one) => ({
                value: `location:${one.id}`,
                label: one.name,
              })),
            },
            {
              group: t.fields.service,
              items: catalog.services.map((one) => ({
                value: `service:${one.id}`,
                label: one.name,
              })),
            },
          ]}
        />
      </PageHead>
      <Shown of={policy} rows={14}>
        {({ effective }) =>
          effective && (
            <Editor
              key={chosen}
              effective={effective}
              level={level}
              targetId={id}
              catalog={catalog}
              target={target}
            />
          )
        }
      </Shown>
    </div>
  );
}

function Editor({
  effective,
  level,
  targetId,
  catalog,
  target,
}: {
  effective: EffectivePolicy;
  level: PolicyLevel;
  targetId: string;
  catalog: Catalog;
  target: { locationId?: string; serviceId?: string };
}) {
  const t = useText();
  const { locale } = useSpeech();
  const can = useCan();
  const transport = useTransport();
  const [error, setError] = useState<unknown>();
  const update = useDo(TenantService.method.updatePolicy, { quiet: true, done: t.done.saved });
  const layerOf = (of: EffectivePolicy) => of.layers.find((layer) => layer.level === level);
  const version = (of: EffectivePolicy) => {
    const layer = layerOf(of);
    return { values: readAll(layer?.policy), etag: layer?.etag ?? "" };
  };
  const editing = useEditing<Values>({
    current: version(effective),
    failed: setError,
    reread: async () => {
      const answer = await callUnaryMethod(transport, TenantService.method.getPolicy, target);
      return version(answer.effective ?? effective);
    },
    save: (values, changed, etag) =>
      update.run({
        layer: { level, targetId, etag, policy: writePolicy(values) },
        updateMask: { paths: changed.map(snake) },
      }),
  });
  const { values, set, changed } = editing;
  /** What would hold if this level set nothing, and whose it is. */
  const inherited = (field: Field): [Value, PolicyLevel, string] => {
    const below = effective.layers.filter((layer) => layer.level < level).reverse();
    for (const layer of below) {
      const value = readValue(layer.policy, field);
      if (value !== undefined) return [value, layer.level, layer.targetId];
    }
    return [undefined, PolicyLevel.DEFAULT, ""];
  };
  const nameOf = (at: PolicyLevel, id: string) =>
    catalog.location(id)?.name ?? catalog.service(id)?.name ?? t.policies.levels[at] ?? "";
  const editable = can("policy.write");
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        void editing.submit();
      }}
    >
      <Conflict
        theirs={editing.theirs}
        names={Object.fromEntries(
          (Object.keys(kinds) as Field[]).map((field) => [
            field,
            t.policies.fields[field]?.[0] ?? field,
          ]),
        )}
        show={(field, value) => showValue(field, value as Value, t)}
        onTake={editing.takeTheirs}
      />
      {groups.map(([group, fields]) => (
        <section key={group} className="card">
          <header>
            <h2 style={{ margin: 0, fontSize: 14, fontWeight: 600 }}>{t.policies.groups[group]}</h2>
          </header>
          <div>
            {fields.map((field) => {
              const [label = field, note = ""] = t.policies.fields[field] ?? [];
              const own = values[field];
              const [value, at, id] = inherited(field);
              return (
                <div key={field} className="policy-row">
                  <div style={{ minWidth: 0 }}>
                    <strong style={{ fontWeight: 560 }}>{label}</strong>
                    <div className="muted" style={{ fontSize: 12 }}>
                      {note}
                    </div>
                  </div>
                  <div className="policy-value">
                    {own === undefined ? (
                      <span>{showValue(field, value, t)}</span>
                    ) : editable ? (
                      <Input
                        field={field}
                        label={label}
                        value={own}
                        onChange={(next) => set({ [field]: next } as Partial<Values>)}
                      />
                    ) : (
                      <strong>{showValue(field, own, t)}</strong>
                    )}
                  </div>
                  <div className="policy-from">
                    {own === undefined ? (
                      <Tag tone="plain">{nameOf(at, id)}</Tag>
                    ) : (
                      <Tag tone={changed.includes(field) ? "warn" : "accent"}>
                        {t.policies.setHere}
                      </Tag>
                    )}
                    {editable &&
                      (own === undefined ? (
                        <ActionIcon
                          aria-label={`${t.policies.override}: ${label}`}
                          title={t.policies.override}
                          onClick={() =>
                            set({
                              [field]: value ?? (kinds[field] === "tiers" ? [] : 0),
                            } as Partial<Values>)
                          }
                        >
                          <IconPencil size={16} />
                        </ActionIcon>
                      ) : (
                        <ActionIcon
                          aria-label={`${t.policies.inherit}: ${label}`}
                          title={`${t.policies.inherit}: ${showValue(field, value, t)}`}
                          onClick={() => set({ [field]: undefined } as Partial<Values>)}
                        >
                          <IconArrowBackUp size={16} />
                        </ActionIcon>
                      ))}
                  </div>
                </div>
              );
            })}
          </div>
        </section>
      ))}
      {error !== undefined && <Alert color="red">{explain(error, t, locale, here())}</Alert>}
      {changed.length > 0 && (
        <div className="save-bar">
          <span>{t.policies.pending(changed.length)}</span>
          <Button variant="default" onClick={editing.reset}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" loading={editing.saving}>
            {t.actions.save}
          </Button>
        </div>
      )}
    </form>
  );
}

function showValue(field: Field, value: Value, t: Messages): string {
  if (value === undefined) return "–";
  if (typeof value === "boolean") return value ? t.policies.yes : t.policies.no;
  if (typeof value === "object") {
    return (
      value.map(({ tier, hours }) => `${tier}: ${showSpan(hours * HOUR)}`).join(", ") ||
      t.policies.none
    );
  }
  return kinds[field] === "meters" ? `${value} m` : showSpan(value);
}

function Input({
  field,
  label,
  value,
  onChange,
}: {
  field: Field;
  label: string;
  value: Value;
  onChange: (value: Value) => void;
}) {
  const t = useText();
  const kind = kinds[field];
  const [unit, setUnit] = useState<keyof typeof units>(
    kind in units
      ? ((["days", "hours", "minutes"] as const).find(
          (one) => Number(value) > 0 && Number(value) % units[one] === 0,
        ) ?? (kind as keyof typeof units))
      : "minutes",
  );
  if (kind === "switch") {
    return (
      <SegmentedControl
        size="xs"
        aria-label={label}
        value={value ? "yes" : "no"}
        onChange={(next) => onChange(next === "yes")}
        data={[
          { value: "yes", label: t.policies.yes },
          { value: "no", label: t.policies.no },
        ]}
      />
    );
  }
  if (kind === "tiers") {
    const tiers = value as readonly Tier[];
    const put = (at: number, part: Partial<Tier>) =>
      onChange(tiers.map((tier, i) => (i === at ? { ...tier, ...part } : tier)));
    return (
      <div style={{ display: "grid", gap: 6 }}>
        {tiers.map((tier, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a tier is named as it is typed
          <div key={at} style={{ display: "flex", gap: 6, alignItems: "center" }}>
            <TextInput
              size="xs"
              w={110}
              aria-label={t.fields.tier}
              value={tier.tier}
              onChange={(event) => put(at, { tier: event.currentTarget.value })}
            />
            <NumberInput
              size="xs"
              w={96}
              min={0}
              max={720}
              suffix=" h"
              aria-label={`${tier.tier} ${t.policies.hours}`}
              value={tier.hours}
              onChange={(hours) => put(at, { hours: Number(hours) || 0 })}
            />
            <Switch
              size="xs"
              label={t.policies.fields.allowReschedule?.[0]}
              checked={tier.allowReschedule ?? false}
              onChange={(event) => put(at, { allowReschedule: event.currentTarget.checked })}
            />
            <ActionIcon
              aria-label={`${t.actions.remove}: ${tier.tier}`}
              onClick={() => onChange(tiers.filter((_, i) => i !== at))}
            >
              <IconX size={14} />
            </ActionIcon>
          </div>
        ))}
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<IconPlus size={13} />}
          style={{ justifySelf: "start" }}
          onClick={() => onChange([...tiers, { tier: "", hours: 24 }])}
        >
          {t.policies.addTier}
        </Button>
      </div>
    );
  }
  if (kind === "meters") {
    return (
      <NumberInput
        size="xs"
        w={130}
        min={10}
        max={100_000}
        suffix=" m"
        aria-label={label}
        value={Number(value)}
        onChange={(next) => onChange(Number(next) || 10)}
      />
    );
  }
  return (
    <div style={{ display: "flex", gap: 6 }}>
      <NumberInput
        size="xs"
        w={92}
        min={0}
        aria-label={label}
        value={Math.round((Number(value) / units[unit]) * 100) / 100}
        onChange={(next) => onChange(Math.round(Number(next) * units[unit]))}
      />
      <Select
        size="xs"
        w={104}
        aria-label={`${label}: ${t.policies[unit]}`}
        allowDeselect={false}
        value={unit}
        onChange={(next) => setUnit(next as keyof typeof units)}
        data={(["minutes", "hours", "days"] as const).map((one) => ({
          value: one,
          label: t.policies[one],
        }))}
      />
    </div>
  );
}
