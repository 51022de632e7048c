import {
  BulkSessionAction,
  type PreviewBulkSessionsResponse,
  SessionService,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Button, Checkbox, MultiSelect, SegmentedControl, Textarea } from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { notifications } from "@mantine/notifications";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { useCall } from "../../shared/api/calls";
import { explain } from "../../shared/api/errors";
import { useMe } from "../../shared/auth/user";
import { startOf, Temporal } from "../../shared/format/time";
import { Form, FormFoot, useFields, useSubmit } from "../../shared/forms/form";
import { named, options } from "../../shared/forms/options";
import { useI18n, useText } from "../../shared/i18n";
import { sessionOf } from "../../shared/schedules/summary";
import { Card, Tag, Time } from "../../shared/ui";
import { useCatalog } from "../catalog/loaded";
import { DataTable, FilterSelect, SmallHint } from "../ui";
import { Columns } from "../ui/inputs";
import { uiTexts } from "../ui/texts";
import classes from "./bulk.module.css";
import type { Range } from "./data";
import { scheduleTexts } from "./texts";

type Action = "publish" | "cancel" | "delete";

interface BulkProps {
  range: Range;
  onClose: () => void;
}

/** Publishes, cancels or deletes many sessions, after a preview. */
export function Bulk({ range: { from, days, locationId }, onClose }: BulkProps) {
  const t = useText(scheduleTexts, uiTexts);
  const catalog = useCatalog();
  const { tenant, can } = useMe();
  const { values, ...form } = useFields({
    act: "publish" as Action,
    place: locationId,
    services: [] as string[],
    booked: false,
    ended: false,
    reason: "",
  });
  const { act, place, services, booked, ended, reason } = values;
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
  };
  const action = {
    publish: BulkSessionAction.PUBLISH,
    cancel: BulkSessionAction.CANCEL,
    delete: BulkSessionAction.DELETE,
  }[act];
  const includeBooked = act !== "publish" && booked;
  const includeEnded = act !== "publish" && ended;
  const preview = useQuery(
    SessionService.method.previewBulkSessions,
    { filter, action, includeBooked, includeEnded },
    { enabled: Boolean(first && last), placeholderData: keepPreviousData },
  );
  const publish = useCall(SessionService.method.bulkPublishSessions);
  const cancel = useCall(SessionService.method.bulkCancelSessions);
  const remove = useCall(SessionService.method.bulkDeleteSessions);
  const matched = preview.data?.matched ?? 0;
  const { onSubmit } = useSubmit(async () => {
    // What is changed is what the preview shows, or nothing.
    const token = preview.data?.token ?? "";
    const request = { filter, includeBooked, includeEnded, reason, token };
    const count =
      act === "publish"
        ? (await publish.run({ filter, token }))?.published
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
        {...form.value("act")}
        data={options({ publish: t.bulk.publish, cancel: t.bulk.cancel, delete: t.bulk.delete })}
      />
      <Columns>
        <DatePickerInput
          type="range"
          label={t.ui.days}
          value={period}
          valueFormat="D MMM"
          onChange={setPeriod}
          allowSingleDateInRange
        />
        <FilterSelect
          label={t.fields.location}
          all={t.ui.allLocations}
          entities={catalog.locations}
          {...form.value("place")}
        />
      </Columns>
      <MultiSelect
        label={t.bulk.services}
        placeholder={services.length === 0 ? t.bulk.allServices : ""}
        {...form.value("services")}
        data={named(catalog.services)}
        clearable
      />
      {act !== "publish" && (
        <>
          <Checkbox {...form.flag("booked")} label={t.bulk.includeBooked} />
          {can("session.change_ended") && (
            <Checkbox
              {...form.flag("ended")}
              label={t.bulk.includeEnded}
              description={t.bulk.endedNote}
            />
          )}
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
          disabled={matched === 0 || !first || !last || preview.isPlaceholderData}
          loading={publish.busy || cancel.busy || remove.busy}
        >
          {t.bulk.run[act](matched)}
        </Button>
      </FormFoot>
    </Form>
  );
}

interface PreviewProps {
  of: { data: PreviewBulkSessionsResponse | undefined; error: unknown };
  act: Action;
  zone: string;
}

/** The sessions that the action would change. */
function Preview({ of: { data, error }, act, zone }: PreviewProps) {
  const { t, locale } = useI18n(scheduleTexts);
  const { matched = 0, activeBookings = 0, samples = [], endedLeftOut = 0 } = data ?? {};
  const more = matched - samples.length;
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
        <>
          <DataTable
            rows={samples}
            columns={[
              {
                show: (one) => {
                  const { startTime, timeZone } = sessionOf(one);
                  return <Time at={startTime} zone={timeZone || zone} />;
                },
              },
              { fw: 540, show: (one) => sessionOf(one).title },
              {
                ta: "right",
                c: "dimmed",
                show: (one) => one.activeBookings > 0 && t.bulk.bookings(one.activeBookings),
              },
            ]}
          />
          {data && (matched === 0 || more > 0) && (
            <SmallHint py={9} px={12} className={more > 0 ? classes.more : ""}>
              {more > 0 ? t.bulk.more(more) : t.bulk.none}
            </SmallHint>
          )}
          {act !== "publish" && endedLeftOut > 0 && (
            <SmallHint py={9} px={12}>
              {t.bulk.endedLeftOut(endedLeftOut)}
            </SmallHint>
          )}
        </>
      )}
    </Card>
  );
}
