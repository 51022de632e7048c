import { type Booking, BookingService, PaymentStatus } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import {
  Alert,
  Autocomplete,
  Button,
  Checkbox,
  NumberInput,
  SegmentedControl,
  Select,
  TextInput,
} from "@mantine/core";
import { useEffect, useState } from "react";
import { useI18n, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCall } from "../../shared/calls";
import { Countdown } from "../../shared/countdown";
import { Refused, useSubmit } from "../../shared/form";
import { useCan, useMe } from "../../shared/me";
import { amountOf, moneyOf, showMoney } from "../../shared/money";
import { millis } from "../../shared/time";

type Pays = "paid" | "reserved" | "later";

/** Whether a time has passed. Rerenders when it does. */
function usePassed(at: number): boolean {
  const [passed, setPassed] = useState(() => at <= Date.now());
  useEffect(() => {
    const left = at - Date.now();
    setPassed(left <= 0);
    if (left <= 0) return;
    const timer = setTimeout(() => setPassed(true), left);
    return () => clearTimeout(timer);
  }, [at]);
  return passed;
}

/** Confirms or releases a hold: its deadline, payment and items. */
export function ConfirmHold({
  booking,
  onClose,
  onAgain,
}: {
  booking: Booking;
  onClose: () => void;
  onAgain: () => void;
}) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const { locale } = useI18n();
  const { tenant } = useMe();
  const itemsTotal = booking.items.reduce(
    (sum, { price, quantity }) => sum + Number(amountOf(price)) * quantity,
    0,
  );
  const guest = booking.memberId === "";
  const [kept, setKept] = useState(() => booking.items.map(({ id }) => id));
  const [pays, setPays] = useState<Pays>(guest && itemsTotal > 0 ? "paid" : "later");
  const [amount, setAmount] = useState<number | "">(itemsTotal || "");
  const [method, setMethod] = useState<string>(d.hold.methods[0]);
  const [provider, setProvider] = useState("");
  const [number, setNumber] = useState("");
  const over = usePassed(millis(booking.holdExpireTime));
  const providers = useQuery(
    BookingService.method.listBenefitProviders,
    {},
    { enabled: can("catalog.read") },
  );
  const name = booking.memberName || booking.contact?.name || t.session.guest;
  const confirm = useCall(BookingService.method.confirmBooking, {
    quiet: true,
    done: t.session.booked(name),
  });
  const release = useCall(BookingService.method.releaseHold, { done: d.hold.released });
  const currency = booking.items.find(({ price }) => price)?.price?.currencyCode || tenant.currency;
  const accepted = (providers.data?.providers ?? []).filter(({ active }) => active);
  const { error, onSubmit } = useSubmit(async () => {
    await confirm.run({
      bookingId: booking.id,
      ...(pays !== "later" && {
        payment: {
          amount: moneyOf(Number(amount), currency),
          method,
          status: pays === "paid" ? PaymentStatus.CAPTURED : PaymentStatus.AUTHORIZED,
        },
      }),
      ...(provider && {
        benefitProviderCode: provider,
        benefitMembershipNumber: number.trim(),
      }),
      ...(booking.items.length > 0 && { items: { bookingItemIds: kept } }),
    });
    onClose();
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      <div className={`hold-clock ${over ? "over" : ""}`} aria-live="polite">
        <span>
          <strong>{name}</strong>
          <span className="muted">{d.hold.seats(booking.partySize)}</span>
        </span>
        <span className="hold-left">
          {over ? d.hold.over : <Countdown until={booking.holdExpireTime} />}
          {!over && <span className="muted">{d.hold.left}</span>}
        </span>
      </div>
      {over && <Alert color="yellow">{d.hold.overNote}</Alert>}
      {booking.items.length > 0 && (
        <Checkbox.Group label={d.hold.keep} value={kept} onChange={setKept}>
          <div style={{ display: "grid", gap: 8, marginTop: 8 }}>
            {booking.items.map(({ id, name: item, quantity, price }) => (
              <Checkbox
                key={id}
                value={id}
                label={`${quantity} ${item}${price ? `, ${showMoney(price, locale)}` : ""}`}
              />
            ))}
          </div>
        </Checkbox.Group>
      )}
      <div>
        <div className="label">{d.hold.payment}</div>
        <SegmentedControl
          fullWidth
          aria-label={d.hold.payment}
          value={pays}
          onChange={(value) => setPays(value as Pays)}
          data={[
            { value: "later", label: guest ? d.hold.later : d.hold.byPlan },
            { value: "paid", label: d.hold.paid },
            { value: "reserved", label: d.hold.reserved },
          ]}
        />
      </div>
      {pays !== "later" && (
        <div className="two">
          <NumberInput
            label={d.hold.amount}
            required
            min={0}
            decimalScale={2}
            suffix={` ${currency}`}
            value={amount}
            onChange={(value) => setAmount(typeof value === "number" ? value : "")}
          />
          <Autocomplete
            label={d.hold.method}
            maxLength={50}
            data={[...d.hold.methods]}
            value={method}
            onChange={setMethod}
          />
        </div>
      )}
      {accepted.length > 0 && (
        <div className="two">
          <Select
            label={d.hold.benefit}
            placeholder={d.hold.noBenefit}
            clearable
            value={provider || null}
            onChange={(code) => setProvider(code ?? "")}
            data={accepted.map(({ code, name: label, discountPercent }) => ({
              value: code,
              label: `${label} (−${discountPercent} %)`,
            }))}
          />
          <TextInput
            label={d.hold.number}
            required={provider !== ""}
            disabled={provider === ""}
            maxLength={100}
            value={number}
            onChange={(event) => setNumber(event.currentTarget.value)}
          />
        </div>
      )}
      <p className="muted form-note">{d.hold.moneyNote}</p>
      <Refused error={error} zone={booking.timeZone} />
      <div className="end">
        {over ? (
          <Button onClick={onAgain}>{d.hold.again}</Button>
        ) : (
          <>
            <Button
              mr="auto"
              variant="subtle"
              c="var(--bad)"
              loading={release.busy}
              onClick={async () => {
                if (await release.run({ bookingId: booking.id })) onClose();
              }}
            >
              {d.hold.release}
            </Button>
            <Button variant="default" onClick={onClose}>
              {d.hold.close}
            </Button>
            <Button type="submit" loading={confirm.busy}>
              {d.hold.confirm}
            </Button>
          </>
        )}
      </div>
    </form>
  );
}
