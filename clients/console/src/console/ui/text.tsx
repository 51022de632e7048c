import {
  Anchor,
  type AnchorProps,
  Box,
  type BoxProps,
  Group,
  type GroupProps,
  Text,
} from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { useMe } from "../../shared/auth/user";
import type { TimeStyle, Timestamp } from "../../shared/format/time";
import { Avatar, Time } from "../../shared/ui";
import rows from "../../shared/ui/data-table.module.css";
import text from "./text.module.css";

/** A less important line below other text. */
export function Note(props: BoxProps & { children: ReactNode }) {
  return <Box c="dimmed" fz="xs" {...props} />;
}

/** Less important text within other text. */
export const Dimmed = Text.withProps({ span: true, inherit: true, c: "dimmed" });

/** Less important text as a paragraph. */
export const Hint = Text.withProps({ inherit: true, c: "dimmed" });

/** A hint about the inputs above. */
export const FieldHint = Text.withProps({ c: "dimmed", fz: "xs", mt: -6 });

/** A hint about what is shown below. */
export const SmallHint = Text.withProps({ c: "dimmed", fz: "sm" });

/** A hint in a card without padding. */
export const CardHint = Text.withProps({ c: "dimmed", py: 14, px: 16, fz: "sm" });

/** A name in text. */
export function Strong({ children }: { children: ReactNode }) {
  return (
    <Box component="strong" fw={560}>
      {children}
    </Box>
  );
}

/** An identifier. */
export function Code(props: BoxProps & { children: ReactNode }) {
  return <Box component="code" fz="xs" {...props} />;
}

/** A link that looks like a name. */
export function NameLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor component={Link} to={to} inherit c="inherit" fw={560}>
      {children}
    </Anchor>
  );
}

/** A button that looks like a text. */
export function LinkButton(props: AnchorProps & { onClick: () => void; children: ReactNode }) {
  return (
    <Anchor
      component="button"
      type="button"
      inherit
      c="inherit"
      fw={540}
      py={2}
      ta="left"
      {...props}
    />
  );
}

/** The link of a row that is a link as a whole. */
export function RowLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Link className={rows.link} to={to}>
      {children}
    </Link>
  );
}

/** A link of a row to a member. */
export function MemberLink({ to, name }: { to: string; name: string }) {
  return (
    <Group gap={10} wrap="nowrap">
      <Avatar name={name} />
      <RowLink to={to}>{name}</RowLink>
    </Group>
  );
}

/** Tags, buttons and short texts in one line, also within text. */
export function Inline(props: GroupProps & { children: ReactNode }) {
  return <Group component="span" gap={10} display="inline-flex" {...props} />;
}

/** A time in the organization's time zone. */
export function TenantTime(props: { at: Timestamp | undefined; as?: TimeStyle }) {
  const { tenant } = useMe();
  return <Time zone={tenant.timeZone} {...props} />;
}

/** The texts that there are, in one line. */
export const dotted = (...texts: unknown[]): string => texts.filter(Boolean).join(" · ");

/** Cells with numbers and the like: at the right, on one line. */
export const right = { ta: "right", className: text.nowrap ?? "" } as const;

/** Cells with times and the like: less important, on one line. */
export const quiet = { c: "dimmed", className: text.nowrap ?? "" } as const;
