import { type Booking, BookingService, PaymentLineKind, PaymentStatus } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import {
  Alert,
  Autocomplete,
  Checkbox,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useMe } from "../../shared/auth/user";
import { amountOf, moneyOf, showMoney } from "../../shared/format/money";
import { type Bound, useFields } from "../../shared/forms/form";
import { options } from "../../shared/forms/options";
import { useI18n, useText } from "../../shared/i18n";
import { sessionOf } from "../../shared/schedules/summary";
import { QueryResult, Time } from "../../shared/ui";
import { CallForm, CardHint, DataTable, Note, Panel } from "../ui";
import { useSave } from "../ui/edit-form";
import { Columns, Price } from "../ui/inputs";
import { bookingTexts } from "./texts";

interface PaymentPanelProps {
  booking: Booking | undefined;
  onClose: () => void;
}

/** The payment of a booking: what was recorded, and a form that records more. */
export function PaymentPanel({ booking, onClose }: PaymentPanelProps) {
  const t = useText(bookingTexts);
  return (
    <Panel of={booking} title={() => t.hold.payment} onClose={onClose}>
      {(of) => (
        <Stack gap={18}>
          <Entries booking={of} />
          <RecordPayment booking={of} onClose={onClose} />
        </Stack>
      )}
    </Panel>
  );
}

function Entries({ booking }: { booking: Booking }) {
  const { t, locale } = useI18n(bookingTexts);
  const late = booking.payment?.toRefund;
  const query = useQuery(BookingService.method.listPaymentLines, { bookingId: booking.id });
  return (
    <QueryResult query={query} rows={2}>
      {({ lines: entries }) => (
        <>
          {late && <Alert color="yellow">{t.payment.toRefund(showMoney(late, locale))}</Alert>}
          <DataTable
            rows={entries}
            caption={t.hold.payment}
            empty={<CardHint>{t.payment.none}</CardHint>}
            columns={[
              {
                show: ({ kind, method, reference, createTime }) => (
                  <>
                    {t.payment.kinds[kind]}
                    <Note>
                      <Time at={createTime} zone={sessionOf(booking).timeZone} as="dateTime" />
                      {[method, reference].map((text) => text && ` · ${text}`)}
                    </Note>
                  </>
                ),
              },
              { ta: "right", show: ({ amount }) => showMoney(amount, locale) },
            ]}
          />
        </>
      )}
    </QueryResult>
  );
}

function RecordPayment({ booking, onClose }: { booking: Booking; onClose: () => void }) {
  const t = useText(bookingTexts);
  const { tenant, can } = useMe();
  const { payment } = booking;
  const captured = Number(amountOf(payment?.amount));
  const kept = Math.round((captured - Number(amountOf(payment?.refundedAmount))) * 100) / 100;
  const acts = {
    ...(can("payment.record") && { record: t.payment.record }),
    ...(can("payment.refund") &&
      payment?.status === PaymentStatus.CAPTURED && { refund: t.payment.refund }),
  };
  const { values, set, ...form } = useFields({
    act: Object.keys(acts)[0] as "record" | "refund",
    amount: "" as number | "",
    method: t.hold.methods[0] as string,
    reference: "",
    beyondDue: false,
  });
  const { act, amount, method } = values;
  const record = useSave(BookingService.method.recordPayment, t.payment.recorded);
  const refund = useSave(BookingService.method.refundPayment, t.payment.refunded);
  if (!act) return null;
  const currency = payment?.amount?.currencyCode || tenant.currency;
  const facts = {
    amount: moneyOf(Number(amount), currency),
    method,
    reference: values.reference.trim(),
  };
  const bookingId = booking.id;
  return (
    <CallForm
      act={acts[act] ?? ""}
      disabled={amount === ""}
      run={() =>
        act === "record"
          ? record({
              bookingId,
              payment: { ...facts, kind: PaymentLineKind.CAPTURE },
              beyondDue: values.beyondDue,
            })
          : refund({ bookingId, ...facts })
      }
      onClose={onClose}
    >
      {Object.keys(acts).length > 1 && (
        <SegmentedControl
          fullWidth
          aria-label={t.hold.payment}
          value={act}
          onChange={(next) => set({ act: next, amount: next === "refund" ? kept : "" })}
          data={options(acts as Record<"record" | "refund", string>)}
        />
      )}
      <PaymentInputs form={form} focused currency={currency} />
      <TextInput label={t.payment.reference} maxLength={200} {...form.text("reference")} />
      {act === "record" && (
        <Checkbox
          label={t.payment.beyondDue}
          checked={values.beyondDue}
          onChange={({ currentTarget }) => set({ beyondDue: currentTarget.checked })}
        />
      )}
      <Text c="dimmed" fz="xs">
        {t.hold.moneyNote}
      </Text>
    </CallForm>
  );
}

interface PaymentInputsProps {
  form: Pick<Bound<{ amount: number | ""; method: string }>, "number" | "value">;
  /** The amount has the focus when the dialog opens. */
  focused?: true;
  currency: string;
}

/** How much is paid, and how. */
export function PaymentInputs({ form, focused, currency }: PaymentInputsProps) {
  const t = useText(bookingTexts);
  return (
    <Columns>
      <Price
        {...form.number("amount")}
        label={t.hold.amount}
        required
        currency={currency}
        data-autofocus={focused}
      />
      <Autocomplete
        label={t.hold.method}
        maxLength={50}
        data={[...t.hold.methods]}
        {...form.value("method")}
      />
    </Columns>
  );
}
