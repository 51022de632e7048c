import { type Booking, BookingItemStatus, BookingService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Button, Checkbox, NativeSelect, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useEffect, useState } from "react";
import { useI18n, useText } from "../i18n";
import { useMemberTexts } from "../i18n/member";
import { useCall } from "../shared/calls";
import { Countdown } from "../shared/countdown";
import { Refused, useSubmit } from "../shared/form";
import { showPrice } from "../shared/money";
import { millis, type Timestamp } from "../shared/time";
import { needsChoice, PlanChoice, usePlans } from "./book";

/** Whether a time has passed. Rerenders when it does. */
export function usePassed(at: Timestamp | undefined): boolean {
  const [passed, setPassed] = useState(() => millis(at) <= Date.now());
  useEffect(() => {
    const left = millis(at) - Date.now();
    setPassed(left <= 0);
    if (left <= 0) return;
    const timer = setTimeout(() => setPassed(true), Math.min(left, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  }, [at]);
  return passed;
}

/** Confirms or releases a hold: items, plan and partner membership. */
export function Confirm({ hold, onDone }: { hold: Booking; onDone: () => void }) {
  const t = useText();
  const m = useMemberTexts();
  const { locale } = useI18n();
  const plans = usePlans();
  const cards = useQuery(BookingService.method.listBenefitProviders, {}, { staleTime: 60_000 });
  const over = usePassed(hold.holdExpireTime);
  const lines = hold.items.filter(({ status }) => status === BookingItemStatus.PENDING);
  const [dropped, setDropped] = useState<ReadonlySet<string>>(new Set());
  const [plan, setPlan] = useState("");
  const [card, setCard] = useState("");
  const [number, setNumber] = useState("");
  const confirm = useCall(BookingService.method.confirmBooking, { quiet: true });
  const release = useCall(BookingService.method.releaseHold, { done: m.hold.released });
  const providers = (cards.data?.providers ?? []).filter(({ active }) => active);
  const { error, onSubmit } = useSubmit(async () => {
    await confirm.run({
      bookingId: hold.id,
      subscriptionId: plan,
      benefitProviderCode: card,
      benefitMembershipNumber: card && number.trim(),
      items: {
        bookingItemIds: lines.map(({ id }) => id).filter((id) => !dropped.has(id)),
      },
    });
    notifications.show({ message: t.app.bookedNow(hold.sessionTitle) });
    onDone();
  });
  if (over) return <Alert color="yellow">{m.hold.over}</Alert>;
  return (
    <form className="form" onSubmit={onSubmit}>
      <div className="held" role="status">
        <span>
          {m.hold.held}
          {hold.partySize > 1 && ` × ${hold.partySize}`} · {m.hold.left}
        </span>
        <Countdown until={hold.holdExpireTime} />
      </div>
      <p className="muted" style={{ margin: 0 }}>
        {m.hold.heldNote}
      </p>
      {lines.length > 0 && (
        <fieldset className="extras">
          <legend>{m.hold.extras}</legend>
          {lines.map(({ id, name, quantity, price }) => {
            const each = showPrice(price, locale);
            const line = m.hold.keep(name, quantity);
            return (
              <Checkbox
                key={id}
                label={each ? `${line}, ${each}` : line}
                checked={!dropped.has(id)}
                onChange={(event) => {
                  const next = new Set(dropped);
                  if (event.currentTarget.checked) next.delete(id);
                  else next.add(id);
                  setDropped(next);
                }}
              />
            );
          })}
        </fieldset>
      )}
      {providers.length > 0 && (
        <NativeSelect
          label={m.hold.card}
          value={card}
          onChange={(event) => setCard(event.currentTarget.value)}
          data={[
            { value: "", label: m.hold.noCard },
            ...providers.map(({ code, name }) => ({ value: code, label: name })),
          ]}
        />
      )}
      {card && (
        <TextInput
          label={m.hold.cardNumber}
          required
          maxLength={100}
          value={number}
          onChange={(event) => setNumber(event.currentTarget.value)}
        />
      )}
      {needsChoice(plans, error) && <PlanChoice plans={plans} value={plan} onChange={setPlan} />}
      <Refused error={error} zone={hold.timeZone} />
      <div style={{ display: "flex", gap: 8 }}>
        <Button type="submit" style={{ flex: 1 }} loading={confirm.busy} data-autofocus>
          {m.hold.confirm}
        </Button>
        <Button
          variant="default"
          loading={release.busy}
          onClick={async () => {
            if (await release.run({ bookingId: hold.id })) onDone();
          }}
        >
          {m.hold.release}
        </Button>
      </div>
    </form>
  );
}
