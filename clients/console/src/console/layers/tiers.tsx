import type { TierCancellation } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ActionIcon, Button, NumberInput, Switch, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { type Messages, useText } from "../../i18n";
import { HOUR, showSpan, spanMs } from "../../shared/time";
import type { Kind, Typed } from "./kind";

/*
 * Settings with a value per tier.
 */

interface Tiered {
  readonly tier: string;
}

/** One row per tier. */
function Tiers<T extends Tiered>({
  value,
  onChange,
  blank,
  children,
}: Typed<readonly T[]> & {
  blank: T;
  /** The inputs of a tier, next to its name. */
  children: (line: T, put: (part: Partial<T>) => void) => ReactNode;
}) {
  const t = useText();
  return (
    <div style={{ display: "grid", gap: 6 }}>
      {value.map((line, at) => {
        const put = (part: Partial<T>) =>
          onChange(value.map((one, i) => (i === at ? { ...one, ...part } : one)));
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the name of a tier is edited
          <div key={at} className="tier-line">
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
              onClick={() => onChange(value.filter((_, i) => i !== at))}
            >
              <IconX size={14} />
            </ActionIcon>
          </div>
        );
      })}
      <Button
        size="compact-xs"
        variant="subtle"
        leftSection={<IconPlus size={13} />}
        style={{ justifySelf: "start" }}
        onClick={() => onChange([...value, blank])}
      >
        {t.policies.addTier}
      </Button>
    </div>
  );
}

const written = <T extends Tiered>(lines: readonly T[]) =>
  lines.flatMap((line) => (line.tier.trim() ? [{ ...line, tier: line.tier.trim() }] : []));

/** An error if a tier is listed twice, because each has only one value. */
const twice = (lines: readonly Tiered[], t: Messages) => {
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
  const t = useText();
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
