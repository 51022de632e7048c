import { AccessService, type OwnershipTransfer } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Group, Text } from "@mantine/core";
import { useMe } from "../auth/user";
import { here, showTime } from "../format/time";
import { useI18n } from "../i18n";
import { CallButton } from "../ui/call-button";
import { profileTexts } from "./texts";

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
  const { t, locale } = useI18n(profileTexts);
  const until = expireTime ? showTime(expireTime, here(), locale, "dayTime") : "";
  return (
    <Alert title={t.ownership.offered(fromName)}>
      <Text inherit mb={10}>
        {t.ownership.offeredNote(fromName, until)}
      </Text>
      <Group gap={8}>
        <CallButton
          size="compact-sm"
          method={AccessService.method.confirmOwnershipTransfer}
          input={{ transferId: id }}
          done={t.ownership.confirmed}
        >
          {t.ownership.confirm}
        </CallButton>
        <CallButton
          size="compact-sm"
          variant="default"
          method={AccessService.method.cancelOwnershipTransfer}
          input={{ transferId: id }}
        >
          {t.ownership.decline}
        </CallButton>
      </Group>
    </Alert>
  );
}
