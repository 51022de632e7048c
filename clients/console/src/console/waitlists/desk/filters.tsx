import { Button, Group } from "@mantine/core";
import { useMe } from "../../../shared/auth/user";
import { startOf, Temporal } from "../../../shared/format/time";
import { useText } from "../../../shared/i18n";
import { useCatalog } from "../../catalog/loaded";
import { routes } from "../../routes";
import { DatePickerInput, FilterSelect, NumberSelect } from "../../ui";
import { uiTexts } from "../../ui/texts";
import { deskTexts } from "./texts";

/** What all tabs of the desk filter by. It is in the URL. */
export function useDeskFilter() {
  const { tenant } = useMe();
  const catalog = useCatalog();
  const [{ service, location, date }] = routes.waitlist.useSearch();
  // A day is one at the location; without a location, one at the organization.
  const zone = catalog.location(location)?.timeZone || tenant.timeZone;
  return {
    serviceId: service,
    locationId: location,
    ...(date && {
      startsWithin: { start: startOf(date, zone), end: startOf(date.add({ days: 1 }), zone) },
    }),
  };
}

interface FiltersProps {
  /** The statuses to choose from, by number. */
  statuses?: Readonly<Record<number, string>>;
  /** What is shown without a status. */
  any?: string;
}

/** The filters of a tab. */
export function Filters({ statuses, any }: FiltersProps) {
  const t = useText(deskTexts, uiTexts);
  const catalog = useCatalog();
  const [{ service, location, date, status }, change] = routes.waitlist.useSearch();
  const locations = catalog.locations.filter(({ active }) => active);
  return (
    <Group gap={8} mb={12}>
      <DatePickerInput
        aria-label={t.desk.day}
        placeholder={t.desk.day}
        clearable
        w={150}
        valueFormat="ddd, D MMM"
        value={date?.toString() ?? null}
        onChange={(day) => change({ date: day ? Temporal.PlainDate.from(day) : undefined })}
      />
      <FilterSelect
        w={180}
        searchable
        aria-label={t.fields.service}
        all={t.desk.anyService}
        entities={catalog.services.filter(({ active, id }) => active || id === service)}
        value={service}
        onChange={(service) => change({ service })}
      />
      {locations.length > 1 && (
        <FilterSelect
          w={170}
          aria-label={t.fields.location}
          all={t.ui.allLocations}
          entities={locations}
          value={location}
          onChange={(location) => change({ location })}
        />
      )}
      {statuses && (
        <NumberSelect
          w={170}
          label={t.desk.status}
          names={statuses}
          any={any ?? ""}
          value={status}
          onChange={(status) => change({ status })}
        />
      )}
      {(service || location || date || status > 0) && (
        <Button
          variant="subtle"
          onClick={() => change({ service: "", location: "", date: undefined, status: 0 })}
        >
          {t.actions.reset}
        </Button>
      )}
    </Group>
  );
}
