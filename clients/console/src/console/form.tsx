import { type ReactNode, useState } from "react";
import { useText } from "../i18n";
import { useEditing, type Version } from "../shared/editing";
import { type Bound, bind, FormEnd, Refused } from "../shared/form";
import { Conflict } from "./conflict";

/** A field's name as update masks have it. */
export const maskOf = (field: PropertyKey): string =>
  String(field).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What a form shows and changes, with what its inputs take. */
export type Form<V extends object> = Bound<V> & {
  readonly values: V;
  readonly set: (part: Partial<V>) => void;
};

/** A form over something that is made or edited. What others save meanwhile is shown, and nothing typed is lost. */
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
  /** It is being made. */
  fresh?: boolean;
  /** There is something to save beside its values. */
  dirty?: boolean;
  /** The clock of times in refusals; the reader's where absent. */
  zone?: string;
  /** Absent where the form stands on the page: what was typed is taken back instead. */
  onClose?: () => void;
  /** What else can be done with it. */
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
