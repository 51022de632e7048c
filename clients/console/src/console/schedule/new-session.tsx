import { SessionService } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Alert, Button, Drawer, Switch } from "@mantine/core";
import { useState } from "react";
import { useSpeech, useText } from "../../i18n";
import { useDo } from "../../shared/calls";
import { explain } from "../../shared/errors";
import { useCan } from "../../shared/root";
import { MINUTE, parseClock, Temporal } from "../../shared/time";
import type { Catalog } from "../data";
import { Fields, inputOf, times, type Values, zoneOf } from "./fields";
import { Repeat } from "./repeat";
import { occurrences, type Weekly, weekdays, writeRule } from "./rule";

/** What is known of a session before somebody has filled in the form. */
export interface Draft {
  readonly date: string;
  readonly start: string;
  readonly locationId: string;
  readonly resourceId?: string;
  readonly coachId?: string;
}

/** Makes a session, or a series of them. */
export function SessionDrawer({
  draft,
  catalog,
  onClose,
  onMade,
}: {
  draft: Draft | undefined;
  catalog: Catalog;
  onClose: () => void;
  onMade: (session: { id: string; title: string }) => void;
}) {
  const t = useText();
  return (
    <Drawer opened={draft !== undefined} onClose={onClose} title={t.schedule.newSession}>
      {draft && <NewSession draft={draft} catalog={catalog} onMade={onMade} onClose={onClose} />}
    </Drawer>
  );
}

function NewSession({
  draft,
  catalog,
  onMade,
  onClose,
}: {
  draft: Draft;
  catalog: Catalog;
  onMade: (session: { id: string; title: string }) => void;
  onClose: () => void;
}) {
  const t = useText();
  const { locale } = useSpeech();
  const can = useCan();
  const [values, setValues] = useState<Values>({
    serviceId: "",
    locationId: draft.locationId || (catalog.resource(draft.resourceId ?? "")?.locationId ?? ""),
    resourceId: draft.resourceId ?? "",
    coachId: draft.coachId ?? "",
    title: "",
    description: "",
    date: draft.date,
    start: draft.start,
    length: 60,
    capacity: "",
    unlimited: false,
    waitlist: "",
  });
  const set = (part: Partial<Values>) => setValues((before) => ({ ...before, ...part }));
  const weekday = weekdays[Temporal.PlainDate.from(values.date).dayOfWeek - 1] ?? "MO";
  const [repeats, setRepeats] = useState(false);
  const [chosen, setRule] = useState<Weekly>();
  const [publish, setPublish] = useState(can("session.publish"));
  const [error, setError] = useState<unknown>();
  const create = useDo(SessionService.method.createSession, { quiet: true });
  const series = useDo(SessionService.method.createSeries, { quiet: true });
  const zone = zoneOf(catalog, values.locationId);
  const rule = chosen ?? { days: [weekday], every: 1, end: { count: 24 } };
  const first = occurrences(Temporal.PlainDate.from(values.date), rule, 1000);
  const title = values.title.trim() || (catalog.service(values.serviceId)?.name ?? "");

  const submit = async () => {
    setError(undefined);
    const minute = parseClock(values.start);
    try {
      if (repeats) {
        const { year, month, day } = Temporal.PlainDate.from(values.date);
        const answer = await series.run({
          template: inputOf(values),
          rule: writeRule(rule),
          startDate: { year, month, day },
          startTimeOfDay: { hours: Math.floor((minute ?? 0) / 60), minutes: (minute ?? 0) % 60 },
          duration: durationFromMs(Number(values.length || 60) * MINUTE),
          publish,
        });
        onMade({ id: answer?.sessionIds[0] ?? "", title });
      } else {
        const answer = await create.run({
          session: { ...inputOf(values), ...times(values, zone) },
          publish,
        });
        onMade({ id: answer?.session?.id ?? "", title });
      }
    } catch (thrown) {
      setError(thrown);
    }
  };

  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Fields values={values} set={set} catalog={catalog} />
      {can("session.series") && (
        <div className="card body" style={{ padding: 14, display: "grid", gap: 12 }}>
          <Switch
            label={t.schedule.repeats}
            checked={repeats}
            onChange={(event) => setRepeats(event.currentTarget.checked)}
          />
          {repeats && <Repeat rule={rule} onChange={setRule} start={values.date} />}
        </div>
      )}
      {error !== undefined && <Alert color="red">{explain(error, t, locale, zone)}</Alert>}
      <div className="end">
        {can("session.publish") && (
          <Switch
            mr="auto"
            style={{ alignSelf: "center" }}
            label={t.schedule.publishNow}
            checked={publish}
            onChange={(event) => setPublish(event.currentTarget.checked)}
          />
        )}
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button
          type="submit"
          loading={create.busy || series.busy}
          disabled={!values.serviceId || !values.locationId}
        >
          {repeats ? t.schedule.makeMany(first.length) : t.actions.create}
        </Button>
      </div>
    </form>
  );
}
