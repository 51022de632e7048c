import {
  NumberInput,
  type NumberInputProps,
  Select,
  type SelectProps,
  Switch,
  type SwitchProps,
  TextInput,
  type TextInputProps,
} from "@mantine/core";
import { useText } from "../i18n";
import { useDesk } from "../i18n/desk";
import { named } from "../shared/form";
import type { Catalog } from "./data";
import { offered, useLanguageNames } from "./languages";

/*
 * Inputs that several forms have.
 */

export function Name(props: TextInputProps) {
  const t = useText();
  return <TextInput label={t.fields.name} required maxLength={200} data-autofocus {...props} />;
}

/** Off, it is archived. */
export function InUse(props: SwitchProps) {
  const d = useDesk();
  return <Switch label={d.catalog.inUse} description={d.catalog.inUseNote} {...props} />;
}

export function Zone(props: SelectProps<string>) {
  const t = useText();
  return (
    <Select
      label={t.fields.timeZone}
      required
      searchable
      allowDeselect={false}
      data={Intl.supportedValuesOf("timeZone")}
      limit={60}
      {...props}
    />
  );
}

/** A language by its name; what is kept is its tag, such as de-DE. */
export function Language(props: SelectProps) {
  const t = useText();
  const tags = new Set([props.value ?? "", ...offered]);
  return (
    <Select
      label={t.fields.locale}
      searchable
      data={useLanguageNames([...tags].filter(Boolean))}
      {...props}
    />
  );
}

/** An amount of money, without its cents where there are none. */
export function Price({ currency, ...props }: NumberInputProps & { currency: string }) {
  const t = useText();
  return (
    <NumberInput
      label={t.plans.price}
      min={0}
      decimalScale={2}
      suffix={` ${currency}`}
      {...props}
    />
  );
}

/** Where a thing is, for good. */
export function Place({
  catalog,
  fixed,
  ...props
}: SelectProps<string> & {
  catalog: Catalog;
  /** Where it is already. */
  fixed: string | undefined;
}) {
  const t = useText();
  const d = useDesk();
  return (
    <Select
      label={t.fields.location}
      description={fixed && d.catalog.staysThere}
      required
      allowDeselect={false}
      disabled={fixed !== undefined}
      data={named(catalog.locations.filter(({ active, id }) => active || id === fixed))}
      {...props}
    />
  );
}

/** The only place that there is, if there is but one. */
export function onlyPlace({ locations }: Catalog): string {
  const [first, second] = locations.filter(({ active }) => active);
  return first && !second ? first.id : "";
}
