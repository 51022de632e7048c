import {
  type Booking,
  BookingChannel,
  BookingService,
  CatalogService,
  type Item,
  type Member,
  type Session,
} from "@berthhq/client";
import { NumberInput, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { useCall } from "../../shared/api/calls";
import { useAll } from "../../shared/api/lists";
import { showMoney } from "../../shared/format/money";
import { useFields } from "../../shared/forms/form";
import { options } from "../../shared/forms/options";
import { useI18n, useText } from "../../shared/i18n";
import { useCatalog } from "../catalog/loaded";
import { CallForm, Dimmed, dotted, MemberPicker } from "../ui";
import { Columns } from "../ui/inputs";
import { uiTexts } from "../ui/texts";
import { ChannelInput, channelsFor } from "./channel";
import classes from "./new-hold.module.css";
import { bookingTexts } from "./texts";

interface NewHoldProps {
  session: Session;
  onHeld: (booking: Booking) => void;
  onClose: () => void;
}

/** Holds a seat for a member or a guest. */
export function NewHold({ session, onHeld, onClose }: NewHoldProps) {
  const t = useText(bookingTexts, uiTexts);
  const catalog = useCatalog();
  const service = catalog.service(session.serviceId);
  const place = catalog.location(session.locationId);
  const least = service?.minParty || 1;
  const most = Math.max(least, service?.maxParty ?? 1);
  const [member, setMember] = useState<Member>();
  const form = useFields(
    {
      guest: false,
      name: "",
      email: "",
      phone: "",
      tier: "",
      party: least,
      channel: channelsFor(place)[0] ?? BookingChannel.PHONE,
      note: "",
    },
    { ...t.fields, party: t.hold.party, note: t.ui.staffNote },
  );
  const { values, set } = form;
  const { guest, name, email, phone, tier, party, channel, note } = values;
  const [chosen, setChosen] = useState<Readonly<Record<string, number>>>({});
  const hold = useCall(BookingService.method.holdBooking, { quiet: true });
  const items = useAll(
    CatalogService.method.listItems,
    { filter: { locationId: session.locationId } },
    (answer) => answer.items,
  );
  const ready = guest ? name.trim() !== "" : member !== undefined;
  const run = async () => {
    const answer = await hold.run({
      sessionId: session.id,
      partySize: party,
      channel,
      note,
      items: Object.entries(chosen)
        .filter(([, quantity]) => quantity > 0)
        .map(([itemId, quantity]) => ({ itemId, quantity })),
      ...(guest
        ? { contact: { name, email, phone }, guestTier: tier.trim() }
        : { memberId: member?.id ?? "" }),
    });
    if (answer?.booking) onHeld(answer.booking);
    return false;
  };
  return (
    <CallForm
      act={t.hold.act}
      run={run}
      disabled={!ready}
      zone={session.timeZone}
      onClose={onClose}
    >
      <SegmentedControl
        fullWidth
        aria-label={t.hold.who}
        value={guest ? "guest" : "member"}
        onChange={(value) => set({ guest: value === "guest" })}
        data={options({ member: t.roleNames.member, guest: t.ui.guest })}
      />
      {guest ? (
        <>
          <TextInput {...form.text("name")} required maxLength={200} data-autofocus />
          <Columns>
            <TextInput {...form.text("email")} type="email" maxLength={254} />
            <TextInput
              {...form.text("phone")}
              type="tel"
              description={t.common.phoneNote}
              maxLength={40}
            />
          </Columns>
          <TextInput {...form.text("tier")} description={t.hold.tierNote} maxLength={50} />
        </>
      ) : (
        <MemberPicker label={t.ui.member} value={member} onChange={setMember} />
      )}
      <Columns>
        <NumberInput
          {...form.count("party", least)}
          description={
            session.seatsOpen === undefined ? undefined : t.bookings.open(session.seatsOpen)
          }
          inputWrapperOrder={["label", "input", "description"]}
          min={least}
          max={most}
          disabled={least === most}
        />
        <ChannelInput of={place} value={channel} onChange={(channel) => set({ channel })} />
      </Columns>
      {(items.data ?? []).length > 0 && (
        <ItemsInput items={items.data ?? []} chosen={chosen} onChange={setChosen} />
      )}
      <Textarea {...form.text("note")} autosize maxLength={1000} />
    </CallForm>
  );
}

interface ItemsInputProps {
  items: readonly Item[];
  chosen: Readonly<Record<string, number>>;
  onChange: (chosen: Readonly<Record<string, number>>) => void;
}

/** How many of each item are reserved with a booking. */
function ItemsInput({ items, chosen, onChange }: ItemsInputProps) {
  const { t, locale } = useI18n(bookingTexts);
  return (
    <fieldset className={classes.items}>
      <legend>{t.hold.items}</legend>
      {items.map(({ id, name, stock, price }) => (
        <div key={id}>
          <span>
            {name}
            <Dimmed display="block" fz="xs">
              {dotted(showMoney(price, locale), t.hold.inStock(stock))}
            </Dimmed>
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
