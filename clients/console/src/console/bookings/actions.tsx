import {
  type Booking,
  BookingService,
  BookingStatus,
  CheckInService,
  CreditService,
} from "@berthhq/client";
import { Button, Group } from "@mantine/core";
import { IconUserCheck } from "@tabler/icons-react";
import { useState } from "react";
import { useCall } from "../../shared/api/calls";
import { useCan } from "../../shared/auth/user";
import { DAY, millis } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { sessionOf } from "../../shared/schedules/summary";
import { CallButton } from "../../shared/ui/call-button";
import { later } from "../../shared/ui/lazy";
import { type Action, ActionsMenu } from "../ui";
import { bookingTexts } from "./texts";

const RescheduleModal = later(() => import("./reschedule"), "RescheduleModal", {
  opener: "booking",
});

const PaymentPanel = later(() => import("./payments"), "PaymentPanel", { opener: "booking" });

/** The longest time that a policy can open check-in before a session or keep it open after. */
const widestCheckIn = DAY;

interface BookingActionsProps {
  booking: Booking;
  /** Opens the form that confirms a hold. */
  onConfirm?: (booking: Booking) => void;
}

/** What staff can do with a booking. */
export function BookingActions({ booking, onConfirm }: BookingActionsProps) {
  const t = useText(bookingTexts);
  const [opened, open] = useState<"move" | "payment">();
  const close = () => open(undefined);
  const can = useCan();
  const undo = useCall(CheckInService.method.undoCheckIn);
  const noShow = useCall(BookingService.method.markNoShow);
  const undoNoShow = useCall(BookingService.method.undoNoShow);
  const release = useCall(BookingService.method.releaseHold, { done: t.hold.released });
  const refund = useCall(CreditService.method.refundCredit, { done: t.bookings.refunded });
  const { status, memberName } = booking;
  const input = { bookingId: booking.id };
  const cancel = useCall(BookingService.method.cancelBooking, {
    ask: {
      title: t.bookings.cancelTitle(memberName),
      body: t.bookings.cancelBody,
      yes: t.bookings.cancelBooking,
      reason: t.fields.reason,
      danger: true,
    },
    done: ({ creditRefunded, promoted }) => t.bookings.cancelled(creditRefunded, promoted),
  });
  const confirmed = status === BookingStatus.CONFIRMED;
  const started = millis(sessionOf(booking).startTime) < Date.now();
  const nearby =
    millis(sessionOf(booking).startTime) - widestCheckIn < Date.now() &&
    Date.now() < millis(sessionOf(booking).endTime) + widestCheckIn;
  const pending = status === BookingStatus.PENDING;
  const attended = status === BookingStatus.ATTENDED;
  const missed = status === BookingStatus.NO_SHOW;
  const actions: Action[] = [
    [confirmed && !started && can("booking.reschedule_any"), t.reschedule.open, () => open("move")],
    [can("payment.record") || can("payment.refund"), t.hold.payment, () => open("payment")],
    [pending && can("booking.confirm_any"), t.hold.release, () => release.run(input)],
    [attended && can("checkin.staff"), t.bookings.undoCheckIn, () => undo.run(input)],
    [confirmed && started && can("booking.no_show"), t.bookings.noShow, () => noShow.run(input)],
    [missed && can("booking.no_show"), t.bookings.undoNoShow, () => undoNoShow.run(input)],
    [booking.credits > 0 && can("credit.refund"), t.bookings.refund, () => refund.run(input)],
    [
      confirmed && can("booking.cancel_any"),
      t.bookings.cancelBooking,
      () => cancel.run({ ...input, overrideWindow: true }),
      "danger",
    ],
  ];
  return (
    <Group component="span" gap={4} display="inline-flex" wrap="nowrap">
      {confirmed && nearby && can("checkin.staff") && (
        <CallButton
          size="compact-sm"
          variant="light"
          leftSection={<IconUserCheck size={15} aria-hidden />}
          method={CheckInService.method.checkIn}
          input={input}
          done={({ alreadyCheckedIn }) => (alreadyCheckedIn ? t.bookings.alreadyIn : undefined)}
          aria-label={`${t.bookings.checkIn}: ${memberName}`}
        >
          {t.bookings.checkIn}
        </CallButton>
      )}
      {pending && onConfirm && can("booking.confirm_any") && (
        <Button
          size="compact-sm"
          variant="light"
          aria-label={`${t.hold.confirm}: ${memberName}`}
          onClick={() => onConfirm(booking)}
        >
          {t.hold.confirm}
        </Button>
      )}
      <ActionsMenu label={`${t.actions.actions}: ${memberName}`} actions={actions} />
      <RescheduleModal booking={opened === "move" ? booking : undefined} onClose={close} />
      <PaymentPanel booking={opened === "payment" ? booking : undefined} onClose={close} />
    </Group>
  );
}
