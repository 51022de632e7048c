import { type Import, ImportService, ImportStatus } from "@berthhq/client";
import { Stack, Text } from "@mantine/core";
import { here } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { Time } from "../../shared/ui";
import { CallButton } from "../../shared/ui/call-button";
import type { Kind } from "./send";
import { importTexts } from "./texts";

interface Props {
  kind: Kind;
  of: Import;
}

/** Undoes what an import created, as long as that is possible. */
export function UndoButton({ kind, of }: Props) {
  const t = useText(importTexts);
  if (!of.undoDeadline || Number(of.undoDeadline.seconds) * 1000 <= Date.now()) return null;
  return (
    <CallButton
      size="compact-sm"
      variant="default"
      method={ImportService.method.undoImport}
      input={{ importId: of.id }}
      ask={{
        title: t.imports.undoTitle,
        body: (
          <Stack gap={10}>
            <Text inherit>{t.imports.undoes[kind](of.createdCount)}</Text>
            <Text inherit>{t.imports.undoRule}</Text>
            <Text inherit c="dimmed">
              {t.imports.undoUntil} <Time at={of.undoDeadline} zone={here()} />
            </Text>
          </Stack>
        ),
        yes: t.imports.undo,
        danger: true,
      }}
    >
      {t.imports.undo}
    </CallButton>
  );
}

/** Until when an import can be undone, who has undone it, or why it was not. */
export function UndoNote({ of }: Pick<Props, "of">) {
  const t = useText(importTexts);
  const who = of.undoneBy?.name ?? "";
  if (of.status === ImportStatus.UNDONE) {
    return (
      <Text fz="xs" c="dimmed">
        {t.imports.undoneBy(who)} <Time at={of.undoTime} zone={here()} />
      </Text>
    );
  }
  return (
    <>
      {of.undoProblem && (
        <Text fz="xs" c="var(--warn)" maw={360}>
          {t.imports.notUndone} {of.undoProblem.message}
        </Text>
      )}
      {of.undoDeadline && Number(of.undoDeadline.seconds) * 1000 > Date.now() && (
        <Text fz="xs" c="dimmed">
          {t.imports.undoUntil} <Time at={of.undoDeadline} zone={here()} />
        </Text>
      )}
    </>
  );
}
