import { NotificationService, type Senders } from "@berthhq/client";
import { Box, Button, Group, Stack } from "@mantine/core";
import { useNoticeTexts } from "../../i18n/notices";
import { useCall } from "../../shared/api/calls";
import { useCan } from "../../shared/auth/user";
import { Form, FormError, useSubmit } from "../../shared/forms/form";
import { Card, CopyButton, Tag } from "../../shared/ui";
import { CallButton } from "../../shared/ui/call-button";
import { Code, Hint, Note, Strong, TenantTime } from "../ui";
import text from "../ui/text.module.css";

interface SendingDomainProps {
  senders: Senders;
  onEdit: () => void;
}

/** The domain from which the platform sends the tenant's emails, and what to publish in DNS for that. */
export function SendingDomain({ senders: { domain, smtp, etag }, onEdit }: SendingDomainProps) {
  const { t, n } = useNoticeTexts();
  const can = useCan()("notification.senders");
  const verify = useCall(NotificationService.method.verifySendingDomain, {
    quiet: true,
    done: n.domain.done,
  });
  const { error, onSubmit } = useSubmit(() => verify.run({}));
  if (!domain && (smtp || !can)) return null;
  return (
    <Card title={n.domain.title}>
      <Form onSubmit={onSubmit}>
        <Hint>{smtp ? n.domain.unused : n.domain.note}</Hint>
        {domain && (
          <Box>
            <Group gap={8} className={text.anywhere}>
              <Strong>{domain.fromAddress}</Strong>
              <Tag tone={domain.verifyTime ? "good" : "warn"}>
                {domain.verifyTime ? n.domain.verified : n.domain.pending}
              </Tag>
            </Group>
            {domain.missingTime && (
              <Note mt={3}>
                {n.domain.missing} <TenantTime at={domain.missingTime} as="dateTime" />
              </Note>
            )}
          </Box>
        )}
        {domain?.records.map(({ name, value }) => (
          <Stack key={name} gap={6}>
            <Copied what={n.domain.name} of={name} text={name} />
            <Copied what={n.domain.text} of={name} text={value} />
          </Stack>
        ))}
        <FormError error={error} />
        {can && (
          <Group gap={8}>
            {domain && (
              <Button type="submit" loading={verify.busy}>
                {n.domain.verify}
              </Button>
            )}
            <Button variant="default" onClick={onEdit}>
              {domain ? t.actions.edit : n.domain.setUp}
            </Button>
            {domain && (
              <CallButton
                variant="subtle"
                color="gray"
                method={NotificationService.method.updateSenders}
                input={{ senders: { etag }, updateMask: { paths: ["domain"] } }}
                ask={{
                  title: n.domain.removeTitle,
                  body: n.domain.removeBody,
                  yes: n.domain.remove,
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
  const { n } = useNoticeTexts();
  return (
    <Group gap={8} wrap="nowrap" justify="space-between">
      <Box miw={0} className={text.anywhere}>
        <Note>{what}</Note>
        <Code>{value}</Code>
      </Box>
      <CopyButton text={value} label={n.domain.copy(what, of)} />
    </Group>
  );
}
