import { SessionService } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Drawer, Switch } from "@mantine/core";
import { useState } from "react";
import { useText } from "../../i18n";
import { useCall } from "../../shared/calls";
import { FormEnd, Refused, useFields, useSubmit } from "../../shared/form";
import { useLast } from "../../shared/last";
import { useCan } from "../../shared/me";
import { civilDay, MINUTE, Temporal, timeOfDay } from "../../shared/time";
import type { Catalog } from "../data";
import { Fields, inputOf, times, type Values, zoneOf } from "./fields";
import { Repeat } from "./repeat";
import { occurrences, type Rule, usual, writeRule } from "./rule";

/** Initial values of a new session. */
export interface Draft {
  readonly date: string;
  readonly start: string;
  readonly locationId: string;
  readonly resourceId?: string;
  readonly coachId?: string;
}

/** Creates a session or a series. */
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
  const [last, turn] = useLast(draft);
  return (
    <Drawer opened={draft !== undefined} onClose={onClose} title={t.schedule.newSession}>
      {last && (
        <NewSession key={turn} draft={last} catalog={catalog} onMade={onMade} onClose={onClose} />
      )}
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
  const can = useCan();
  const { values, set } = useFields<Values>({
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
  const day = Temporal.PlainDate.from(values.date);
  const [repeats, setRepeats] = useState(false);
  const [chosen, setRule] = useState<Rule>();
  const [publish, setPublish] = useState(can("session.publish"));
  const create = useCall(SessionService.method.createSession, { quiet: true });
  const series = useCall(SessionService.method.createSeries, { quiet: true });
  const zone = zoneOf(catalog, values.locationId);
  const rule = chosen ?? usual(day);
  const count = occurrences(day, rule, 1000).length;
  const title = values.title.trim() || (catalog.service(values.serviceId)?.name ?? "");

  const { error, onSubmit } = useSubmit(async () => {
    if (repeats) {
      const answer = await series.run({
        template: inputOf(values),
        rule: writeRule(rule, day),
        startDate: civilDay(values.date),
        startTimeOfDay: timeOfDay(values.start),
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
  });

  return (
    <form className="form" onSubmit={onSubmit}>
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
      <Refused error={error} zone={zone} />
      <FormEnd
        act={repeats ? t.schedule.makeMany(count) : t.actions.create}
        busy={create.busy || series.busy}
        disabled={!values.serviceId || !values.locationId}
        onCancel={onClose}
      >
        {can("session.publish") && (
          <Switch
            label={t.schedule.publishNow}
            checked={publish}
            onChange={(event) => setPublish(event.currentTarget.checked)}
          />
        )}
      </FormEnd>
    </form>
  );
}
