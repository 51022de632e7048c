import { BookingService, WaitlistService } from "@berthhq/client";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { notifications } from "@mantine/notifications";
import { useI18n, useText } from "../i18n";
import { ask } from "../shared/ask";
import { useCall, useFailed } from "../shared/calls";
import { millis, showTime } from "../shared/time";

/** Cancels a booking, after showing what that costs. */
export function useCancelBooking() {
  const t = useText();
  const { locale } = useI18n();
  const transport = useTransport();
  const fail = useFailed();
  const cancel = useCall(BookingService.method.cancelBooking, {
    done: ({ creditRefunded }) => (creditRefunded ? t.app.refunded : t.app.cancelled),
  });
  return async (bookingId: string) => {
    try {
      const { booking } = await callUnaryMethod(transport, BookingService.method.getBooking, {
        bookingId,
      });
      if (!booking) return;
      const until = booking.cancellableUntil;
      const free = until && millis(until) > Date.now();
      const answer = await ask({
        title: t.app.cancelTitle(booking.sessionTitle),
        body: free
          ? t.app.cancelFree(showTime(until, booking.timeZone, locale, "dayTime"))
          : t.app.cancelLate,
        yes: t.app.cancel,
        danger: true,
      });
      if (answer) await cancel.run({ bookingId });
    } catch (error) {
      fail(error);
    }
  };
}

export function useLeaveWaitlist() {
  const t = useText();
  const leave = useCall(WaitlistService.method.leaveWaitlist);
  return async (entryId: string, title: string) => {
    const answer = await ask({
      title: `${t.app.leave}: ${title}?`,
      yes: t.app.leave,
      danger: true,
    });
    if (answer && (await leave.run({ entryId }))) notifications.show({ message: t.app.cancelled });
  };
}
