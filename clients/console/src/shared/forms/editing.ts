import { ErrorReason } from "@berthhq/client";
import { notifyManager, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { reasonOf } from "../api/errors";

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

interface Editing<V extends object, E> {
  /** From a query. undefined creates one. */
  entity: E;
  valuesOf: (entity: E) => V;
  save: (values: V, changed: (keyof V)[], etag: string) => Promise<unknown>;
  onSaved?: (() => void) | undefined;
}

/**
 * The state of a form whose entity other users may edit at the same time. Nothing that was typed is
 * lost: if a save conflicts, the other user's changes are shown and the save can be repeated.
 */
export function useEditing<V extends object, E extends { readonly etag: string } | undefined>({
  entity,
  valuesOf,
  save,
  onSaved,
}: Editing<V, E>) {
  const versionOf = (of: E) => ({ values: valuesOf(of), etag: of?.etag ?? "" });
  const current = versionOf(entity);
  const newest = useRef(current);
  newest.current = current;
  const queries = useQueryClient();
  const [base, setBase] = useState(current);
  const [values, setValues] = useState(current.values);
  const [theirs, setTheirs] = useState<Partial<V>>();
  const [saving, setSaving] = useState(false);
  const [error, setError] = useState<unknown>();
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

  /** Merges what another user has saved first. Throws any other error. */
  const merge = async (thrown: unknown) => {
    if (reasonOf(thrown) !== ErrorReason.ETAG_MISMATCH) throw thrown;
    await queries.refetchQueries({ type: "active" }, { cancelRefetch: false });
    // Components hear of it a moment later.
    await new Promise<void>((heard) => notifyManager.schedule(heard));
    const fresh = newest.current;
    if (fresh.etag === base.etag) throw thrown;
    const rebased = rebase(base.values, values, fresh.values);
    setBase(fresh);
    setValues(rebased.values);
    setTheirs(rebased.theirs);
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
    error,
    setError,
    onSubmit: async (event: FormEvent) => {
      event.preventDefault();
      event.stopPropagation(); // the form can be in a dialog of another form
      setError(undefined);
      setSaving(true);
      try {
        await save(values, changed, base.etag);
        setBase({ values, etag: base.etag });
        setTheirs(undefined);
        onSaved?.();
      } catch (thrown) {
        await merge(thrown).catch(setError);
      } finally {
        setSaving(false);
      }
    },
  };
}
