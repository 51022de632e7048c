import { Alert, Button } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { useI18n, useText } from "../i18n";
import { explain } from "./errors";
import { here } from "./time";

/** The fields of exactly this type. */
type Of<V, T> = { [K in keyof V]-?: [V[K], T] extends [T, V[K]] ? K : never }[keyof V];

/** The props of an input for a field, by the field's name. */
export interface Bound<V extends object> {
  readonly text: (key: Of<V, string>) => {
    value: string;
    onChange: (event: { currentTarget: { value: string } }) => void;
  };
  /** One of several options; "" is none. */
  readonly choice: (key: Of<V, string>) => {
    value: string | null;
    onChange: (value: string | null) => void;
  };
  /** A number, or "" if empty. */
  readonly number: (key: Of<V, number | "">) => {
    value: number | "";
    onChange: (value: string | number) => void;
  };
  readonly flag: (key: Of<V, boolean>) => {
    checked: boolean;
    onChange: (event: { currentTarget: { checked: boolean } }) => void;
  };
}

export function bind<V extends object>(values: V, set: (part: Partial<V>) => void): Bound<V> {
  const put = (key: keyof V, value: unknown) => set({ [key]: value } as Partial<V>);
  return {
    text: (key) => ({
      value: values[key] as string,
      onChange: (event) => put(key, event.currentTarget.value),
    }),
    choice: (key) => ({
      value: (values[key] as string) || null,
      onChange: (value) => put(key, value ?? ""),
    }),
    number: (key) => ({
      value: values[key] as number | "",
      onChange: (value) => put(key, typeof value === "number" ? value : ""),
    }),
    flag: (key) => ({
      checked: values[key] as boolean,
      onChange: (event) => put(key, event.currentTarget.checked),
    }),
  };
}

/** The values of a form, with the props of its inputs. */
export function useFields<V extends object>(first: V | (() => V)) {
  const [values, setValues] = useState(first);
  const set = (part: Partial<V>) => setValues((before) => ({ ...before, ...part }));
  return { values, set, ...bind(values, set) };
}

/** Submits a form. An error is kept and shown in the form. */
export function useSubmit(act: () => Promise<unknown>) {
  const [error, setError] = useState<unknown>();
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    act().catch(setError);
  };
  return { error, onSubmit };
}

/** Shows an error in the user's language, with times in the given zone. */
export function Refused({ error, zone = here() }: { error: unknown; zone?: string }) {
  const { t, locale } = useI18n();
  if (error === undefined) return null;
  return <Alert color="red">{explain(error, t, locale, zone)}</Alert>;
}

/** The end of a form: cancel or submit. */
export function FormEnd({
  act,
  busy,
  disabled = false,
  cancelDisabled = false,
  onCancel,
  children,
}: {
  /** Label of the submit button. */
  act: ReactNode;
  busy: boolean;
  disabled?: boolean;
  cancelDisabled?: boolean;
  onCancel: () => void;
  /** Shown at the other side. */
  children?: ReactNode;
}) {
  const t = useText();
  return (
    <div className="end">
      {children && <div className="end-aside">{children}</div>}
      <Button variant="default" onClick={onCancel} disabled={cancelDisabled}>
        {t.actions.cancel}
      </Button>
      <Button type="submit" loading={busy} disabled={disabled}>
        {act}
      </Button>
    </div>
  );
}

/** Select options from entities with a name. */
export const named = (things: readonly { id: string; name: string }[]) =>
  things.map(({ id, name }) => ({ value: id, label: name }));
