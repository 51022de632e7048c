import { ImportService, InvitationService, MemberService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { IconMail } from "@tabler/icons-react";
import { useState } from "react";
import { useCall, useFailed, useRead } from "../../shared/api/calls";
import { ask } from "../../shared/dialogs/question";
import { useText } from "../../shared/i18n";
import { Card } from "../../shared/ui";
import { FieldHint } from "../ui";
import { importTexts } from "./texts";

/** How many people one call invites. */
const atOnce = 100;

/**
 * Offers to invite the members whom an import created. Who was invited is in no later page, so it goes on where it ended,
 * also after an error or in another browser.
 */
export function InviteImported({ importId }: { importId: string }) {
  const t = useText(importTexts);
  const read = useRead();
  const failed = useFailed();
  const invite = useCall(InvitationService.method.batchCreateInvitations, { quiet: true });
  const [invited, setInvited] = useState<number>();
  const [busy, setBusy] = useState(false);
  const found = useQuery(ImportService.method.getImport, { importId }).data?.fileImport;
  const n = found?.invitableCount ?? 0;
  if (!found || (n === 0 && !invited)) return null;

  const inviteAll = async () => {
    setBusy(true);
    let sent = 0;
    try {
      for (;;) {
        const { members } = await read(MemberService.method.listMembers, {
          filter: { importId, invitable: true },
          pageSize: atOnce,
        });
        if (members.length === 0) break;
        await invite.run({
          invitations: members.map(({ id }) => ({ who: { case: "memberId" as const, value: id } })),
        });
        sent += members.length;
        setInvited(sent);
      }
    } catch (error) {
      failed(error);
    } finally {
      setBusy(false);
    }
  };
  const click = async () => {
    const sure = await ask({
      title: t.imports.inviteTitle(n),
      body: t.imports.inviteBody,
      yes: t.imports.invite(n),
    });
    if (sure) await inviteAll();
  };
  return (
    <Card
      title={t.imports.inviteHead}
      extra={
        (busy || n > 0) && (
          <Button leftSection={<IconMail size={16} />} loading={busy} onClick={() => void click()}>
            {t.imports.invite(n)}
          </Button>
        )
      }
    >
      <FieldHint>
        {invited ? `${t.imports.invited(invited)} ` : ""}
        {found.withoutEmailCount > 0 ? `${t.imports.withoutEmail(found.withoutEmailCount)} ` : ""}
        {t.imports.inviteLimit}
      </FieldHint>
    </Card>
  );
}
