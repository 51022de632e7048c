import { Group, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { Timestamp } from "../shared/format/time";
import { Card, Time } from "../shared/ui";
import { useTitle } from "../shared/ui/title";
import classes from "./ui.module.css";

interface HeadingProps {
  children: string;
  tab?: string;
  mb?: number;
}

/** The title of a page and of the browser tab. */
export function Heading({ children, tab = children, mb = 14 }: HeadingProps) {
  useTitle(tab);
  return (
    <Title fz={26} fw={660} lh={1.5} lts="-0.022em" mb={mb}>
      {children}
    </Title>
  );
}

/** The title of a part of a page. */
export function Subheading({ children }: { children: string }) {
  return (
    <Title order={2} fz={14} fw={600} lh={1.5} c="var(--ink-2)" mt={26} mb={10}>
      {children}
    </Title>
  );
}

/** Less important text, in the size of the text around it. */
export const Note = Text.withProps({ inherit: true, c: "dimmed" });

/** Less important text, in a smaller size. */
export const Small = Text.withProps({ fz: 13, c: "dimmed" });

/** A booking, an offer or a waitlist entry. */
export function SummaryCard({
  title,
  label = title,
  time,
  seats = 1,
  notes,
  actions,
  highlighted = false,
  children,
}: {
  title: string;
  label?: string;
  time: ReactNode;
  seats?: number;
  notes?: ReactNode;
  actions?: ReactNode;
  highlighted?: boolean;
  children?: ReactNode;
}) {
  return (
    <Card
      as="article"
      bare
      className={`${classes.card} ${highlighted ? classes.highlighted : ""}`}
      aria-label={label}
    >
      <div>
        <div className={classes.time}>{time}</div>
        <div className={classes.title}>
          {title}
          {seats > 1 && <Note span> × {seats}</Note>}
        </div>
        {notes}
      </div>
      {actions && <Group gap={8}>{actions}</Group>}
      {children}
    </Card>
  );
}

/** "Monday, 16 March, 18:00" */
export function DayAndTime({ at, zone }: { at: Timestamp | undefined; zone: string }) {
  return (
    <>
      <Time at={at} zone={zone} as="longDay" />, <Time at={at} zone={zone} as="time" />
    </>
  );
}
