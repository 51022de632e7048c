import { BookingService, type Item } from "@berthhq/client";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { IconGolf } from "@tabler/icons-react";
import { useSpeech, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useAll } from "../../shared/all";
import { useDo } from "../../shared/calls";
import { useMe } from "../../shared/root";
import { MINUTE, showSpan } from "../../shared/time";
import { Shown } from "../../shared/ui";
import type { Catalog } from "../data";
import { EditForm, maskOf } from "../form";
import { amountOf, moneyOf, showMoney } from "../money";
import { Listed } from "./list";

/** What goes with bookings and is there in limited number. */
export function Items({ catalog, archived }: { catalog: Catalog; archived: boolean }) {
  const t = useText();
  const d = useDesk();
  const { locale } = useSpeech();
  const items = useAll(
    BookingService.method.listItems,
    { includeInactive: true },
    (answer) => answer.items,
  );
  return (
    <Shown of={items}>
      {(all) => (
        <Listed
          things={all}
          archived={archived}
          add={d.catalog.newItem}
          none={d.catalog.noItems}
          noneNote={d.catalog.noItemsNote}
          icon={<IconGolf size={34} stroke={1.4} aria-hidden />}
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
              show: ({ timeOut }) =>
                timeOut ? showSpan(Number(timeOut.seconds) * 1000) : d.catalog.asLong,
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
    timeOut: item?.timeOut ? (Number(item.timeOut.seconds) * 1000) / MINUTE : "",
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
  const transport = useTransport();
  const create = useDo(BookingService.method.createItem, { quiet: true, done: t.done.saved });
  const update = useDo(BookingService.method.updateItem, { quiet: true, done: t.done.saved });
  const places = catalog.locations.filter(({ active, id }) => active || id === item?.locationId);
  const first = places.length === 1 ? (places[0]?.id ?? "") : "";
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
        active: d.catalog.inUse,
      }}
      reread={async () => {
        const answer = await callUnaryMethod(transport, BookingService.method.listItems, {
          locationId: item?.locationId ?? "",
          includeInactive: true,
          pageSize: 500,
        });
        return versionOf(answer.items.find(({ id }) => id === item?.id) ?? item, first);
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
      {(values, set) => {
        const number = (key: "stock" | "price" | "timeOut") => ({
          min: 0,
          value: values[key],
          onChange: (value: string | number) =>
            set({ [key]: typeof value === "number" ? value : "" }),
        });
        return (
          <>
            <Select
              label={t.fields.location}
              description={item && d.catalog.staysThere}
              required
              allowDeselect={false}
              disabled={item !== undefined}
              value={values.locationId || null}
              onChange={(id) => set({ locationId: id ?? "" })}
              data={places.map(({ id, name }) => ({ value: id, label: name }))}
            />
            <div className="two">
              <TextInput
                label={t.fields.name}
                required
                maxLength={200}
                value={values.name}
                onChange={(event) => set({ name: event.currentTarget.value })}
                data-autofocus
              />
              <TextInput
                label={d.catalog.kind}
                placeholder={d.catalog.itemKind}
                maxLength={50}
                value={values.kind}
                onChange={(event) => set({ kind: event.currentTarget.value })}
              />
            </div>
            <div className="two">
              <NumberInput {...number("stock")} label={d.catalog.stock} required max={10_000} />
              <NumberInput
                {...number("price")}
                label={t.plans.price}
                decimalScale={2}
                suffix={` ${currency}`}
              />
            </div>
            <NumberInput
              {...number("timeOut")}
              label={d.catalog.timeOutMinutes}
              description={d.catalog.timeOutNote}
              max={10_080}
              step={15}
            />
            {item && (
              <Switch
                label={d.catalog.inUse}
                checked={values.active}
                onChange={(event) => set({ active: event.currentTarget.checked })}
              />
            )}
          </>
        );
      }}
    </EditForm>
  );
}
