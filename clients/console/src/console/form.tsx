import { type ReactNode, useState } from "react";
import { useText } from "../i18n";
import { useEditing, type Version } from "../shared/editing";
import { type Bound, bind, FormEnd, Refused } from "../shared/form";
import { Conflict } from "./conflict";

/** The name of a field in an update mask. */
export const maskOf = (field: PropertyKey): string =>
  String(field).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The values of a form, how to change them, and the props of its inputs. */
export type Form<V extends object> = Bound<V> & {
  readonly values: V;
  readonly set: (part: Partial<V>) => void;
};

/**
 * A form that creates or edits an entity. It shows what other users save in the meantime and keeps
 * everything that was typed.
 */
export function EditForm<V extends object>({
  current,
  save,
  reread,
  names,
  show,
  fresh = false,
  dirty = false,
  zone,
  onClose,
  aside,
  children,
}: {
  current: Version<V>;
  save: (values: V, changed: (keyof V)[], etag: string) => Promise<unknown>;
  reread: () => Promise<Version<V>>;
  names: Partial<Record<keyof V, string>>;
  show?: (key: keyof V, value: unknown) => string;
  /** The entity does not exist yet. */
  fresh?: boolean;
  /** There are changes to save outside the form's values. */
  dirty?: boolean;
  /** Time zone of times in error messages. Default: the browser's. */
  zone?: string;
  /** Closes the form. If absent, the form is part of the page and Cancel discards the changes. */
  onClose?: () => void;
  /** Further actions, shown at the left. */
  aside?: ReactNode;
  children: (form: Form<V>) => ReactNode;
}) {
  const t = useText();
  const [error, setError] = useState<unknown>();
  const editing = useEditing<V>({ current, save, reread, failed: setError });
  const { values, set } = editing;
  const untouched = editing.changed.length === 0 && !dirty;
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        void editing.submit().then((saved) => saved && onClose?.());
      }}
    >
      <Conflict
        theirs={editing.theirs}
        names={names}
        onTake={editing.takeTheirs}
        {...(show && { show })}
      />
      {children({ values, set, ...bind(values, set) })}
      <Refused error={error} {...(zone && { zone })} />
      <FormEnd
        act={fresh ? t.actions.create : t.actions.save}
        busy={editing.saving}
        disabled={untouched}
        cancelDisabled={!onClose && untouched}
        onCancel={onClose ?? editing.reset}
      >
        {aside}
      </FormEnd>
    </form>
  );
}
