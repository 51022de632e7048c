import type { ComponentProps, ReactNode } from "react";
import classes from "./row.module.css";

/** A setting: its name, its value, and what can be done about it. */
export function Row({
  name,
  actions,
  children,
  ...props
}: ComponentProps<"div"> & { name: ReactNode; actions?: ReactNode }) {
  return (
    <div className={classes.row} {...props}>
      {name}
      {children}
      {actions && <div className={classes.actions}>{actions}</div>}
    </div>
  );
}
