import { PolicyLevel } from "@berthhq/client";
import { type Duration, durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  ActionIcon,
  Alert,
  Button,
  NumberInput,
  SegmentedControl,
  Select,
  Switch,
  Textarea,
  TextInput,
} from "@mantine/core";
import { TimeInput } from "@mantine/dates";
import { IconArrowBackUp, IconPencil, IconPlus, IconX } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { type Messages, useSpeech, useText } from "../i18n";
import { useEditing } from "../shared/editing";
import { explain } from "../shared/errors";
import { HOUR, here, MINUTE, parseClock, showClock, showSpan } from "../shared/time";
import { Tag } from "../shared/ui";
import { Conflict } from "./conflict";
import type { Catalog } from "./data";

/*
 * Settings that are inherited, level by level: the built-in ones, the organization's, the location's, the service's.
 * A level sets some of them and leaves the others alone.
 */

/** How a setting is counted and typed. */
export type Kind =
  | "days"
  | "hours"
  | "minutes"
  | "switch"
  | "meters"
  | "tiers"
  | "number"
  | "expression"
  | "night"
  | "bonuses"
  | readonly string[];

export interface Settings {
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly groups: readonly (readonly [string, readonly string[]])[];
  /** Name and explanation. */
  readonly texts: Readonly<Record<string, readonly [string, string]>>;
}

interface Tier {
  tier: string;
  hours: number;
  allowReschedule?: boolean | undefined;
}

interface Bonus {
  tier: string;
  points: number;
}

interface Night {
  start: string;
  end: string;
}

/** A value as the form has it: spans in milliseconds; undefined where it is inherited. */
type Value = number | boolean | string | Night | readonly Tier[] | readonly Bonus[] | undefined;
export type Values = Record<string, Value>;

export interface Layer {
  readonly level: PolicyLevel;
  readonly targetId: string;
  readonly etag: string;
  readonly set: object | undefined;
}

const units = { days: 24 * HOUR, hours: HOUR, minutes: MINUTE };
type Unit = keyof typeof units;
const isUnit = (kind: Kind | undefined): kind is Unit => typeof kind === "string" && kind in units;

export const snake = (field: string) =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const span = (duration: Duration | undefined) =>
  duration && Number(duration.seconds) * 1000 + duration.nanos / 1e6;

const clockOf = (time: { hours: number; minutes: number } | undefined) =>
  showClock((time?.hours ?? 0) * 60 + (time?.minutes ?? 0));
const timeOf = (clock: string) => {
  const minute = parseClock(clock) ?? 0;
  return { hours: Math.floor(minute / 60), minutes: minute % 60 };
};

// biome-ignore lint/suspicious/noExplicitAny: the contract's messages, by the names of their fields
type Message = Record<string, any>;

function readValue(message: object | undefined, field: string, kind: Kind): Value {
  const value = (message as Message | undefined)?.[field];
  if (value === undefined) return undefined;
  if (isUnit(kind)) return span(value);
  if (kind === "night") return { start: clockOf(value.start), end: clockOf(value.end) };
  if (kind === "bonuses") {
    return value.bonuses.map(({ tier, points }: Bonus) => ({ tier, points }));
  }
  if (kind === "tiers") {
    return value.overrides.map(({ tier, cancellationWindow, allowReschedule }: Message) => ({
      tier,
      hours: (span(cancellationWindow) ?? 0) / HOUR,
      ...(allowReschedule !== undefined && { allowReschedule }),
    }));
  }
  return value;
}

function readAll(message: object | undefined, kinds: Settings["kinds"]): Values {
  return Object.fromEntries(
    Object.entries(kinds).map(([field, kind]) => [field, readValue(message, field, kind)]),
  );
}

/** What the contract calls these values. */
export function writeAll(values: Values, kinds: Settings["kinds"]): Message {
  const message: Message = {};
  for (const [field, kind] of Object.entries(kinds)) {
    const value = values[field];
    if (value === undefined) continue;
    if (isUnit(kind)) message[field] = durationFromMs(value as number);
    else if (kind === "night") {
      const { start, end } = value as Night;
      message[field] = { start: timeOf(start), end: timeOf(end) };
    } else if (kind === "bonuses") {
      message[field] = { bonuses: (value as Bonus[]).filter(({ tier }) => tier.trim()) };
    } else if (kind === "tiers") {
      message[field] = {
        overrides: (value as Tier[])
          .filter(({ tier }) => tier.trim())
          .map(({ tier, hours, allowReschedule }) => ({
            tier: tier.trim(),
            cancellationWindow: durationFromMs(hours * HOUR),
            ...(allowReschedule !== undefined && { allowReschedule }),
          })),
      };
    } else message[field] = value;
  }
  return message;
}

const first = (kind: Kind): Value =>
  kind === "switch"
    ? false
    : kind === "expression"
      ? ""
      : kind === "tiers" || kind === "bonuses"
        ? []
        : kind === "night"
          ? { start: "22:00", end: "07:00" }
          : 0;

export function LayerEditor({
  settings,
  layers,
  level,
  catalog,
  editable,
  save,
  reread,
  children,
}: {
  settings: Settings;
  /** From the lowest to the one that is edited, or beyond. */
  layers: readonly Layer[];
  level: PolicyLevel;
  catalog: Catalog;
  editable: boolean;
  save: (values: Values, paths: string[], etag: string) => Promise<unknown>;
  reread: () => Promise<readonly Layer[]>;
  /** What is shown beside the draft. */
  children?: (values: Values, paths: string[]) => ReactNode;
}) {
  const t = useText();
  const { locale } = useSpeech();
  const [error, setError] = useState<unknown>();
  const { kinds, groups, texts } = settings;
  const version = (of: readonly Layer[]) => {
    const layer = of.find((one) => one.level === level);
    return { values: readAll(layer?.set, kinds), etag: layer?.etag ?? "" };
  };
  const editing = useEditing<Values>({
    current: version(layers),
    failed: setError,
    reread: async () => version(await reread()),
    save: (values, changed, etag) => save(values, changed.map(String).map(snake), etag),
  });
  const { values, set } = editing;
  const changed = editing.changed.map(String);
  /** What would hold if this level set nothing, and whose it is. */
  const inherited = (field: string): [Value, PolicyLevel, string] => {
    for (const layer of layers.filter((one) => one.level < level).reverse()) {
      const value = readValue(layer.set, field, kinds[field] ?? "number");
      if (value !== undefined) return [value, layer.level, layer.targetId];
    }
    return [undefined, PolicyLevel.DEFAULT, ""];
  };
  const nameOf = (at: PolicyLevel, id: string) =>
    catalog.location(id)?.name ?? catalog.service(id)?.name ?? t.policies.levels[at] ?? "";
  const show = (field: string, value: Value) => showValue(kinds[field] ?? "number", value, t);
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
          Object.keys(kinds).map((field) => [field, texts[field]?.[0] ?? field]),
        )}
        show={(field, value) => show(String(field), value as Value)}
        onTake={editing.takeTheirs}
      />
      {groups.map(([group, fields]) => (
        <section key={group} className="card">
          <header>
            <h2 style={{ margin: 0, fontSize: 14, fontWeight: 600 }}>{group}</h2>
          </header>
          <div>
            {fields.map((field) => {
              const [label = field, note = ""] = texts[field] ?? [];
              const own = values[field];
              const kind = kinds[field] ?? "number";
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
                      <span>{show(field, value)}</span>
                    ) : editable ? (
                      <Input
                        kind={kind}
                        label={label}
                        value={own}
                        onChange={(next) => set({ [field]: next })}
                      />
                    ) : (
                      <strong>{show(field, own)}</strong>
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
                          onClick={() => set({ [field]: value ?? first(kind) })}
                        >
                          <IconPencil size={16} />
                        </ActionIcon>
                      ) : (
                        <ActionIcon
                          aria-label={`${t.policies.inherit}: ${label}`}
                          title={`${t.policies.inherit}: ${show(field, value)}`}
                          onClick={() => set({ [field]: undefined })}
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
      {changed.length > 0 && children?.(values, changed.map(snake))}
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

function showValue(kind: Kind, value: Value, t: Messages): string {
  if (value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? t.policies.yes : t.policies.no;
  if (typeof value === "string") return value;
  if (typeof value === "number") {
    if (typeof kind === "object") return kind[value] ?? String(value);
    return isUnit(kind) ? showSpan(value) : kind === "meters" ? `${value} m` : String(value);
  }
  if ("start" in value)
    return value.start === value.end ? t.policies.none : `${value.start}–${value.end}`;
  return (
    value
      .map(
        (one) => `${one.tier}: ${"hours" in one ? showSpan(one.hours * HOUR) : `+${one.points}`}`,
      )
      .join(", ") || t.policies.none
  );
}

function Input({
  kind,
  label,
  value,
  onChange,
}: {
  kind: Kind;
  label: string;
  value: Value;
  onChange: (value: Value) => void;
}) {
  const t = useText();
  const [unit, setUnit] = useState<Unit>(() => {
    if (!isUnit(kind)) return "minutes";
    const fitting = (["days", "hours", "minutes"] as const).find(
      (one) => Number(value) > 0 && Number(value) % units[one] === 0,
    );
    return fitting ?? kind;
  });
  if (typeof kind === "object") {
    return (
      <Select
        size="xs"
        aria-label={label}
        allowDeselect={false}
        value={String(value)}
        onChange={(next) => onChange(Number(next))}
        data={kind.flatMap((name, at) => (name ? [{ value: String(at), label: name }] : []))}
      />
    );
  }
  if (kind === "expression") {
    return (
      <Textarea
        size="xs"
        aria-label={label}
        autosize
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        value={String(value)}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  if (kind === "night") {
    const night = value as Night;
    return (
      <div style={{ display: "flex", gap: 6, alignItems: "center" }}>
        <TimeInput
          size="xs"
          aria-label={`${label}: ${t.fields.start}`}
          value={night.start}
          onChange={(event) => onChange({ ...night, start: event.currentTarget.value })}
        />
        –
        <TimeInput
          size="xs"
          aria-label={`${label}: ${t.members.ends}`}
          value={night.end}
          onChange={(event) => onChange({ ...night, end: event.currentTarget.value })}
        />
      </div>
    );
  }
  if (kind === "bonuses") {
    const bonuses = value as readonly Bonus[];
    const put = (at: number, part: Partial<Bonus>) =>
      onChange(bonuses.map((bonus, i) => (i === at ? { ...bonus, ...part } : bonus)));
    return (
      <div style={{ display: "grid", gap: 6 }}>
        {bonuses.map((bonus, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a tier is named as it is typed
          <div key={at} style={{ display: "flex", gap: 6, alignItems: "center" }}>
            <TextInput
              size="xs"
              w={120}
              aria-label={t.fields.tier}
              value={bonus.tier}
              onChange={(event) => put(at, { tier: event.currentTarget.value })}
            />
            <NumberInput
              size="xs"
              w={80}
              min={0}
              max={50}
              aria-label={`${label}: ${bonus.tier}`}
              value={bonus.points}
              onChange={(points) => put(at, { points: Number(points) || 0 })}
            />
            <ActionIcon
              aria-label={`${t.actions.remove}: ${bonus.tier}`}
              onClick={() => onChange(bonuses.filter((_, i) => i !== at))}
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
          onClick={() => onChange([...bonuses, { tier: "", points: 10 }])}
        >
          {t.policies.addTier}
        </Button>
      </div>
    );
  }
  if (kind === "number") {
    return (
      <NumberInput
        size="xs"
        w={110}
        min={0}
        aria-label={label}
        value={Number(value)}
        onChange={(next) => onChange(Number(next) || 0)}
      />
    );
  }
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
        onChange={(next) => setUnit(next as Unit)}
        data={(["minutes", "hours", "days"] as const).map((one) => ({
          value: one,
          label: t.policies[one],
        }))}
      />
    </div>
  );
}
