import type { Service, Session } from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  Checkbox,
  NumberInput,
  Select,
  SimpleGrid,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { DateInput, TimeInput } from "@mantine/dates";
import {
  atWallClock,
  MINUTE,
  millis,
  minuteOfDay,
  parseClock,
  showClock,
  Temporal,
  zoned,
  zoneName,
} from "../../shared/format/time";
import type { Fields as Form } from "../../shared/forms/form";
import { named } from "../../shared/forms/options";
import { type Texts, useI18n } from "../../shared/i18n";
import { CoachInput, LocationInput, ServiceInput } from "../catalog/choices";
import { type Catalog, onlyId } from "../catalog/data";
import { useCatalog } from "../catalog/loaded";
import { pick } from "../ui/edit-form";
import { Columns } from "../ui/inputs";
import { uiTexts } from "../ui/texts";
import { scheduleTexts } from "./texts";

export interface Values {
  serviceId: string;
  locationId: string;
  resourceId: string;
  coachId: string;
  title: string;
  description: string;
  date: string;
  start: string;
  /** In minutes. */
  length: number | "";
  capacity: number | "";
  unlimited: boolean;
  waitlist: number | "";
}

export function zoneOf(catalog: Catalog, locationId: string): string {
  return catalog.location(locationId)?.timeZone ?? "UTC";
}

/** What a new session takes from its service. */
export const defaultsOf = ({ id, duration, ...service }: Service) => ({
  serviceId: id,
  length: Number(duration?.seconds ?? 3600) / 60,
  capacity: service.defaultCapacity ?? ("" as const),
  unlimited: service.defaultCapacity === undefined,
  waitlist: service.defaultWaitlistCapacity,
});

/** The id of the only resource of a location, or "". */
export const onlyResource = ({ resources }: Catalog, at: string) =>
  onlyId(resources.filter(({ locationId, active }) => active && locationId === at));

/** The labels of the fields. */
export const namesOf = ({ fields }: Texts) => ({
  ...fields,
  length: fields.minutes,
  serviceId: fields.service,
  locationId: fields.location,
  resourceId: fields.resource,
  coachId: fields.coach,
});

interface FieldsProps {
  form: Form<Values>;
  /** Service and location cannot change. */
  fixed?: boolean;
}

/** The fields that sessions and series share. */
export function Fields({ form, fixed = false }: FieldsProps) {
  const { t, locale } = useI18n(scheduleTexts, uiTexts);
  const catalog = useCatalog();
  const { values, set } = form;
  const zone = catalog.location(values.locationId)?.timeZone;
  const resources = catalog.resources.filter(
    ({ id, locationId, active }) =>
      locationId === values.locationId && (active || id === values.resourceId),
  );
  return (
    <>
      <Columns>
        <ServiceInput
          openOnFocus={false} // This field has focus when the form opens, and its dropdown would cover the rest.
          disabled={fixed}
          {...form.choice("serviceId")}
          onChange={(id) => {
            const service = catalog.service(id ?? "");
            if (service) set(defaultsOf(service));
          }}
          onMade={(service) => set(defaultsOf(service))}
          data-autofocus={!fixed}
        />
        <LocationInput
          {...form.choice("locationId")}
          disabled={fixed}
          onChange={(id) =>
            set({ locationId: id ?? "", resourceId: onlyResource(catalog, id ?? "") })
          }
        />
      </Columns>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={12} verticalSpacing={14}>
        <DateInput
          label={t.fields.date}
          required
          value={values.date}
          valueFormat="DD MMM YYYY"
          onChange={(date) => set({ date: date ?? values.date })}
        />
        <Columns>
          <TimeInput required {...form.text("start")} />
          <NumberInput required min={1} max={10_080} step={5} {...form.number("length")} />
        </Columns>
      </SimpleGrid>
      {zone && (
        <Text c="dimmed" mt={-8} mb={0} fz="xs">
          {t.ui.zone(zone.replaceAll("_", " "), zoneName(zone, locale))}
        </Text>
      )}
      <Columns>
        <CoachInput {...form.choice("coachId")} />
        <Select
          clearable
          disabled={resources.length === 0}
          placeholder={resources.length === 0 ? t.schedule.noResources : ""}
          data={named(resources)}
          {...form.choice("resourceId")}
        />
      </Columns>
      <Columns>
        <div>
          <NumberInput
            min={0}
            max={100_000}
            disabled={values.unlimited}
            {...form.number("capacity")}
            {...(values.unlimited && { value: "" })}
          />
          <Checkbox mt={8} size="xs" {...form.flag("unlimited")} />
        </div>
        <NumberInput min={0} max={10_000} {...form.number("waitlist")} />
      </Columns>
      <TextInput
        placeholder={catalog.service(values.serviceId)?.name ?? ""}
        maxLength={200}
        {...form.text("title")}
      />
      <Textarea autosize minRows={2} maxRows={8} maxLength={4000} {...form.text("description")} />
    </>
  );
}

/** The values as the contract expects them. */
export function inputOf(values: Values) {
  const { title, capacity, waitlist, date, start, length, ...input } = values;
  return {
    ...input,
    title: title.trim(),
    ...(!values.unlimited && capacity !== "" && { capacity }),
    ...(waitlist !== "" && { waitlistCapacity: waitlist }),
  };
}

export function times(values: Values, zone: string) {
  const minute = parseClock(values.start) ?? 0;
  const startTime = atWallClock(Temporal.PlainDate.from(values.date), minute, zone);
  const endTime = timestampFromMs(millis(startTime) + Number(values.length || 60) * MINUTE);
  return { startTime, endTime };
}

export function valuesOf(session: Session): Values {
  const start = session.startTime && zoned(session.startTime, session.timeZone);
  return {
    ...pick(session, "serviceId", "locationId", "resourceId", "coachId", "title", "description"),
    date: start?.toPlainDate().toString() ?? "",
    start: start ? showClock(minuteOfDay(start)) : "",
    length: (millis(session.endTime) - millis(session.startTime)) / MINUTE,
    capacity: session.capacity ?? "",
    unlimited: session.capacity === undefined,
    waitlist: session.waitlistCapacity,
  };
}
