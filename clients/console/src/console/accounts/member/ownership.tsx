import { AccessService, type Member, MemberStatus } from "@berthhq/client";
import { Group, Text } from "@mantine/core";
import { useOwnershipTexts } from "../../../i18n/ownership";
import { OwnershipOffers, useTransfers } from "../../../shared/accounts/ownership";
import { useMe } from "../../../shared/auth/user";
import { CallButton } from "../../../shared/ui/call-button";
import { TenantTime } from "../../ui";

/** Lets owners make a member the owner in their place, and the member confirm it. */
export function Ownership({ member }: { member: Member }) {
  const { o } = useOwnershipTexts();
  const { member: me, can } = useMe();
  const open = useTransfers().find((transfer) => transfer.toMemberId === member.id);
  if (member.id === me.id) return <OwnershipOffers />;
  if (!can("admin.manage") || member.status !== MemberStatus.ACTIVE) return null;
  return open ? (
    <Group gap={8} wrap="nowrap">
      <Text inherit flex={1}>
        {o.waiting(member.name)} <TenantTime at={open.expireTime} as="dateTime" />
      </Text>
      <CallButton
        size="compact-sm"
        variant="default"
        method={AccessService.method.cancelOwnershipTransfer}
        input={{ transferId: open.id }}
      >
        {o.withdraw}
      </CallButton>
    </Group>
  ) : (
    <Group>
      <CallButton
        size="compact-sm"
        variant="default"
        method={AccessService.method.transferOwnership}
        input={{ memberId: member.id }}
        ask={{ title: o.transferTitle(member.name), body: o.transferBody, yes: o.transfer }}
        done={o.started(member.name)}
      >
        {o.transfer}
      </CallButton>
    </Group>
  );
}
