import { type ContactKind, type Member, MemberService } from "@berthhq/client";
import { profileTexts } from "../../../shared/accounts/texts";
import { useText } from "../../../shared/i18n";
import { CallButton } from "../../../shared/ui/call-button";
import { memberPageTexts } from "./texts";

interface ConfirmByHandProps {
  member: Member;
  kind: ContactKind;
  address: string;
}

/** Lets staff confirm a contact of a member whom they know, without a code. */
export function ConfirmByHand({ member, kind, address }: ConfirmByHandProps) {
  const t = useText(memberPageTexts, profileTexts);
  return (
    <CallButton
      size="compact-xs"
      variant="default"
      method={MemberService.method.confirmMemberContact}
      input={{ memberId: member.id, kind, address }}
      ask={{
        title: t.member.confirmTitle(address),
        body: t.member.confirmBody(member.name),
        yes: t.member.confirm,
        reason: t.fields.reason,
      }}
      done={t.contact.done}
    >
      {t.member.confirm}
    </CallButton>
  );
}
