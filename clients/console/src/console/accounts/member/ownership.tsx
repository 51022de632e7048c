import { AccessService, type Member, MemberStatus } from "@berthhq/client";
import { Button, Group, Text } from "@mantine/core";
import { useOwnershipTexts } from "../../../i18n/ownership";
import { useCall } from "../../../shared/calls";
import { useMe } from "../../../shared/me";
import { OwnershipOffers, useTransfers } from "../../../shared/ownership";
import { TenantTime } from "../../ui";

/** Lets owners make a member the owner in their place, and the member confirm it. */
export function Ownership({ member }: { member: Member }) {
  const { o } = useOwnershipTexts();
  const { member: me, can } = useMe();
  const open = useTransfers().find((transfer) => transfer.toMemberId === member.id);
  const start = useCall(AccessService.method.transferOwnership, {
    ask: { title: o.transferTitle(member.name), body: o.transferBody, yes: o.transfer },
    done: o.started(member.name),
  });
  const cancel = useCall(AccessService.method.cancelOwnershipTransfer);
  if (member.id === me.id) return <OwnershipOffers />;
  if (!can("admin.manage") || member.status !== MemberStatus.ACTIVE) return null;
  return open ? (
    <Group gap={8} wrap="nowrap">
      <Text inherit flex={1}>
        {o.waiting(member.name)} <TenantTime at={open.expireTime} as="dateTime" />
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        loading={cancel.busy}
        onClick={() => void cancel.run({ transferId: open.id })}
      >
        {o.withdraw}
      </Button>
    </Group>
  ) : (
    <Group>
      <Button
        size="compact-sm"
        variant="default"
        loading={start.busy}
        onClick={() => void start.run({ memberId: member.id })}
      >
        {o.transfer}
      </Button>
    </Group>
  );
}
