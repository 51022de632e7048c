import { useCallback } from "react";
import { useSearchParams } from "react-router";

type Part = Readonly<Record<string, string | null | undefined>>;

/** A page's state in its URL, so that it can be shared and survives a reload. */
export function useAddress() {
  const [params, setParams] = useSearchParams();
  /** Sets parameters. Empty values remove them. */
  const change = useCallback(
    (part: Part) =>
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          for (const [name, value] of Object.entries(part)) {
            if (value) next.set(name, value);
            else next.delete(name);
          }
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );
  return [params, change] as const;
}
