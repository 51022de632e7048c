import type { HTMLAttributes, ReactNode } from "react";
import classes from "./card.module.css";

interface Props extends Omit<HTMLAttributes<HTMLElement>, "title"> {
  title?: ReactNode;
  extra?: ReactNode;
  /** The content has its own padding. */
  bare?: boolean;
  as?: "section" | "article" | "fieldset";
}

export function Card({
  title,
  extra,
  children,
  bare,
  as: Root = "section",
  className = "",
  ...others
}: Props) {
  return (
    <Root className={`${classes.card} ${className}`} {...others}>
      {(title || extra) && (
        <header className={classes.header}>
          <h2 className={classes.title}>{title}</h2>
          {extra}
        </header>
      )}
      {bare ? children : <div className={classes.body}>{children}</div>}
    </Root>
  );
}
