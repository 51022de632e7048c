import { BookingCancellationKind, BookingService } from "@berthhq/client";
import { useCall, useFailed, useRead } from "../../shared/api/calls";
import { ask } from "../../shared/dialogs/question";
import { showTime } from "../../shared/format/time";
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
      const { title, timeZone } = sessionOf(booking);
      const { kind, returnedCredits = 0 } = booking.cancellation ?? {};
      const deadline = booking.cancelDeadline;
      const until = deadline ? showTime(deadline, timeZone, locale, "dayTime") : "";
      const free = returnedCredits > 0 ? t.app.cancelFree(until) : t.app.freeUntil(until);
      // What would be refused needs no question: the refusal says why.
      const answer =
        kind !== BookingCancellationKind.FREE && kind !== BookingCancellationKind.LATE
          ? true
          : await ask({
              title: t.app.cancelTitle(title),
              body: kind === BookingCancellationKind.FREE ? free : t.app.cancelLate,
              yes: t.app.cancel,
              danger: true,
            });
      if (answer) await cancel.run({ bookingId });
    } catch (error) {
      fail(error);
    }
  };
}
