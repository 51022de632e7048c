import { Anchor, Box, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { Avatar } from "../../shared/ui";

interface PersonProps {
  name: string;
  /** The person's page. */
  to?: string | false | undefined;
  /** Shown after the name. */
  mark?: ReactNode;
  /** Keeps the details on one line. */
  truncate?: boolean;
  children?: ReactNode;
}

/** A person: initials, name, and details below. */
export function Person({ name, to, mark, truncate = false, children }: PersonProps) {
  return (
    <Group gap={10} wrap="nowrap">
      <Avatar name={name} />
      <Box miw={0}>
        {to ? (
          <Anchor component={Link} to={to} inherit c="inherit" fw={560}>
            {name}
          </Anchor>
        ) : (
          <Text span inherit fw={560}>
            {name}
          </Text>
        )}
        {mark}
        {children && (
          <Text component="div" c="dimmed" fz="xs" {...(truncate && { truncate, maw: 320 })}>
            {children}
          </Text>
        )}
      </Box>
    </Group>
  );
}
