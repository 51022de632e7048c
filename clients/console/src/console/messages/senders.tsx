import {
  type NotificationSenders as Carriers,
  ContactKind,
  NotificationChannel,
  NotificationService,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Box, Button, Group, Select, Stack } from "@mantine/core";
import { useState } from "react";
import { ConfirmContact } from "../../shared/accounts/confirm-contact";
import { useCall } from "../../shared/api/calls";
import { useCan } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { notificationTexts } from "../../shared/messages/texts";
import { Card, CopyButton, QueryResult, Tag } from "../../shared/ui";
import { CallButton } from "../../shared/ui/call-button";
import { later } from "../../shared/ui/lazy";
import { Row } from "../settings/row";
import { Code, dotted, Hint, NumberSelect, offered, Panel, Strong, useLanguageNames } from "../ui";
import text from "../ui/text.module.css";
import { toneOf, worded } from "./filters";
import { Quotas } from "./quotas";
import type { Kind } from "./sender-form";
import { SendingDomain } from "./sending-domain";
import { messageTexts } from "./texts";

const SenderForm = later(() => import("./sender-form"), "SenderForm");

/** The channel of each sender. */
const channels: Record<Exclude<Kind, "domain">, NotificationChannel> = {
  twilio: NotificationChannel.SMS,
  fcm: NotificationChannel.PUSH,
  smtp: NotificationChannel.EMAIL,
};

/** The field of each channel's sender in the contract. */
const kinds: Record<NotificationChannel, keyof typeof channels> = {
  [NotificationChannel.UNSPECIFIED]: "smtp",
  [NotificationChannel.SMS]: "twilio",
  [NotificationChannel.PUSH]: "fcm",
  [NotificationChannel.EMAIL]: "smtp",
};

export function Senders() {
  const t = useText(messageTexts);
  const can = useCan();
  const senders = useQuery(NotificationService.method.getNotificationSenders, {});
  return (
    <Stack gap={18} maw={820}>
      <Hint maw="74ch">{t.messages.senders.note}</Hint>
      <QueryResult query={senders}>
        {(answer) => answer.senders && <List senders={answer.senders} />}
      </QueryResult>
      <Quotas />
      {can("notification.test") && <TestMessage />}
    </Stack>
  );
}

function List({ senders }: { senders: Carriers }) {
  const t = useText(messageTexts, notificationTexts);
  const can = useCan();
  const [edited, setEdited] = useState<Kind>();
  const close = () => setEdited(undefined);
  const about = {
    twilio: senders.twilio?.sender,
    fcm: senders.fcm?.projectId,
    smtp: senders.smtp?.fromAddress,
  };
  return (
    <>
      <Card bare>
        {senders.inUse.map(({ channel, provider, own }) => {
          const kind = kinds[channel] ?? "smtp"; // of a newer server
          const name = t.notifications.channels[channel] ?? "";
          return (
            <Row
              key={channel}
              name={<Strong>{name}</Strong>}
              actions={
                can("notification.senders") && (
                  <>
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`${own ? t.actions.edit : t.messages.senders.setUp}: ${name}`}
                      onClick={() => setEdited(kind)}
                    >
                      {own ? t.actions.edit : t.messages.senders.setUp}
                    </Button>
                    {own && (
                      <CallButton
                        size="compact-sm"
                        variant="subtle"
                        color="gray"
                        aria-label={`${t.messages.senders.remove}: ${name}`}
                        method={NotificationService.method.updateNotificationSenders}
                        input={{ senders: {}, updateMask: { paths: [kind] }, etag: senders.etag }}
                        ask={{
                          title: t.messages.senders.removeTitle(name),
                          body: t.messages.senders.removeBody,
                          yes: t.messages.senders.remove,
                          danger: true,
                        }}
                        done={t.done.saved}
                      >
                        {t.actions.remove}
                      </CallButton>
                    )}
                  </>
                )
              }
            >
              <Box miw={0} className={text.anywhere}>
                {provider === "local" ? t.messages.senders.local : provider}{" "}
                {provider !== "local" && (
                  <Tag tone={own ? "accent" : "plain"}>
                    {own ? t.messages.senders.own : t.messages.senders.platform}
                  </Tag>
                )}
                {about[kind] && <Box c="dimmed">{about[kind]}</Box>}
              </Box>
            </Row>
          );
        })}
        {senders.twilioInboundUrl && (
          <Row
            name={<Strong>{t.messages.senders.replies}</Strong>}
            actions={<CopyButton text={senders.twilioInboundUrl} label={t.messages.senders.copy} />}
          >
            <Code className={text.anywhere}>{senders.twilioInboundUrl}</Code>
          </Row>
        )}
      </Card>
      <SendingDomain senders={senders} onEdit={() => setEdited("domain")} />
      <Panel
        of={edited}
        title={(kind) =>
          kind === "domain"
            ? t.messages.domain.title
            : t.messages.senders.edit(t.notifications.channels[channels[kind]])
        }
        onClose={close}
      >
        {(kind) => <SenderForm kind={kind} senders={senders} onClose={close} />}
      </Panel>
    </>
  );
}

/** Sends a test message to the user and shows what happened to it. */
function TestMessage() {
  const t = useText(messageTexts, notificationTexts);
  const [topic, setTopic] = useState(1);
  const [channel, setChannel] = useState(3);
  const [language, setLanguage] = useState<string | null>(null);
  const send = useCall(NotificationService.method.sendTestNotification);
  return (
    <Card title={t.messages.senders.test}>
      <Stack gap={14}>
        <Hint>{t.messages.senders.testNote}</Hint>
        <Group gap={8} m={0}>
          <NumberSelect
            label={t.notifications.topic}
            w={200}
            names={t.notifications.topics}
            only={worded}
            value={topic}
            onChange={setTopic}
          />
          <NumberSelect
            label={t.notifications.channel}
            names={t.notifications.channels}
            value={channel}
            onChange={setChannel}
          />
          <Select
            aria-label={t.messages.templates.language}
            placeholder={t.messages.senders.mine}
            w={190}
            clearable
            value={language}
            onChange={setLanguage}
            data={useLanguageNames(offered)}
          />
          <Button
            loading={send.busy}
            onClick={() => void send.run({ topic, channel, locale: language ?? "" })}
          >
            {t.messages.senders.send}
          </Button>
        </Group>
        {send.answer?.confirmationNeeded && (
          <ConfirmContact
            kind={
              send.input?.channel === NotificationChannel.SMS
                ? ContactKind.PHONE
                : ContactKind.EMAIL
            }
            onDone={send.reset}
          />
        )}
        <div role="status">
          {send.answer?.deliveries.map(({ id, status, reason, address, errorMessage }) => (
            <Tag key={id} tone={toneOf(status)}>
              {dotted(
                t.messages.statuses[status],
                t.notifications.reasons[reason],
                address,
                errorMessage,
              )}
            </Tag>
          ))}
        </div>
      </Stack>
    </Card>
  );
}
