import {
  berthError,
  EligibilityStatus,
  ErrorReason,
  type Session,
  SessionService,
  SessionState,
  TenantService,
  WaitlistService,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Alert, Button, Checkbox, NativeSelect, NumberInput } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { useNavigate, useSearchParams } from "react-router";
import { useSpeech, useText } from "../i18n";
import { useMemberTexts } from "../i18n/member";
import { useAll } from "../shared/all";
import { useDo } from "../shared/calls";
import { explain } from "../shared/errors";
import { named, useSubmit } from "../shared/form";
import { useMe } from "../shared/me";
import { DAY, HOUR, millis } from "../shared/time";
import { Shown, State, Time } from "../shared/ui";
import { needsChoice, PlanChoice, usePlans } from "./book";
import { Heading } from "./heading";
import { Free } from "./wait";

/** As far as the week looks. */
const lookAhead = 14 * DAY;

/** The most sessions that one wish may name. */
const most = 50;

/** A wish for any one of several sessions that are full. */
export function AnyOfPage() {
  const t = useText();
  const m = useMemberTexts();
  const { locale } = useSpeech();
  const { tenant } = useMe();
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const plans = usePlans();
  const [kept, keep] = useLocalStorage({ key: "berth.member.location", defaultValue: "" });
  const locations = useAll(TenantService.method.listLocations, {}, (answer) => answer.locations, {
    staleTime: 60_000,
  });
  const services = useAll(TenantService.method.listServices, {}, (answer) => answer.services, {
    staleTime: 60_000,
  });
  const place = locations.data?.find(({ id }) => id === kept) ?? locations.data?.[0];
  const [from] = useState(() => Math.floor(Date.now() / HOUR) * HOUR);
  const sessions = useAll(
    SessionService.method.listSessions,
    {
      filter: {
        startsWithin: { start: timestampFromMs(from), end: timestampFromMs(from + lookAhead) },
        locationIds: place ? [place.id] : [],
        states: [SessionState.PUBLISHED],
      },
    },
    (answer) => answer.sessions.filter(isFull),
    { refetchInterval: 60_000, enabled: Boolean(place) },
  );
  const [wanted, setWanted] = useState<readonly string[]>(() => params.getAll("session"));
  const [wish, setParty] = useState(1);
  const [plan, setPlan] = useState("");
  const join = useDo(WaitlistService.method.joinWaitlist, { quiet: true });
  // What has become free or begun meanwhile is no longer in the list, and nothing to wait for.
  const chosen = (sessions.data ?? []).filter(({ id }) => wanted.includes(id));
  const kinds = (services.data ?? []).filter(({ id }) =>
    chosen.some(({ serviceId }) => serviceId === id),
  );
  const least = Math.max(1, ...kinds.map(({ minParty }) => minParty));
  const greatest = kinds.length === 0 ? 1 : Math.min(...kinds.map(({ maxParty }) => maxParty || 1));
  const party = Math.max(least, Math.min(wish, greatest));
  const { error, onSubmit } = useSubmit(async () => {
    const answer = await join.run({
      wish: { case: "anyOf", value: { sessionIds: chosen.map(({ id }) => id) } },
      partySize: party,
      subscriptionId: plan,
    });
    notifications.show({ message: m.wish.joined(answer?.entry?.position ?? 0) });
    navigate("/bookings");
  });
  return (
    <>
      <Heading>{m.any.title}</Heading>
      <p className="muted" style={{ marginTop: -6 }}>
        {m.any.note}
      </p>
      <form className="form" onSubmit={onSubmit}>
        {(locations.data?.length ?? 0) > 1 && (
          <NativeSelect
            label={t.app.location}
            value={place?.id ?? ""}
            onChange={(event) => keep(event.currentTarget.value)}
            data={named(locations.data ?? [])}
          />
        )}
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
        {greatest > 1 && (
          <NumberInput
            label={t.app.party}
            min={least}
            max={greatest}
            value={party}
            onChange={(value) => setParty(Number(value) || 1)}
          />
        )}
        {needsChoice(plans, error) && <PlanChoice plans={plans} value={plan} onChange={setPlan} />}
        {error !== undefined &&
          (berthError(error).reason === ErrorReason.SEATS_AVAILABLE ? (
            <Free sessionId={berthError(error).metadata.session_id ?? ""} />
          ) : (
            <Alert color="red" role="alert">
              {explain(error, t, locale, place?.timeZone ?? tenant.timeZone)}
            </Alert>
          ))}
        <Button type="submit" size="md" loading={join.busy} disabled={chosen.length === 0}>
          {m.any.join(chosen.length)}
        </Button>
      </form>
    </>
  );
}

const isFull = ({ eligibility, endTime }: Session): boolean =>
  eligibility?.status === EligibilityStatus.WAITLIST && millis(endTime) > Date.now();
