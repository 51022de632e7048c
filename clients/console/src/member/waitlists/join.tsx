import {
  berthError,
  EligibilityStatus,
  ErrorReason,
  type JoinWaitlistRequestSchema,
  type Session,
  SessionService,
  WaitlistService,
} from "@berthhq/client";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import {
  Alert,
  Button,
  Center,
  Checkbox,
  NativeSelect,
  SimpleGrid,
  Stack,
  TextInput,
} from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Link, useNavigate } from "react-router";
import { useCall } from "../../shared/api/calls";
import { explain } from "../../shared/api/errors";
import { useMe } from "../../shared/auth/user";
import {
  civilDay,
  DAY,
  millis,
  plainDay,
  Temporal,
  timeOfDay,
  today,
} from "../../shared/format/time";
import { useFields, useSubmit } from "../../shared/forms/form";
import { named } from "../../shared/forms/options";
import { useI18n, useText } from "../../shared/i18n";
import { Card, QueryResult, State, Time } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { NumberInput } from "../../shared/ui/number-input";
import {
  useChosenLocation,
  useLocations,
  usePublished,
  useRange,
  useServices,
} from "../catalog/data";
import { LocationSelect } from "../catalog/location-select";
import { routes } from "../routes";
import { memberTexts } from "../texts";
import { Heading, Note } from "../ui";
import classes from "./join.module.css";
import { waitlistTexts } from "./texts";

/** Coaches of sessions within this time can be chosen. */
const lookAhead = 28 * DAY;

/** The most days in a time window. */
const longest = 60;

/** Joins the waitlist for a time window. */
export function WindowPage() {
  const t = useText(memberTexts, waitlistTexts);
  const { tenant } = useMe();
  const places = useLocations();
  const locations = places.data ?? [];
  const offered = useServices();
  const services = offered.data ?? [];
  const firstDay = (zone: string | undefined) => today(zone ?? tenant.timeZone);
  const form = useFields(() => ({
    locationId: "",
    serviceId: "",
    first: firstDay(locations[0]?.timeZone).toString(),
    last: firstDay(locations[0]?.timeZone).add({ days: 6 }).toString(),
    earliest: "",
    latest: "",
    coach: "",
    party: 1,
  }));
  const { first, last, earliest, latest, party } = form.values;
  const location = locations.find(({ id }) => id === form.values.locationId) ?? locations[0];
  const service = services.find(({ id }) => id === form.values.serviceId) ?? services[0];
  const zone = location?.timeZone ?? tenant.timeZone;
  const now = today(zone);
  const startsWithin = useRange(0, lookAhead);
  const sessions = usePublished(
    { startsWithin, locationId: location?.id, serviceId: service?.id },
    { staleTime: 60_000, enabled: Boolean(location && service) },
  );
  const coaches = new Map(
    (sessions.data ?? [])
      .filter(({ coachId }) => coachId)
      .map(({ coachId, coachName }) => [coachId, coachName]),
  );
  const coachId = coaches.has(form.values.coach) ? form.values.coach : "";
  const least = service?.minParty || 1;
  const most = service?.maxParty || least;
  const request =
    location &&
    service &&
    (() => ({
      target: {
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
      coachId,
    }));
  if (places.data?.length === 0 || offered.data?.length === 0) {
    return (
      <>
        <Heading>{t.timeWindow.title}</Heading>
        <State title={t.app.nothing} note={t.app.nothingNote} />
      </>
    );
  }
  return (
    <>
      <JoinForm
        framed
        title={t.timeWindow.title}
        note={t.timeWindow.note}
        submitLabel={t.timeWindow.join}
        zone={zone}
        party={{ size: party, least, most, onChange: (party) => form.set({ party }) }}
        request={request}
      >
        <NativeSelect
          {...form.text("serviceId")}
          label={t.fields.service}
          value={service?.id ?? ""}
          data={named(services)}
        />
        <LocationSelect
          label={t.app.location}
          locations={locations}
          location={location}
          onChoose={(locationId) => form.set({ locationId })}
        />
        <SimpleGrid cols={2} spacing={12}>
          <TextInput
            type="date"
            required
            label={t.timeWindow.first}
            min={now.toString()}
            value={first}
            onChange={({ currentTarget: { value } }) =>
              form.set({ first: value, last: value > last ? value : last })
            }
          />
          <TextInput
            {...form.text("last")}
            type="date"
            required
            label={t.timeWindow.last}
            min={first || now.toString()}
            max={(first ? Temporal.PlainDate.from(first) : now)
              .add({ days: longest - 1 })
              .toString()}
          />
        </SimpleGrid>
        <SimpleGrid cols={2} spacing={12}>
          <TextInput {...form.text("earliest")} type="time" label={t.timeWindow.earliest} />
          <TextInput {...form.text("latest")} type="time" label={t.timeWindow.latest} />
        </SimpleGrid>
        {coaches.size > 0 && (
          <NativeSelect
            {...form.text("coach")}
            label={t.timeWindow.coach}
            value={coachId}
            data={[
              { value: "", label: t.timeWindow.anyCoach },
              ...[...coaches].map(([value, label]) => ({ value, label })),
            ]}
          />
        )}
      </JoinForm>
      <Center mt={18} mb={15}>
        <Button component={Link} to={routes.waitForAny.path()} variant="subtle">
          {t.any.or}
        </Button>
      </Center>
    </>
  );
}

/** As many days as the week page shows. */
const sessionsAhead = 14 * DAY;

/** The most sessions that one entry can name. */
const mostSessions = 50;

/** Joins the waitlist for one of several full sessions. */
export function AnyOfPage() {
  const t = useText(memberTexts, waitlistTexts);
  const { tenant } = useMe();
  const [params] = routes.waitForAny.useSearch();
  const { query: places, locations, location, choose } = useChosenLocation();
  const services = useServices().data ?? [];
  const startsWithin = useRange(0, sessionsAhead);
  const sessions = usePublished(
    { startsWithin, locationId: location?.id },
    { refetchInterval: 60_000, enabled: Boolean(location) },
  );
  const all = sessions.data ?? [];
  const [wanted, setWanted] = useState(params.session);
  const [size, setSize] = useState(1);
  // Sessions that have open seats or have started in the meantime drop out of the list.
  const chosen = all.filter((one) => isFull(one) && wanted.includes(one.id));
  const kinds = services.filter(({ id }) => chosen.some(({ serviceId }) => serviceId === id));
  const least = Math.max(1, ...kinds.map(({ minParty }) => minParty));
  const greatest = kinds.length === 0 ? 1 : Math.min(...kinds.map(({ maxParty }) => maxParty || 1));
  return (
    <JoinForm
      title={t.any.title}
      note={t.any.note}
      submitLabel={t.any.join(chosen.length)}
      zone={location?.timeZone ?? tenant.timeZone}
      party={{ size, least, most: greatest, onChange: setSize }}
      request={
        chosen.length > 0
          ? () => ({ target: { case: "anyOf", value: { sessionIds: chosen.map(({ id }) => id) } } })
          : undefined
      }
    >
      <LocationSelect
        label={t.app.location}
        locations={locations}
        location={location}
        onChoose={choose}
      />
      <QueryResult<unknown> query={location ? sessions : places}>
        {() => (
          <Card as="fieldset" bare className={classes.options} aria-label={t.any.title}>
            {!all.some(isFull) ? (
              <State title={t.any.none} />
            ) : (
              all.filter(isFull).map((one) => (
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
                    one.waitlistLength > 0 && t.common.waiting(one.waitlistLength),
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                  checked={wanted.includes(one.id)}
                  disabled={chosen.length >= mostSessions && !wanted.includes(one.id)}
                  onChange={({ currentTarget: { checked } }) =>
                    setWanted((before) =>
                      checked ? [...before, one.id] : before.filter((id) => id !== one.id),
                    )
                  }
                />
              ))
            )}
          </Card>
        )}
      </QueryResult>
    </JoinForm>
  );
}

const isFull = ({ eligibility, endTime }: Session): boolean =>
  eligibility?.status === EligibilityStatus.WAITLIST && millis(endTime) > Date.now();

const PlanChoice = later(() => import("../accounts/plans"), "PlanChoice", { fallback: null });

type Join = MessageInitShape<typeof JoinWaitlistRequestSchema>;

interface JoinInput {
  readonly target: NonNullable<Join["target"]>;
  readonly coachId?: string;
}

/** Joins the waitlist, for a time window or one of several sessions. */
function JoinForm({
  title,
  note,
  submitLabel,
  zone,
  party,
  request,
  framed = false,
  children,
}: {
  title: string;
  note: string;
  /** Label of the submit button. */
  submitLabel: string;
  /** Time zone of times in error messages. */
  zone: string;
  party: { size: number; least: number; most: number; onChange: (value: number) => void };
  /** undefined while the form is incomplete. */
  request: (() => JoinInput) | undefined;
  /** Draws the form on a card. */
  framed?: boolean;
  children: ReactNode;
}) {
  const { t, locale } = useI18n(memberTexts, waitlistTexts);
  const navigate = useNavigate();
  const [plan, setPlan] = useState("");
  const size = Math.max(party.least, Math.min(party.size, party.most));
  const join = useCall(WaitlistService.method.joinWaitlist, {
    quiet: true,
    done: ({ entry }) => t.timeWindow.joined(entry?.position ?? 0),
  });
  const { error, onSubmit } = useSubmit(async () => {
    if (!request) return;
    await join.run({ ...request(), partySize: size, subscriptionId: plan });
    navigate(routes.bookings.path());
  });
  const { reason, metadata } = berthError(error);
  /** A matching session that has open seats, so that there is no need to wait. */
  const open = reason === ErrorReason.SEATS_AVAILABLE ? metadata.session_id : undefined;
  const fields = (
    <Stack gap={14}>
      {children}
      {party.most > 1 && (
        <NumberInput
          label={t.app.party}
          min={party.least}
          max={party.most}
          value={size}
          onChange={(value) => party.onChange(Number(value) || 1)}
        />
      )}
      <PlanChoice value={plan} onChange={setPlan} error={error} />
      {error && (
        <Alert color={open ? "tide" : "red"} role="alert">
          {open ? <SeatsAvailable sessionId={open} /> : explain(error, t, locale, zone)}
        </Alert>
      )}
      <Button type="submit" size="md" loading={join.busy} disabled={!request}>
        {submitLabel}
      </Button>
    </Stack>
  );
  return (
    <>
      <Heading>{title}</Heading>
      <Note mt={-6} mb={15}>
        {note}
      </Note>
      <form onSubmit={onSubmit}>{framed ? <Card>{fields}</Card> : fields}</form>
    </>
  );
}

function SeatsAvailable({ sessionId }: { sessionId: string }) {
  const t = useText(waitlistTexts);
  const { data } = useQuery(SessionService.method.getSession, { sessionId });
  const { title, localDate } = data?.session ?? {};
  if (!title || !localDate) return t.reasons.SEATS_AVAILABLE?.({});
  return (
    <>
      {t.timeWindow.free(title)}{" "}
      <Link to={routes.week.path({ date: plainDay(localDate).toString() })}>
        {t.timeWindow.see}
      </Link>
    </>
  );
}
