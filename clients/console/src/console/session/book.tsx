import { BookingService, ErrorReason, type Member, type Session } from "@berthhq/client";
import { Alert, Button, Checkbox, NumberInput } from "@mantine/core";
import { useState } from "react";
import { useSpeech, useText } from "../../i18n";
import { useDo } from "../../shared/calls";
import { explain } from "../../shared/errors";
import type { Catalog } from "../data";
import { MemberPicker } from "../picker";

/** Books somebody in, or puts them on the waitlist. */
export function BookFor({
  session,
  catalog,
  onClose,
}: {
  session: Session;
  catalog: Catalog;
  onClose: () => void;
}) {
  const t = useText();
  const { locale } = useSpeech();
  const service = catalog.service(session.serviceId);
  const [member, setMember] = useState<Member>();
  const [party, setParty] = useState(Math.max(1, service?.minParty ?? 1));
  const [wait, setWait] = useState(true);
  const [error, setError] = useState<unknown>();
  const book = useDo(BookingService.method.book, {
    quiet: true,
    done: ({ outcome }) =>
      outcome.case === "entry"
        ? t.session.queued(outcome.value.memberName, outcome.value.position)
        : outcome.value && t.session.booked(outcome.value.memberName),
  });
  const most = service?.maxParty || service?.minParty || 1;
  return (
    <form
      className="form"
      onSubmit={async (event) => {
        event.preventDefault();
        if (!member) return;
        setError(undefined);
        try {
          await book.run({
            sessionId: session.id,
            memberId: member.id,
            partySize: party,
            noWaitlist: !wait,
          });
          onClose();
        } catch (thrown) {
          setError(thrown);
        }
      }}
    >
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
      {error !== undefined && (
        <Alert color="red">{explain(error, t, locale, session.timeZone) || ErrorReason[0]}</Alert>
      )}
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={book.busy} disabled={!member}>
          {t.app.book}
        </Button>
      </div>
    </form>
  );
}
