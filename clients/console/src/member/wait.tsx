import {
  berthError,
  ErrorReason,
  SessionService,
  SessionState,
  TenantService,
  WaitlistService,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Button, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { useSpeech, useText } from "../i18n";
import { useMemberTexts } from "../i18n/member";
import { useAll } from "../shared/all";
import { useDo } from "../shared/calls";
import { explain } from "../shared/errors";
import { named, useSubmit } from "../shared/form";
import { useMe } from "../shared/me";
import { civilDay, DAY, HOUR, Temporal, timeOfDay, today } from "../shared/time";
import { needsChoice, PlanChoice, usePlans } from "./book";
import { Heading } from "./heading";

/** Whoever leads a session in so many days can be wished for. */
const lookAhead = 28 * DAY;

/** The most days that a wish may span. */
const longest = 60;

/** A wish for whatever opens in a span of days. */
export function WaitPage() {
  const t = useText();
  const m = useMemberTexts();
  const { locale } = useSpeech();
  const { tenant } = useMe();
  const navigate = useNavigate();
  const plans = usePlans();
  const locations = useAll(TenantService.method.listLocations, {}, (answer) => answer.locations, {
    staleTime: 60_000,
  });
  const services = useAll(TenantService.method.listServices, {}, (answer) => answer.services, {
    staleTime: 60_000,
  });
  const [chosenPlace, setPlace] = useState("");
  const [chosenService, setService] = useState("");
  const place = locations.data?.find(({ id }) => id === chosenPlace) ?? locations.data?.[0];
  const service = services.data?.find(({ id }) => id === chosenService) ?? services.data?.[0];
  const zone = place?.timeZone ?? tenant.timeZone;
  const now = today(zone);
  const [first, setFirst] = useState(() => now.toString());
  const [last, setLast] = useState(() => now.add({ days: 6 }).toString());
  const [earliest, setEarliest] = useState("");
  const [latest, setLatest] = useState("");
  const [coach, setCoach] = useState("");
  const [party, setParty] = useState(1);
  const [plan, setPlan] = useState("");
  const join = useDo(WaitlistService.method.joinWaitlist, { quiet: true });

  const [from] = useState(() => Math.floor(Date.now() / HOUR) * HOUR);
  const sessions = useAll(
    SessionService.method.listSessions,
    {
      filter: {
        startsWithin: { start: timestampFromMs(from), end: timestampFromMs(from + lookAhead) },
        locationIds: place ? [place.id] : [],
        serviceIds: service ? [service.id] : [],
        states: [SessionState.PUBLISHED],
      },
    },
    (answer) => answer.sessions,
    { staleTime: 60_000, enabled: Boolean(place && service) },
  );
  const coaches = new Map(
    (sessions.data ?? [])
      .filter(({ coachId }) => coachId)
      .map(({ coachId, coachName }) => [coachId, coachName]),
  );
  const most = service?.maxParty || service?.minParty || 1;
  const { error, onSubmit } = useSubmit(async () => {
    if (!place || !service) return;
    const answer = await join.run({
      wish: {
        case: "window",
        value: {
          serviceId: service.id,
          locationId: place.id,
          firstDate: civilDay(first),
          lastDate: civilDay(last),
          ...(earliest && { earliestStart: timeOfDay(earliest) }),
          ...(latest && { latestStart: timeOfDay(latest) }),
        },
      },
      partySize: party,
      coachId: coaches.has(coach) ? coach : "",
      subscriptionId: plan,
    });
    notifications.show({ message: m.wish.joined(answer?.entry?.position ?? 0) });
    navigate("/bookings");
  });
  return (
    <>
      <Heading>{m.wish.title}</Heading>
      <p className="muted" style={{ marginTop: -6 }}>
        {m.wish.note}
      </p>
      <form className="card form" style={{ padding: 16 }} onSubmit={onSubmit}>
        <NativeSelect
          label={t.fields.service}
          value={service?.id ?? ""}
          onChange={(event) => setService(event.currentTarget.value)}
          data={named(services.data ?? [])}
        />
        {(locations.data?.length ?? 0) > 1 && (
          <NativeSelect
            label={t.app.location}
            value={place?.id ?? ""}
            onChange={(event) => setPlace(event.currentTarget.value)}
            data={named(locations.data ?? [])}
          />
        )}
        <div className="pair">
          <TextInput
            type="date"
            required
            label={m.wish.first}
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
            label={m.wish.last}
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
            label={m.wish.earliest}
            value={earliest}
            onChange={(event) => setEarliest(event.currentTarget.value)}
          />
          <TextInput
            type="time"
            label={m.wish.latest}
            value={latest}
            onChange={(event) => setLatest(event.currentTarget.value)}
          />
        </div>
        {coaches.size > 0 && (
          <NativeSelect
            label={m.wish.coach}
            value={coaches.has(coach) ? coach : ""}
            onChange={(event) => setCoach(event.currentTarget.value)}
            data={[
              { value: "", label: m.wish.anybody },
              ...[...coaches].map(([value, label]) => ({ value, label })),
            ]}
          />
        )}
        {most > 1 && (
          <NumberInput
            label={t.app.party}
            min={1}
            max={most}
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
              {explain(error, t, locale, zone)}
            </Alert>
          ))}
        <Button type="submit" size="md" loading={join.busy} disabled={!place || !service}>
          {m.wish.join}
        </Button>
      </form>
      <p style={{ textAlign: "center", marginTop: 18 }}>
        <Button component={Link} to="/wait/any" variant="subtle">
          {m.any.or}
        </Button>
      </p>
    </>
  );
}

/** There is no need to wait: something that fits has places. */
export function Free({ sessionId }: { sessionId: string }) {
  const t = useText();
  const m = useMemberTexts();
  const found = useQuery(SessionService.method.getSession, { sessionId }).data?.session;
  const { year = 0, month = 0, day = 0 } = found?.localDate ?? {};
  return (
    <Alert color="tide" role="alert">
      {found ? m.wish.free(found.title) : t.reasons.SEATS_AVAILABLE?.({})}{" "}
      {found && <Link to={`/?date=${new Temporal.PlainDate(year, month, day)}`}>{m.wish.see}</Link>}
    </Alert>
  );
}
