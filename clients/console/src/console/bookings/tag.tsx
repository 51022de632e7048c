import { type Booking, BookingStatus } from "@berthhq/client";
import { Text } from "@mantine/core";
import { useText } from "../../shared/i18n";
import { Tag, type Tone } from "../../shared/ui";
import { Countdown } from "../../shared/ui/countdown";

const tones: Partial<Record<BookingStatus, Tone>> = {
  [BookingStatus.CONFIRMED]: "accent",
  [BookingStatus.ATTENDED]: "good",
  [BookingStatus.NO_SHOW]: "bad",
  [BookingStatus.PENDING]: "warn",
};

export function BookingTag({ booking }: { booking: Booking }) {
  const t = useText();
  return (
    <>
      {booking.status === BookingStatus.PENDING && (
        <Text span inherit mr={8}>
          <Countdown until={booking.holdExpireTime} />
        </Text>
      )}
      <Tag tone={tones[booking.status] ?? ""}>{t.bookingStatus[booking.status]}</Tag>
    </>
  );
}
