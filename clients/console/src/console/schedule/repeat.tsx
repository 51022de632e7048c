import { Chip, NumberInput, SegmentedControl } from "@mantine/core";
import { DateInput } from "@mantine/dates";
import { useSpeech, useText } from "../../i18n";
import { showDay, Temporal } from "../../shared/time";
import { occurrences, type Weekday, type Weekly, weekdays } from "./rule";

/** How a series goes on: on which days, every how many weeks, until when. */
export function Repeat({
  rule,
  onChange,
  start,
}: {
  rule: Weekly;
  onChange: (rule: Weekly) => void;
  /** Its first day, as 2026-03-18. */
  start: string;
}) {
  const t = useText();
  const { locale } = useSpeech();
  const first = Temporal.PlainDate.from(start);
  const days = occurrences(first, rule, 1000);
  const counted = "count" in rule.end;
  return (
    <>
      <Chip.Group
        multiple
        value={[...rule.days]}
        onChange={(value) => value.length > 0 && onChange({ ...rule, days: value as Weekday[] })}
      >
        <fieldset
          className="bare"
          aria-label={t.board.onDays}
          style={{ display: "flex", gap: 6, flexWrap: "wrap" }}
        >
          {weekdays.map((day, at) => (
            <Chip key={day} value={day} size="xs">
              {showDay(Temporal.PlainDate.from("2024-01-01").add({ days: at }), locale, "weekday")}
            </Chip>
          ))}
        </fieldset>
      </Chip.Group>
      <div className="two">
        <NumberInput
          label={t.board.every}
          min={1}
          max={52}
          value={rule.every}
          onChange={(value) => onChange({ ...rule, every: Number(value) || 1 })}
        />
        <div>
          <div className="label">{t.board.ends}</div>
          <SegmentedControl
            fullWidth
            size="sm"
            aria-label={t.board.ends}
            value={counted ? "count" : "until"}
            onChange={(value) =>
              onChange({
                ...rule,
                end:
                  value === "count"
                    ? { count: Math.max(1, days.length) }
                    : { until: (days.at(-1) ?? first).toString() },
              })
            }
            data={[
              { value: "count", label: t.board.afterMany },
              { value: "until", label: t.board.onDay },
            ]}
          />
        </div>
      </div>
      {"count" in rule.end ? (
        <NumberInput
          label={t.schedule.howMany}
          min={1}
          max={1000}
          value={rule.end.count}
          onChange={(value) => onChange({ ...rule, end: { count: Number(value) || 1 } })}
        />
      ) : (
        <DateInput
          label={t.board.lastDay}
          required
          value={rule.end.until}
          valueFormat="ddd, D MMM YYYY"
          minDate={start}
          onChange={(until) => until && onChange({ ...rule, end: { until } })}
        />
      )}
      <p className="muted" style={{ margin: 0, fontSize: 13 }} aria-live="polite">
        {t.schedule.seriesPreview(
          days.length,
          days[0] ? showDay(days[0], locale, "date") : "",
          showDay(days.at(-1) ?? first, locale, "date"),
        )}
      </p>
    </>
  );
}
