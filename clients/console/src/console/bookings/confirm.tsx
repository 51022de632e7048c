import { type Booking, BookingService, CatalogService, PaymentLineKind } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import {
  Alert,
  Button,
  Checkbox,
  Input,
  SegmentedControl,
  Select,
  Stack,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import { useCall } from "../../shared/api/calls";
import { useCan, useMe } from "../../shared/auth/user";
import { amountOf, moneyOf, showMoney } from "../../shared/format/money";
import {
  type Bound,
  Form,
  FormError,
  FormFoot,
  useFields,
  useSubmit,
} from "../../shared/forms/form";
import { options } from "../../shared/forms/options";
import { useI18n, useText } from "../../shared/i18n";
import { sessionOf } from "../../shared/schedules/summary";
import { CallButton } from "../../shared/ui/call-button";
import { Countdown, usePassed } from "../../shared/ui/countdown";
import { Dimmed, FieldHint } from "../ui";
import { Columns } from "../ui/inputs";
import { uiTexts } from "../ui/texts";
import classes from "./confirm.module.css";
import { PaymentInputs } from "./payments";
import { bookingTexts } from "./texts";

interface ConfirmHoldProps {
  booking: Booking;
  onClose: () => void;
  onAgain: () => void;
}

/** Confirms or releases a hold: its deadline, payment and items. */
export function ConfirmHold({ booking, onClose, onAgain }: ConfirmHoldProps) {
  const { t, locale } = useI18n(bookingTexts, uiTexts);
  const { tenant } = useMe();
  const itemsTotal = booking.items.reduce(
    (sum, { price, quantity }) => sum + Number(amountOf(price)) * quantity,
    0,
  );
  const guest = booking.memberId === "";
  const records = useCan()("payment.record");
  const [kept, setKept] = useState(() => booking.items.map(({ id }) => id));
  const { values, ...form } = useFields({
    pays: (records && guest && itemsTotal > 0 ? "paid" : "later") as "paid" | "reserved" | "later",
    amount: (itemsTotal || "") as number | "",
    method: t.hold.methods[0] as string,
    provider: "",
    number: "",
  });
  const { pays, amount, method, provider, number } = values;
  const over = usePassed(booking.holdExpireTime);
  const name = booking.memberName || booking.contact?.name || t.ui.guest;
  const confirm = useCall(BookingService.method.confirmBooking, {
    quiet: true,
    done: t.bookings.booked(name),
  });
  const currency = booking.items.find(({ price }) => price)?.price?.currencyCode || tenant.currency;
  const { error, onSubmit } = useSubmit(async () => {
    await confirm.run({
      bookingId: booking.id,
      ...(pays !== "later" && {
        payment: {
          amount: moneyOf(Number(amount), currency),
          method,
          kind: pays === "paid" ? PaymentLineKind.CAPTURE : PaymentLineKind.AUTHORIZATION,
        },
      }),
      ...(provider && { benefitProviderCode: provider, benefitMembershipNumber: number.trim() }),
      ...(booking.items.length > 0 && { items: { bookingItemIds: kept } }),
    });
    onClose();
  });
  return (
    <Form onSubmit={onSubmit}>
      <div className={classes.clock} data-over={over || undefined} aria-live="polite">
        <span>
          <strong>{name}</strong>
          <Dimmed display="block" fz="xs">
            {t.hold.seats(booking.partySize)}
          </Dimmed>
        </span>
        <span className={classes.left}>
          {over ? t.hold.over : <Countdown until={booking.holdExpireTime} />}
          {!over && (
            <Dimmed display="block" fz="xs">
              {t.hold.left}
            </Dimmed>
          )}
        </span>
      </div>
      {over && <Alert color="yellow">{t.hold.overNote}</Alert>}
      {booking.items.length > 0 && (
        <Checkbox.Group label={t.hold.keep} value={kept} onChange={setKept}>
          <Stack gap={8} mt={8}>
            {booking.items.map(({ id, name: item, quantity, price }) => (
              <Checkbox
                key={id}
                value={id}
                label={`${quantity} ${item}${price ? `, ${showMoney(price, locale)}` : ""}`}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
      {records && (
        <Input.Wrapper label={t.hold.payment} labelElement="div">
          <SegmentedControl
            fullWidth
            aria-label={t.hold.payment}
            {...form.value("pays")}
            data={options({
              later: guest ? t.hold.later : t.hold.byPlan,
              paid: t.hold.paid,
              reserved: t.hold.reserved,
            })}
          />
        </Input.Wrapper>
      )}
      {pays !== "later" && <PaymentInputs form={form} currency={currency} />}
      <Benefit form={form} chosen={provider !== ""} />
      {records && <FieldHint>{t.hold.moneyNote}</FieldHint>}
      <FormError error={error} zone={sessionOf(booking).timeZone} />
      <FormFoot>
        {over ? (
          <Button onClick={onAgain}>{t.hold.again}</Button>
        ) : (
          <>
            <CallButton
              mr="auto"
              variant="subtle"
              c="var(--bad)"
              method={BookingService.method.releaseHold}
              input={{ bookingId: booking.id }}
              done={t.hold.released}
              onDone={onClose}
            >
              {t.hold.release}
            </CallButton>
            <Button variant="default" onClick={onClose}>
              {t.hold.close}
            </Button>
            <Button type="submit" loading={confirm.busy}>
              {t.hold.confirm}
            </Button>
          </>
        )}
      </FormFoot>
    </Form>
  );
}

interface BenefitProps {
  form: Pick<Bound<{ provider: string; number: string }>, "choice" | "text">;
  chosen: boolean;
}

/** A partner's benefit, and the membership number that it needs. */
function Benefit({ form, chosen }: BenefitProps) {
  const t = useText(bookingTexts, uiTexts);
  const can = useCan();
  const providers = useQuery(
    CatalogService.method.listBenefitProviders,
    {},
    { enabled: can("catalog.read") },
  );
  const accepted = (providers.data?.providers ?? []).filter(({ active }) => active);
  if (accepted.length === 0) return null;
  return (
    <Columns>
      <Select
        {...form.choice("provider")}
        label={t.hold.benefit}
        placeholder={t.hold.noBenefit}
        clearable
        data={accepted.map(({ code, name, discountPercent }) => ({
          value: code,
          label: `${name} (−${discountPercent} %)`,
        }))}
      />
      <TextInput
        {...form.text("number")}
        label={t.ui.membershipNumber}
        required={chosen}
        disabled={!chosen}
        maxLength={100}
      />
    </Columns>
  );
}
