import { ActionIcon } from "@mantine/core";
import { IconCopy } from "@tabler/icons-react";
import { Tooltip } from "./overlays";

export const CopyButton = ({ text, label }: { text: string; label: string }) => (
  <Tooltip label={label}>
    <ActionIcon aria-label={label} onClick={() => void navigator.clipboard.writeText(text)}>
      <IconCopy size={16} />
    </ActionIcon>
  </Tooltip>
);
