import { Switch } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { useCan } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { PageHead } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { Page, type Part, Tabbed, usePart } from "../ui";
import { WithCatalog } from "./loaded";
import { catalogTexts } from "./texts";

const Benefits = later(() => import("./benefits"), "Benefits");
const Items = later(() => import("./items"), "Items");
const Locations = later(() => import("./locations"), "Locations");
const Organization = later(() => import("./organization"), "Organization");
const Resources = later(() => import("./resources"), "Resources");
const Services = later(() => import("./services"), "Services");
const Staff = later(() => import("./staff"), "Staff");

/** What the organization offers, where, with what, and who leads it. */
export function CatalogPage() {
  const t = useText(catalogTexts);
  const can = useCan();
  const [archived, { toggle }] = useDisclosure();
  const part = (
    key: "locations" | "services" | "resources" | "staff" | "items",
    content: ReactNode,
  ): Part => [key, t.catalog[key], () => <WithCatalog>{content}</WithCatalog>];
  const parts = [
    part("locations", <Locations archived={archived} />),
    part("services", <Services archived={archived} />),
    part("resources", <Resources archived={archived} />),
    can("member.read") && part("staff", <Staff />),
    part("items", <Items archived={archived} />),
    ["benefits", t.catalog.benefits, () => <Benefits archived={archived} />] as const,
    can("tenant.update") &&
      (["organization", t.catalog.organization, () => <Organization />] as const),
  ].filter((part) => part !== false);
  const [shown] = usePart(parts);
  return (
    <Page>
      <PageHead title={t.nav.catalog} note={t.catalog.note}>
        {shown?.[0] !== "staff" && shown?.[0] !== "organization" && (
          <Switch size="xs" label={t.catalog.showArchived} checked={archived} onChange={toggle} />
        )}
      </PageHead>
      <Tabbed parts={parts} />
    </Page>
  );
}
