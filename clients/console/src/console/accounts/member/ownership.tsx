import { AccessService, type Member, MemberStatus } from "@berthhq/client";
import { Group, Text } from "@mantine/core";
import { OwnershipOffers, useTransfers } from "../../../shared/accounts/ownership";
import { profileTexts } from "../../../shared/accounts/texts";
import { useMe } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { CallButton } from "../../../shared/ui/call-button";
import { TenantTime } from "../../ui";

/** Lets owners make a member the owner in their place, and the member confirm it. */
export function Ownership({ member }: { member: Member }) {
  const t = useText(profileTexts);
  const { member: me, can } = useMe();
  const open = useTransfers().find((transfer) => transfer.toMemberId === member.id);
  if (member.id === me.id) return <OwnershipOffers />;
  if (!can("admin.manage") || member.status !== MemberStatus.ACTIVE) return null;
  return open ? (
    <Group gap={8} wrap="nowrap">
      <Text inherit flex={1}>
        {t.ownership.waiting(member.name)} <TenantTime at={open.expireTime} as="dateTime" />
      </Text>
      <CallButton
        size="compact-sm"
        variant="default"
        method={AccessService.method.cancelOwnershipTransfer}
        input={{ transferId: open.id }}
      >
        {t.ownership.withdraw}
      </CallButton>
    </Group>
  ) : (
    <Group>
      <CallButton
        size="compact-sm"
        variant="default"
        method={AccessService.method.transferOwnership}
        input={{ memberId: member.id }}
        ask={{
          title: t.ownership.transferTitle(member.name),
          body: t.ownership.transferBody,
          yes: t.ownership.transfer,
        }}
        done={t.ownership.started(member.name)}
      >
        {t.ownership.transfer}
      </CallButton>
    </Group>
  );
}
