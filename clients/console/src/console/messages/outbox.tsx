import { NotificationChannel, NotificationService, type OutboxMessage } from "@berthhq/client";
import { Box, Drawer, Group, Stack, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconDeviceMobile, IconInbox, IconMail, IconMessage2 } from "@tabler/icons-react";
import { useState } from "react";
import { usePages } from "../../shared/api/pages";
import { useText } from "../../shared/i18n";
import { notificationTexts } from "../../shared/messages/texts";
import { Card, More, QueryResult, State, Time } from "../../shared/ui";
import { Dimmed, dotted, Hint, Note } from "../ui";
import text from "../ui/text.module.css";
import { Filters, polling, useFilter, useSessionContexts } from "./filters";
import { Zone } from "./log";
import { Rendered } from "./mail";
import classes from "./outbox.module.css";
import { messageTexts } from "./texts";

const icons = {
  [NotificationChannel.UNSPECIFIED]: IconMessage2,
  [NotificationChannel.SMS]: IconMessage2,
  [NotificationChannel.PUSH]: IconDeviceMobile,
  [NotificationChannel.EMAIL]: IconMail,
};

/** Texts on channels without a sender. */
export function Outbox() {
  const t = useText(messageTexts);
  const filtering = useFilter();
  const narrow = useMediaQuery("(max-width: 62em)", undefined, { getInitialValueInEffect: false });
  const [chosen, setChosen] = useState<string>();
  const outbox = usePages(
    NotificationService.method.listNotificationOutbox,
    { filter: filtering.filter, pageSize: 50 },
    ({ messages }) => messages,
    { keep: true, ...polling },
  );
  const all = outbox.data ?? [];
  const found = all.find(({ delivery }) => delivery?.id === chosen);
  const open = found ?? (narrow ? undefined : all[0]);
  const contextOf = useSessionContexts(all.flatMap(({ delivery }) => delivery ?? []));
  return (
    <>
      <Hint mb={12} maw="74ch">
        {t.messages.outbox.note}
      </Hint>
      <Filters of={filtering} />
      <QueryResult query={outbox} rows={10}>
        {() =>
          all.length === 0 ? (
            <Card bare>
              <State
                icon={IconInbox}
                title={t.messages.outbox.none}
                note={t.messages.outbox.noneNote}
              />
            </Card>
          ) : (
            <div className={classes.outbox}>
              <div>
                <Card bare>
                  <ul className={classes.list}>
                    {all.map((message) => (
                      <Entry
                        key={message.delivery?.id}
                        message={message}
                        current={message === open}
                        contextOf={contextOf}
                        onOpen={setChosen}
                      />
                    ))}
                  </ul>
                </Card>
                <More query={outbox} />
              </div>
              {!narrow && open && (
                <Card className={classes.open} aria-label={t.messages.log.details}>
                  <Opened message={open} />
                </Card>
              )}
            </div>
          )
        }
      </QueryResult>
      <Drawer
        opened={narrow === true && found !== undefined}
        onClose={() => setChosen(undefined)}
        title={t.messages.log.details}
      >
        {found && <Opened message={found} />}
      </Drawer>
    </>
  );
}

interface EntryProps {
  message: OutboxMessage;
  current: boolean;
  contextOf: ReturnType<typeof useSessionContexts>;
  onOpen: (id: string) => void;
}

function Entry({ message: { delivery, message }, current, contextOf, onOpen }: EntryProps) {
  const t = useText(messageTexts, notificationTexts);
  if (!delivery) return null;
  const { zone } = contextOf(delivery);
  const Icon = icons[delivery.channel];
  return (
    <li>
      <button type="button" aria-current={current} onClick={() => onOpen(delivery.id)}>
        <Icon size={18} stroke={1.6} aria-label={t.notifications.channels[delivery.channel]} />
        <Box component="span" miw={0}>
          <Group component="span" justify="space-between" gap={10} wrap="nowrap">
            <Text component="strong" inherit truncate fw={560}>
              {delivery.recipientName || t.messages.log.guest}
            </Text>
            <Dimmed fz="xs" className={text.nowrap}>
              <Time at={delivery.createTime} zone={zone} as="dateTime" />
              <Zone zone={zone} />
            </Dimmed>
          </Group>
          <Text span inherit truncate display="block">
            {message?.subject || message?.text}
          </Text>
        </Box>
      </button>
    </li>
  );
}

function Opened({ message: { delivery, message } }: { message: OutboxMessage }) {
  const t = useText(messageTexts, notificationTexts);
  return (
    <Stack gap={14}>
      <Note>
        {dotted(
          t.notifications.topics[delivery?.topic ?? 0],
          t.notifications.channels[delivery?.channel ?? 0],
          delivery?.recipientName || t.messages.log.guest,
          delivery?.address,
        )}
      </Note>
      {message && <Rendered key={delivery?.id} message={message} />}
    </Stack>
  );
}
