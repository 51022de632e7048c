import { BookingService, type Member, type Session } from "@berthhq/client";
import { Checkbox, NumberInput } from "@mantine/core";
import { useState } from "react";
import { useText } from "../../i18n";
import { useCall } from "../../shared/calls";
import { FormEnd, Refused, useSubmit } from "../../shared/form";
import type { Catalog } from "../data";
import { MemberPicker } from "../picker";

/** Books a member, or adds them to the waitlist if the session is full. */
export function BookMember({
  session,
  catalog,
  onClose,
}: {
  session: Session;
  catalog: Catalog;
  onClose: () => void;
}) {
  const t = useText();
  const service = catalog.service(session.serviceId);
  const [member, setMember] = useState<Member>();
  const [party, setParty] = useState(Math.max(1, service?.minParty ?? 1));
  const [wait, setWait] = useState(true);
  const book = useCall(BookingService.method.book, {
    quiet: true,
    done: ({ outcome }) =>
      outcome.case === "entry"
        ? t.session.queued(outcome.value.memberName, outcome.value.position)
        : outcome.value && t.session.booked(outcome.value.memberName),
  });
  const most = service?.maxParty || service?.minParty || 1;
  const { error, onSubmit } = useSubmit(async () => {
    if (!member) return;
    await book.run({
      sessionId: session.id,
      memberId: member.id,
      partySize: party,
      noWaitlist: !wait,
    });
    onClose();
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      <MemberPicker label={t.session.bookFor} value={member} onChange={setMember} autoFocus />
      {most > 1 && (
        <NumberInput
          label={t.session.party}
          min={service?.minParty ?? 1}
          max={most}
          value={party}
          onChange={(value) => setParty(Number(value) || 1)}
        />
      )}
      {session.seatsOpen === 0 && session.waitlistCapacity > 0 && (
        <Checkbox
          label={t.app.join}
          checked={wait}
          onChange={(event) => setWait(event.currentTarget.checked)}
        />
      )}
      <Refused error={error} zone={session.timeZone} />
      <FormEnd act={t.app.book} busy={book.busy} disabled={!member} onCancel={onClose} />
    </form>
  );
}
