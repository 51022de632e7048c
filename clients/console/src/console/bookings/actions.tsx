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
import { useDeskTexts } from "../../i18n/desk";
import { useCall } from "../../shared/api/calls";
import { useCan } from "../../shared/auth/user";
import { DAY, millis } from "../../shared/format/time";
import { later } from "../../shared/loading/lazy";
import { CallButton } from "../../shared/ui/call-button";
import { type Action, ActionsMenu } from "../ui";

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
  const { t, d } = useDeskTexts();
  const [opened, open] = useState<"move" | "payment">();
  const close = () => open(undefined);
  const can = useCan();
  const undo = useCall(CheckInService.method.undoCheckIn);
  const noShow = useCall(BookingService.method.markNoShow);
  const undoNoShow = useCall(BookingService.method.undoNoShow);
  const release = useCall(BookingService.method.releaseHold, { done: d.hold.released });
  const refund = useCall(CreditService.method.refundCredit, { done: t.session.refunded });
  const { status, memberName } = booking;
  const input = { bookingId: booking.id };
  const cancel = useCall(BookingService.method.adminCancelBooking, {
    ask: {
      title: t.session.cancelTitle(memberName),
      body: t.session.cancelBody,
      yes: t.session.cancelBooking,
      reason: t.fields.reason,
      danger: true,
    },
    done: ({ creditRefunded, promoted }) => t.session.cancelled(creditRefunded, promoted),
  });
  const confirmed = status === BookingStatus.CONFIRMED;
  const started = millis(booking.sessionStartTime) < Date.now();
  const nearby =
    millis(booking.sessionStartTime) - widestCheckIn < Date.now() &&
    Date.now() < millis(booking.sessionEndTime) + widestCheckIn;
  const pending = status === BookingStatus.PENDING;
  const attended = status === BookingStatus.ATTENDED;
  const missed = status === BookingStatus.NO_SHOW;
  const actions: Action[] = [
    [confirmed && !started && can("booking.reschedule_any"), d.reschedule.open, () => open("move")],
    [can("payment.record") || can("payment.refund"), d.hold.payment, () => open("payment")],
    [pending && can("booking.confirm_any"), d.hold.release, () => release.run(input)],
    [attended && can("checkin.staff"), t.session.undoCheckIn, () => undo.run(input)],
    [confirmed && started && can("booking.no_show"), t.session.noShow, () => noShow.run(input)],
    [missed && can("booking.no_show"), t.session.undoNoShow, () => undoNoShow.run(input)],
    [booking.credits > 0 && can("credit.refund"), t.session.refund, () => refund.run(input)],
    [
      confirmed && can("booking.cancel_any"),
      t.session.cancelBooking,
      () => cancel.run(input),
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
          done={({ alreadyCheckedIn }) => (alreadyCheckedIn ? t.session.alreadyIn : undefined)}
          aria-label={`${t.session.checkIn}: ${memberName}`}
        >
          {t.session.checkIn}
        </CallButton>
      )}
      {pending && onConfirm && can("booking.confirm_any") && (
        <Button
          size="compact-sm"
          variant="light"
          aria-label={`${d.hold.confirm}: ${memberName}`}
          onClick={() => onConfirm(booking)}
        >
          {d.hold.confirm}
        </Button>
      )}
      <ActionsMenu label={`${t.actions.actions}: ${memberName}`} actions={actions} />
      <RescheduleModal booking={opened === "move" ? booking : undefined} onClose={close} />
      <PaymentPanel booking={opened === "payment" ? booking : undefined} onClose={close} />
    </Group>
  );
}
