import { type NotificationSenders, NotificationService } from "@berthhq/client";
import { Box, Button, Group, Stack } from "@mantine/core";
import { useCall } from "../../shared/api/calls";
import { useCan } from "../../shared/auth/user";
import { Form, FormError, useSubmit } from "../../shared/forms/form";
import { useText } from "../../shared/i18n";
import { Card, CopyButton, Tag } from "../../shared/ui";
import { CallButton } from "../../shared/ui/call-button";
import { Code, Hint, Note, Strong, TenantTime } from "../ui";
import text from "../ui/text.module.css";
import { messageTexts } from "./texts";

interface SendingDomainProps {
  senders: NotificationSenders;
  onEdit: () => void;
}

/** The domain from which the platform sends the tenant's emails, and what to publish in DNS for that. */
export function SendingDomain({ senders: { domain, smtp, etag }, onEdit }: SendingDomainProps) {
  const t = useText(messageTexts);
  const can = useCan()("notification.senders");
  const verify = useCall(NotificationService.method.verifySendingDomain, {
    quiet: true,
    done: t.messages.domain.done,
  });
  const { error, onSubmit } = useSubmit(() => verify.run({}));
  if (!domain && (smtp || !can)) return null;
  return (
    <Card title={t.messages.domain.title}>
      <Form onSubmit={onSubmit}>
        <Hint>{smtp ? t.messages.domain.unused : t.messages.domain.note}</Hint>
        {domain && (
          <Box>
            <Group gap={8} className={text.anywhere}>
              <Strong>{domain.fromAddress}</Strong>
              <Tag tone={domain.verifyTime ? "good" : "warn"}>
                {domain.verifyTime ? t.messages.domain.verified : t.messages.domain.pending}
              </Tag>
            </Group>
            {domain.missingTime && (
              <Note mt={3}>
                {t.messages.domain.missing} <TenantTime at={domain.missingTime} as="dateTime" />
              </Note>
            )}
          </Box>
        )}
        {domain?.records.map(({ name, value }) => (
          <Stack key={name} gap={6}>
            <Copied what={t.messages.domain.name} of={name} text={name} />
            <Copied what={t.messages.domain.text} of={name} text={value} />
          </Stack>
        ))}
        <FormError error={error} />
        {can && (
          <Group gap={8}>
            {domain && (
              <Button type="submit" loading={verify.busy}>
                {t.messages.domain.verify}
              </Button>
            )}
            <Button variant="default" onClick={onEdit}>
              {domain ? t.actions.edit : t.messages.domain.setUp}
            </Button>
            {domain && (
              <CallButton
                variant="subtle"
                color="gray"
                method={NotificationService.method.updateNotificationSenders}
                input={{ senders: {}, updateMask: { paths: ["domain"] }, etag }}
                ask={{
                  title: t.messages.domain.removeTitle,
                  body: t.messages.domain.removeBody,
                  yes: t.messages.domain.remove,
                  danger: true,
                }}
                done={t.done.saved}
              >
                {t.actions.remove}
              </CallButton>
            )}
          </Group>
        )}
      </Form>
    </Card>
  );
}

/** A part of a record, to be copied. */
function Copied({ what, of, text: value }: { what: string; of: string; text: string }) {
  const t = useText(messageTexts);
  return (
    <Group gap={8} wrap="nowrap" justify="space-between">
      <Box miw={0} className={text.anywhere}>
        <Note>{what}</Note>
        <Code>{value}</Code>
      </Box>
      <CopyButton text={value} label={t.messages.domain.copy(what, of)} />
    </Group>
  );
}
