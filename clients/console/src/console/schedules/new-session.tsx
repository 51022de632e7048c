import { SessionService } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Stack, Switch } from "@mantine/core";
import { useInputState } from "@mantine/hooks";
import { useState } from "react";
import { useCall } from "../../shared/api/calls";
import { useCan } from "../../shared/auth/user";
import { civilDay, MINUTE, Temporal, timeOfDay } from "../../shared/format/time";
import { useFields } from "../../shared/forms/form";
import { useText } from "../../shared/i18n";
import { Card } from "../../shared/ui";
import { useCatalog } from "../catalog/loaded";
import { CallForm } from "../ui";
import {
  defaultsOf,
  Fields,
  inputOf,
  namesOf,
  onlyResource,
  times,
  type Values,
  zoneOf,
} from "./fields";
import { Repeat } from "./repeat";
import { occurrences, type Rule, usual, writeRule } from "./rule";
import { scheduleTexts } from "./texts";

/** Initial values of a new session. */
export interface Draft {
  readonly date: string;
  readonly start: string;
  readonly locationId: string;
  readonly resourceId?: string;
  readonly coachId?: string;
}

interface NewSessionProps {
  draft: Draft;
  onMade: (session: { id: string; title: string; date: string }) => void;
  onClose: () => void;
}

/** Creates a session or a series. */
export function NewSession({ draft, onMade, onClose }: NewSessionProps) {
  const t = useText(scheduleTexts);
  const can = useCan();
  const catalog = useCatalog();
  // The only choice is preselected.
  const [service, second] = catalog.services.filter(({ active }) => active);
  const locationId =
    draft.locationId || (catalog.resource(draft.resourceId ?? "")?.locationId ?? "");
  const form = useFields<Values>(
    {
      serviceId: "",
      resourceId: onlyResource(catalog, locationId),
      coachId: catalog.onlyCoach,
      title: "",
      description: "",
      length: 60,
      capacity: "",
      unlimited: false,
      waitlist: "",
      ...(service && !second && defaultsOf(service)),
      ...draft,
      locationId,
    },
    namesOf(t),
  );
  const { values } = form;
  const day = Temporal.PlainDate.from(values.date);
  const [repeats, setRepeats] = useInputState(false);
  const [chosen, setRule] = useState<Rule>();
  const [publish, setPublish] = useInputState(can("session.create_published"));
  const create = useCall(SessionService.method.createSession, { quiet: true });
  const series = useCall(SessionService.method.createSeries, { quiet: true });
  const zone = zoneOf(catalog, values.locationId);
  const rule = chosen ?? usual(day);
  const count = occurrences(day, rule, 1000).length;
  const title = values.title.trim() || (catalog.service(values.serviceId)?.name ?? "");
  const run = async () => {
    if (repeats) {
      const answer = await series.run({
        series: {
          ...inputOf(values),
          rule: writeRule(rule, day),
          startDate: civilDay(values.date),
          startTimeOfDay: timeOfDay(values.start),
          duration: durationFromMs(Number(values.length || 60) * MINUTE),
        },
        publish,
      });
      onMade({ id: answer?.sessionIds[0] ?? "", title, date: values.date });
    } else {
      const answer = await create.run({
        session: { ...inputOf(values), ...times(values, zone) },
        publish,
      });
      onMade({ id: answer?.session?.id ?? "", title, date: values.date });
    }
  };
  return (
    <CallForm
      act={repeats ? t.schedule.makeMany(count) : t.actions.create}
      run={run}
      disabled={!values.serviceId || !values.locationId}
      zone={zone}
      aside={
        can("session.create_published") && (
          <Switch label={t.schedule.publishNow} checked={publish} onChange={setPublish} />
        )
      }
      onClose={onClose}
    >
      <Fields form={form} />
      {can("session.series") && (
        <Card>
          <Stack gap={12}>
            <Switch label={t.schedule.repeats} checked={repeats} onChange={setRepeats} />
            {repeats && <Repeat rule={rule} onChange={setRule} start={values.date} />}
          </Stack>
        </Card>
      )}
    </CallForm>
  );
}
