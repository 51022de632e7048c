import { Alert, Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useSpeech } from "../i18n";
import { useEditing, type Version } from "../shared/editing";
import { explain } from "../shared/errors";
import { here } from "../shared/time";
import { Conflict } from "./conflict";

/** A field's name as update masks have it. */
export const maskOf = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A form in a drawer, over something that is made or edited. What others save meanwhile is shown, and nothing typed is lost. */
export function EditForm<V extends object>({
  current,
  save,
  reread,
  names,
  show,
  fresh,
  onClose,
  children,
}: {
  current: Version<V>;
  save: (values: V, changed: (keyof V)[], etag: string) => Promise<unknown>;
  reread: () => Promise<Version<V>>;
  names: Partial<Record<keyof V, string>>;
  show?: (key: keyof V, value: unknown) => string;
  /** It is being made. */
  fresh: boolean;
  /** Absent where the form is no drawer: what was typed is taken back instead. */
  onClose?: () => void;
  children: (values: V, set: (part: Partial<V>) => void) => ReactNode;
}) {
  const { t, locale } = useSpeech();
  const [error, setError] = useState<unknown>();
  const editing = useEditing<V>({ current, save, reread, failed: setError });
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
      {children(editing.values, editing.set)}
      {error !== undefined && <Alert color="red">{explain(error, t, locale, here())}</Alert>}
      <div className="end">
        <Button
          variant="default"
          onClick={onClose ?? editing.reset}
          disabled={!onClose && editing.changed.length === 0}
        >
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={editing.saving} disabled={editing.changed.length === 0}>
          {fresh ? t.actions.create : t.actions.save}
        </Button>
      </div>
    </form>
  );
}
