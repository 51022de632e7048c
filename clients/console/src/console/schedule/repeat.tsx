import { Chip, NumberInput, SegmentedControl, Select } from "@mantine/core";
import { DateInput } from "@mantine/dates";
import { useI18n } from "../../i18n";
import { showDay, Temporal } from "../../shared/time";
import { frequencies, nthOf, occurrences, type Rule, type Weekday, weekdays } from "./rule";

/** How a series repeats: frequency, days and end. */
export function Repeat({
  rule,
  onChange,
  start,
}: {
  rule: Rule;
  onChange: (rule: Rule) => void;
  /** Its first date, such as 2026-03-18. */
  start: string;
}) {
  const { t, locale } = useI18n();
  const first = Temporal.PlainDate.from(start);
  const days = occurrences(first, rule, 1000);
  const set = (part: Partial<Rule>) => onChange({ ...rule, ...part });
  return (
    <>
      <SegmentedControl
        fullWidth
        size="sm"
        aria-label={t.board.often}
        value={rule.frequency}
        onChange={(frequency) => set({ frequency })}
        data={frequencies.map((value) => ({ value, label: t.board.frequencies[value] }))}
      />
      {rule.frequency === "WEEKLY" && (
        <Chip.Group
          multiple
          value={[...rule.days]}
          onChange={(value) => value.length > 0 && set({ days: value as Weekday[] })}
        >
          <fieldset
            className="bare"
            aria-label={t.board.onDays}
            style={{ display: "flex", gap: 6, flexWrap: "wrap" }}
          >
            {weekdays.map((day, at) => (
              <Chip key={day} value={day} size="xs">
                {showDay(
                  Temporal.PlainDate.from("2024-01-01").add({ days: at }),
                  locale,
                  "weekday",
                )}
              </Chip>
            ))}
          </fieldset>
        </Chip.Group>
      )}
      {rule.frequency === "MONTHLY" && (
        <Select
          label={t.board.inMonth}
          allowDeselect={false}
          value={rule.on}
          onChange={(on) => on && set({ on })}
          data={[
            { value: "date" as const, label: t.board.onDate(first.day) },
            {
              value: "nth" as const,
              label: t.board.onNth(nthOf(first), showDay(first, locale, "weekdayName")),
            },
            {
              value: "last" as const,
              label: t.board.onLast(showDay(first, locale, "weekdayName")),
            },
          ].filter(({ value }) => value !== "last" || isLast(first))}
        />
      )}
      <div className="two">
        <NumberInput
          label={t.board.every[rule.frequency]}
          min={1}
          max={52}
          value={rule.every}
          onChange={(value) => set({ every: Number(value) || 1 })}
        />
        <div>
          <div className="label">{t.board.ends}</div>
          <SegmentedControl
            fullWidth
            size="sm"
            aria-label={t.board.ends}
            value={"count" in rule.end ? "count" : "until"}
            onChange={(value) =>
              set({
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
          onChange={(value) => set({ end: { count: Number(value) || 1 } })}
        />
      ) : (
        <DateInput
          label={t.board.lastDay}
          required
          value={rule.end.until}
          valueFormat="ddd, D MMM YYYY"
          minDate={start}
          onChange={(until) => until && set({ end: { until } })}
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

const isLast = (day: Temporal.PlainDate): boolean => day.day + 7 > day.daysInMonth;
