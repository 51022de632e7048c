import { type Resource, TenantService } from "@berthhq/client";
import { Autocomplete } from "@mantine/core";
import { IconDoor } from "@tabler/icons-react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCall, useRead } from "../../shared/calls";
import type { Catalog } from "../data";
import { EditForm, maskOf } from "../form";
import { ActiveSwitch, LocationInput, Name, onlyLocation } from "../inputs";
import { EntityTable } from "./list";

export function Resources({ catalog, archived }: { catalog: Catalog; archived: boolean }) {
  const t = useText();
  const d = useDesk();
  return (
    <EntityTable
      entities={catalog.resources}
      archived={archived}
      add={d.catalog.newResource}
      none={d.catalog.noResources}
      noneNote={d.catalog.noResourcesNote}
      icon={IconDoor}
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
  const read = useRead();
  const create = useCall(TenantService.method.createResource, { quiet: true, done: t.done.saved });
  const update = useCall(TenantService.method.updateResource, { quiet: true, done: t.done.saved });
  const first = onlyLocation(catalog);
  const kinds = new Set([...catalog.resources.map(({ kind }) => kind), ...d.catalog.kinds]);
  return (
    <EditForm<Values>
      fresh={!resource}
      current={versionOf(resource, first)}
      names={{ ...t.fields, kind: d.catalog.kind, active: d.catalog.active }}
      reread={async () => {
        const { resources } = await read(TenantService.method.listResources, {
          locationId: resource?.locationId ?? "",
          includeInactive: true,
          pageSize: 500,
        });
        return versionOf(resources.find(({ id }) => id === resource?.id) ?? resource, first);
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
      {({ values, set, ...form }) => (
        <>
          <LocationInput
            {...form.choice("locationId")}
            catalog={catalog}
            fixed={resource?.locationId}
          />
          <Name {...form.text("name")} />
          <Autocomplete
            label={d.catalog.kind}
            description={d.catalog.kindNote}
            maxLength={50}
            data={[...kinds].filter(Boolean)}
            value={values.kind}
            onChange={(kind) => set({ kind })}
          />
          {resource && <ActiveSwitch {...form.flag("active")} />}
        </>
      )}
    </EditForm>
  );
}
