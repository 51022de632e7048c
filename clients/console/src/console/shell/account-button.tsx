import { Text } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import type { ComponentProps } from "react";
import { useMe } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { Avatar } from "../../shared/ui";
import { Dimmed } from "../ui";
import classes from "./sidebar.module.css";

/** The user. Opens the menu of the account. */
export function AccountButton(props: ComponentProps<"button">) {
  const { member } = useMe();
  const roles = useText().roleNames as Record<string, string>;
  return (
    <button type="button" {...props} className={classes.account}>
      <Avatar name={member.name} size={30} />
      <Text span inherit miw={0} ta="left">
        <Text span inherit truncate display="block" fw={560}>
          {member.name}
        </Text>
        <Dimmed truncate display="block" fz="xs">
          {member.roles.map((role) => roles[role] ?? role).join(", ")}
        </Dimmed>
      </Text>
      <IconChevronDown size={15} aria-hidden />
    </button>
  );
}
