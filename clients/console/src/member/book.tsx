import {
  type Booking,
  BookingService,
  CreditService,
  EligibilityStatus,
  ErrorReason,
  type Item,
  type Location,
  type Service,
  type Session,
  type Subscription,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { Link } from "react-router";
import { useI18n, useText } from "../i18n";
import { useMemberTexts } from "../i18n/member";
import { useAll } from "../shared/all";
import { useCall } from "../shared/calls";
import { reasonOf } from "../shared/errors";
import { Refused } from "../shared/form";
import { showPrice } from "../shared/money";
import { zoneName } from "../shared/time";
import { Time } from "../shared/ui";
import { Confirm } from "./held";

/** Subscriptions that can pay for a booking. */
export function usePlans(): readonly Subscription[] {
  const balance = useQuery(CreditService.method.getBalance, {});
  return (balance.data?.subscriptions ?? []).filter(({ status }) => status === 1);
}

export function PlanChoice({
  plans,
  value,
  onChange,
}: {
  plans: readonly Subscription[];
  value: string;
  onChange: (id: string) => void;
}) {
  const t = useText();
  return (
    <NativeSelect
      label={t.app.plan}
      required
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[
        { value: "", label: "" },
        ...plans.map(({ id, planName, balance, planKind }) => ({
          value: id,
          label: planKind === 2 ? `${planName} (${t.app.credit(balance)})` : planName,
        })),
      ]}
    />
  );
}

/** Whether the member must choose a plan. */
export const needsChoice = (plans: readonly Subscription[], error: unknown): boolean =>
  plans.length > 1 || (error !== undefined && reasonOf(error) === ErrorReason.PLAN_CHOICE_REQUIRED);

interface Chosen {
  session: Session;
  service: Service | undefined;
  place: Location | undefined;
  onClose: () => void;
}

/** Books a session. If it has items, the seat is held first while the member chooses. */
export function BookForm({ session, service, place, onClose }: Chosen) {
  const t = useText();
  const m = useMemberTexts();
  const { locale } = useI18n();
  const plans = usePlans();
  const items = useAll(
    BookingService.method.listItems,
    { locationId: session.locationId },
    (answer) => answer.items,
    { staleTime: 60_000 },
  );
  const [party, setParty] = useState(Math.max(1, service?.minParty ?? 1));
  const [guests, setGuests] = useState("");
  const [extras, setExtras] = useState<Readonly<Record<string, number>>>({});
  const [plan, setPlan] = useState("");
  const [error, setError] = useState<unknown>();
  const [hold, setHold] = useState<Booking>();
  const book = useCall(BookingService.method.book, { quiet: true });
  const keep = useCall(BookingService.method.holdBooking, { quiet: true });
  const most = service?.maxParty || service?.minParty || 1;
  const waits = session.eligibility?.status === EligibilityStatus.WAITLIST;
  const holds = !waits && (items.data?.length ?? 0) > 0;
  const submit = async () => {
    setError(undefined);
    try {
      if (holds) {
        const answer = await keep.run({
          sessionId: session.id,
          partySize: party,
          note: guests,
          items: Object.entries(extras)
            .filter(([, quantity]) => quantity > 0)
            .map(([itemId, quantity]) => ({ itemId, quantity })),
        });
        setHold(answer?.booking);
        return;
      }
      const answer = await book.run({
        sessionId: session.id,
        partySize: party,
        note: guests,
        subscriptionId: plan,
      });
      if (answer?.outcome.case === "entry") {
        notifications.show({ message: t.app.queuedNow(answer.outcome.value.position) });
      } else notifications.show({ message: t.app.bookedNow(session.title) });
      onClose();
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <div className="form">
      <p style={{ margin: 0 }}>
        <strong style={{ fontWeight: 600 }}>
          <Time at={session.startTime} zone={session.timeZone} as="longDay" />,{" "}
          <Time at={session.startTime} zone={session.timeZone} as="time" />
        </strong>
        <br />
        <span className="muted">
          {session.coachName && `${m.with(session.coachName)} · `}
          {place?.name}
          {place?.address && `, ${place.address}`} · {zoneName(session.timeZone, locale)}
        </span>
      </p>
      {hold ? (
        <Confirm hold={hold} onDone={onClose} />
      ) : (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          {(session.description || service?.description) && (
            <p style={{ margin: 0, whiteSpace: "pre-wrap" }}>
              {session.description || service?.description}
            </p>
          )}
          {most > 1 && (
            <NumberInput
              label={t.app.party}
              min={service?.minParty ?? 1}
              max={most}
              value={party}
              onChange={(value) => setParty(Number(value) || 1)}
            />
          )}
          {party > 1 && (
            <TextInput
              label={m.hold.guests}
              description={m.hold.guestsNote}
              maxLength={1000}
              value={guests}
              onChange={(event) => setGuests(event.currentTarget.value)}
            />
          )}
          {holds && items.data && items.data.length > 0 && (
            <fieldset className="extras">
              <legend>{m.hold.extras}</legend>
              {items.data.map((item) => (
                <Extra
                  key={item.id}
                  item={item}
                  value={extras[item.id] ?? 0}
                  onChange={(quantity) =>
                    setExtras((before) => ({ ...before, [item.id]: quantity }))
                  }
                />
              ))}
            </fieldset>
          )}
          {!holds && needsChoice(plans, error) && (
            <PlanChoice plans={plans} value={plan} onChange={setPlan} />
          )}
          <Refused error={error} zone={session.timeZone} />
          {holds && (
            <p className="muted" style={{ margin: 0 }}>
              {m.hold.note}
            </p>
          )}
          <Button
            type="submit"
            size="md"
            fullWidth
            loading={book.busy || keep.busy}
            disabled={items.isPending}
            data-autofocus
          >
            {waits ? t.app.join : holds ? m.hold.hold : t.app.book}
          </Button>
          {waits && (
            <Button component={Link} to={`/wait/any?session=${session.id}`} variant="subtle">
              {m.any.here}
            </Button>
          )}
        </form>
      )}
    </div>
  );
}

function Extra({
  item,
  value,
  onChange,
}: {
  item: Item;
  value: number;
  onChange: (quantity: number) => void;
}) {
  const m = useMemberTexts();
  const { locale } = useI18n();
  const price = showPrice(item.price, locale);
  return (
    <NumberInput
      label={price ? `${item.name}, ${price}` : item.name}
      description={m.hold.inStock(item.stock)}
      min={0}
      max={Math.min(item.stock, 100)}
      value={value}
      onChange={(next) => onChange(Number(next) || 0)}
    />
  );
}
