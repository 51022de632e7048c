import { BookingChannel, type Location } from "@berthhq/client";
import { Input, SegmentedControl } from "@mantine/core";
import { useText } from "../../shared/i18n";
import { uiTexts } from "../ui/texts";
import { bookingTexts } from "./texts";

const desk = [BookingChannel.PHONE, BookingChannel.WALK_IN, BookingChannel.ONLINE];

/** The channels through which staff book at a location, the usual one first. */
export const channelsFor = (location: Location | undefined): BookingChannel[] =>
  desk.filter((one) => location?.channels.includes(one));

interface ChannelInputProps {
  of: Location | undefined;
  value: BookingChannel;
  onChange: (channel: BookingChannel) => void;
}

/** Asks how somebody came to book: they called, they are here, or online. */
export function ChannelInput({ of, value, onChange }: ChannelInputProps) {
  const t = useText(bookingTexts, uiTexts);
  return (
    <Input.Wrapper label={t.hold.channel} labelElement="div">
      <SegmentedControl
        fullWidth
        aria-label={t.hold.channel}
        value={String(value)}
        onChange={(chosen) => onChange(Number(chosen))}
        data={channelsFor(of).map((one) => ({
          value: String(one),
          label: t.ui.channel[one] ?? "",
        }))}
      />
    </Input.Wrapper>
  );
}
