import type { TierCancellation } from "@berthhq/client";
import { type Duration, durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  ActionIcon,
  Button,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Textarea,
  TextInput,
} from "@mantine/core";
import { TimeInput } from "@mantine/dates";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import {
  HOUR,
  parseClock,
  showSpan,
  spanMs,
  type TimeOfDay,
  timeOfDay,
  wallClock,
} from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { NumberInput } from "../../shared/ui/number-input";
import text from "../ui/text.module.css";
import { uiTexts } from "../ui/texts";
import type { Kind, Typed } from "./kind";
import { SpanInput, type Unit } from "./span";
import { type SettingTexts, settingTexts } from "./texts";

/** A duration, in milliseconds. */
export const span = (unit: Unit, least = 0, most = Number.POSITIVE_INFINITY): Kind<number> => ({
  first: least,
  read: (value: Duration) => spanMs(value),
  write: durationFromMs,
  show: showSpan,
  input: (typed) => <SpanInput {...typed} unit={unit} />,
  wrong: (value, t) =>
    value < least || value > most ? t.policies.between(showSpan(least), showSpan(most)) : undefined,
});

/** A span that 0 turns off. */
export const spanOrOff = (unit: Unit, least: number, most: number): Kind<number> => {
  const kind = span(unit, least, most);
  return { ...kind, wrong: (value, t) => (value === 0 ? undefined : kind.wrong?.(value, t)) };
};

const amount = (least: number, most: number, width: number, unit = ""): Kind<number> => ({
  first: least,
  read: Number,
  write: (value) => value,
  show: (value) => (Number.isNaN(value) ? "–" : `${value}${unit}`),
  input: ({ label, value, wrong, onChange }) => (
    <NumberInput
      size="xs"
      w={width}
      min={least}
      max={most}
      allowDecimal={false}
      clampBehavior="none"
      suffix={unit}
      aria-label={label}
      error={wrong ?? false}
      value={Number.isNaN(value) ? "" : value}
      onChange={(next) => onChange(next === "" ? Number.NaN : Number(next))}
    />
  ),
  // NaN, an empty input, is out of range, too.
  wrong: (value, t) =>
    value >= least && value <= most
      ? undefined
      : t.policies.between(`${least}${unit}`, `${most}${unit}`),
});

export const number = (least: number, most: number) => amount(least, most, 110);

/** A limit of the waitlist rules. The form has 0 for no limit. */
export const limit = (most: number): Kind<number> => ({
  ...number(0, most),
  read: ({ max }: { max?: number }) => max ?? 0,
  write: (max) => (max > 0 ? { max } : {}),
});

export const meters = amount(10, 100_000, 130, " m");

/** One of several options, by its number in the contract. */
export const choice = (names: Readonly<Record<number, string>>): Kind<number> => ({
  first: 0,
  read: Number,
  write: (value) => value,
  show: (value) => names[value] ?? String(value),
  input: ({ label, value, onChange }) => (
    <Select
      size="xs"
      aria-label={label}
      allowDeselect={false}
      value={value}
      onChange={(next) => onChange(next ?? 0)}
      data={Object.entries(names)
        .map(([number, label]) => ({ value: Number(number), label }))
        .filter(({ label }) => label)}
    />
  ),
});

export const flag: Kind<boolean> = {
  first: false,
  read: Boolean,
  write: (value) => value,
  show: (value, t) => (value ? t.ui.yes : t.ui.no),
  input: (typed) => <YesOrNo {...typed} />,
};

function YesOrNo({ label, value, onChange }: Typed<boolean>) {
  const t = useText(uiTexts);
  return (
    <SegmentedControl
      size="xs"
      aria-label={label}
      value={value}
      onChange={onChange}
      data={[
        { value: true, label: t.ui.yes },
        { value: false, label: t.ui.no },
      ]}
    />
  );
}

/** A CEL expression. */
export const expression: Kind<string> = {
  first: "",
  read: String,
  write: (value) => value,
  show: (value) => value || "–",
  input: ({ label, value, wrong, onChange }) => (
    <Textarea
      size="xs"
      aria-label={label}
      autosize
      maxLength={2000}
      spellCheck={false}
      error={wrong ?? false}
      classNames={{ input: text.mono ?? "" }}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  ),
};

/** From one time of day to another, usually over midnight. */
export interface Night {
  readonly start: string;
  readonly end: string;
}

export const night: Kind<Night> = {
  first: { start: "22:00", end: "07:00" },
  read: ({ start, end }: { start?: TimeOfDay; end?: TimeOfDay }) => ({
    start: wallClock(start),
    end: wallClock(end),
  }),
  write: ({ start, end }) => ({ start: timeOfDay(start), end: timeOfDay(end) }),
  show: ({ start, end }, t) => (start === end ? t.policies.none : `${start}–${end}`),
  input: (typed) => <NightInput {...typed} />,
  wrong: ({ start, end }, t) =>
    start && end && (minuteOf(end) - minuteOf(start) + 1440) % 1440 <= 23 * 60
      ? undefined
      : t.policies.nightTooLong,
};

const minuteOf = (clock: string) => parseClock(clock) ?? 0;

function NightInput({ label, value, wrong, onChange }: Typed<Night>) {
  const t = useText();
  const time = (key: keyof Night, name: string) => (
    <TimeInput
      size="xs"
      aria-label={`${label}: ${name}`}
      error={wrong ?? false}
      value={value[key]}
      onChange={(event) => onChange({ ...value, [key]: event.currentTarget.value })}
    />
  );
  return (
    <Group gap={6} wrap="nowrap">
      {time("start", t.fields.start)}–{time("end", t.common.ends)}
    </Group>
  );
}

/*
 * Settings with a value per tier.
 */

interface Tiered {
  readonly tier: string;
}

type TiersProps<T extends Tiered> = Typed<readonly T[]> & {
  blank: T;
  /** The inputs of a tier, next to its name. */
  children: (line: T, put: (part: Partial<T>) => void) => ReactNode;
};

/** One row per tier. */
function Tiers<T extends Tiered>({ value, onChange, blank, children }: TiersProps<T>) {
  const t = useText(settingTexts);
  return (
    <Stack gap={6}>
      {value.map((line, at) => {
        const put = (part: Partial<T>) => onChange(value.with(at, { ...line, ...part }));
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the name of a tier is edited
          <Group key={at} gap={6}>
            <TextInput
              size="xs"
              w={110}
              aria-label={t.fields.tier}
              value={line.tier}
              onChange={(event) => put({ tier: event.currentTarget.value } as Partial<T>)}
            />
            {children(line, put)}
            <ActionIcon
              aria-label={`${t.actions.remove}: ${line.tier}`}
              onClick={() => onChange(value.toSpliced(at, 1))}
            >
              <IconX size={14} />
            </ActionIcon>
          </Group>
        );
      })}
      <Button
        size="compact-xs"
        variant="subtle"
        leftSection={<IconPlus size={13} />}
        w="fit-content"
        onClick={() => onChange([...value, blank])}
      >
        {t.policies.addTier}
      </Button>
    </Stack>
  );
}

const written = <T extends Tiered>(lines: readonly T[]) =>
  lines.flatMap((line) => (line.tier.trim() ? [{ ...line, tier: line.tier.trim() }] : []));

/** An error if a tier is listed twice, because each has only one value. */
const twice = (lines: readonly Tiered[], t: SettingTexts) => {
  const names = written(lines).map(({ tier }) => tier);
  const again = names.find((name, at) => names.indexOf(name) < at);
  return again === undefined ? undefined : t.policies.tierTwice(again);
};

interface Bonus extends Tiered {
  readonly points: number;
}

/** Points for members of a tier. */
export const bonuses: Kind<readonly Bonus[]> = {
  first: [],
  read: (value: { bonuses: readonly Bonus[] }) =>
    value.bonuses.map(({ tier, points }) => ({ tier, points })),
  write: (lines) => ({ bonuses: written(lines) }),
  show: (lines, t) =>
    lines.map(({ tier, points }) => `${tier}: +${points}`).join(", ") || t.policies.none,
  wrong: twice,
  input: (typed) => (
    <Tiers {...typed} blank={{ tier: "", points: 10 }}>
      {(line, put) => (
        <NumberInput
          size="xs"
          w={80}
          min={0}
          max={50}
          aria-label={`${typed.label}: ${line.tier}`}
          value={line.points}
          onChange={(points) => put({ points: Number(points) || 0 })}
        />
      )}
    </Tiers>
  ),
};

interface Window extends Tiered {
  readonly hours: number;
  readonly allowReschedule?: boolean | undefined;
}

/** Cancellation windows by tier. */
export const windows: Kind<readonly Window[]> = {
  first: [],
  read: (value: { overrides: readonly TierCancellation[] }) =>
    value.overrides.map(({ tier, cancellationWindow, allowReschedule }) => ({
      tier,
      hours: spanMs(cancellationWindow) / HOUR,
      ...(allowReschedule !== undefined && { allowReschedule }),
    })),
  write: (lines) => ({
    overrides: written(lines).map(({ hours, ...line }) => ({
      ...line,
      cancellationWindow: durationFromMs(hours * HOUR),
    })),
  }),
  show: (lines, t) =>
    lines.map(({ tier, hours }) => `${tier}: ${showSpan(hours * HOUR)}`).join(", ") ||
    t.policies.none,
  wrong: twice,
  input: (typed) => (
    <Tiers {...typed} blank={{ tier: "", hours: 24 }}>
      {(line, put) => <WindowInput line={line} put={put} />}
    </Tiers>
  ),
};

function WindowInput({ line, put }: { line: Window; put: (part: Partial<Window>) => void }) {
  const t = useText(settingTexts);
  return (
    <>
      <NumberInput
        size="xs"
        w={96}
        min={0}
        max={720}
        suffix=" h"
        aria-label={`${line.tier} ${t.policies.hours}`}
        value={line.hours}
        onChange={(hours) => put({ hours: Number(hours) || 0 })}
      />
      <Switch
        size="xs"
        label={t.policies.fields.allowReschedule?.[0]}
        checked={line.allowReschedule ?? false}
        onChange={(event) => put({ allowReschedule: event.currentTarget.checked })}
      />
    </>
  );
}
