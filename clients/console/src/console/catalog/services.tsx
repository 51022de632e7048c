import { DeliveryMode } from "@berthhq/client";
import { ColorSwatch } from "@mantine/core";
import { IconStack2 } from "@tabler/icons-react";
import { showSpan, spanMs } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { Tag } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { Inline, right } from "../ui";
import { uiTexts } from "../ui/texts";
import { fallbackColor } from "./data";
import { EntityTable } from "./entity-table";
import { useCatalog } from "./loaded";
import { catalogTexts } from "./texts";

const ServiceForm = later(() => import("./service-form"), "ServiceForm");

export function Services({ archived }: { archived: boolean }) {
  const t = useText(catalogTexts, uiTexts);
  return (
    <EntityTable
      entities={useCatalog().services}
      archived={archived}
      {...t.catalog.tables.services}
      icon={IconStack2}
      columns={[
        {
          title: t.catalog.category,
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
        { title: t.catalog.length, ...right, show: ({ duration }) => showSpan(spanMs(duration)) },
        {
          title: t.fields.capacity,
          ...right,
          show: ({ defaultCapacity }) => defaultCapacity ?? t.ui.noLimit,
        },
        {
          title: t.fields.waitlist,
          ...right,
          show: ({ defaultWaitlistCapacity }) => defaultWaitlistCapacity || "–",
        },
        {
          title: t.catalog.party,
          ...right,
          show: ({ minParty, maxParty }) => {
            const least = minParty || 1;
            const most = maxParty || least;
            return least === most ? least : `${least}–${most}`;
          },
        },
        {
          title: t.catalog.delivery,
          show: ({ delivery }) =>
            delivery === DeliveryMode.FEED ? (
              <Tag tone="accent">{t.catalog.online}</Tag>
            ) : (
              t.catalog.inPerson
            ),
        },
      ]}
      Form={ServiceForm}
    />
  );
}
