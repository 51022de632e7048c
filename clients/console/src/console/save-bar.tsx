import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { useText } from "../i18n";

/** Stays visible while there are unsaved changes. */
export function SaveBar({
  editing: { changed, reset, saving },
  children,
}: {
  editing: { changed: readonly unknown[]; reset: () => void; saving: boolean };
  /** Further inputs, shown before the buttons. */
  children?: ReactNode;
}) {
  const t = useText();
  if (changed.length === 0) return null;
  return (
    <div className="save-bar">
      <span>{t.policies.pending(changed.length)}</span>
      {children}
      <Button variant="default" onClick={reset}>
        {t.actions.cancel}
      </Button>
      <Button type="submit" loading={saving}>
        {t.actions.save}
      </Button>
    </div>
  );
}
