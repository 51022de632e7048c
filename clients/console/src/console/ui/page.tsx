import { Container, type ContainerProps } from "@mantine/core";
import { IconArrowLeft } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link, useLocation } from "react-router";
import classes from "./page.module.css";

/** The content of a page, below its header and with its margins. */
export function Page(props: ContainerProps) {
  return (
    <Container
      size={1240}
      px={{ base: 14, sm: 28 }}
      pt={{ base: 16, sm: 26 }}
      pb={{ base: 96, sm: 64 }}
      {...props}
    />
  );
}

/** Router state of a link: the address of the page with the link. */
export interface From {
  readonly from?: string;
}

/** Links back to the list the user came from, with its filters. */
export function Back({ to, label }: { to: string; label: string }) {
  const { from } = (useLocation().state ?? {}) as From;
  return (
    <Link to={from?.startsWith(to.split("?")[0] ?? to) ? from : to} className={classes.back}>
      <IconArrowLeft size={15} aria-hidden /> {label}
    </Link>
  );
}

/** The content and what belongs to it, side by side, or below each other on narrow screens. */
export function Split({ children, listed }: { children: ReactNode; listed?: boolean }) {
  return (
    <div className={classes.split} data-listed={listed}>
      {children}
    </div>
  );
}
