import { ErrorReason } from "@berthhq/client";
import { useEffect, useRef, useState } from "react";
import { reasonOf } from "./errors";

/** An entity that several users may edit, as it was read. */
export interface Version<V> {
  readonly values: V;
  readonly etag: string;
}

export interface Rebased<V> {
  readonly values: V;
  /** Fields that another user changed, with their new values. */
  readonly theirs: Partial<V>;
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Names of the fields in which two versions differ. */
export function changes<V extends object>(from: V, to: V): (keyof V)[] {
  return (Object.keys(to) as (keyof V)[]).filter((key) => !same(from[key], to[key]));
}

/**
 * Merges the user's edits into what another user has saved: fields that only the other user changed
 * are taken over, the user's own edits are kept.
 */
export function rebase<V extends object>(base: V, typed: V, saved: V): Rebased<V> {
  const mine = new Set(changes(base, typed));
  const values = { ...saved };
  for (const key of mine) values[key] = typed[key];
  const theirs: Partial<V> = {};
  for (const key of changes(base, saved)) theirs[key] = saved[key];
  return { values, theirs };
}

interface Editing<V extends object> {
  current: Version<V>;
  save: (values: V, changed: (keyof V)[], etag: string) => Promise<unknown>;
  reread: () => Promise<Version<V>>;
  failed: (error: unknown) => void;
}

/**
 * The state of a form whose entity other users may edit at the same time. Nothing that was typed is
 * lost: if a save conflicts, the other user's changes are shown and the save can be repeated.
 */
export function useEditing<V extends object>({ current, save, reread, failed }: Editing<V>) {
  const [base, setBase] = useState(current);
  const [values, setValues] = useState(current.values);
  const [theirs, setTheirs] = useState<Partial<V>>();
  const [saving, setSaving] = useState(false);
  const changed = changes(base.values, values);
  const touched = useRef(false);
  touched.current = changed.length > 0;

  // Untouched forms follow what others save. If only the etag changed, the save was the user's own;
  // edits since then are based on it.
  useEffect(() => {
    if (current.etag === base.etag) return;
    if (!touched.current) setValues(current.values);
    else if (!same(current.values, base.values)) return;
    setBase(current);
  }, [current, base]);

  const submit = async (): Promise<boolean> => {
    setSaving(true);
    try {
      await save(values, changed, base.etag);
      setBase({ values, etag: base.etag });
      setTheirs(undefined);
      return true;
    } catch (error) {
      if (reasonOf(error) !== ErrorReason.ETAG_MISMATCH) {
        failed(error);
        return false;
      }
      try {
        const fresh = await reread();
        const rebased = rebase(base.values, values, fresh.values);
        setBase(fresh);
        setValues(rebased.values);
        setTheirs(rebased.theirs);
      } catch (second) {
        failed(second);
      }
      return false;
    } finally {
      setSaving(false);
    }
  };

  return {
    values,
    set: (part: Partial<V>) => setValues((before) => ({ ...before, ...part })),
    changed,
    theirs,
    takeTheirs: () => {
      setValues((before) => ({ ...before, ...theirs }));
      setTheirs(undefined);
    },
    reset: () => {
      setValues(base.values);
      setTheirs(undefined);
    },
    saving,
    submit,
  };
}
