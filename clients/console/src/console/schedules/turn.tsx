import { ActionIcon, Button } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { useText } from "../../i18n";

/** Turns to today, or to earlier and later days. */
export function Turn({ onToday, onTurn }: { onToday: () => void; onTurn: (by: 1 | -1) => void }) {
  const t = useText();
  return (
    <>
      <Button variant="default" onClick={onToday}>
        {t.schedule.today}
      </Button>
      <ActionIcon.Group>
        <ActionIcon
          variant="default"
          size={36}
          aria-label={t.schedule.before}
          onClick={() => onTurn(-1)}
        >
          <IconChevronLeft size={17} />
        </ActionIcon>
        <ActionIcon
          variant="default"
          size={36}
          aria-label={t.schedule.after}
          onClick={() => onTurn(1)}
        >
          <IconChevronRight size={17} />
        </ActionIcon>
      </ActionIcon.Group>
    </>
  );
}
