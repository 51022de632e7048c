import { EligibilityStatus, type Session, SessionService, SessionState } from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Checkbox } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { useText } from "../i18n";
import { useMemberTexts } from "../i18n/member";
import { useAll } from "../shared/all";
import { useMe } from "../shared/me";
import { DAY, HOUR, millis } from "../shared/time";
import { Shown, State, Time } from "../shared/ui";
import { JoinForm, LocationChoice, useOfferings } from "./join-form";

/** As many days as the week page shows. */
const lookAhead = 14 * DAY;

/** The most sessions that one entry can name. */
const most = 50;

/** Joins the waitlist for one of several full sessions. */
export function AnyOfPage() {
  const t = useText();
  const m = useMemberTexts();
  const { tenant } = useMe();
  const [params] = useSearchParams();
  const [remembered, remember] = useLocalStorage({
    key: "berth.member.location",
    defaultValue: "",
  });
  const { locations, services } = useOfferings();
  const location = locations.find(({ id }) => id === remembered) ?? locations[0];
  const [from] = useState(() => Math.floor(Date.now() / HOUR) * HOUR);
  const sessions = useAll(
    SessionService.method.listSessions,
    {
      filter: {
        startsWithin: { start: timestampFromMs(from), end: timestampFromMs(from + lookAhead) },
        locationIds: location ? [location.id] : [],
        states: [SessionState.PUBLISHED],
      },
    },
    (answer) => answer.sessions.filter(isFull),
    { refetchInterval: 60_000, enabled: Boolean(location) },
  );
  const [wanted, setWanted] = useState<readonly string[]>(() => params.getAll("session"));
  const [size, setParty] = useState(1);
  // Sessions that have open seats or have started in the meantime drop out of the list.
  const chosen = (sessions.data ?? []).filter(({ id }) => wanted.includes(id));
  const kinds = services.filter(({ id }) => chosen.some(({ serviceId }) => serviceId === id));
  const least = Math.max(1, ...kinds.map(({ minParty }) => minParty));
  const greatest = kinds.length === 0 ? 1 : Math.min(...kinds.map(({ maxParty }) => maxParty || 1));
  return (
    <JoinForm
      title={m.any.title}
      note={m.any.note}
      submitLabel={m.any.join(chosen.length)}
      zone={location?.timeZone ?? tenant.timeZone}
      party={{ size, least, most: greatest, onChange: setParty }}
      request={
        chosen.length > 0
          ? () => ({ wish: { case: "anyOf", value: { sessionIds: chosen.map(({ id }) => id) } } })
          : undefined
      }
    >
      <LocationChoice locations={locations} location={location} onChange={remember} />
      <Shown of={sessions}>
        {(full) => (
          <fieldset className="card any-of">
            <legend className="sr">{m.any.title}</legend>
            {full.length === 0 ? (
              <State title={m.any.none} />
            ) : (
              full.map((one) => (
                <Checkbox
                  key={one.id}
                  label={
                    <>
                      <Time at={one.startTime} zone={one.timeZone} as="dayTime" />{" "}
                      <strong>{one.title}</strong>
                    </>
                  }
                  description={[
                    one.coachName,
                    one.waitlistLength > 0 && t.schedule.waiting(one.waitlistLength),
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                  checked={wanted.includes(one.id)}
                  disabled={chosen.length >= most && !wanted.includes(one.id)}
                  onChange={({ currentTarget: { checked } }) =>
                    setWanted((before) =>
                      checked ? [...before, one.id] : before.filter((id) => id !== one.id),
                    )
                  }
                />
              ))
            )}
          </fieldset>
        )}
      </Shown>
    </JoinForm>
  );
}

const isFull = ({ eligibility, endTime }: Session): boolean =>
  eligibility?.status === EligibilityStatus.WAITLIST && millis(endTime) > Date.now();
