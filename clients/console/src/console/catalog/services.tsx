import { Delivery, type Service, TenantService } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  Autocomplete,
  Checkbox,
  ColorInput,
  NumberInput,
  SegmentedControl,
  Textarea,
} from "@mantine/core";
import { IconStack2 } from "@tabler/icons-react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCall, useRead } from "../../shared/calls";
import { MINUTE, showSpan, spanMs } from "../../shared/time";
import { Tag } from "../../shared/ui";
import { type Catalog, fallbackColor } from "../data";
import { EditForm, maskOf } from "../form";
import { ActiveSwitch, Name } from "../inputs";
import { EntityTable } from "./list";

/** Chosen to be distinguishable with color blindness, too. */
const swatches = [
  "#0f766e",
  "#2563eb",
  "#7c3aed",
  "#be185d",
  "#b45309",
  "#4d7c0f",
  "#475569",
  "#0e7490",
];

const lengthOf = ({ duration }: Service) => spanMs(duration);

export function Services({ catalog, archived }: { catalog: Catalog; archived: boolean }) {
  const t = useText();
  const d = useDesk();
  return (
    <EntityTable
      entities={catalog.services}
      archived={archived}
      add={d.catalog.newService}
      none={d.catalog.noServices}
      noneNote={d.catalog.noServicesNote}
      icon={IconStack2}
      note={d.catalog.servicesNote}
      columns={[
        {
          title: d.catalog.category,
          show: ({ category, color }) => (
            <span className="swatch-line">
              <i className="swatch" style={{ background: color || fallbackColor }} aria-hidden />
              {category || "–"}
            </span>
          ),
        },
        { title: d.catalog.length, right: true, show: (service) => showSpan(lengthOf(service)) },
        {
          title: t.fields.capacity,
          right: true,
          show: ({ defaultCapacity }) => defaultCapacity ?? t.session.noLimit,
        },
        {
          title: t.fields.waitlist,
          right: true,
          show: ({ defaultWaitlistCapacity }) => defaultWaitlistCapacity || "–",
        },
        {
          title: d.catalog.party,
          right: true,
          show: ({ minParty, maxParty }) => {
            const least = minParty || 1;
            const most = maxParty || least;
            return least === most ? least : `${least}–${most}`;
          },
        },
        {
          title: d.catalog.delivery,
          show: ({ delivery }) =>
            delivery === Delivery.FEED ? (
              <Tag tone="accent">{d.catalog.online}</Tag>
            ) : (
              d.catalog.inPerson
            ),
        },
      ]}
      form={(service, close) => <ServiceForm service={service} catalog={catalog} onClose={close} />}
    />
  );
}

interface Values {
  name: string;
  category: string;
  description: string;
  duration: number | "";
  defaultCapacity: number | "";
  unlimited: boolean;
  defaultWaitlistCapacity: number | "";
  minParty: number | "";
  maxParty: number | "";
  delivery: Delivery;
  color: string;
  active: boolean;
}

function versionOf(service: Service | undefined) {
  const values: Values = {
    name: service?.name ?? "",
    category: service?.category ?? "",
    description: service?.description ?? "",
    duration: service ? lengthOf(service) / MINUTE : 60,
    defaultCapacity: service ? (service.defaultCapacity ?? "") : 12,
    unlimited: service !== undefined && service.defaultCapacity === undefined,
    defaultWaitlistCapacity: service?.defaultWaitlistCapacity ?? 10,
    minParty: service?.minParty || 1,
    maxParty: service?.maxParty || service?.minParty || 1,
    delivery: service?.delivery || Delivery.IN_PERSON,
    color: service?.color ?? "",
    active: service?.active ?? true,
  };
  return { values, etag: service?.etag ?? "" };
}

function ServiceForm({
  service,
  catalog,
  onClose,
}: {
  service: Service | undefined;
  catalog: Catalog;
  onClose: () => void;
}) {
  const t = useText();
  const d = useDesk();
  const read = useRead();
  const create = useCall(TenantService.method.createService, { quiet: true, done: t.done.saved });
  const update = useCall(TenantService.method.updateService, { quiet: true, done: t.done.saved });
  const categories = new Set(catalog.services.map(({ category }) => category).filter(Boolean));
  const inputOf = (values: Values) => ({
    name: values.name.trim(),
    category: values.category.trim(),
    description: values.description,
    duration: durationFromMs(Number(values.duration || 60) * MINUTE),
    ...(!values.unlimited && { defaultCapacity: Number(values.defaultCapacity) }),
    defaultWaitlistCapacity: Number(values.defaultWaitlistCapacity),
    minParty: Number(values.minParty),
    maxParty: Number(values.maxParty),
    delivery: values.delivery,
    color: values.color,
    active: values.active,
  });
  return (
    <EditForm<Values>
      fresh={!service}
      current={versionOf(service)}
      names={{
        ...t.fields,
        category: d.catalog.category,
        duration: t.fields.minutes,
        defaultCapacity: t.fields.capacity,
        defaultWaitlistCapacity: t.fields.waitlist,
        minParty: d.catalog.leastParty,
        maxParty: d.catalog.mostParty,
        delivery: d.catalog.delivery,
        color: d.catalog.color,
        active: d.catalog.active,
      }}
      reread={async () => {
        const answer = await read(TenantService.method.getService, {
          serviceId: service?.id ?? "",
        });
        return versionOf(answer.service ?? service);
      }}
      save={(values, changed, etag) => {
        // "Unlimited" is the absence of a capacity.
        const paths = changed.map((key) => maskOf(key === "unlimited" ? "defaultCapacity" : key));
        return service
          ? update.run({
              service: { ...inputOf(values), id: service.id, etag },
              updateMask: { paths: [...new Set(paths)] },
            })
          : create.run({ service: inputOf(values) });
      }}
      onClose={onClose}
    >
      {({ values, set, ...form }) => (
        <>
          <Name {...form.text("name")} />
          <div className="two">
            <Autocomplete
              label={d.catalog.category}
              maxLength={100}
              data={[...categories]}
              value={values.category}
              onChange={(category) => set({ category })}
            />
            <ColorInput
              label={d.catalog.color}
              format="hex"
              withEyeDropper={false}
              swatches={swatches}
              swatchesPerRow={8}
              value={values.color}
              onChange={(color) => set({ color: /^#[0-9a-f]{6}$/i.test(color) ? color : "" })}
            />
          </div>
          <Textarea
            {...form.text("description")}
            label={t.fields.description}
            description={d.catalog.descriptionNote}
            autosize
            minRows={2}
            maxRows={8}
            maxLength={4000}
          />
          <div className="two">
            <NumberInput
              {...form.number("duration")}
              label={t.fields.minutes}
              required
              min={1}
              max={10_080}
              step={5}
            />
            <NumberInput
              {...form.number("defaultWaitlistCapacity")}
              label={t.fields.waitlist}
              min={0}
              max={10_000}
            />
          </div>
          <div>
            <NumberInput
              {...form.number("defaultCapacity")}
              label={t.fields.capacity}
              required={!values.unlimited}
              disabled={values.unlimited}
              min={0}
              max={100_000}
            />
            <Checkbox {...form.flag("unlimited")} mt={8} size="xs" label={t.fields.unlimited} />
          </div>
          <div className="two">
            <NumberInput
              {...form.number("minParty")}
              label={d.catalog.leastParty}
              min={1}
              max={Number(values.maxParty) || 1000}
            />
            <NumberInput
              {...form.number("maxParty")}
              label={d.catalog.mostParty}
              min={Number(values.minParty) || 1}
              max={1000}
            />
          </div>
          <SegmentedControl
            aria-label={d.catalog.delivery}
            value={String(values.delivery)}
            onChange={(delivery) => set({ delivery: Number(delivery) })}
            data={[
              { value: String(Delivery.IN_PERSON), label: d.catalog.inPerson },
              { value: String(Delivery.FEED), label: d.catalog.online },
            ]}
          />
          <p className="muted form-note">{d.catalog.defaultsNote}</p>
          {service && <ActiveSwitch {...form.flag("active")} />}
        </>
      )}
    </EditForm>
  );
}
