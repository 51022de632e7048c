import { Select } from "@mantine/core";
import { useText } from "../../shared/i18n";
import { FilterSelect } from "../ui";
import { uiTexts } from "../ui/texts";
import type { Grouping } from "./columns";
import type { Range } from "./data";
import { scheduleTexts } from "./texts";

/** How the schedule is grouped, and its location. */
export function Filters({ range, narrow }: { range: Range; narrow: boolean }) {
  const t = useText(scheduleTexts, uiTexts);
  const { view, by, group, change, places } = range;
  return (
    <>
      {(view === "day" || !narrow) && (
        <Select
          w={132}
          aria-label={t.schedule.by}
          allowDeselect={false}
          value={view === "day" ? group : by || "time"}
          onChange={(value) => change({ by: value === "time" ? "" : (value as Grouping) })}
          data={[
            ...(view === "week" ? [{ value: "time", label: t.board.byTime }] : []),
            { value: "location", label: t.schedule.byLocation },
            { value: "resource", label: t.schedule.byResource },
            { value: "coach", label: t.schedule.byCoach },
          ]}
        />
      )}
      {places.length > 1 && (
        <FilterSelect
          w={150}
          aria-label={t.fields.location}
          all={t.ui.allLocations}
          entities={places}
          value={range.locationId}
          onChange={range.choosePlace}
        />
      )}
    </>
  );
}
