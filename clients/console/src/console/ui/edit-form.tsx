import type { DescMessage, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { Alert, Button, Stack, Text } from "@mantine/core";
import { IconUsers } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useCall } from "../../shared/api/calls";
import { useEditing } from "../../shared/forms/editing";
import { bind, type Fields, FormEnd, FormError } from "../../shared/forms/form";
import { useText } from "../../shared/i18n";
import { Facts } from "./figures";
import classes from "./save-bar.module.css";
import { uiTexts } from "./texts";

/** The name of a field in an update mask. */
export const maskOf = (field: PropertyKey): string =>
  String(field).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Some fields of an entity, as the values of a form. */
export const pick = <E extends object, K extends keyof E>(entity: E, ...fields: readonly K[]) =>
  Object.fromEntries(fields.map((field) => [field, entity[field]])) as Pick<E, K>;

/** A call that saves a form, and the message on success. The form shows its errors. */
export function useSave<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  done?: string | ((answer: MessageShape<O>) => string | undefined),
) {
  const t = useText();
  return useCall(method, { quiet: true, done: done ?? t.done.saved }).run;
}

/**
 * A form that creates or edits an entity. It shows what other users save in the meantime and keeps
 * everything that was typed.
 */
export function EditForm<V extends object, E extends { readonly etag: string } | undefined>({
  entity,
  valuesOf,
  save,
  names,
  pathOf = maskOf,
  show,
  disabled = false,
  dirty = false,
  zone,
  onClose,
  aside,
  bar = false,
  children,
}: {
  /** From a query. undefined creates one. */
  entity: E;
  valuesOf: (entity: E) => V;
  save: (values: V, edit: { updateMask: { paths: string[] }; etag: string }) => Promise<unknown>;
  /** The labels of the fields. */
  names: NoInfer<Partial<Record<keyof V, string>>>;
  /** The paths of a field in the update mask. */
  pathOf?: (field: keyof V) => string | readonly string[];
  show?: (key: keyof V, value: unknown) => string;
  /** The user may not edit it. */
  disabled?: boolean;
  /** There are changes to save outside the form's values. */
  dirty?: boolean;
  /** Time zone of times in error messages. Default: the browser's. */
  zone?: string | undefined;
  /** Closes the form. If absent, the form is part of the page and Cancel discards the changes. */
  onClose?: () => void;
  /** Further actions, shown at the left. */
  aside?: ReactNode;
  /** The form is a page: its buttons are in a bar, shown while there are changes. */
  bar?: boolean;
  children: (form: Fields<V>) => ReactNode;
}) {
  const t = useText();
  const editing = useEditing<V, E>({
    entity,
    valuesOf,
    save: (values, changed, etag) =>
      save(values, { updateMask: { paths: [...new Set(changed.flatMap(pathOf))] }, etag }),
    onSaved: onClose,
  });
  const { values, set } = editing;
  const untouched = editing.changed.length === 0 && !dirty;
  return (
    <Stack component="form" gap={bar ? 18 : 14} onSubmit={editing.onSubmit}>
      <Conflict
        theirs={editing.theirs}
        names={names}
        onTake={editing.takeTheirs}
        {...(show && { show })}
      />
      {children({ values, set, ...bind(values, set, names, disabled) })}
      <FormError error={editing.error} zone={zone} />
      {bar ? (
        <SaveBar editing={editing} />
      ) : (
        <FormEnd
          act={entity ? t.actions.save : t.actions.create}
          busy={editing.saving}
          disabled={untouched}
          cancelDisabled={!onClose && untouched}
          onCancel={onClose ?? editing.reset}
        >
          {aside}
        </FormEnd>
      )}
    </Stack>
  );
}

/** Shown when another user saved first: lists the fields that they changed. */
export function Conflict<V extends object>({
  theirs,
  names,
  show = (_, value) => String(value),
  onTake,
}: {
  theirs: Partial<V> | undefined;
  names: NoInfer<Partial<Record<keyof V, string>>>;
  show?: (key: keyof V, value: unknown) => string;
  onTake: () => void;
}) {
  const t = useText();
  if (!theirs) return null;
  const keys = Object.keys(theirs) as (keyof V)[];
  return (
    <Alert color="yellow" icon={<IconUsers size={18} />} title={t.conflict.title} role="alert">
      {keys.length === 0 ? (
        <Text inherit mb={10}>
          {t.conflict.nothing}
        </Text>
      ) : (
        <Facts
          mt={4}
          mb={10}
          of={keys.map((key) => [names[key] ?? String(key), show(key, theirs[key]) || "–"])}
        />
      )}
      <Text inherit mb={10}>
        {t.conflict.note}
      </Text>
      {keys.length > 0 && (
        <Button size="compact-sm" variant="default" onClick={onTake}>
          {t.conflict.take}
        </Button>
      )}
    </Alert>
  );
}

interface SaveBarProps {
  editing: { changed: readonly unknown[]; reset: () => void; saving: boolean };
  /** Further inputs, shown before the buttons. */
  children?: ReactNode;
}

/** Stays visible while there are unsaved changes. */
export function SaveBar({ editing: { changed, reset, saving }, children }: SaveBarProps) {
  const t = useText(uiTexts);
  if (changed.length === 0) return null;
  return (
    <div className={classes.bar}>
      <span className={classes.count}>{t.ui.pending(changed.length)}</span>
      {children && <div className={classes.more}>{children}</div>}
      <Button variant="default" onClick={reset}>
        {t.actions.cancel}
      </Button>
      <Button type="submit" loading={saving}>
        {t.actions.save}
      </Button>
    </div>
  );
}
