import { ActionIcon, Menu } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";

/** An action that is shown if it is possible. One with danger cannot be undone. */
export type Action = readonly [
  possible: boolean,
  label: string,
  run: () => unknown,
  danger?: "danger",
];

interface ActionsMenuProps {
  label: string;
  actions: readonly Action[];
  /** Draws a border, for use next to buttons. */
  outlined?: boolean;
}

/** A menu of further actions. It is not shown if there are none. */
export function ActionsMenu({ label, actions, outlined = false }: ActionsMenuProps) {
  const shown = actions.filter(([possible]) => possible);
  if (shown.length === 0) return null;
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon {...(outlined && { variant: "default", size: 36 })} aria-label={label}>
          <IconDots size={outlined ? 18 : 17} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {shown.map(([, name, run, danger]) => (
          <Menu.Item key={name} {...(danger && { c: "var(--bad)" })} onClick={() => void run()}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
