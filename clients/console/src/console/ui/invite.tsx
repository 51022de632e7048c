import { InvitationService, type Member } from "@berthhq/client";
import { Checkbox } from "@mantine/core";
import { useCall } from "../../shared/api/calls";
import { useText } from "../../shared/i18n";
import { uiTexts } from "./texts";

/** Invites members by mail. Errors are shown. */
export function useInvite(): (members: readonly Pick<Member, "id" | "email">[]) => Promise<void> {
  const t = useText(uiTexts);
  const invite = useCall(InvitationService.method.batchCreateInvitations, {
    done: ({ invitations }) => t.invite.sent(invitations.map(({ email }) => email)),
  });
  return async (members) => {
    const invitations = members
      .filter(({ email }) => email)
      .map(({ id }) => ({ who: { case: "memberId" as const, value: id } }));
    if (invitations.length > 0) await invite.run({ invitations });
  };
}

interface InviteBoxProps {
  /** The address to which the invitation goes. */
  to: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

/** Whether somebody who is added is invited by mail. */
export function InviteBox({ to, checked, onChange }: InviteBoxProps) {
  const t = useText(uiTexts);
  return (
    <Checkbox
      label={t.invite.send}
      description={t.invite.noteTo(to)}
      checked={checked}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
