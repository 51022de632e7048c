import { ActionIcon, Button } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { useText } from "../../shared/i18n";
import { scheduleTexts } from "./texts";

/** Turns to today, or to earlier and later days. */
export function Turn({ onToday, onTurn }: { onToday: () => void; onTurn: (by: 1 | -1) => void }) {
  const t = useText(scheduleTexts);
  const turns = [
    [-1, t.schedule.before, IconChevronLeft],
    [1, t.schedule.after, IconChevronRight],
  ] as const;
  return (
    <>
      <Button variant="default" onClick={onToday}>
        {t.schedule.today}
      </Button>
      <ActionIcon.Group>
        {turns.map(([by, label, Chevron]) => (
          <ActionIcon
            key={by}
            variant="default"
            size={36}
            aria-label={label}
            onClick={() => onTurn(by)}
          >
            <Chevron size={17} />
          </ActionIcon>
        ))}
      </ActionIcon.Group>
    </>
  );
}
