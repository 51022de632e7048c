import { type Booking, BookingStatus } from "@berthhq/client";
import { useText } from "../../i18n";
import { Tag, type Tone } from "../../shared/ui";

const tones: Partial<Record<BookingStatus, Tone>> = {
  [BookingStatus.CONFIRMED]: "accent",
  [BookingStatus.ATTENDED]: "good",
  [BookingStatus.NO_SHOW]: "bad",
  [BookingStatus.PENDING]: "warn",
};

export function BookingTag({ booking }: { booking: Booking }) {
  const t = useText();
  return <Tag tone={tones[booking.status] ?? ""}>{t.bookingStatus[booking.status]}</Tag>;
}
