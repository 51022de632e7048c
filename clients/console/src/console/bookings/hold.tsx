import { useLast } from "../../shared/last";
import "./bookings.css";
import {
  type Booking,
  BookingService,
  BookingStatus,
  Channel,
  type Item,
  type Member,
  type Session,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import {
  Alert,
  Button,
  Drawer,
  NumberInput,
  SegmentedControl,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import { useI18n, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useAll } from "../../shared/all";
import { useCall } from "../../shared/calls";
import { FormEnd, Refused, useSubmit } from "../../shared/form";
import { showMoney } from "../../shared/money";
import { Time } from "../../shared/ui";
import type { Catalog } from "../data";
import { MemberPicker } from "../picker";
import { ConfirmHold } from "./confirm";

/** What the drawer shows: a session to hold a seat in, or an existing hold. */
export type Held =
  | { readonly kind: "new"; readonly session: Session }
  | { readonly kind: "held"; readonly booking: Booking; readonly session: Session };

/** Holds a seat while someone pays, then confirms or releases the hold. */
export function HoldDrawer({
  held,
  catalog,
  onChange,
}: {
  held: Held | undefined;
  catalog: Catalog;
  onChange: (held: Held | undefined) => void;
}) {
  const d = useDesk();
  const [last, turn] = useLast(held);
  return (
    <Drawer
      opened={held !== undefined}
      onClose={() => onChange(undefined)}
      title={last?.kind === "held" ? d.hold.confirmTitle : d.hold.title}
      size={500}
    >
      {last && (
        <>
          <p className="hold-what">
            <strong>{last.session.title}</strong>
            <span className="muted">
              <Time at={last.session.startTime} zone={last.session.timeZone} as="dayTime" />
              {" · "}
              {catalog.location(last.session.locationId)?.name}
            </span>
          </p>
          {last.kind === "new" ? (
            <NewHold
              key={turn}
              session={last.session}
              catalog={catalog}
              onHeld={(booking) => onChange({ kind: "held", booking, session: last.session })}
              onClose={() => onChange(undefined)}
            />
          ) : (
            <Current held={last} onClose={() => onChange(undefined)} onChange={onChange} />
          )}
        </>
      )}
    </Drawer>
  );
}

/** Shows the current booking, because another user may confirm or release it. */
function Current({
  held,
  onClose,
  onChange,
}: {
  held: Extract<Held, { kind: "held" }>;
  onClose: () => void;
  onChange: (held: Held) => void;
}) {
  const d = useDesk();
  const query = useQuery(BookingService.method.getBooking, { bookingId: held.booking.id });
  const booking = query.data?.booking ?? held.booking;
  if (booking.status === BookingStatus.PENDING) {
    return (
      <ConfirmHold
        booking={booking}
        onClose={onClose}
        onAgain={() => onChange({ kind: "new", session: held.session })}
      />
    );
  }
  return (
    <div className="form">
      <Alert color={booking.status === BookingStatus.CONFIRMED ? "tide" : "yellow"}>
        {d.hold.became[booking.status]}
      </Alert>
      <div className="end">
        {booking.status !== BookingStatus.CONFIRMED && (
          <Button onClick={() => onChange({ kind: "new", session: held.session })}>
            {d.hold.again}
          </Button>
        )}
        <Button variant="default" onClick={onClose}>
          {d.hold.close}
        </Button>
      </div>
    </div>
  );
}

function NewHold({
  session,
  catalog,
  onHeld,
  onClose,
}: {
  session: Session;
  catalog: Catalog;
  onHeld: (booking: Booking) => void;
  onClose: () => void;
}) {
  const t = useText();
  const d = useDesk();
  const { locale } = useI18n();
  const service = catalog.service(session.serviceId);
  const place = catalog.location(session.locationId);
  const least = service?.minParty || 1;
  const most = Math.max(least, service?.maxParty ?? 1);
  const [guest, setGuest] = useState(false);
  const [member, setMember] = useState<Member>();
  const [contact, setContact] = useState({ name: "", email: "", phone: "" });
  const [tier, setTier] = useState("");
  const [party, setParty] = useState(least);
  const [channel, setChannel] = useState<Channel>(
    place?.channels.includes(Channel.PHONE) ? Channel.PHONE : Channel.WALK_IN,
  );
  const [chosen, setChosen] = useState<Readonly<Record<string, number>>>({});
  const [note, setNote] = useState("");
  const hold = useCall(BookingService.method.holdBooking, { quiet: true });
  const items = useAll(
    BookingService.method.listItems,
    { locationId: session.locationId },
    (answer) => answer.items,
  );
  const field = (key: keyof typeof contact) => ({
    label: t.fields[key],
    value: contact[key],
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget;
      setContact((before) => ({ ...before, [key]: value }));
    },
  });
  const ready = guest ? contact.name.trim() !== "" : member !== undefined;
  const { error, onSubmit } = useSubmit(async () => {
    const answer = await hold.run({
      sessionId: session.id,
      partySize: party,
      channel,
      note,
      items: Object.entries(chosen)
        .filter(([, quantity]) => quantity > 0)
        .map(([itemId, quantity]) => ({ itemId, quantity })),
      ...(guest ? { contact, guestTier: tier.trim() } : { memberId: member?.id ?? "" }),
    });
    if (answer?.booking) onHeld(answer.booking);
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      <SegmentedControl
        fullWidth
        aria-label={d.hold.who}
        value={guest ? "guest" : "member"}
        onChange={(value) => setGuest(value === "guest")}
        data={[
          { value: "member", label: t.roleNames.member },
          { value: "guest", label: t.session.guest },
        ]}
      />
      {guest ? (
        <>
          <TextInput {...field("name")} required maxLength={200} data-autofocus />
          <div className="two">
            <TextInput {...field("email")} type="email" maxLength={254} />
            <TextInput {...field("phone")} type="tel" maxLength={40} />
          </div>
          <TextInput
            label={t.fields.tier}
            description={d.hold.tierNote}
            maxLength={50}
            value={tier}
            onChange={(event) => setTier(event.currentTarget.value)}
          />
        </>
      ) : (
        <MemberPicker label={t.session.bookFor} value={member} onChange={setMember} />
      )}
      <div className="two">
        <NumberInput
          label={d.hold.party}
          description={
            session.seatsOpen === undefined ? undefined : t.session.open(session.seatsOpen)
          }
          inputWrapperOrder={["label", "input", "description"]}
          min={least}
          max={most}
          disabled={least === most}
          value={party}
          onChange={(value) => setParty(Number(value) || least)}
        />
        <div>
          <div className="label">{d.hold.channel}</div>
          <SegmentedControl
            fullWidth
            size="sm"
            aria-label={d.hold.channel}
            value={String(channel)}
            onChange={(value) => setChannel(Number(value))}
            data={[Channel.PHONE, Channel.WALK_IN, Channel.ONLINE]
              .filter((one) => place?.channels.includes(one))
              .map((one) => ({ value: String(one), label: t.session.channel[one] ?? "" }))}
          />
        </div>
      </div>
      {(items.data ?? []).length > 0 && (
        <Items items={items.data ?? []} chosen={chosen} onChange={setChosen} locale={locale} />
      )}
      <Textarea
        label={d.timeWindow.staffNote}
        autosize
        maxLength={1000}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <Refused error={error} zone={session.timeZone} />
      <FormEnd act={d.hold.act} busy={hold.busy} disabled={!ready} onCancel={onClose} />
    </form>
  );
}

function Items({
  items,
  chosen,
  onChange,
  locale,
}: {
  items: readonly Item[];
  chosen: Readonly<Record<string, number>>;
  onChange: (chosen: Readonly<Record<string, number>>) => void;
  locale: string;
}) {
  const d = useDesk();
  return (
    <fieldset className="items">
      <legend>{d.hold.items}</legend>
      {items.map(({ id, name, stock, price }) => (
        <div key={id}>
          <span>
            {name}
            <span className="muted">
              {[showMoney(price, locale), d.hold.inStock(stock)].filter(Boolean).join(" · ")}
            </span>
          </span>
          <NumberInput
            aria-label={name}
            size="xs"
            w={84}
            min={0}
            max={Math.min(100, stock)}
            value={chosen[id] ?? 0}
            onChange={(value) => onChange({ ...chosen, [id]: Number(value) || 0 })}
          />
        </div>
      ))}
    </fieldset>
  );
}
