import { Switch, Tabs } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useSearchParams } from "react-router";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCan } from "../../shared/root";
import { PageHead, Shown } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";
import { Benefits } from "./benefits";
import { Items } from "./items";
import { Locations } from "./locations";
import { Organization } from "./organization";
import { Resources } from "./resources";
import { Services } from "./services";
import { Staff } from "./staff";

interface Tab {
  readonly key: string;
  readonly label: string;
  readonly shown: ReactNode;
  /** Whether some of it may be archived. */
  readonly archives: boolean;
}

/** What is offered, where, with what and by whom. */
export function CatalogPage() {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const catalog = useCatalog();
  const [params, setParams] = useSearchParams();
  const [archived, setArchived] = useState(false);
  const part = (
    key: string,
    label: string,
    show: (all: Catalog) => ReactNode,
    archives = true,
  ): Tab => ({
    key,
    label,
    shown: <Shown of={catalog}>{show}</Shown>,
    archives,
  });
  const tabs: readonly Tab[] = [
    part("locations", d.catalog.locations, (all) => (
      <Locations catalog={all} archived={archived} />
    )),
    part("services", d.catalog.services, (all) => <Services catalog={all} archived={archived} />),
    part("resources", d.catalog.resources, (all) => (
      <Resources catalog={all} archived={archived} />
    )),
    ...(can("member.read")
      ? [part("staff", d.catalog.staff, (all) => <Staff catalog={all} />, false)]
      : []),
    part("items", d.catalog.items, (all) => <Items catalog={all} archived={archived} />),
    {
      key: "benefits",
      label: d.catalog.benefits,
      shown: <Benefits archived={archived} />,
      archives: true,
    },
    ...(can("tenant.update")
      ? [
          {
            key: "organization",
            label: d.catalog.organization,
            shown: <Organization />,
            archives: false,
          },
        ]
      : []),
  ];
  const tab = tabs.find(({ key }) => key === params.get("tab")) ?? tabs[0];
  return (
    <div className="page">
      <PageHead title={t.nav.catalog} note={d.catalog.note}>
        {tab?.archives && (
          <Switch
            size="xs"
            label={d.catalog.alsoArchived}
            checked={archived}
            onChange={(event) => setArchived(event.currentTarget.checked)}
          />
        )}
      </PageHead>
      <Tabs
        value={tab?.key ?? null}
        onChange={(value) => setParams(value ? { tab: value } : {}, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {tabs.map(({ key, label }) => (
            <Tabs.Tab key={key} value={key}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ key, shown }) => (
          <Tabs.Panel key={key} value={key}>
            {shown}
          </Tabs.Panel>
        ))}
      </Tabs>
    </div>
  );
}
