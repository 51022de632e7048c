import { type Member, WaitlistService } from "@berthhq/client";
import { NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { DatePickerInput } from "@mantine/dates";
import { useState } from "react";
import { useMe } from "../../shared/auth/user";
import { civilDay, timeOfDay, today, zoneName } from "../../shared/format/time";
import { useFields } from "../../shared/forms/form";
import { named } from "../../shared/forms/options";
import { useI18n } from "../../shared/i18n";
import { onlyId } from "../catalog/data";
import { useCatalog, WithCatalog } from "../catalog/loaded";
import { CallForm, type Days, FieldHint, SmallHint } from "../ui";
import { useSave } from "../ui/edit-form";
import { Columns } from "../ui/inputs";
import { uiTexts } from "../ui/texts";
import { waitlistTexts } from "./texts";

/** Adds a member to the waitlist for a time window at a location. */
export const TimeWindow = (props: TimeWindowProps) => (
  <WithCatalog>
    <TimeWindowForm {...props} />
  </WithCatalog>
);

interface TimeWindowProps {
  member: Member;
  onClose: () => void;
}

function TimeWindowForm({ member, onClose }: TimeWindowProps) {
  const catalog = useCatalog();
  const { t, locale } = useI18n(uiTexts, waitlistTexts);
  const { tenant } = useMe();
  const locations = catalog.locations.filter(({ active }) => active);
  const services = catalog.services.filter(({ active }) => active);
  const { values, set, ...form } = useFields({
    locationId: onlyId(locations),
    serviceId: onlyId(services),
    resourceId: "",
    coachId: "",
    earliest: "",
    latest: "",
    partySize: 1,
    note: "",
  });
  const { locationId, serviceId, earliest, latest, partySize } = values;
  const zone = catalog.location(locationId)?.timeZone ?? tenant.timeZone;
  const [days, setDays] = useState<Days>([
    today(zone).toString(),
    today(zone).add({ days: 6 }).toString(),
  ]);
  const join = useSave(WaitlistService.method.joinWaitlist, t.timeWindow.done);
  const service = catalog.service(serviceId);
  const resources = catalog.resources.filter(
    (resource) => resource.active && resource.locationId === locationId,
  );
  const [first, last] = days;
  const run = () =>
    join({
      memberId: member.id,
      target: {
        case: "window",
        value: {
          serviceId,
          locationId,
          resourceId: values.resourceId,
          firstDate: civilDay(first ?? today(zone).toString()),
          ...(last && { lastDate: civilDay(last) }),
          ...(earliest && { earliestStart: timeOfDay(earliest) }),
          ...(latest && { latestStart: timeOfDay(latest) }),
        },
      },
      partySize,
      coachId: values.coachId,
      note: values.note,
    });
  return (
    <CallForm
      act={t.timeWindow.act}
      run={run}
      disabled={!serviceId || !locationId || !first}
      zone={zone}
      onClose={onClose}
    >
      <SmallHint>{t.timeWindow.note}</SmallHint>
      <Columns>
        <Select
          label={t.fields.service}
          required
          searchable
          {...form.choice("serviceId")}
          data={named(services)}
        />
        <Select
          label={t.fields.location}
          required
          value={locationId || null}
          onChange={(id) => set({ locationId: id ?? "", resourceId: "" })}
          data={named(locations)}
        />
      </Columns>
      <DatePickerInput
        type="range"
        label={t.timeWindow.days}
        required
        allowSingleDateInRange
        value={days}
        valueFormat="ddd, D MMM"
        minDate={today(zone).toString()}
        onChange={setDays}
      />
      <Columns>
        <TextInput type="time" label={t.timeWindow.earliest} {...form.text("earliest")} />
        <TextInput type="time" label={t.timeWindow.latest} {...form.text("latest")} />
      </Columns>
      <FieldHint>
        {t.ui.zone(zone.replaceAll("_", " "), zoneName(zone, locale))}. {t.timeWindow.timesNote}
      </FieldHint>
      <Columns>
        <Select
          label={t.fields.resource}
          placeholder={t.timeWindow.any}
          clearable
          disabled={resources.length === 0}
          {...form.choice("resourceId")}
          data={named(resources)}
        />
        <Select
          label={t.fields.coach}
          placeholder={t.timeWindow.any}
          clearable
          searchable
          {...form.choice("coachId")}
          data={named(catalog.staff)}
        />
      </Columns>
      {(service?.maxParty ?? 1) > 1 && (
        <NumberInput
          {...form.count("partySize", 1)}
          label={t.ui.party}
          min={service?.minParty || 1}
          max={service?.maxParty ?? 1}
        />
      )}
      <Textarea label={t.ui.staffNote} autosize maxLength={1000} {...form.text("note")} />
    </CallForm>
  );
}
