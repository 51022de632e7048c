import { BookingService } from "@berthhq/client";
import { useCall, useFailed, useRead } from "../../shared/api/calls";
import { ask } from "../../shared/dialogs/question";
import { millis, showTime } from "../../shared/format/time";
import { useI18n } from "../../shared/i18n";
import { sessionOf } from "../../shared/schedules/summary";
import { memberTexts } from "../texts";

/** Cancels a booking, after showing what that costs. */
export function useCancelBooking() {
  const { t, locale } = useI18n(memberTexts);
  const read = useRead();
  const fail = useFailed();
  const cancel = useCall(BookingService.method.cancelBooking, {
    done: ({ creditRefunded }) => (creditRefunded ? t.app.refunded : t.app.cancelled),
  });
  return async (bookingId: string) => {
    try {
      const { booking } = await read(BookingService.method.getBooking, { bookingId });
      if (!booking) return;
      const until = booking.cancellableUntil;
      const free = until && millis(until) > Date.now();
      const answer = await ask({
        title: t.app.cancelTitle(sessionOf(booking).title),
        body: free
          ? t.app.cancelFree(showTime(until, sessionOf(booking).timeZone, locale, "dayTime"))
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
