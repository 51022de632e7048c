import { ErrorReason } from "@berthhq/client";
import { useEffect, useRef, useState } from "react";
import { reasonOf } from "./errors";

/** Something that several people may edit, as it was read. */
export interface Version<V> {
  readonly values: V;
  readonly etag: string;
}

export interface Rebased<V> {
  readonly values: V;
  /** Fields that somebody else changed, with what they are now. */
  readonly theirs: Partial<V>;
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Names of the fields in which two versions differ. */
export function changes<V extends object>(from: V, to: V): (keyof V)[] {
  return (Object.keys(to) as (keyof V)[]).filter((key) => !same(from[key], to[key]));
}

/**
 * Puts what somebody typed on top of what somebody else has saved meanwhile: fields that only they
 * changed are taken over, the reader's own stay as they typed them.
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
 * A form over something that others may edit at the same time. Nothing that was typed is ever lost: a save
 * that comes too late shows what the other one changed, and can be repeated.
 */
export function useEditing<V extends object>({ current, save, reread, failed }: Editing<V>) {
  const [base, setBase] = useState(current);
  const [values, setValues] = useState(current.values);
  const [theirs, setTheirs] = useState<Partial<V>>();
  const [saving, setSaving] = useState(false);
  const changed = changes(base.values, values);
  const touched = useRef(false);
  touched.current = changed.length > 0;

  // What nobody has begun to edit follows what others save. Where only the version moved, the save was one's own, and what is
  // typed since then goes on top of it.
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
