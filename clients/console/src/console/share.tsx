import type { CSSProperties } from "react";
import { useNumbers } from "../shared/numbers";

/** A share of 1 as a bar, with what it says beside it. */
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
