import type { Session } from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Checkbox, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { DateInput, TimeInput } from "@mantine/dates";
import { useI18n, useText } from "../../i18n";
import { named } from "../../shared/form";
import { useCan } from "../../shared/me";
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
} from "../../shared/time";
import type { Catalog } from "../data";

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

/** The fields that sessions and series share. */
export function Fields({
  values,
  set,
  catalog,
  fixed,
}: {
  values: Values;
  set: (part: Partial<Values>) => void;
  catalog: Catalog;
  /** Service and location cannot change. */
  fixed?: boolean;
}) {
  const t = useText();
  const { locale } = useI18n();
  const can = useCan();
  const zone = zoneOf(catalog, values.locationId);
  const choices = (list: readonly { id: string; name: string; active?: boolean }[], kept: string) =>
    named(list.filter(({ id, active }) => active !== false || id === kept));
  const resources = catalog.resources.filter(({ locationId }) => locationId === values.locationId);
  return (
    <>
      <div className="two">
        <Select
          label={t.fields.service}
          required
          searchable
          openOnFocus={false} // This field has focus when the form opens, and its dropdown would cover the rest.
          disabled={Boolean(fixed)}
          data={choices(catalog.services, values.serviceId)}
          value={values.serviceId || null}
          onChange={(id) => {
            const service = catalog.service(id ?? "");
            if (!service) return;
            set({
              serviceId: service.id,
              length: Number(service.duration?.seconds ?? 3600) / 60,
              capacity: service.defaultCapacity ?? "",
              unlimited: service.defaultCapacity === undefined,
              waitlist: service.defaultWaitlistCapacity,
            });
          }}
          data-autofocus={!fixed}
        />
        <Select
          label={t.fields.location}
          required
          allowDeselect={false}
          disabled={Boolean(fixed)}
          data={choices(catalog.locations, values.locationId)}
          value={values.locationId || null}
          onChange={(id) => set({ locationId: id ?? "", resourceId: "" })}
        />
      </div>
      <div className="two">
        <DateInput
          label={t.fields.date}
          required
          value={values.date}
          valueFormat="DD MMM YYYY"
          onChange={(date) => set({ date: date ?? values.date })}
        />
        <div className="two">
          <TimeInput
            label={t.fields.start}
            required
            value={values.start}
            onChange={(event) => set({ start: event.currentTarget.value })}
          />
          <NumberInput
            label={t.fields.minutes}
            required
            min={1}
            max={10_080}
            step={5}
            value={values.length}
            onChange={(length) => set({ length: typeof length === "number" ? length : "" })}
          />
        </div>
      </div>
      <p className="muted" style={{ margin: "-8px 0 0", fontSize: 12 }}>
        {t.schedule.zone(zone.replaceAll("_", " "), zoneName(zone, locale))}
      </p>
      <div className="two">
        <Select
          label={t.fields.coach}
          clearable
          searchable
          disabled={!can("member.read")}
          data={choices(catalog.staff, values.coachId)}
          value={values.coachId || null}
          onChange={(id) => set({ coachId: id ?? "" })}
        />
        <Select
          label={t.fields.resource}
          clearable
          disabled={resources.length === 0}
          placeholder={resources.length === 0 ? t.schedule.noResources : ""}
          data={choices(resources, values.resourceId)}
          value={values.resourceId || null}
          onChange={(id) => set({ resourceId: id ?? "" })}
        />
      </div>
      <div className="two">
        <div>
          <NumberInput
            label={t.fields.capacity}
            min={0}
            max={100_000}
            disabled={values.unlimited}
            value={values.unlimited ? "" : values.capacity}
            onChange={(capacity) => set({ capacity: typeof capacity === "number" ? capacity : "" })}
          />
          <Checkbox
            mt={8}
            size="xs"
            label={t.fields.unlimited}
            checked={values.unlimited}
            onChange={(event) => set({ unlimited: event.currentTarget.checked })}
          />
        </div>
        <NumberInput
          label={t.fields.waitlist}
          min={0}
          max={10_000}
          value={values.waitlist}
          onChange={(waitlist) => set({ waitlist: typeof waitlist === "number" ? waitlist : "" })}
        />
      </div>
      <TextInput
        label={t.fields.title}
        placeholder={catalog.service(values.serviceId)?.name ?? ""}
        maxLength={200}
        value={values.title}
        onChange={(event) => set({ title: event.currentTarget.value })}
      />
      <Textarea
        label={t.fields.description}
        autosize
        minRows={2}
        maxRows={8}
        maxLength={4000}
        value={values.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
    </>
  );
}

/** The values as the contract expects them. */
export function inputOf(values: Values) {
  return {
    serviceId: values.serviceId,
    locationId: values.locationId,
    resourceId: values.resourceId,
    coachId: values.coachId,
    title: values.title.trim(),
    description: values.description,
    unlimited: values.unlimited,
    ...(!values.unlimited && values.capacity !== "" && { capacity: values.capacity }),
    ...(values.waitlist !== "" && { waitlistCapacity: values.waitlist }),
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
    serviceId: session.serviceId,
    locationId: session.locationId,
    resourceId: session.resourceId,
    coachId: session.coachId,
    title: session.title,
    description: session.description,
    date: start?.toPlainDate().toString() ?? "",
    start: start ? showClock(minuteOfDay(start)) : "",
    length: (millis(session.endTime) - millis(session.startTime)) / MINUTE,
    capacity: session.capacity ?? "",
    unlimited: session.capacity === undefined,
    waitlist: session.waitlistCapacity,
  };
}
