import { Channel, type Location, TenantService } from "@berthhq/client";
import { Checkbox, NumberInput, Textarea } from "@mantine/core";
import { IconMapPin } from "@tabler/icons-react";
import { useI18n, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCall, useRead } from "../../shared/calls";
import { useCan, useMe } from "../../shared/me";
import { zoneName } from "../../shared/time";
import { Tag } from "../../shared/ui";
import type { Catalog } from "../data";
import { EditForm, maskOf } from "../form";
import { ActiveSwitch, Name, Zone } from "../inputs";
import { EntityTable } from "./list";

const ways = [Channel.ONLINE, Channel.PHONE, Channel.WALK_IN] as const;

export function Locations({ catalog, archived }: { catalog: Catalog; archived: boolean }) {
  const t = useText();
  const d = useDesk();
  const { locale } = useI18n();
  return (
    <EntityTable
      entities={catalog.locations}
      archived={archived}
      add={d.catalog.newLocation}
      none={d.catalog.noLocations}
      noneNote={d.catalog.noLocationsNote}
      icon={IconMapPin}
      note={d.catalog.locationsNote}
      columns={[
        { title: d.catalog.address, show: ({ address }) => address || "–" },
        {
          title: t.fields.timeZone,
          show: ({ timeZone }) => (
            <>
              {timeZone.replaceAll("_", " ")}{" "}
              <span className="muted">{zoneName(timeZone, locale)}</span>
            </>
          ),
        },
        {
          title: d.catalog.channels,
          show: ({ channels }) =>
            channels.length === 0 ? (
              <Tag tone="bad">{d.catalog.noChannels}</Tag>
            ) : (
              <span className="tags">
                {ways
                  .filter((way) => channels.includes(way))
                  .map((way) => (
                    <Tag key={way} tone="plain">
                      {t.session.channel[way]}
                    </Tag>
                  ))}
              </span>
            ),
        },
        {
          title: d.catalog.position,
          show: ({ geo }) =>
            geo ? (
              <span className="num">
                {geo.latitude.toFixed(4)}, {geo.longitude.toFixed(4)}
              </span>
            ) : (
              <span className="muted">{d.catalog.noPosition}</span>
            ),
        },
      ]}
      form={(location, close) => <LocationForm location={location} onClose={close} />}
    />
  );
}

interface Values {
  name: string;
  timeZone: string;
  address: string;
  latitude: number | "";
  longitude: number | "";
  channels: readonly Channel[];
  active: boolean;
}

function versionOf(location: Location | undefined, zone: string) {
  const values: Values = {
    name: location?.name ?? "",
    timeZone: location?.timeZone ?? zone,
    address: location?.address ?? "",
    latitude: location?.geo?.latitude ?? "",
    longitude: location?.geo?.longitude ?? "",
    channels: location ? [...location.channels].sort() : [...ways],
    active: location?.active ?? true,
  };
  return { values, etag: location?.etag ?? "" };
}

const isPosition = (key: keyof Values) => key === "latitude" || key === "longitude";

function LocationForm({
  location,
  onClose,
}: {
  location: Location | undefined;
  onClose: () => void;
}) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const { tenant } = useMe();
  const read = useRead();
  const create = useCall(TenantService.method.createLocation, { quiet: true, done: t.done.saved });
  const update = useCall(TenantService.method.updateLocation, { quiet: true, done: t.done.saved });
  const inputOf = ({ name, timeZone, address, latitude, longitude }: Values) => ({
    name: name.trim(),
    timeZone,
    address,
    ...(latitude !== "" && longitude !== "" && { geo: { latitude, longitude } }),
  });
  const change = (id: string, values: Values, paths: readonly string[], etag: string) =>
    update.run({
      location: {
        ...inputOf(values),
        id,
        channels: [...values.channels],
        active: values.active,
        etag,
      },
      updateMask: { paths: [...new Set(paths)] },
    });
  const save = async (values: Values, changed: (keyof Values)[], etag: string) => {
    const paths = changed.map((key) => (isPosition(key) ? "geo" : maskOf(key)));
    if (location) return change(location.id, values, paths, etag);
    // A new location takes bookings on all channels unless its channels were changed.
    const made = (await create.run({ location: inputOf(values) }))?.location;
    return made && changed.includes("channels")
      ? change(made.id, values, ["channels"], made.etag)
      : made;
  };
  return (
    <EditForm<Values>
      fresh={!location}
      current={versionOf(location, tenant.timeZone)}
      names={{
        ...t.fields,
        address: d.catalog.address,
        channels: d.catalog.channels,
        latitude: d.catalog.latitude,
        longitude: d.catalog.longitude,
        active: d.catalog.active,
      }}
      show={(key, value) =>
        key === "channels"
          ? (value as Channel[]).map((way) => t.session.channel[way]).join(", ")
          : String(value)
      }
      reread={async () => {
        const answer = await read(TenantService.method.getLocation, {
          locationId: location?.id ?? "",
        });
        return versionOf(answer.location ?? location, tenant.timeZone);
      }}
      save={save}
      onClose={onClose}
    >
      {({ values, set, ...form }) => (
        <>
          <Name {...form.text("name")} />
          <Zone {...form.choice("timeZone")} description={d.catalog.zoneNote} />
          <Textarea {...form.text("address")} label={d.catalog.address} autosize maxLength={500} />
          <div className="two">
            <NumberInput
              {...form.number("latitude")}
              label={d.catalog.latitude}
              min={-90}
              max={90}
              decimalScale={6}
              required={values.longitude !== ""}
            />
            <NumberInput
              {...form.number("longitude")}
              label={d.catalog.longitude}
              min={-180}
              max={180}
              decimalScale={6}
              required={values.latitude !== ""}
            />
          </div>
          <p className="muted form-note">{d.catalog.positionNote}</p>
          <Checkbox.Group
            label={d.catalog.channels}
            description={d.catalog.channelsNote}
            value={values.channels.map(String)}
            onChange={(chosen) => set({ channels: chosen.map(Number).sort() as Channel[] })}
          >
            <div style={{ display: "flex", gap: 18, flexWrap: "wrap", marginTop: 8 }}>
              {ways.map((way) => (
                <Checkbox
                  key={way}
                  value={String(way)}
                  disabled={!can("policy.write")}
                  label={t.session.channel[way]}
                />
              ))}
            </div>
          </Checkbox.Group>
          {location && <ActiveSwitch {...form.flag("active")} />}
        </>
      )}
    </EditForm>
  );
}
