import { TextInput } from "@mantine/core";
import type { DatePickerInputProps, DatePickerType } from "@mantine/dates";
import { type ComponentType, lazy, type Ref, Suspense, useRef } from "react";
import { startOf, Temporal } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { whenOnline } from "../../shared/loading/online";
import { afterPage } from "../../shared/ui/lazy";

let need = () => {};
const needed = new Promise<void>((resolve) => {
  need = resolve;
});

const Loaded = lazy(async () => {
  await Promise.race([needed, afterPage()]);
  const { DatePickerInput } = await whenOnline(() => import("./date-picker-loaded"));
  return { default: DatePickerInput as ComponentType<{ ref: Ref<HTMLButtonElement> }> };
});

/**
 * A date input on a page. Its calendar loads after the page, sooner to show a day or when it is
 * clicked, and opens then.
 */
export function DatePickerInput<T extends DatePickerType = "default">(
  props: DatePickerInputProps<T>,
) {
  const { label, "aria-label": name, placeholder, value, w } = props;
  if (Array.isArray(value) ? value.some(Boolean) : value) need();
  const t = useText();
  const clicked = useRef(false);
  return (
    <Suspense
      fallback={
        <TextInput
          label={label}
          aria-label={name ?? (label ? undefined : t.fields.date)}
          placeholder={placeholder ?? ""}
          w={w}
          readOnly
          onClick={() => {
            clicked.current = true;
            need();
          }}
        />
      }
    >
      <Loaded
        {...props}
        ref={(button: HTMLButtonElement | null) => {
          if (button && clicked.current) button.click();
          clicked.current = false;
        }}
      />
    </Suspense>
  );
}

/** The first and the last day. */
export type Days = [string | null, string | null];

interface DaysFilterProps {
  label: string;
  value: Days;
  onChange: (days: Days) => void;
}

/** A filter by days. */
export function DaysFilter({ label, value, onChange }: DaysFilterProps) {
  return (
    <DatePickerInput
      type="range"
      placeholder={label}
      aria-label={label}
      clearable
      w={210}
      value={value}
      valueFormat="D MMM YYYY"
      onChange={onChange}
      allowSingleDateInRange
    />
  );
}

/** The days as a span, for a filter of a list. There is none until both are selected. */
export function timeRangeOf([first, last]: Days, zone: string) {
  if (!first || !last) return undefined;
  const end = Temporal.PlainDate.from(last).add({ days: 1 });
  return { start: startOf(Temporal.PlainDate.from(first), zone), end: startOf(end, zone) };
}
