import { IconFlagFilled } from "@tabler/icons-react";
import { useText } from "../../shared/i18n";

/** Marks the name of an entry that staff put before all others. */
export function Flag() {
  const t = useText();
  return (
    <>
      {" "}
      <IconFlagFilled size={13} color="var(--warn)" aria-label={t.offers.flagged} />
    </>
  );
}
