import { SessionService, SessionState } from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { useText } from "../i18n";
import { useMemberTexts } from "../i18n/member";
import { useAll } from "../shared/all";
import { named } from "../shared/form";
import { useMe } from "../shared/me";
import { civilDay, DAY, HOUR, Temporal, timeOfDay, today } from "../shared/time";
import { JoinForm, LocationChoice, useOfferings } from "./join-form";

/** Coaches of sessions within this time can be chosen. */
const lookAhead = 28 * DAY;

/** The most days in a time window. */
const longest = 60;

/** Joins the waitlist for a time window. */
export function WaitPage() {
  const t = useText();
  const m = useMemberTexts();
  const { tenant } = useMe();
  const { locations, services } = useOfferings();
  const [chosenLocation, setLocation] = useState("");
  const [chosenService, setService] = useState("");
  const location = locations.find(({ id }) => id === chosenLocation) ?? locations[0];
  const service = services.find(({ id }) => id === chosenService) ?? services[0];
  const zone = location?.timeZone ?? tenant.timeZone;
  const now = today(zone);
  const [first, setFirst] = useState(() => now.toString());
  const [last, setLast] = useState(() => now.add({ days: 6 }).toString());
  const [earliest, setEarliest] = useState("");
  const [latest, setLatest] = useState("");
  const [coach, setCoach] = useState("");
  const [party, setParty] = useState(1);

  const [from] = useState(() => Math.floor(Date.now() / HOUR) * HOUR);
  const sessions = useAll(
    SessionService.method.listSessions,
    {
      filter: {
        startsWithin: { start: timestampFromMs(from), end: timestampFromMs(from + lookAhead) },
        locationIds: location ? [location.id] : [],
        serviceIds: service ? [service.id] : [],
        states: [SessionState.PUBLISHED],
      },
    },
    (answer) => answer.sessions,
    { staleTime: 60_000, enabled: Boolean(location && service) },
  );
  const coaches = new Map(
    (sessions.data ?? [])
      .filter(({ coachId }) => coachId)
      .map(({ coachId, coachName }) => [coachId, coachName]),
  );
  const least = service?.minParty || 1;
  const most = service?.maxParty || least;
  const request =
    location &&
    service &&
    (() => ({
      wish: {
        case: "window" as const,
        value: {
          serviceId: service.id,
          locationId: location.id,
          firstDate: civilDay(first),
          lastDate: civilDay(last),
          ...(earliest && { earliestStart: timeOfDay(earliest) }),
          ...(latest && { latestStart: timeOfDay(latest) }),
        },
      },
      coachId: coaches.has(coach) ? coach : "",
    }));
  return (
    <>
      <JoinForm
        framed
        title={m.timeWindow.title}
        note={m.timeWindow.note}
        submitLabel={m.timeWindow.join}
        zone={zone}
        party={{ size: party, least, most, onChange: setParty }}
        request={request}
      >
        <NativeSelect
          label={t.fields.service}
          value={service?.id ?? ""}
          onChange={(event) => setService(event.currentTarget.value)}
          data={named(services)}
        />
        <LocationChoice locations={locations} location={location} onChange={setLocation} />
        <div className="pair">
          <TextInput
            type="date"
            required
            label={m.timeWindow.first}
            min={now.toString()}
            value={first}
            onChange={({ currentTarget: { value } }) => {
              setFirst(value);
              if (value > last) setLast(value);
            }}
          />
          <TextInput
            type="date"
            required
            label={m.timeWindow.last}
            min={first || now.toString()}
            max={(first ? Temporal.PlainDate.from(first) : now)
              .add({ days: longest - 1 })
              .toString()}
            value={last}
            onChange={(event) => setLast(event.currentTarget.value)}
          />
        </div>
        <div className="pair">
          <TextInput
            type="time"
            label={m.timeWindow.earliest}
            value={earliest}
            onChange={(event) => setEarliest(event.currentTarget.value)}
          />
          <TextInput
            type="time"
            label={m.timeWindow.latest}
            value={latest}
            onChange={(event) => setLatest(event.currentTarget.value)}
          />
        </div>
        {coaches.size > 0 && (
          <NativeSelect
            label={m.timeWindow.coach}
            value={coaches.has(coach) ? coach : ""}
            onChange={(event) => setCoach(event.currentTarget.value)}
            data={[
              { value: "", label: m.timeWindow.anyCoach },
              ...[...coaches].map(([value, label]) => ({ value, label })),
            ]}
          />
        )}
      </JoinForm>
      <p style={{ textAlign: "center", marginTop: 18 }}>
        <Button component={Link} to="/wait/any" variant="subtle">
          {m.any.or}
        </Button>
      </p>
    </>
  );
}
