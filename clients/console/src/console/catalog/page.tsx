import { Switch } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCan } from "../../shared/me";
import { PageHead, Shown } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";
import { type Part, Tabbed, usePart } from "../tabbed";
import { Benefits } from "./benefits";
import { Items } from "./items";
import { Locations } from "./locations";
import { Organization } from "./organization";
import { Resources } from "./resources";
import { Services } from "./services";
import { Staff } from "./staff";

interface Kind extends Part {
  /** Whether its entities can be archived. */
  readonly archives: boolean;
}

/** What the organization offers, where, with what, and who leads it. */
export function CatalogPage() {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const catalog = useCatalog();
  const [archived, setArchived] = useState(false);
  const of = (show: (all: Catalog) => ReactNode) => <Shown of={catalog}>{show}</Shown>;
  const kinds: Kind[] = [
    {
      key: "locations",
      label: d.catalog.locations,
      shown: of((all) => <Locations catalog={all} archived={archived} />),
      archives: true,
    },
    {
      key: "services",
      label: d.catalog.services,
      shown: of((all) => <Services catalog={all} archived={archived} />),
      archives: true,
    },
    {
      key: "resources",
      label: d.catalog.resources,
      shown: of((all) => <Resources catalog={all} archived={archived} />),
      archives: true,
    },
    can("member.read") && {
      key: "staff",
      label: d.catalog.staff,
      shown: of((all) => <Staff catalog={all} />),
      archives: false,
    },
    {
      key: "items",
      label: d.catalog.items,
      shown: of((all) => <Items catalog={all} archived={archived} />),
      archives: true,
    },
    {
      key: "benefits",
      label: d.catalog.benefits,
      shown: <Benefits archived={archived} />,
      archives: true,
    },
    can("tenant.update") && {
      key: "organization",
      label: d.catalog.organization,
      shown: <Organization />,
      archives: false,
    },
  ].filter((kind) => kind !== false);
  const [kind] = usePart(kinds);
  return (
    <div className="page">
      <PageHead title={t.nav.catalog} note={d.catalog.note}>
        {kind?.archives && (
          <Switch
            size="xs"
            label={d.catalog.showArchived}
            checked={archived}
            onChange={(event) => setArchived(event.currentTarget.checked)}
          />
        )}
      </PageHead>
      <Tabbed parts={kinds} />
    </div>
  );
}
