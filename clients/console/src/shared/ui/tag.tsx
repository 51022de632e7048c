import type { ReactNode } from "react";
import classes from "./tag.module.css";

export type Tone = "good" | "warn" | "bad" | "accent" | "plain" | "";

/** A status. */
export function Tag({ tone = "", children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`${classes.tag} ${classes[tone] ?? ""}`}>{children}</span>;
}
