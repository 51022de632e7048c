import { Tabs } from "@mantine/core";
import { useSearchParams } from "react-router";
import { useText } from "../../i18n";
import { useNotices } from "../../i18n/notices";
import { useCan } from "../../shared/root";
import { PageHead } from "../../shared/ui";
import { Log } from "../messages/log";
import { Outbox } from "../messages/outbox";
import { Senders } from "../messages/senders";
import { Settings } from "../messages/settings";
import { Templates } from "../messages/templates";

export function MessagesPage() {
  const t = useText();
  const n = useNotices();
  const can = useCan();
  const [params, setParams] = useSearchParams();
  const tabs = [
    { key: "log", shows: <Log /> },
    can("notification.outbox") && { key: "outbox", shows: <Outbox /> },
    { key: "templates", shows: <Templates /> },
    { key: "settings", shows: <Settings /> },
    { key: "senders", shows: <Senders /> },
  ].filter((tab) => tab !== false);
  const tab = params.get("tab") ?? "log";
  return (
    <div className="page">
      <PageHead title={t.nav.messages} note={n.note} />
      <Tabs
        value={tab}
        onChange={(value) => setParams({ tab: value ?? "" }, { replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {tabs.map(({ key }) => (
            <Tabs.Tab key={key} value={key}>
              {n.tabs[key as keyof typeof n.tabs]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ key, shows }) => (
          <Tabs.Panel key={key} value={key}>
            {shows}
          </Tabs.Panel>
        ))}
      </Tabs>
    </div>
  );
}
