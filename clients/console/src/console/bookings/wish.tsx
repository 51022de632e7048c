import { type Member, WaitlistService } from "@berthhq/client";
import { Modal, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { useState } from "react";
import { useSpeech, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useDo } from "../../shared/calls";
import { FormEnd, named, Refused, useSubmit } from "../../shared/form";
import { useMe } from "../../shared/me";
import { civilDay, timeOfDay, today, zoneName } from "../../shared/time";
import { Shown } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";

/** Adds a member to the waitlist for a time window at a location. */
export function WishModal({
  member,
  opened,
  onClose,
}: {
  member: Member;
  opened: boolean;
  onClose: () => void;
}) {
  const d = useDesk();
  const catalog = useCatalog();
  return (
    <Modal opened={opened} onClose={onClose} title={d.wish.title(member.name)} size={540}>
      {opened && (
        <Shown of={catalog}>
          {(all) => <Wish member={member} catalog={all} onClose={onClose} />}
        </Shown>
      )}
    </Modal>
  );
}

function Wish({
  member,
  catalog,
  onClose,
}: {
  member: Member;
  catalog: Catalog;
  onClose: () => void;
}) {
  const t = useText();
  const d = useDesk();
  const { locale } = useSpeech();
  const { tenant } = useMe();
  const places = catalog.locations.filter(({ active }) => active);
  const services = catalog.services.filter(({ active }) => active);
  const [locationId, setLocation] = useState(places.length === 1 ? (places[0]?.id ?? "") : "");
  const [serviceId, setService] = useState(services.length === 1 ? (services[0]?.id ?? "") : "");
  const [resourceId, setResource] = useState("");
  const [coachId, setCoach] = useState("");
  const zone = catalog.location(locationId)?.timeZone ?? tenant.timeZone;
  const [days, setDays] = useState<[string | null, string | null]>([
    today(zone).toString(),
    today(zone).add({ days: 6 }).toString(),
  ]);
  const [earliest, setEarliest] = useState("");
  const [latest, setLatest] = useState("");
  const [party, setParty] = useState(1);
  const [note, setNote] = useState("");
  const join = useDo(WaitlistService.method.joinWaitlist, { quiet: true, done: d.wish.done });
  const service = catalog.service(serviceId);
  const resources = catalog.resources.filter(
    (resource) => resource.active && resource.locationId === locationId,
  );
  const [first, last] = days;
  const { error, onSubmit } = useSubmit(async () => {
    await join.run({
      memberId: member.id,
      wish: {
        case: "window",
        value: {
          serviceId,
          locationId,
          resourceId,
          firstDate: civilDay(first ?? today(zone).toString()),
          ...(last && { lastDate: civilDay(last) }),
          ...(earliest && { earliestStart: timeOfDay(earliest) }),
          ...(latest && { latestStart: timeOfDay(latest) }),
        },
      },
      partySize: party,
      coachId,
      note,
    });
    onClose();
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      <p className="muted" style={{ margin: 0, fontSize: 13 }}>
        {d.wish.note}
      </p>
      <div className="two">
        <Select
          label={t.fields.service}
          required
          searchable
          value={serviceId || null}
          onChange={(id) => setService(id ?? "")}
          data={named(services)}
        />
        <Select
          label={t.fields.location}
          required
          value={locationId || null}
          onChange={(id) => {
            setLocation(id ?? "");
            setResource("");
          }}
          data={named(places)}
        />
      </div>
      <DatePickerInput
        type="range"
        label={d.wish.days}
        required
        allowSingleDateInRange
        value={days}
        valueFormat="ddd, D MMM"
        minDate={today(zone).toString()}
        onChange={setDays}
      />
      <div className="two">
        <TextInput
          type="time"
          label={d.wish.earliest}
          value={earliest}
          onChange={(event) => setEarliest(event.currentTarget.value)}
        />
        <TextInput
          type="time"
          label={d.wish.latest}
          value={latest}
          onChange={(event) => setLatest(event.currentTarget.value)}
        />
      </div>
      <p className="muted form-note">
        {t.schedule.zone(zone.replaceAll("_", " "), zoneName(zone, locale))}. {d.wish.timesNote}
      </p>
      <div className="two">
        <Select
          label={t.fields.resource}
          placeholder={d.wish.any}
          clearable
          disabled={resources.length === 0}
          value={resourceId || null}
          onChange={(id) => setResource(id ?? "")}
          data={named(resources)}
        />
        <Select
          label={t.fields.coach}
          placeholder={d.wish.any}
          clearable
          searchable
          value={coachId || null}
          onChange={(id) => setCoach(id ?? "")}
          data={named(catalog.staff)}
        />
      </div>
      {(service?.maxParty ?? 1) > 1 && (
        <NumberInput
          label={t.session.party}
          min={service?.minParty || 1}
          max={service?.maxParty ?? 1}
          value={party}
          onChange={(value) => setParty(Number(value) || 1)}
        />
      )}
      <Textarea
        label={d.wish.staffNote}
        autosize
        maxLength={1000}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <Refused error={error} zone={zone} />
      <FormEnd
        act={d.wish.act}
        busy={join.busy}
        disabled={!serviceId || !locationId || !first}
        onCancel={onClose}
      />
    </form>
  );
}
