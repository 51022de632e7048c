import {
  BookingChannel,
  BookingService,
  type Member,
  type Session,
  WhenFull,
} from "@berthhq/client";
import { Checkbox, NumberInput } from "@mantine/core";
import { useState } from "react";
import { useCan } from "../../shared/auth/user";
import { millis } from "../../shared/format/time";
import { useFields } from "../../shared/forms/form";
import { useText } from "../../shared/i18n";
import { useCatalog } from "../catalog/loaded";
import { CallForm, MemberPicker } from "../ui";
import { useSave } from "../ui/edit-form";
import { uiTexts } from "../ui/texts";
import { ChannelInput, channelsFor } from "./channel";
import { bookingTexts } from "./texts";

interface BookMemberProps {
  session: Session;
  onClose: () => void;
}

/** Books a member, or adds them to the waitlist if the session is full. */
export function BookMember({ session, onClose }: BookMemberProps) {
  const t = useText(bookingTexts, uiTexts);
  const can = useCan();
  const catalog = useCatalog();
  const service = catalog.service(session.serviceId);
  const place = catalog.location(session.locationId);
  const [member, setMember] = useState<Member>();
  const form = useFields({
    party: Math.max(1, service?.minParty ?? 1),
    channel: channelsFor(place)[0] ?? BookingChannel.PHONE,
    wait: true,
    raise: false,
  });
  const book = useSave(BookingService.method.book, ({ outcome }) =>
    outcome.case === "entry"
      ? t.bookings.queued(outcome.value.memberName, outcome.value.position ?? 0)
      : outcome.value && t.bookings.booked(outcome.value.memberName),
  );
  const most = service?.maxParty || service?.minParty || 1;
  const full = session.seatsOpen !== undefined && session.seatsOpen < form.values.party;
  const raisable = full && can("booking.over_capacity");
  const raise = raisable && form.values.raise;
  const run = () =>
    book({
      sessionId: session.id,
      memberId: member?.id ?? "",
      partySize: form.values.party,
      channel: form.values.channel,
      whenFull: form.values.wait ? WhenFull.WAITLIST : WhenFull.REFUSE,
      raiseCapacity: raise,
    });
  return (
    <CallForm
      act={t.common.book}
      run={run}
      disabled={!member}
      zone={session.timeZone}
      onClose={onClose}
    >
      <MemberPicker label={t.ui.member} value={member} onChange={setMember} autoFocus />
      {most > 1 && (
        <NumberInput
          {...form.count("party", 1)}
          label={t.ui.party}
          min={service?.minParty ?? 1}
          max={most}
        />
      )}
      <ChannelInput
        of={place}
        value={form.values.channel}
        onChange={(channel) => form.set({ channel })}
      />
      {full && !raise && millis(session.startTime) > Date.now() && session.waitlistCapacity > 0 && (
        <Checkbox label={t.common.join} {...form.flag("wait")} />
      )}
      {raisable && <Checkbox label={t.bookings.raise} {...form.flag("raise")} />}
    </CallForm>
  );
}
