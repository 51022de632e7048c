import { NotificationChannel, NotificationService, type OutboxMessage } from "@berthhq/client";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { Button, Drawer } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconDeviceMobile, IconInbox, IconMail, IconMessage2 } from "@tabler/icons-react";
import { useState } from "react";
import { useText } from "../../i18n";
import { useNotices } from "../../i18n/notices";
import { paged, Shown, State, Time } from "../../shared/ui";
import { polling, useFilter, useSessionContexts } from "./data";
import { Filters } from "./filters";
import { Zone } from "./log";
import { Rendered } from "./mail";

const icons = {
  [NotificationChannel.UNSPECIFIED]: IconMessage2,
  [NotificationChannel.SMS]: IconMessage2,
  [NotificationChannel.PUSH]: IconDeviceMobile,
  [NotificationChannel.EMAIL]: IconMail,
};

/** Messages on channels without a sender. */
export function Outbox() {
  const t = useText();
  const n = useNotices();
  const filtering = useFilter();
  const narrow = useMediaQuery("(max-width: 62em)", undefined, { getInitialValueInEffect: false });
  const [chosen, setChosen] = useState<string>();
  const outbox = useInfiniteQuery(
    NotificationService.method.listOutbox,
    { filter: filtering.filter, pageSize: 50, pageToken: "" },
    {
      ...paged,
      placeholderData: (before) => before,
      ...polling,
    },
  );
  const all = outbox.data?.pages.flatMap(({ messages }) => messages) ?? [];
  const found = all.find(({ delivery }) => delivery?.id === chosen);
  const open = found ?? (narrow ? undefined : all[0]);
  const contextOf = useSessionContexts(all.flatMap(({ delivery }) => delivery ?? []));
  const entry = (message: OutboxMessage) => {
    const { delivery } = message;
    if (!delivery) return null;
    const { zone } = contextOf(delivery);
    const Icon = icons[delivery.channel];
    return (
      <li key={delivery.id}>
        <button
          type="button"
          aria-current={message === open}
          onClick={() => setChosen(delivery.id)}
        >
          <Icon size={18} stroke={1.6} aria-label={n.channels[delivery.channel]} />
          <span style={{ minWidth: 0 }}>
            <span className="outbox-who">
              <strong className="outbox-name ellipsis">
                {delivery.recipientName || n.log.guest}
              </strong>
              <span className="muted">
                <Time at={delivery.createTime} zone={zone} as="dateTime" />
                <Zone zone={zone} />
              </span>
            </span>
            <span className="ellipsis" style={{ display: "block" }}>
              {message.message?.subject || message.message?.text}
            </span>
          </span>
        </button>
      </li>
    );
  };
  return (
    <>
      <p className="muted" style={{ margin: "0 0 12px", maxWidth: "74ch" }}>
        {n.outbox.note}
      </p>
      <Filters of={filtering} />
      <Shown of={outbox} rows={10}>
        {() =>
          all.length === 0 ? (
            <div className="card">
              <State icon={IconInbox} title={n.outbox.none}>
                {n.outbox.noneNote}
              </State>
            </div>
          ) : (
            <div className="outbox">
              <div>
                <ul className="card">{all.map(entry)}</ul>
                {outbox.hasNextPage && (
                  <div style={{ textAlign: "center", marginTop: 14 }}>
                    <Button
                      variant="default"
                      loading={outbox.isFetchingNextPage}
                      onClick={() => void outbox.fetchNextPage()}
                    >
                      {t.actions.more}
                    </Button>
                  </div>
                )}
              </div>
              {!narrow && open && (
                <section className="card outbox-open" aria-label={n.log.details}>
                  <Opened message={open} />
                </section>
              )}
            </div>
          )
        }
      </Shown>
      <Drawer
        opened={narrow === true && found !== undefined}
        onClose={() => setChosen(undefined)}
        title={n.log.details}
      >
        {found && <Opened message={found} />}
      </Drawer>
    </>
  );
}

function Opened({ message: { delivery, message } }: { message: OutboxMessage }) {
  const n = useNotices();
  return (
    <div style={{ display: "grid", gap: 14 }}>
      <div className="muted" style={{ fontSize: 12 }}>
        {[
          n.topics[delivery?.topic ?? 0],
          n.channels[delivery?.channel ?? 0],
          delivery?.recipientName || n.log.guest,
          delivery?.address,
        ]
          .filter(Boolean)
          .join(" · ")}
      </div>
      {message && <Rendered key={delivery?.id} message={message} />}
    </div>
  );
}
