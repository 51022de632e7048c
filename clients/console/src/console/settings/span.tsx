import { Group, Select } from "@mantine/core";
import { useState } from "react";
import { DAY, HOUR, MINUTE } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { NumberInput } from "../../shared/ui/number-input";
import { settingTexts } from "./texts";

const units = { days: DAY, hours: HOUR, minutes: MINUTE };
export type Unit = keyof typeof units;

/** A duration, in the largest unit that fits, or in the unit that the user selects. */
export function SpanInput({
  label,
  value,
  onChange,
  unit: usual = "minutes",
  size = "xs",
  wrong = false,
  disabled = false,
}: {
  label: string;
  /** In milliseconds. */
  value: number;
  onChange: (value: number) => void;
  /** The unit of a zero duration. */
  unit?: Unit;
  size?: "xs" | "sm";
  wrong?: boolean;
  disabled?: boolean;
}) {
  const t = useText(settingTexts);
  const all = Object.keys(units) as Unit[];
  const [unit, setUnit] = useState<Unit>(
    () => all.find((one) => value > 0 && value % units[one] === 0) ?? usual,
  );
  return (
    <Group gap={6} align="stretch" wrap="nowrap">
      <NumberInput
        size={size}
        w={92}
        min={0}
        aria-label={label}
        error={wrong}
        disabled={disabled}
        value={Math.round((value / units[unit]) * 100) / 100}
        onChange={(next) => onChange(Math.round(Number(next) * units[unit]))}
      />
      <Select
        size={size}
        w={size === "xs" ? 104 : 120}
        aria-label={`${label}: ${t.policies[unit]}`}
        allowDeselect={false}
        disabled={disabled}
        value={unit}
        onChange={(next) => setUnit(next as Unit)}
        data={[...all].reverse().map((one) => ({ value: one, label: t.policies[one] }))}
      />
    </Group>
  );
}
