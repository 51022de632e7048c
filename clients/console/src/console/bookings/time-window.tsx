import { type Member, WaitlistService } from "@berthhq/client";
import { Modal, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { useState } from "react";
import { useI18n, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCall } from "../../shared/calls";
import { FormEnd, named, Refused, useSubmit } from "../../shared/form";
import { useMe } from "../../shared/me";
import { civilDay, timeOfDay, today, zoneName } from "../../shared/time";
import { Shown } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";

/** Adds a member to the waitlist for a time window at a location. */
export function TimeWindowModal({
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
    <Modal opened={opened} onClose={onClose} title={d.timeWindow.title(member.name)} size={540}>
      {opened && (
        <Shown of={catalog}>
          {(all) => <TimeWindowForm member={member} catalog={all} onClose={onClose} />}
        </Shown>
      )}
    </Modal>
  );
}

function TimeWindowForm({
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
  const { locale } = useI18n();
  const { tenant } = useMe();
  const locations = catalog.locations.filter(({ active }) => active);
  const services = catalog.services.filter(({ active }) => active);
  const [locationId, setLocation] = useState(
    locations.length === 1 ? (locations[0]?.id ?? "") : "",
  );
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
  const join = useCall(WaitlistService.method.joinWaitlist, {
    quiet: true,
    done: d.timeWindow.done,
  });
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
        {d.timeWindow.note}
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
          data={named(locations)}
        />
      </div>
      <DatePickerInput
        type="range"
        label={d.timeWindow.days}
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
          label={d.timeWindow.earliest}
          value={earliest}
          onChange={(event) => setEarliest(event.currentTarget.value)}
        />
        <TextInput
          type="time"
          label={d.timeWindow.latest}
          value={latest}
          onChange={(event) => setLatest(event.currentTarget.value)}
        />
      </div>
      <p className="muted form-note">
        {t.schedule.zone(zone.replaceAll("_", " "), zoneName(zone, locale))}.{" "}
        {d.timeWindow.timesNote}
      </p>
      <div className="two">
        <Select
          label={t.fields.resource}
          placeholder={d.timeWindow.any}
          clearable
          disabled={resources.length === 0}
          value={resourceId || null}
          onChange={(id) => setResource(id ?? "")}
          data={named(resources)}
        />
        <Select
          label={t.fields.coach}
          placeholder={d.timeWindow.any}
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
        label={d.timeWindow.staffNote}
        autosize
        maxLength={1000}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <Refused error={error} zone={zone} />
      <FormEnd
        act={d.timeWindow.act}
        busy={join.busy}
        disabled={!serviceId || !locationId || !first}
        onCancel={onClose}
      />
    </form>
  );
}
