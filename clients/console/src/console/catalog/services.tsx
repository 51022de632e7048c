import { Delivery } from "@berthhq/client";
import { ColorSwatch } from "@mantine/core";
import { IconStack2 } from "@tabler/icons-react";
import { useDeskTexts } from "../../i18n/desk";
import { showSpan, spanMs } from "../../shared/format/time";
import { later } from "../../shared/loading/lazy";
import { Tag } from "../../shared/ui";
import { Inline, right } from "../ui";
import { fallbackColor } from "./data";
import { EntityTable } from "./entity-table";
import { useCatalog } from "./loaded";

const ServiceForm = later(() => import("./service-form"), "ServiceForm");

export function Services({ archived }: { archived: boolean }) {
  const { t, d } = useDeskTexts();
  return (
    <EntityTable
      entities={useCatalog().services}
      archived={archived}
      {...d.catalog.tables.services}
      icon={IconStack2}
      columns={[
        {
          title: d.catalog.category,
          show: ({ category, color }) => (
            <Inline gap={9} wrap="nowrap">
              <ColorSwatch
                component="span"
                size={12}
                radius={4}
                withShadow={false}
                color={color || fallbackColor}
                aria-hidden
              />
              {category || "–"}
            </Inline>
          ),
        },
        { title: d.catalog.length, ...right, show: ({ duration }) => showSpan(spanMs(duration)) },
        {
          title: t.fields.capacity,
          ...right,
          show: ({ defaultCapacity }) => defaultCapacity ?? t.session.noLimit,
        },
        {
          title: t.fields.waitlist,
          ...right,
          show: ({ defaultWaitlistCapacity }) => defaultWaitlistCapacity || "–",
        },
        {
          title: d.catalog.party,
          ...right,
          show: ({ minParty, maxParty }) => {
            const least = minParty || 1;
            const most = maxParty || least;
            return least === most ? least : `${least}–${most}`;
          },
        },
        {
          title: d.catalog.delivery,
          show: ({ delivery }) =>
            delivery === Delivery.FEED ? (
              <Tag tone="accent">{d.catalog.online}</Tag>
            ) : (
              d.catalog.inPerson
            ),
        },
      ]}
      Form={ServiceForm}
    />
  );
}
