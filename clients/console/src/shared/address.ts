import { useCallback } from "react";
import { useSearchParams } from "react-router";

type Part = Readonly<Record<string, string | null | undefined>>;

/** What is chosen on a page. It stands in the page's address, so that it can be shared and is there after a reload. */
export function useAddress() {
  const [params, setParams] = useSearchParams();
  /** Puts values in, and takes out those that are empty. */
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
