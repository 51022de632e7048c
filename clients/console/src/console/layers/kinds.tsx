import { type Duration, durationFromMs } from "@bufbuild/protobuf/wkt";
import { NumberInput, SegmentedControl, Select, Textarea } from "@mantine/core";
import { TimeInput } from "@mantine/dates";
import { useText } from "../../i18n";
import { showSpan, spanMs, type TimeOfDay, timeOfDay, wallClock } from "../../shared/time";
import type { Kind, Typed } from "./kind";
import { SpanInput, type Unit } from "./span";

export { bonuses, windows } from "./tiers";

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

export const meters = amount(10, 100_000, 130, " m");

/** One of several options, by its number in the contract. */
export const choice = (names: readonly string[]): Kind<number> => ({
  first: 0,
  read: Number,
  write: (value) => value,
  show: (value) => names[value] ?? String(value),
  input: ({ label, value, onChange }) => (
    <Select
      size="xs"
      aria-label={label}
      allowDeselect={false}
      value={String(value)}
      onChange={(next) => onChange(Number(next))}
      data={names.flatMap((name, at) => (name ? [{ value: String(at), label: name }] : []))}
    />
  ),
});

export const flag: Kind<boolean> = {
  first: false,
  read: Boolean,
  write: (value) => value,
  show: (value, t) => (value ? t.policies.yes : t.policies.no),
  input: (typed) => <YesOrNo {...typed} />,
};

function YesOrNo({ label, value, onChange }: Typed<boolean>) {
  const t = useText();
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
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
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

const minuteOf = (clock: string): number => {
  const { hours = 0, minutes = 0 } = timeOfDay(clock);
  return hours * 60 + minutes;
};

function NightInput({ label, value, wrong, onChange }: Typed<Night>) {
  const t = useText();
  return (
    <div style={{ display: "flex", gap: 6, alignItems: "center" }}>
      <TimeInput
        size="xs"
        aria-label={`${label}: ${t.fields.start}`}
        error={wrong ?? false}
        value={value.start}
        onChange={(event) => onChange({ ...value, start: event.currentTarget.value })}
      />
      –
      <TimeInput
        size="xs"
        aria-label={`${label}: ${t.members.ends}`}
        error={wrong ?? false}
        value={value.end}
        onChange={(event) => onChange({ ...value, end: event.currentTarget.value })}
      />
    </div>
  );
}
