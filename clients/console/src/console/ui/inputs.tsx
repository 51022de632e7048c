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
import { IconSearch } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useText } from "../../i18n";
import { useDesk, useDeskTexts } from "../../i18n/desk";
import { named } from "../../shared/options";
import { useCatalog } from "../catalog/loaded";
import classes from "./inputs.module.css";
import { offered, useLanguageNames } from "./languages";

/*
 * Inputs that several forms share.
 */

/** Two inputs side by side. */
export function Columns({ children }: { children: ReactNode }) {
  return <div className={classes.columns}>{children}</div>;
}

export function Name(props: TextInputProps) {
  const t = useText();
  return <TextInput label={t.fields.name} required maxLength={200} data-autofocus {...props} />;
}

export function SearchInput({
  label,
  onChange,
  ...props
}: Omit<TextInputProps, "onChange"> & { label: string; onChange: (text: string) => void }) {
  return (
    <TextInput
      type="search"
      leftSection={<IconSearch size={16} aria-hidden />}
      placeholder={label}
      aria-label={label}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...props}
    />
  );
}

/** Switches an entity between active and archived. */
export function ActiveSwitch(props: SwitchProps) {
  const d = useDesk();
  return <Switch label={d.catalog.active} description={d.catalog.activeNote} {...props} />;
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

/** Selects a language by name. The value is a tag such as de-DE. */
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

/** An amount of money. Cents are shown only if there are any. */
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

/** Selects a location. It cannot change once it is saved. */
export function LocationInput({
  fixed,
  ...props
}: SelectProps<string> & {
  /** The saved location. */
  fixed: string | undefined;
}) {
  const { locations } = useCatalog();
  const { t, d } = useDeskTexts();
  return (
    <Select
      label={t.fields.location}
      description={fixed && d.catalog.staysThere}
      required
      allowDeselect={false}
      disabled={fixed !== undefined}
      data={named(locations.filter(({ active, id }) => active || id === fixed))}
      {...props}
    />
  );
}

/** The id of the only thing, or "" if there are several. */
export const onlyId = ([first, second]: readonly { id: string; active: boolean }[]) =>
  first && !second ? first.id : "";

/** The id of the only location, or "" if there are several. */
export const useOnlyLocation = (): string =>
  onlyId(useCatalog().locations.filter(({ active }) => active));
