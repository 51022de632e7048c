import { BookingService, type Item } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { NumberInput, TextInput } from "@mantine/core";
import { IconGolf } from "@tabler/icons-react";
import { useI18n, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useAll } from "../../shared/all";
import { useCall, useRead } from "../../shared/calls";
import { useMe } from "../../shared/me";
import { amountOf, moneyOf, showMoney } from "../../shared/money";
import { MINUTE, showSpan, spanMs } from "../../shared/time";
import { Shown } from "../../shared/ui";
import type { Catalog } from "../data";
import { EditForm, maskOf } from "../form";
import { ActiveSwitch, LocationInput, Name, onlyLocation, Price } from "../inputs";
import { EntityTable } from "./list";

/** Items that members can reserve with a booking, in limited number. */
export function Items({ catalog, archived }: { catalog: Catalog; archived: boolean }) {
  const t = useText();
  const d = useDesk();
  const { locale } = useI18n();
  const items = useAll(
    BookingService.method.listItems,
    { includeInactive: true },
    (answer) => answer.items,
  );
  return (
    <Shown of={items}>
      {(all) => (
        <EntityTable
          entities={all}
          archived={archived}
          add={d.catalog.newItem}
          none={d.catalog.noItems}
          noneNote={d.catalog.noItemsNote}
          icon={IconGolf}
          note={d.catalog.itemsNote}
          columns={[
            { title: d.catalog.kind, show: ({ kind }) => kind || "–" },
            {
              title: t.fields.location,
              show: ({ locationId }) => catalog.location(locationId)?.name,
            },
            { title: d.catalog.stock, right: true, show: ({ stock }) => stock },
            {
              title: t.plans.price,
              right: true,
              show: ({ price }) => showMoney(price, locale) || "–",
            },
            {
              title: d.catalog.timeOut,
              right: true,
              show: ({ timeOut }) => (timeOut ? showSpan(spanMs(timeOut)) : d.catalog.asLong),
            },
          ]}
          form={(item, close) => <ItemForm item={item} catalog={catalog} onClose={close} />}
        />
      )}
    </Shown>
  );
}

interface Values {
  locationId: string;
  name: string;
  kind: string;
  stock: number | "";
  price: number | "";
  timeOut: number | "";
  active: boolean;
}

function versionOf(item: Item | undefined, locationId: string) {
  const values: Values = {
    locationId: item?.locationId ?? locationId,
    name: item?.name ?? "",
    kind: item?.kind ?? "",
    stock: item?.stock ?? 1,
    price: amountOf(item?.price),
    timeOut: item?.timeOut ? spanMs(item.timeOut) / MINUTE : "",
    active: item?.active ?? true,
  };
  return { values, etag: item?.etag ?? "" };
}

function ItemForm({
  item,
  catalog,
  onClose,
}: {
  item: Item | undefined;
  catalog: Catalog;
  onClose: () => void;
}) {
  const t = useText();
  const d = useDesk();
  const { tenant } = useMe();
  const read = useRead();
  const create = useCall(BookingService.method.createItem, { quiet: true, done: t.done.saved });
  const update = useCall(BookingService.method.updateItem, { quiet: true, done: t.done.saved });
  const first = onlyLocation(catalog);
  const currency = item?.price?.currencyCode || tenant.currency;
  const inputOf = ({ name, kind, stock, price, timeOut, active }: Values) => ({
    name: name.trim(),
    kind: kind.trim(),
    stock: Number(stock),
    active,
    ...(price !== "" && { price: moneyOf(price, currency) }),
    ...(timeOut !== "" && { timeOut: durationFromMs(timeOut * MINUTE) }),
  });
  return (
    <EditForm<Values>
      fresh={!item}
      current={versionOf(item, first)}
      names={{
        ...t.fields,
        kind: d.catalog.kind,
        stock: d.catalog.stock,
        price: t.plans.price,
        timeOut: d.catalog.timeOut,
        active: d.catalog.active,
      }}
      reread={async () => {
        const { items } = await read(BookingService.method.listItems, {
          locationId: item?.locationId ?? "",
          includeInactive: true,
          pageSize: 500,
        });
        return versionOf(items.find(({ id }) => id === item?.id) ?? item, first);
      }}
      save={(values, changed, etag) =>
        item
          ? update.run({
              itemId: item.id,
              item: inputOf(values),
              updateMask: { paths: changed.map(maskOf) },
              etag,
            })
          : create.run({ locationId: values.locationId, item: inputOf(values) })
      }
      onClose={onClose}
    >
      {(form) => (
        <>
          <LocationInput
            {...form.choice("locationId")}
            catalog={catalog}
            fixed={item?.locationId}
          />
          <div className="two">
            <Name {...form.text("name")} />
            <TextInput
              {...form.text("kind")}
              label={d.catalog.kind}
              placeholder={d.catalog.itemKind}
              maxLength={50}
            />
          </div>
          <div className="two">
            <NumberInput
              {...form.number("stock")}
              label={d.catalog.stock}
              required
              min={0}
              max={10_000}
            />
            <Price {...form.number("price")} currency={currency} />
          </div>
          <NumberInput
            {...form.number("timeOut")}
            label={d.catalog.timeOutMinutes}
            description={d.catalog.timeOutNote}
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
