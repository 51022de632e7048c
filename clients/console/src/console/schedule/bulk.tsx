import { SessionService, SessionState } from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import {
  Alert,
  Button,
  Checkbox,
  Drawer,
  MultiSelect,
  SegmentedControl,
  Select,
  Textarea,
} from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useI18n, useText } from "../../i18n";
import { useCall } from "../../shared/calls";
import { explain } from "../../shared/errors";
import { named } from "../../shared/form";
import { useMe } from "../../shared/me";
import { millis, startOf, Temporal } from "../../shared/time";
import { Tag, Time } from "../../shared/ui";
import type { Catalog } from "../data";

type Action = "publish" | "cancel" | "delete";

/** Publishes, cancels or deletes many sessions, after a preview. */
export function BulkDrawer(props: {
  opened: boolean;
  onClose: () => void;
  catalog: Catalog;
  from: Temporal.PlainDate;
  days: number;
  locationId: string;
}) {
  const t = useText();
  return (
    <Drawer opened={props.opened} onClose={props.onClose} title={t.bulk.title} size={520}>
      {props.opened && <Bulk {...props} />}
    </Drawer>
  );
}

function Bulk({ onClose, catalog, from, days, locationId }: Parameters<typeof BulkDrawer>[0]) {
  const t = useText();
  const { locale } = useI18n();
  const { tenant } = useMe();
  const [act, setAct] = useState<Action>("publish");
  const [range, setRange] = useState<[string | null, string | null]>([
    from.toString(),
    from.add({ days: days - 1 }).toString(),
  ]);
  const [place, setPlace] = useState(locationId);
  const [services, setServices] = useState<string[]>([]);
  const [booked, setBooked] = useState(false);
  const [reason, setReason] = useState("");
  const zone = catalog.location(place)?.timeZone ?? tenant.timeZone;
  const [first, last] = range;
  const ready = Boolean(first && last);
  const filter = {
    startsWithin: {
      start: startOf(Temporal.PlainDate.from(first ?? from.toString()), zone),
      end: timestampFromMs(
        millis(startOf(Temporal.PlainDate.from(last ?? from.toString()).add({ days: 1 }), zone)),
      ),
    },
    locationIds: place ? [place] : [],
    serviceIds: services,
    states:
      act === "publish"
        ? [SessionState.DRAFT]
        : act === "cancel"
          ? [SessionState.DRAFT, SessionState.PUBLISHED]
          : [],
  };
  const includeBooked = act === "publish" || booked;
  const preview = useQuery(
    SessionService.method.previewBulk,
    { filter, includeBooked },
    { enabled: ready, placeholderData: (before) => before },
  );
  const publish = useCall(SessionService.method.bulkPublish);
  const cancel = useCall(SessionService.method.bulkCancel);
  const remove = useCall(SessionService.method.bulkDelete);
  const matched = preview.data?.matched ?? 0;
  const run = async () => {
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
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <SegmentedControl
        fullWidth
        aria-label={t.bulk.act}
        value={act}
        onChange={(value) => setAct(value as Action)}
        data={[
          { value: "publish", label: t.bulk.publish },
          { value: "cancel", label: t.bulk.cancel },
          { value: "delete", label: t.bulk.delete },
        ]}
      />
      <div className="two">
        <DatePickerInput
          type="range"
          label={t.bulk.days}
          value={range}
          valueFormat="D MMM"
          onChange={setRange}
          allowSingleDateInRange
        />
        <Select
          label={t.fields.location}
          allowDeselect={false}
          value={place || "all"}
          onChange={(value) => setPlace(value === "all" ? "" : (value ?? ""))}
          data={[{ value: "all", label: t.schedule.allLocations }, ...named(catalog.locations)]}
        />
      </div>
      <MultiSelect
        label={t.bulk.services}
        placeholder={services.length === 0 ? t.bulk.allServices : ""}
        value={services}
        onChange={setServices}
        data={named(catalog.services)}
        clearable
      />
      {act !== "publish" && (
        <>
          <Checkbox
            label={t.bulk.includeBooked}
            checked={booked}
            onChange={(event) => setBooked(event.currentTarget.checked)}
          />
          <Textarea
            label={t.fields.reason}
            description={t.bulk.reasonNote}
            maxLength={1000}
            autosize
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        </>
      )}
      <section aria-live="polite" className="card">
        <header>
          <h2 style={{ margin: 0, fontSize: 14 }}>{t.bulk.preview(matched)}</h2>
          {preview.data && act !== "publish" && preview.data.activeBookings > 0 && (
            <Tag tone="warn">{t.bulk.bookings(preview.data.activeBookings)}</Tag>
          )}
        </header>
        {preview.error ? (
          <Alert color="red" m="sm">
            {explain(preview.error, t, locale, zone)}
          </Alert>
        ) : (
          <table className="table">
            <tbody>
              {preview.data?.samples.map((sample) => (
                <tr key={sample.sessionId}>
                  <td>
                    <Time at={sample.startTime} zone={zone} />
                  </td>
                  <td style={{ fontWeight: 540 }}>{sample.title}</td>
                  <td className="right muted">
                    {sample.activeBookings > 0 && t.bulk.bookings(sample.activeBookings)}
                  </td>
                </tr>
              ))}
              {matched > (preview.data?.samples.length ?? 0) && (
                <tr>
                  <td colSpan={3} className="muted">
                    {t.bulk.more(matched - (preview.data?.samples.length ?? 0))}
                  </td>
                </tr>
              )}
              {matched === 0 && preview.data && (
                <tr>
                  <td className="muted">{t.bulk.none}</td>
                </tr>
              )}
            </tbody>
          </table>
        )}
      </section>
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.back}
        </Button>
        <Button
          type="submit"
          color={act === "publish" ? "tide" : "red.8"}
          disabled={matched === 0 || !ready}
          loading={publish.busy || cancel.busy || remove.busy}
        >
          {t.bulk.run[act](matched)}
        </Button>
      </div>
    </form>
  );
}
