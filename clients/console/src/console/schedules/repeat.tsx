import {
  Chip,
  Fieldset,
  Group,
  Input,
  NumberInput,
  SegmentedControl,
  Select,
  Text,
} from "@mantine/core";
import { DateInput } from "@mantine/dates";
import { showDay, Temporal } from "../../shared/format/time";
import { options } from "../../shared/forms/options";
import { useI18n } from "../../shared/i18n";
import { Columns } from "../ui/inputs";
import { nthOf, occurrences, type Rule, type Weekday, weekdays } from "./rule";
import { scheduleTexts } from "./texts";

interface RepeatProps {
  rule: Rule;
  onChange: (rule: Rule) => void;
  /** Its first date, such as 2026-03-18. */
  start: string;
}

/** How a series repeats: frequency, days and end. */
export function Repeat({ rule, onChange, start }: RepeatProps) {
  const { t, locale } = useI18n(scheduleTexts);
  const first = Temporal.PlainDate.from(start);
  const weekday = showDay(first, locale, "weekdayName");
  const days = occurrences(first, rule, 1000);
  const set = (part: Partial<Rule>) => onChange({ ...rule, ...part });
  return (
    <>
      <SegmentedControl
        fullWidth
        aria-label={t.board.often}
        value={rule.frequency}
        onChange={(frequency) => set({ frequency })}
        data={options(t.board.frequencies)}
      />
      {rule.frequency === "WEEKLY" && (
        <Chip.Group
          multiple
          value={[...rule.days]}
          onChange={(value) => value.length > 0 && set({ days: value as Weekday[] })}
        >
          <Fieldset variant="unstyled" aria-label={t.board.onDays}>
            <Group gap={6}>
              {weekdays.map((day, at) => (
                <Chip key={day} value={day} size="xs">
                  {showDay(
                    Temporal.PlainDate.from("2024-01-01").add({ days: at }),
                    locale,
                    "weekday",
                  )}
                </Chip>
              ))}
            </Group>
          </Fieldset>
        </Chip.Group>
      )}
      {rule.frequency === "MONTHLY" && (
        <Select
          label={t.board.inMonth}
          allowDeselect={false}
          value={rule.on}
          onChange={(on) => on && set({ on })}
          data={options({
            date: t.board.onDate(first.day),
            nth: t.board.onNth(nthOf(first), weekday),
            ...(isLast(first) && { last: t.board.onLast(weekday) }),
          })}
        />
      )}
      <Columns>
        <NumberInput
          label={t.board.every[rule.frequency]}
          min={1}
          max={52}
          value={rule.every}
          onChange={(value) => set({ every: Number(value) || 1 })}
        />
        <Input.Wrapper label={t.board.ends} labelElement="div">
          <SegmentedControl
            fullWidth
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
            data={options({ count: t.board.afterMany, until: t.board.onDay })}
          />
        </Input.Wrapper>
      </Columns>
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
      <Text c="dimmed" fz="sm" aria-live="polite">
        {t.schedule.seriesPreview(
          days.length,
          days[0] ? showDay(days[0], locale, "date") : "",
          showDay(days.at(-1) ?? first, locale, "date"),
        )}
      </Text>
    </>
  );
}

const isLast = (day: Temporal.PlainDate): boolean => day.day + 7 > day.daysInMonth;
