import { Alert, Button, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type FormEventHandler, type ReactNode, useState } from "react";
import { explain } from "../api/errors";
import { here } from "../format/time";
import { useI18n, useText } from "../i18n";
import classes from "./form.module.css";

/** The fields of exactly this type. */
type Of<V, T> = { [K in keyof V]-?: [V[K], T] extends [T, V[K]] ? K : never }[keyof V];

/** The props of an input for a field, by the field's name, with its label if there are names. */
export function bind<V extends object>(
  values: V,
  set: (part: Partial<V>) => void,
  names?: NoInfer<Partial<Record<keyof V, string>>>,
  disabled = false,
) {
  const put = (key: keyof V, value: unknown) => set({ [key]: value } as Partial<V>);
  const common = (key: keyof V) => ({
    ...(names && { label: names[key] }),
    ...(disabled && { disabled }),
  });
  return {
    /** A value of any type, for an input that passes it as it is. */
    value: <K extends keyof V>(key: K) => ({
      ...common(key),
      value: values[key],
      onChange: (value: V[K]) => put(key, value),
    }),
    text: (key: Of<V, string>) => ({
      ...common(key),
      value: values[key] as string,
      onChange: (event: { currentTarget: { value: string } }) =>
        put(key, event.currentTarget.value),
    }),
    /** One of several options; "" is none. */
    choice: (key: Of<V, string>) => ({
      ...common(key),
      value: (values[key] as string) || null,
      onChange: (value: string | null) => put(key, value ?? ""),
    }),
    /** A number, or "" if empty. */
    number: (key: Of<V, number | "">) => ({
      ...common(key),
      value: values[key] as number | "",
      onChange: (value: string | number) => put(key, typeof value === "number" ? value : ""),
    }),
    /** A number that is never empty. */
    count: (key: Of<V, number>, empty = 0) => ({
      ...common(key),
      value: values[key] as number,
      onChange: (value: string | number) => put(key, Number(value) || empty),
    }),
    flag: (key: Of<V, boolean>) => ({
      ...common(key),
      checked: values[key] as boolean,
      onChange: (event: { currentTarget: { checked: boolean } }) =>
        put(key, event.currentTarget.checked),
    }),
  };
}

export type Bound<V extends object> = ReturnType<typeof bind<V>>;

/** The values of a form, how to change them, and the props of its inputs. */
export type Fields<V extends object> = Bound<V> & {
  readonly values: V;
  readonly set: (part: Partial<V>) => void;
};

/** The state of a form. */
export function useFields<V extends object>(
  first: V | (() => V),
  names?: NoInfer<Partial<Record<keyof V, string>>>,
): Fields<V> {
  const [values, setValues] = useState(first);
  const set = (part: Partial<V>) => setValues((before) => ({ ...before, ...part }));
  return { values, set, ...bind(values, set, names) };
}

/** Submits a form. The error is shown in the form. */
export function useSubmit(act: () => Promise<unknown>) {
  const { mutate, error, isPending } = useMutation({ mutationFn: act });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation(); // the form can be in a dialog of another form
    mutate();
  };
  return { error, busy: isPending, onSubmit };
}

/** The inputs of a form, one below the other. */
export const Form = (props: { onSubmit: FormEventHandler; children: ReactNode }) => (
  <Stack component="form" gap={14} {...props} />
);

/** Shows an error in the user's language, with times in the given zone. */
export function FormError({ error, zone = here() }: { error: unknown; zone?: string | undefined }) {
  const { t, locale } = useI18n();
  if (!error) return null;
  return <Alert color="red">{explain(error, t, locale, zone)}</Alert>;
}

/** The buttons of a form. They stay visible when a long form scrolls. */
export function FormFoot({ children }: { children: ReactNode }) {
  return <div className={classes.end}>{children}</div>;
}

/** The end of a form: cancel or submit. */
export function FormEnd({
  act,
  busy,
  disabled = false,
  cancel,
  cancelDisabled = false,
  onCancel,
  children,
}: {
  /** Label of the submit button. */
  act: ReactNode;
  busy: boolean;
  disabled?: boolean;
  /** Label of the other button. */
  cancel?: string | undefined;
  cancelDisabled?: boolean;
  onCancel: () => void;
  /** Shown at the other side. */
  children?: ReactNode;
}) {
  const t = useText();
  return (
    <FormFoot>
      {children && <div className={classes.aside}>{children}</div>}
      <Button variant="default" onClick={onCancel} disabled={cancelDisabled}>
        {cancel ?? t.actions.cancel}
      </Button>
      <Button type="submit" loading={busy} disabled={disabled}>
        {act}
      </Button>
    </FormFoot>
  );
}
