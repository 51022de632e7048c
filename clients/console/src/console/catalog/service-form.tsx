import { CatalogService, DeliveryMode, type Service, ServiceSchema } from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  Autocomplete,
  Checkbox,
  ColorInput,
  NumberInput,
  SegmentedControl,
  Textarea,
} from "@mantine/core";
import { MINUTE, spanMs } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { FieldHint } from "../ui";
import { EditForm, maskOf, pick, useSave } from "../ui/edit-form";
import { Columns, Name } from "../ui/inputs";
import type { MakingProps } from "./entity-table";
import { ActiveSwitch } from "./inputs";
import { useCatalog } from "./loaded";
import { catalogTexts } from "./texts";

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

const blank = create(ServiceSchema, {
  duration: durationFromMs(60 * MINUTE),
  defaultCapacity: 12,
  defaultWaitlistCapacity: 10,
  active: true,
});

const valuesOf = (service = blank) => ({
  ...pick(service, "name", "category", "description", "color", "active"),
  duration: (spanMs(service.duration) / MINUTE) as number | "",
  defaultCapacity: service.defaultCapacity ?? ("" as const),
  unlimited: service.defaultCapacity === undefined,
  defaultWaitlistCapacity: service.defaultWaitlistCapacity as number | "",
  minParty: service.minParty || (1 as number | ""),
  maxParty: service.maxParty || service.minParty || (1 as number | ""),
  delivery: service.delivery || DeliveryMode.IN_PERSON,
});

/** The values as the contract expects them. */
const inputOf = ({
  duration,
  unlimited,
  defaultCapacity,
  ...values
}: ReturnType<typeof valuesOf>) => ({
  ...values,
  name: values.name.trim(),
  category: values.category.trim(),
  duration: durationFromMs(Number(duration || 60) * MINUTE),
  ...(!unlimited && { defaultCapacity: Number(defaultCapacity) }),
  defaultWaitlistCapacity: Number(values.defaultWaitlistCapacity),
  minParty: Number(values.minParty),
  maxParty: Number(values.maxParty),
});

/** Creates or edits a service. */
export function ServiceForm({ entity: service, onClose, onMade }: MakingProps<Service>) {
  const t = useText(catalogTexts);
  const { services } = useCatalog();
  const make = useSave(CatalogService.method.createService);
  const update = useSave(CatalogService.method.updateService);
  const categories = new Set(services.map(({ category }) => category).filter(Boolean));
  return (
    <EditForm
      entity={service}
      valuesOf={valuesOf}
      names={{
        ...t.fields,
        ...t.catalog,
        duration: t.fields.minutes,
        defaultCapacity: t.fields.capacity,
        defaultWaitlistCapacity: t.fields.waitlist,
        minParty: t.catalog.leastParty,
        maxParty: t.catalog.mostParty,
      }}
      // "Unlimited" is the absence of a capacity.
      pathOf={(key) => maskOf(key === "unlimited" ? "defaultCapacity" : key)}
      save={async (values, { updateMask, etag }) => {
        const input = inputOf(values);
        if (service) return update({ serviceId: service.id, service: input, updateMask, etag });
        const made = (await make({ service: input }))?.service;
        if (made) onMade?.(made);
        return made;
      }}
      onClose={onClose}
    >
      {({ values, set, ...form }) => (
        <>
          <Name {...form.text("name")} />
          <Columns>
            <Autocomplete {...form.value("category")} maxLength={100} data={[...categories]} />
            <ColorInput
              {...form.text("color")}
              format="hex"
              withEyeDropper={false}
              swatches={swatches}
              swatchesPerRow={8}
              onChange={(color) => set({ color: /^#[0-9a-f]{6}$/i.test(color) ? color : "" })}
            />
          </Columns>
          <Textarea
            {...form.text("description")}
            description={t.catalog.descriptionNote}
            autosize
            minRows={2}
            maxRows={8}
            maxLength={4000}
          />
          <Columns>
            <NumberInput {...form.number("duration")} required min={1} max={10_080} step={5} />
            <NumberInput {...form.number("defaultWaitlistCapacity")} min={0} max={10_000} />
          </Columns>
          <div>
            <NumberInput
              {...form.number("defaultCapacity")}
              required={!values.unlimited}
              disabled={values.unlimited}
              min={0}
              max={100_000}
            />
            <Checkbox {...form.flag("unlimited")} mt={8} size="xs" />
          </div>
          <Columns>
            <NumberInput
              {...form.number("minParty")}
              min={1}
              max={Number(values.maxParty) || 1000}
            />
            <NumberInput
              {...form.number("maxParty")}
              min={Number(values.minParty) || 1}
              max={1000}
            />
          </Columns>
          <SegmentedControl
            aria-label={t.catalog.delivery}
            value={values.delivery}
            onChange={(delivery) => set({ delivery })}
            data={[
              { value: DeliveryMode.IN_PERSON, label: t.catalog.inPerson },
              { value: DeliveryMode.FEED, label: t.catalog.online },
            ]}
          />
          <FieldHint>{t.catalog.defaultsNote}</FieldHint>
          {service && <ActiveSwitch {...form.flag("active")} />}
        </>
      )}
    </EditForm>
  );
}
