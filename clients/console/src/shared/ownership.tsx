import { AccessService, type OwnershipTransfer } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Button, Group, Text } from "@mantine/core";
import { useOwnershipTexts } from "../i18n/ownership";
import { useCall } from "./calls";
import { useMe } from "./me";
import { here, showTime } from "./time";

/** The open transfers of ownership that the user may see. */
export const useTransfers = (): readonly OwnershipTransfer[] =>
  useQuery(AccessService.method.listOwnershipTransfers, {}).data?.transfers ?? [];

/** Asks the user to become an owner, if an owner wants that. */
export function OwnershipOffers() {
  const { member } = useMe();
  const offers = useTransfers().filter(({ toMemberId }) => toMemberId === member.id);
  return offers.map((transfer) => <Offer key={transfer.id} transfer={transfer} />);
}

function Offer({ transfer: { id, fromName, expireTime } }: { transfer: OwnershipTransfer }) {
  const { o, locale } = useOwnershipTexts();
  const confirm = useCall(AccessService.method.confirmOwnershipTransfer, { done: o.confirmed });
  const cancel = useCall(AccessService.method.cancelOwnershipTransfer);
  const until = expireTime ? showTime(expireTime, here(), locale, "dayTime") : "";
  return (
    <Alert title={o.offered(fromName)}>
      <Text inherit mb={10}>
        {o.offeredNote(fromName, until)}
      </Text>
      <Group gap={8}>
        <Button
          size="compact-sm"
          loading={confirm.busy}
          onClick={() => void confirm.run({ transferId: id })}
        >
          {o.confirm}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          loading={cancel.busy}
          onClick={() => void cancel.run({ transferId: id })}
        >
          {o.decline}
        </Button>
      </Group>
    </Alert>
  );
}
