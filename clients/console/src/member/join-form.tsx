import {
  berthError,
  ErrorReason,
  type JoinWaitlistRequestSchema,
  type Location,
  SessionService,
  TenantService,
  WaitlistService,
} from "@berthhq/client";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Button, NativeSelect, NumberInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type ReactNode, useState } from "react";
import { Link, useNavigate } from "react-router";
import { useI18n, useText } from "../i18n";
import { useMemberTexts } from "../i18n/member";
import { useAll } from "../shared/all";
import { useCall } from "../shared/calls";
import { explain } from "../shared/errors";
import { named, useSubmit } from "../shared/form";
import { Temporal } from "../shared/time";
import { needsChoice, PlanChoice, usePlans } from "./book";
import { Heading } from "./heading";

/*
 * Shared by the waitlist forms for a time window and for several sessions.
 */

/** Locations and services with a waitlist. */
export function useOfferings() {
  const locations = useAll(TenantService.method.listLocations, {}, (answer) => answer.locations, {
    staleTime: 60_000,
  });
  const services = useAll(TenantService.method.listServices, {}, (answer) => answer.services, {
    staleTime: 60_000,
  });
  return { locations: locations.data ?? [], services: services.data ?? [] };
}

/** Selects a location, if there are several. */
export function LocationChoice({
  locations,
  location,
  onChange,
}: {
  locations: readonly Location[];
  location: Location | undefined;
  onChange: (id: string) => void;
}) {
  const t = useText();
  if (locations.length < 2) return null;
  return (
    <NativeSelect
      label={t.app.location}
      value={location?.id ?? ""}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={named(locations)}
    />
  );
}

interface JoinInput {
  readonly wish: NonNullable<MessageInitShape<typeof JoinWaitlistRequestSchema>["wish"]>;
  readonly coachId?: string;
}

export function JoinForm({
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
  const t = useText();
  const m = useMemberTexts();
  const { locale } = useI18n();
  const navigate = useNavigate();
  const plans = usePlans();
  const [plan, setPlan] = useState("");
  const size = Math.max(party.least, Math.min(party.size, party.most));
  const join = useCall(WaitlistService.method.joinWaitlist, { quiet: true });
  const { error, onSubmit } = useSubmit(async () => {
    if (!request) return;
    const answer = await join.run({
      ...request(),
      partySize: size,
      subscriptionId: plan,
    });
    notifications.show({ message: m.timeWindow.joined(answer?.entry?.position ?? 0) });
    navigate("/bookings");
  });
  return (
    <>
      <Heading>{title}</Heading>
      <p className="muted" style={{ marginTop: -6 }}>
        {note}
      </p>
      <form
        className={framed ? "card form" : "form"}
        {...(framed && { style: { padding: 16 } })}
        onSubmit={onSubmit}
      >
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
        {needsChoice(plans, error) && <PlanChoice plans={plans} value={plan} onChange={setPlan} />}
        {error !== undefined &&
          (berthError(error).reason === ErrorReason.SEATS_AVAILABLE ? (
            <SeatsAvailable sessionId={berthError(error).metadata.session_id ?? ""} />
          ) : (
            <Alert color="red" role="alert">
              {explain(error, t, locale, zone)}
            </Alert>
          ))}
        <Button type="submit" size="md" loading={join.busy} disabled={!request}>
          {submitLabel}
        </Button>
      </form>
    </>
  );
}

/** Shown if a matching session has open seats, so that there is no need to wait. */
function SeatsAvailable({ sessionId }: { sessionId: string }) {
  const t = useText();
  const m = useMemberTexts();
  const found = useQuery(SessionService.method.getSession, { sessionId }).data?.session;
  const { year = 0, month = 0, day = 0 } = found?.localDate ?? {};
  return (
    <Alert color="tide" role="alert">
      {found ? m.timeWindow.free(found.title) : t.reasons.SEATS_AVAILABLE?.({})}{" "}
      {found && (
        <Link to={`/?date=${new Temporal.PlainDate(year, month, day)}`}>{m.timeWindow.see}</Link>
      )}
    </Alert>
  );
}
