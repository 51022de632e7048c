import { CatalogService, type Resource, ResourceSchema } from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { Autocomplete } from "@mantine/core";
import { IconDoor } from "@tabler/icons-react";
import { useText } from "../../shared/i18n";
import { EditForm, pick, useSave } from "../ui/edit-form";
import { Name } from "../ui/inputs";
import { LocationInput } from "./choices";
import { EntityTable, type FormProps } from "./entity-table";
import { ActiveSwitch, useOnlyLocation } from "./inputs";
import { useCatalog } from "./loaded";
import { catalogTexts } from "./texts";

export function Resources({ archived }: { archived: boolean }) {
  const t = useText(catalogTexts);
  const catalog = useCatalog();
  return (
    <EntityTable
      entities={catalog.resources}
      archived={archived}
      {...t.catalog.tables.resources}
      icon={IconDoor}
      columns={[
        { title: t.catalog.kind, show: ({ kind }) => kind || "–" },
        { title: t.fields.location, show: ({ locationId }) => catalog.location(locationId)?.name },
      ]}
      Form={ResourceForm}
    />
  );
}

function ResourceForm({ entity: resource, onClose }: FormProps<Resource>) {
  const t = useText(catalogTexts);
  const { resources } = useCatalog();
  const blank = create(ResourceSchema, { locationId: useOnlyLocation(), active: true });
  const make = useSave(CatalogService.method.createResource);
  const update = useSave(CatalogService.method.updateResource);
  const kinds = new Set([...resources.map(({ kind }) => kind), ...t.catalog.kinds]);
  return (
    <EditForm
      entity={resource}
      valuesOf={(of = blank) => pick(of, "locationId", "name", "kind", "active")}
      names={{ ...t.fields, ...t.catalog, locationId: t.fields.location }}
      save={({ locationId, active, ...values }, { updateMask, etag }) => {
        const input = { name: values.name.trim(), kind: values.kind.trim() };
        return resource
          ? update({ resourceId: resource.id, resource: { ...input, active }, updateMask, etag })
          : make({ locationId, resource: input });
      }}
      onClose={onClose}
    >
      {(form) => (
        <>
          <LocationInput {...form.choice("locationId")} fixed={resource?.locationId} />
          <Name {...form.text("name")} />
          <Autocomplete
            {...form.value("kind")}
            description={t.catalog.kindNote}
            maxLength={50}
            data={[...kinds].filter(Boolean)}
          />
          {resource && <ActiveSwitch {...form.flag("active")} />}
        </>
      )}
    </EditForm>
  );
}
