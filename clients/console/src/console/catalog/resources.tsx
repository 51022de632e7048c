import { type Resource, TenantService } from "@berthhq/client";
import { Autocomplete } from "@mantine/core";
import { IconDoor } from "@tabler/icons-react";
import { useDeskTexts } from "../../i18n/desk";
import { EditForm, useSave } from "../ui/edit-form";
import { EntityTable } from "../ui/entity-table";
import { ActiveSwitch, LocationInput, Name, onlyLocation } from "../ui/inputs";
import type { Catalog, FormProps } from "./data";

export function Resources({ catalog, archived }: { catalog: Catalog; archived: boolean }) {
  const { t, d } = useDeskTexts();
  return (
    <EntityTable
      entities={catalog.resources}
      archived={archived}
      {...d.catalog.tables.resources}
      icon={IconDoor}
      columns={[
        { title: d.catalog.kind, show: ({ kind }) => kind || "–" },
        { title: t.fields.location, show: ({ locationId }) => catalog.location(locationId)?.name },
      ]}
      form={(resource, close) => (
        <ResourceForm entity={resource} catalog={catalog} onClose={close} />
      )}
    />
  );
}

const valuesOf = (resource: Resource | undefined, locationId: string) => ({
  locationId: resource?.locationId ?? locationId,
  name: resource?.name ?? "",
  kind: resource?.kind ?? "",
  active: resource?.active ?? true,
});

function ResourceForm({ entity: resource, catalog, onClose }: FormProps<Resource>) {
  const { t, d } = useDeskTexts();
  const create = useSave(TenantService.method.createResource);
  const update = useSave(TenantService.method.updateResource);
  const kinds = new Set([...catalog.resources.map(({ kind }) => kind), ...d.catalog.kinds]);
  return (
    <EditForm
      entity={resource}
      valuesOf={(of) => valuesOf(of, onlyLocation(catalog))}
      names={{ ...t.fields, ...d.catalog, locationId: t.fields.location }}
      reread={async (read) => {
        const { locationId = "" } = resource ?? {};
        const filter = { locationId, includeInactive: true, pageSize: 500 };
        const { resources } = await read(TenantService.method.listResources, filter);
        return resources.find(({ id }) => id === resource?.id);
      }}
      save={({ locationId, active, ...values }, { updateMask, etag }) => {
        const input = { name: values.name.trim(), kind: values.kind.trim() };
        return resource
          ? update({ resource: { ...input, id: resource.id, active, etag }, updateMask })
          : create({ resource: { ...input, locationId } });
      }}
      onClose={onClose}
    >
      {({ set, ...form }) => (
        <>
          <LocationInput
            {...form.choice("locationId")}
            catalog={catalog}
            fixed={resource?.locationId}
          />
          <Name {...form.text("name")} />
          <Autocomplete
            {...form.text("kind")}
            description={d.catalog.kindNote}
            maxLength={50}
            data={[...kinds].filter(Boolean)}
            onChange={(kind) => set({ kind })}
          />
          {resource && <ActiveSwitch {...form.flag("active")} />}
        </>
      )}
    </EditForm>
  );
}
