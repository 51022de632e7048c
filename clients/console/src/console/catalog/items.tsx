import { CatalogService, type Item, ItemSchema } from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { NumberInput, TextInput } from "@mantine/core";
import { IconGolf } from "@tabler/icons-react";
import { useAll } from "../../shared/api/lists";
import { useMe } from "../../shared/auth/user";
import { amountOf, moneyOf, showMoney } from "../../shared/format/money";
import { MINUTE, showSpan, spanMs } from "../../shared/format/time";
import { useI18n, useText } from "../../shared/i18n";
import { QueryResult } from "../../shared/ui";
import { right } from "../ui";
import { EditForm, pick, useSave } from "../ui/edit-form";
import { Columns, Name, Price } from "../ui/inputs";
import { uiTexts } from "../ui/texts";
import { LocationInput } from "./choices";
import { everyStatus } from "./data";
import { EntityTable, type FormProps } from "./entity-table";
import { ActiveSwitch, useOnlyLocation } from "./inputs";
import { useCatalog } from "./loaded";
import { catalogTexts } from "./texts";

/** Items that members can reserve with a booking, in limited number. */
export function Items({ archived }: { archived: boolean }) {
  const { t, locale } = useI18n(catalogTexts, uiTexts);
  const catalog = useCatalog();
  const items = useAll(
    CatalogService.method.listItems,
    { filter: { statuses: everyStatus } },
    (answer) => answer.items,
  );
  return (
    <QueryResult query={items}>
      {(all) => (
        <EntityTable
          entities={all}
          archived={archived}
          {...t.catalog.tables.items}
          icon={IconGolf}
          columns={[
            { title: t.catalog.kind, show: ({ kind }) => kind || "–" },
            {
              title: t.fields.location,
              show: ({ locationId }) => catalog.location(locationId)?.name,
            },
            { title: t.catalog.stock, ...right, show: ({ stock }) => stock },
            {
              title: t.ui.price,
              ...right,
              show: ({ price }) => showMoney(price, locale) || "–",
            },
            {
              title: t.catalog.useDuration,
              ...right,
              show: ({ useDuration }) =>
                useDuration ? showSpan(spanMs(useDuration)) : t.catalog.asLong,
            },
          ]}
          Form={ItemForm}
        />
      )}
    </QueryResult>
  );
}

const valuesOf = (item: Item) => ({
  ...pick(item, "locationId", "name", "kind", "active"),
  stock: item.stock as number | "",
  price: amountOf(item.price),
  useDuration: item.useDuration ? spanMs(item.useDuration) / MINUTE : ("" as const),
});

function ItemForm({ entity: item, onClose }: FormProps<Item>) {
  const t = useText(catalogTexts, uiTexts);
  const { tenant } = useMe();
  const blank = create(ItemSchema, { locationId: useOnlyLocation(), stock: 1, active: true });
  const make = useSave(CatalogService.method.createItem);
  const update = useSave(CatalogService.method.updateItem);
  const currency = item?.price?.currencyCode || tenant.currency;
  return (
    <EditForm
      entity={item}
      valuesOf={(of = blank) => valuesOf(of)}
      names={{ ...t.fields, ...t.catalog, locationId: t.fields.location, price: t.ui.price }}
      save={({ locationId, price, useDuration, ...values }, { updateMask, etag }) => {
        const input = {
          ...values,
          name: values.name.trim(),
          kind: values.kind.trim(),
          stock: Number(values.stock),
          ...(price !== "" && { price: moneyOf(price, currency) }),
          ...(useDuration !== "" && { useDuration: durationFromMs(useDuration * MINUTE) }),
        };
        return item
          ? update({ itemId: item.id, item: input, updateMask, etag })
          : make({ locationId, item: input });
      }}
      onClose={onClose}
    >
      {(form) => (
        <>
          <LocationInput {...form.choice("locationId")} fixed={item?.locationId} />
          <Columns>
            <Name {...form.text("name")} />
            <TextInput {...form.text("kind")} placeholder={t.catalog.itemKind} maxLength={50} />
          </Columns>
          <Columns>
            <NumberInput {...form.number("stock")} required min={0} max={10_000} />
            <Price {...form.number("price")} currency={currency} />
          </Columns>
          <NumberInput
            {...form.number("useDuration")}
            label={t.catalog.useMinutes}
            description={t.catalog.useNote}
            min={0}
            max={10_080}
            step={15}
          />
          {item && <ActiveSwitch {...form.flag("active")} />}
        </>
      )}
    </EditForm>
  );
}
