import { Switch } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { useDeskTexts } from "../../i18n/desk";
import { later } from "../../shared/lazy";
import { useCan } from "../../shared/me";
import { PageHead, QueryResult } from "../../shared/ui";
import { Page, type Part, Tabbed, usePart } from "../ui";
import { type Catalog, useCatalog } from "./data";

const Benefits = later(() => import("./benefits"), "Benefits");
const Organization = later(() => import("./organization"), "Organization");
const Staff = later(() => import("./staff"), "Staff");

const tables = {
  locations: later(() => import("./locations"), "Locations"),
  services: later(() => import("./services"), "Services"),
  resources: later(() => import("./resources"), "Resources"),
  items: later(() => import("./items"), "Items"),
};

/** What the organization offers, where, with what, and who leads it. */
export function CatalogPage() {
  const { t, d } = useDeskTexts();
  const can = useCan();
  const catalog = useCatalog();
  const [archived, { toggle }] = useDisclosure();
  const of = (show: (all: Catalog) => ReactNode) => (
    <QueryResult query={catalog}>{show}</QueryResult>
  );
  const table = (key: keyof typeof tables): Part => {
    const Table = tables[key];
    return [key, d.catalog[key], () => of((all) => <Table catalog={all} archived={archived} />)];
  };
  const parts = [
    table("locations"),
    table("services"),
    table("resources"),
    can("member.read") &&
      (["staff", d.catalog.staff, () => of((all) => <Staff catalog={all} />)] as const),
    table("items"),
    ["benefits", d.catalog.benefits, () => <Benefits archived={archived} />] as const,
    can("tenant.update") &&
      (["organization", d.catalog.organization, () => <Organization />] as const),
  ].filter((part) => part !== false);
  const [part] = usePart(parts);
  return (
    <Page>
      <PageHead title={t.nav.catalog} note={d.catalog.note}>
        {part?.[0] !== "staff" && part?.[0] !== "organization" && (
          <Switch size="xs" label={d.catalog.showArchived} checked={archived} onChange={toggle} />
        )}
      </PageHead>
      <Tabbed parts={parts} />
    </Page>
  );
}
