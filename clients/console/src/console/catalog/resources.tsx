import { type Resource, TenantService } from "@berthhq/client";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { Autocomplete, Select, Switch, TextInput } from "@mantine/core";
import { IconDoor } from "@tabler/icons-react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useDo } from "../../shared/calls";
import type { Catalog } from "../data";
import { EditForm, maskOf } from "../form";
import { Listed } from "./list";

export function Resources({ catalog, archived }: { catalog: Catalog; archived: boolean }) {
  const t = useText();
  const d = useDesk();
  return (
    <Listed
      things={catalog.resources}
      archived={archived}
      add={d.catalog.newResource}
      none={d.catalog.noResources}
      noneNote={d.catalog.noResourcesNote}
      icon={<IconDoor size={34} stroke={1.4} aria-hidden />}
      note={d.catalog.resourcesNote}
      columns={[
        { title: d.catalog.kind, show: ({ kind }) => kind || "–" },
        {
          title: t.fields.location,
          show: ({ locationId }) => catalog.location(locationId)?.name,
        },
      ]}
      form={(resource, close) => (
        <ResourceForm resource={resource} catalog={catalog} onClose={close} />
      )}
    />
  );
}

interface Values {
  locationId: string;
  name: string;
  kind: string;
  active: boolean;
}

function versionOf(resource: Resource | undefined, locationId: string) {
  const values: Values = {
    locationId: resource?.locationId ?? locationId,
    name: resource?.name ?? "",
    kind: resource?.kind ?? "",
    active: resource?.active ?? true,
  };
  return { values, etag: resource?.etag ?? "" };
}

function ResourceForm({
  resource,
  catalog,
  onClose,
}: {
  resource: Resource | undefined;
  catalog: Catalog;
  onClose: () => void;
}) {
  const t = useText();
  const d = useDesk();
  const transport = useTransport();
  const create = useDo(TenantService.method.createResource, { quiet: true, done: t.done.saved });
  const update = useDo(TenantService.method.updateResource, { quiet: true, done: t.done.saved });
  const places = catalog.locations.filter(
    ({ active, id }) => active || id === resource?.locationId,
  );
  const first = places.length === 1 ? (places[0]?.id ?? "") : "";
  const kinds = new Set([...catalog.resources.map(({ kind }) => kind), ...d.catalog.kinds]);
  return (
    <EditForm<Values>
      fresh={!resource}
      current={versionOf(resource, first)}
      names={{ ...t.fields, kind: d.catalog.kind, active: d.catalog.inUse }}
      reread={async () => {
        const answer = await callUnaryMethod(transport, TenantService.method.listResources, {
          locationId: resource?.locationId ?? "",
          includeInactive: true,
          pageSize: 500,
        });
        return versionOf(answer.resources.find(({ id }) => id === resource?.id) ?? resource, first);
      }}
      save={({ locationId, name, kind, active }, changed, etag) =>
        resource
          ? update.run({
              resource: { id: resource.id, name: name.trim(), kind: kind.trim(), active, etag },
              updateMask: { paths: changed.map(maskOf) },
            })
          : create.run({ resource: { locationId, name: name.trim(), kind: kind.trim() } })
      }
      onClose={onClose}
    >
      {(values, set) => (
        <>
          <Select
            label={t.fields.location}
            description={resource && d.catalog.staysThere}
            required
            allowDeselect={false}
            disabled={resource !== undefined}
            value={values.locationId || null}
            onChange={(id) => set({ locationId: id ?? "" })}
            data={places.map(({ id, name }) => ({ value: id, label: name }))}
          />
          <TextInput
            label={t.fields.name}
            required
            maxLength={200}
            value={values.name}
            onChange={(event) => set({ name: event.currentTarget.value })}
            data-autofocus
          />
          <Autocomplete
            label={d.catalog.kind}
            description={d.catalog.kindNote}
            maxLength={50}
            data={[...kinds].filter(Boolean)}
            value={values.kind}
            onChange={(kind) => set({ kind })}
          />
          {resource && (
            <Switch
              label={d.catalog.inUse}
              description={d.catalog.inUseNote}
              checked={values.active}
              onChange={(event) => set({ active: event.currentTarget.checked })}
            />
          )}
        </>
      )}
    </EditForm>
  );
}
