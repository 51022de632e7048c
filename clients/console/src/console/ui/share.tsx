import { Group, Progress } from "@mantine/core";
import type { ReactNode } from "react";
import { useNumbers } from "../../shared/format/numbers";
import text from "./text.module.css";

/** A fraction of 1 as a bar, with its label. */
export function Share({ of, children }: { of: number; children?: ReactNode }) {
  const { percent } = useNumbers();
  return (
    <Group component="span" display="inline-flex" gap={8} wrap="nowrap" className={text.num}>
      <Progress
        aria-hidden
        w={54}
        size={5}
        radius={3}
        bg="var(--line)"
        color="var(--accent)"
        value={Math.min(1, of) * 100}
      />
      {children ?? percent(of)}
    </Group>
  );
}
