import { NotificationService, type SendingQuota } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Box } from "@mantine/core";
import { useI18n } from "../../i18n";
import { useNotices } from "../../i18n/notices";
import { useNumbers } from "../../shared/format/numbers";
import { Card, Tag } from "../../shared/ui";
import { Row } from "../settings/row";
import { dotted, Hint, Note, Share, Strong, TenantTime } from "../ui";

/** How many messages the platform's accounts send for the tenant. Shows nothing if it has only accounts of its own. */
export function Quotas() {
  const n = useNotices();
  const { data } = useQuery(NotificationService.method.listSendingQuotas, {});
  if (!data?.quotas.length) return null;
  return (
    <Card title={n.quotas.title}>
      <Hint mb={10}>{n.quotas.note}</Hint>
      {data.quotas.map((one) => (
        <Quota key={`${one.channel} ${one.country}`} of={one} />
      ))}
    </Card>
  );
}

function Quota({
  of: { channel, country, limit, used, waiting, roomTime, growth },
}: {
  of: SendingQuota;
}) {
  const n = useNotices();
  const { locale } = useI18n();
  const { count } = useNumbers();
  const countries = new Intl.DisplayNames(locale, { type: "region" });
  return (
    <Row name={<Strong>{dotted(n.channels[channel], country && countries.of(country))}</Strong>}>
      <Box>
        <Share of={used / limit}>{n.quotas.used(count(used), count(limit))}</Share>{" "}
        {roomTime && <Tag tone="warn">{n.quotas.full}</Tag>}
        {roomTime && (
          <Note mt={3}>
            {n.quotas.next} <TenantTime at={roomTime} as="dateTime" />
          </Note>
        )}
        {waiting > 0 && <Note mt={3}>{n.quotas.waiting(count(waiting))}</Note>}
        {growth > 1 && !country && <Note mt={3}>{n.quotas.growth(growth)}</Note>}
      </Box>
    </Row>
  );
}
