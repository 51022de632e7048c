import { type Member, WaitlistService } from "@berthhq/client";
import { Alert, Button, Modal, NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { useState } from "react";
import { useSpeech, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useDo } from "../../shared/calls";
import { explain } from "../../shared/errors";
import { useMe } from "../../shared/root";
import { parseClock, Temporal, today, zoneName } from "../../shared/time";
import { Shown } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";

/** Puts a member on the waitlist for whatever opens at a place, on some days, at some times. */
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

const dateOf = (text: string) => {
  const { year, month, day } = Temporal.PlainDate.from(text);
  return { year, month, day };
};

const clockOf = (text: string) => {
  const minute = parseClock(text);
  return minute === undefined
    ? undefined
    : { hours: Math.floor(minute / 60), minutes: minute % 60 };
};

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
  const [error, setError] = useState<unknown>();
  const join = useDo(WaitlistService.method.joinWaitlist, { quiet: true, done: d.wish.done });
  const service = catalog.service(serviceId);
  const resources = catalog.resources.filter(
    (resource) => resource.active && resource.locationId === locationId,
  );
  const [first, last] = days;
  return (
    <form
      className="form"
      onSubmit={async (event) => {
        event.preventDefault();
        setError(undefined);
        try {
          const [from, to] = [clockOf(earliest), clockOf(latest)];
          await join.run({
            memberId: member.id,
            wish: {
              case: "window",
              value: {
                serviceId,
                locationId,
                resourceId,
                firstDate: dateOf(first ?? today(zone).toString()),
                ...(last && { lastDate: dateOf(last) }),
                ...(from && { earliestStart: from }),
                ...(to && { latestStart: to }),
              },
            },
            partySize: party,
            coachId,
            note,
          });
          onClose();
        } catch (thrown) {
          setError(thrown);
        }
      }}
    >
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
          data={services.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <Select
          label={t.fields.location}
          required
          value={locationId || null}
          onChange={(id) => {
            setLocation(id ?? "");
            setResource("");
          }}
          data={places.map(({ id, name }) => ({ value: id, label: name }))}
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
          data={resources.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <Select
          label={t.fields.coach}
          placeholder={d.wish.any}
          clearable
          searchable
          value={coachId || null}
          onChange={(id) => setCoach(id ?? "")}
          data={catalog.staff.map(({ id, name }) => ({ value: id, label: name }))}
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
      {error !== undefined && <Alert color="red">{explain(error, t, locale, zone)}</Alert>}
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={join.busy} disabled={!serviceId || !locationId || !first}>
          {d.wish.act}
        </Button>
      </div>
    </form>
  );
}
