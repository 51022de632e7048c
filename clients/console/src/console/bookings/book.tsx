import { BookingService, type Member, type Session } from "@berthhq/client";
import { Checkbox, NumberInput } from "@mantine/core";
import { useState } from "react";
import { useText } from "../../i18n";
import { useFields } from "../../shared/forms/form";
import { useCatalog } from "../catalog/loaded";
import { CallForm, MemberPicker } from "../ui";
import { useSave } from "../ui/edit-form";

interface BookMemberProps {
  session: Session;
  onClose: () => void;
}

/** Books a member, or adds them to the waitlist if the session is full. */
export function BookMember({ session, onClose }: BookMemberProps) {
  const t = useText();
  const service = useCatalog().service(session.serviceId);
  const [member, setMember] = useState<Member>();
  const form = useFields({ party: Math.max(1, service?.minParty ?? 1), wait: true });
  const book = useSave(BookingService.method.book, ({ outcome }) =>
    outcome.case === "entry"
      ? t.session.queued(outcome.value.memberName, outcome.value.position)
      : outcome.value && t.session.booked(outcome.value.memberName),
  );
  const most = service?.maxParty || service?.minParty || 1;
  const run = () =>
    book({
      sessionId: session.id,
      memberId: member?.id ?? "",
      partySize: form.values.party,
      noWaitlist: !form.values.wait,
    });
  return (
    <CallForm
      act={t.app.book}
      run={run}
      disabled={!member}
      zone={session.timeZone}
      onClose={onClose}
    >
      <MemberPicker label={t.session.bookFor} value={member} onChange={setMember} autoFocus />
      {most > 1 && (
        <NumberInput
          {...form.count("party", 1)}
          label={t.session.party}
          min={service?.minParty ?? 1}
          max={most}
        />
      )}
      {session.seatsOpen === 0 && session.waitlistCapacity > 0 && (
        <Checkbox label={t.app.join} {...form.flag("wait")} />
      )}
    </CallForm>
  );
}
