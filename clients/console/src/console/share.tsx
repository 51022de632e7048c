import type { CSSProperties } from "react";
import { useNumbers } from "../shared/numbers";

/** A fraction of 1 as a bar, with its label. */
export function Share({ of, children }: { of: number; children?: string }) {
  const { percent } = useNumbers();
  const style = { "--part": `${Math.min(1, of) * 100}%` } as CSSProperties;
  return (
    <span className="seats">
      <i style={style} aria-hidden />
      {children ?? percent(of)}
    </span>
  );
}
