import { type PreviewBulkResponse, SessionService, SessionState } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import {
  Alert,
  Button,
  Checkbox,
  MultiSelect,
  SegmentedControl,
  Table,
  Textarea,
} from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { notifications } from "@mantine/notifications";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { useI18n, useText } from "../../i18n";
import { useCall } from "../../shared/calls";
import { explain } from "../../shared/errors";
import { Form, FormFoot, useFields, useSubmit } from "../../shared/form";
import { useMe } from "../../shared/me";
import { named, options } from "../../shared/options";
import { startOf, Temporal } from "../../shared/time";
import { Card, Tag, Time } from "../../shared/ui";
import type { Catalog } from "../catalog/data";
import { FilterSelect } from "../ui";
import { Columns } from "../ui/inputs";
import type { Range } from "./data";

type Action = "publish" | "cancel" | "delete";

interface BulkProps {
  catalog: Catalog;
  range: Range;
  onClose: () => void;
}

/** Publishes, cancels or deletes many sessions, after a preview. */
export function Bulk({ catalog, range: { from, days, locationId }, onClose }: BulkProps) {
  const t = useText();
  const { tenant } = useMe();
  const { values, ...form } = useFields({
    act: "publish" as Action,
    place: locationId,
    services: [] as string[],
    booked: false,
    reason: "",
  });
  const { act, place, services, booked, reason } = values;
  const [period, setPeriod] = useState<[string | null, string | null]>([
    from.toString(),
    from.add({ days: days - 1 }).toString(),
  ]);
  const zone = catalog.location(place)?.timeZone ?? tenant.timeZone;
  const [first, last] = period;
  const start = Temporal.PlainDate.from(first ?? from);
  const end = last ? Temporal.PlainDate.from(last) : from;
  const filter = {
    startsWithin: { start: startOf(start, zone), end: startOf(end.add({ days: 1 }), zone) },
    locationIds: place ? [place] : [],
    serviceIds: services,
    states: {
      publish: [SessionState.DRAFT],
      cancel: [SessionState.DRAFT, SessionState.PUBLISHED],
      delete: [],
    }[act],
  };
  const includeBooked = act === "publish" || booked;
  const preview = useQuery(
    SessionService.method.previewBulk,
    { filter, includeBooked },
    { enabled: Boolean(first && last), placeholderData: keepPreviousData },
  );
  const publish = useCall(SessionService.method.bulkPublish);
  const cancel = useCall(SessionService.method.bulkCancel);
  const remove = useCall(SessionService.method.bulkDelete);
  const matched = preview.data?.matched ?? 0;
  const { onSubmit } = useSubmit(async () => {
    const request = { filter, includeBooked, reason };
    const count =
      act === "publish"
        ? (await publish.run({ filter }))?.published
        : act === "cancel"
          ? (await cancel.run(request))?.cancelled
          : (await remove.run(request))?.deleted;
    if (count === undefined) return;
    notifications.show({ message: t.bulk.done[act](count) });
    onClose();
  });
  return (
    <Form onSubmit={onSubmit}>
      <SegmentedControl
        fullWidth
        aria-label={t.bulk.act}
        value={act}
        onChange={(act) => form.set({ act })}
        data={options({ publish: t.bulk.publish, cancel: t.bulk.cancel, delete: t.bulk.delete })}
      />
      <Columns>
        <DatePickerInput
          type="range"
          label={t.bulk.days}
          value={period}
          valueFormat="D MMM"
          onChange={setPeriod}
          allowSingleDateInRange
        />
        <FilterSelect
          label={t.fields.location}
          all={t.schedule.allLocations}
          entities={catalog.locations}
          value={place}
          onChange={(place) => form.set({ place })}
        />
      </Columns>
      <MultiSelect
        label={t.bulk.services}
        placeholder={services.length === 0 ? t.bulk.allServices : ""}
        value={services}
        onChange={(services) => form.set({ services })}
        data={named(catalog.services)}
        clearable
      />
      {act !== "publish" && (
        <>
          <Checkbox {...form.flag("booked")} label={t.bulk.includeBooked} />
          <Textarea
            {...form.text("reason")}
            label={t.fields.reason}
            description={t.bulk.reasonNote}
            maxLength={1000}
            autosize
          />
        </>
      )}
      <Preview of={preview} act={act} zone={zone} />
      <FormFoot>
        <Button variant="default" onClick={onClose}>
          {t.actions.back}
        </Button>
        <Button
          type="submit"
          color={act === "publish" ? "tide" : "red.8"}
          disabled={matched === 0 || !first || !last}
          loading={publish.busy || cancel.busy || remove.busy}
        >
          {t.bulk.run[act](matched)}
        </Button>
      </FormFoot>
    </Form>
  );
}

interface PreviewProps {
  of: { data: PreviewBulkResponse | undefined; error: unknown };
  act: Action;
  zone: string;
}

/** The sessions that the action would change. */
function Preview({ of: { data, error }, act, zone }: PreviewProps) {
  const { t, locale } = useI18n();
  const { matched = 0, activeBookings = 0, samples = [] } = data ?? {};
  return (
    <Card
      bare
      aria-live="polite"
      title={t.bulk.preview(matched)}
      extra={
        act !== "publish" &&
        activeBookings > 0 && <Tag tone="warn">{t.bulk.bookings(activeBookings)}</Tag>
      }
    >
      {error ? (
        <Alert color="red" m="sm">
          {explain(error, t, locale, zone)}
        </Alert>
      ) : (
        <Table>
          <Table.Tbody>
            {samples.map((sample) => (
              <Table.Tr key={sample.sessionId}>
                <Table.Td>
                  <Time at={sample.startTime} zone={zone} />
                </Table.Td>
                <Table.Td fw={540}>{sample.title}</Table.Td>
                <Table.Td ta="right" c="dimmed">
                  {sample.activeBookings > 0 && t.bulk.bookings(sample.activeBookings)}
                </Table.Td>
              </Table.Tr>
            ))}
            {data && matched === 0 && <Note>{t.bulk.none}</Note>}
            {matched > samples.length && <Note>{t.bulk.more(matched - samples.length)}</Note>}
          </Table.Tbody>
        </Table>
      )}
    </Card>
  );
}

const Note = ({ children }: { children: string }) => (
  <Table.Tr>
    <Table.Td colSpan={3} c="dimmed">
      {children}
    </Table.Td>
  </Table.Tr>
);
