import { NotificationService, type SendingQuota } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Box } from "@mantine/core";
import { useNumbers } from "../../shared/format/numbers";
import { useI18n, useText } from "../../shared/i18n";
import { notificationTexts } from "../../shared/messages/texts";
import { Card, Tag } from "../../shared/ui";
import { Row } from "../settings/row";
import { dotted, Hint, Note, Share, Strong, TenantTime } from "../ui";
import { messageTexts } from "./texts";

/** How many messages the platform's accounts send for the tenant. Shows nothing if it has only accounts of its own. */
export function Quotas() {
  const t = useText(messageTexts);
  const { data } = useQuery(NotificationService.method.listSendingQuotas, {});
  if (!data?.quotas.length) return null;
  return (
    <Card title={t.messages.quotas.title}>
      <Hint mb={10}>{t.messages.quotas.note}</Hint>
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
  const { t, locale } = useI18n(messageTexts, notificationTexts);
  const { count } = useNumbers();
  const countries = new Intl.DisplayNames(locale, { type: "region" });
  return (
    <Row
      name={
        <Strong>
          {dotted(t.notifications.channels[channel], country && countries.of(country))}
        </Strong>
      }
    >
      <Box>
        <Share of={used / limit}>{t.messages.quotas.used(count(used), count(limit))}</Share>{" "}
        {roomTime && <Tag tone="warn">{t.messages.quotas.full}</Tag>}
        {roomTime && (
          <Note mt={3}>
            {t.messages.quotas.next} <TenantTime at={roomTime} as="dateTime" />
          </Note>
        )}
        {waiting > 0 && <Note mt={3}>{t.messages.quotas.waiting(count(waiting))}</Note>}
        {growth > 1 && !country && <Note mt={3}>{t.messages.quotas.growth(growth)}</Note>}
      </Box>
    </Row>
  );
}
