import {
  NumberInput,
  type NumberInputProps,
  Select,
  type SelectProps,
  TextInput,
  type TextInputProps,
} from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useText } from "../../shared/i18n";
import classes from "./inputs.module.css";
import { offered, useLanguageNames } from "./languages";
import { uiTexts } from "./texts";

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

export function Zone(props: SelectProps<string>) {
  const t = useText();
  return (
    <Select
      label={t.fields.timeZone}
      required
      searchable
      allowDeselect={false}
      data={[
        ...new Set([...(props.value ? [props.value] : []), ...Intl.supportedValuesOf("timeZone")]),
      ]}
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
  const t = useText(uiTexts);
  return (
    <NumberInput label={t.ui.price} min={0} decimalScale={2} suffix={` ${currency}`} {...props} />
  );
}
