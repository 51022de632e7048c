import { BookingChannel, CatalogService, type Location, LocationSchema } from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { Checkbox, Group, NumberInput, Textarea } from "@mantine/core";
import { IconMapPin } from "@tabler/icons-react";
import { useCan } from "../../shared/auth/user";
import { here, zoneName } from "../../shared/format/time";
import { useI18n, useText } from "../../shared/i18n";
import { Tag } from "../../shared/ui";
import { Dimmed, FieldHint, Inline } from "../ui";
import { EditForm, maskOf, pick, useSave } from "../ui/edit-form";
import { Columns, Name, Zone } from "../ui/inputs";
import text from "../ui/text.module.css";
import { uiTexts } from "../ui/texts";
import { EntityTable, type MakingProps } from "./entity-table";
import { ActiveSwitch } from "./inputs";
import { useCatalog } from "./loaded";
import { catalogTexts } from "./texts";

const ways = [BookingChannel.ONLINE, BookingChannel.PHONE, BookingChannel.WALK_IN] as const;

export function Locations({ archived }: { archived: boolean }) {
  const { t, locale } = useI18n(catalogTexts, uiTexts);
  return (
    <EntityTable
      entities={useCatalog().locations}
      archived={archived}
      {...t.catalog.tables.locations}
      icon={IconMapPin}
      columns={[
        { title: t.catalog.address, show: ({ address }) => address || "–" },
        {
          title: t.fields.timeZone,
          show: ({ timeZone }) => (
            <>
              {timeZone.replaceAll("_", " ")} <Dimmed>{zoneName(timeZone, locale)}</Dimmed>
            </>
          ),
        },
        {
          title: t.catalog.channels,
          show: ({ channels }) =>
            channels.length === 0 ? (
              <Tag tone="bad">{t.catalog.noChannels}</Tag>
            ) : (
              <Inline gap={4}>
                {ways
                  .filter((way) => channels.includes(way))
                  .map((way) => (
                    <Tag key={way} tone="plain">
                      {t.ui.channel[way]}
                    </Tag>
                  ))}
              </Inline>
            ),
        },
        {
          title: t.catalog.position,
          className: `${text.num} ${text.nowrap}`,
          show: ({ geo }) =>
            geo ? (
              `${geo.latitude.toFixed(4)}, ${geo.longitude.toFixed(4)}`
            ) : (
              <Dimmed>{t.catalog.noPosition}</Dimmed>
            ),
        },
      ]}
      Form={LocationForm}
    />
  );
}

const valuesOf = (location: Location) => ({
  ...pick(location, "name", "timeZone", "address", "active"),
  latitude: location.geo?.latitude ?? ("" as const),
  longitude: location.geo?.longitude ?? ("" as const),
  channels: [...location.channels].sort(),
});

/** Creates or edits a location. A new one is in the browser's time zone, unless the user chooses another. */
export function LocationForm({ entity: location, onClose, onMade }: MakingProps<Location>) {
  const t = useText(catalogTexts, uiTexts);
  const can = useCan();
  const blank = create(LocationSchema, { timeZone: here(), channels: [...ways], active: true });
  const make = useSave(CatalogService.method.createLocation);
  const update = useSave(CatalogService.method.updateLocation);
  return (
    <EditForm
      entity={location}
      valuesOf={(of = blank) => valuesOf(of)}
      names={{ ...t.fields, ...t.catalog }}
      pathOf={(key) => (key === "latitude" || key === "longitude" ? "geo" : maskOf(key))}
      show={(key, value) =>
        key === "channels"
          ? (value as BookingChannel[]).map((way) => t.ui.channel[way]).join(", ")
          : String(value)
      }
      save={async ({ channels, active, latitude, longitude, ...values }, { updateMask, etag }) => {
        const input = {
          ...values,
          name: values.name.trim(),
          ...(latitude !== "" && longitude !== "" && { geo: { latitude, longitude } }),
        };
        if (location) {
          const edited = { ...input, channels, active };
          return update({ locationId: location.id, location: edited, updateMask, etag });
        }
        // A new location takes bookings on all channels unless it names some.
        const chosen = updateMask.paths.includes("channels");
        const made = (await make({ location: { ...input, ...(chosen && { channels }) } }))
          ?.location;
        if (made && chosen && channels.length === 0) {
          await update({
            locationId: made.id,
            location: {},
            updateMask: { paths: ["channels"] },
          });
        }
        if (made) onMade?.(made);
        return made;
      }}
      onClose={onClose}
    >
      {({ values, set, ...form }) => (
        <>
          <Name {...form.text("name")} />
          <Zone {...form.choice("timeZone")} description={t.catalog.zoneNote} />
          <Textarea {...form.text("address")} autosize maxLength={500} />
          <Columns>
            <NumberInput
              {...form.number("latitude")}
              min={-90}
              max={90}
              decimalScale={6}
              required={values.longitude !== ""}
            />
            <NumberInput
              {...form.number("longitude")}
              min={-180}
              max={180}
              decimalScale={6}
              required={values.latitude !== ""}
            />
          </Columns>
          <FieldHint>{t.catalog.positionNote}</FieldHint>
          <Checkbox.Group
            label={t.catalog.channels}
            description={t.catalog.channelsNote}
            value={values.channels.map(String)}
            onChange={(chosen) => set({ channels: chosen.map(Number).sort() as BookingChannel[] })}
          >
            <Group gap={18} align="stretch" mt={8}>
              {ways.map((way) => (
                <Checkbox
                  key={way}
                  value={String(way)}
                  disabled={!can("policy.write")}
                  label={t.ui.channel[way]}
                />
              ))}
            </Group>
          </Checkbox.Group>
          {location && <ActiveSwitch {...form.flag("active")} />}
        </>
      )}
    </EditForm>
  );
}
