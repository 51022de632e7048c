import { Button } from "@mantine/core";
import { IconMapOff } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { useText } from "../i18n";
import classes from "./frame.module.css";
import logo from "./logo.module.css";
import { State } from "./query-result";
import { useTitle } from "./title";

/** Shown for unknown URLs. */
export function NoPage({ home }: { home: string }) {
  const t = useText();
  useTitle(t.states.noPage);
  return (
    <State
      icon={IconMapOff}
      title={t.states.noPage}
      action={
        <Button component={Link} to="/" variant="default">
          {home}
        </Button>
      }
      note={t.states.noPageNote}
    />
  );
}

/** Skips the navigation. It is visible only with the keyboard's focus. */
export function SkipLink() {
  const t = useText();
  return (
    <a className={classes.skip} href="#main">
      {t.nav.skip}
    </a>
  );
}

export function WordmarkLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link to={to} className={logo.wordmark}>
      {children}
    </Link>
  );
}

interface PageHeadProps {
  title: string;
  /** Shown before and after the title. */
  mark?: ReactNode;
  tags?: ReactNode;
  note?: ReactNode;
  children?: ReactNode;
}

/** The header of a page. It also sets the title of the browser tab. */
export function PageHead({ title, mark, tags, note, children }: PageHeadProps) {
  useTitle(title);
  return (
    <header className={classes.head}>
      <div>
        <h1 className={classes.title}>
          {mark}
          {title}
          {tags}
        </h1>
        {note && <p className={classes.note}>{note}</p>}
      </div>
      {children && <div className={classes.actions}>{children}</div>}
    </header>
  );
}
