import { useNoticeTexts } from "../../i18n/notices";
import { useCan } from "../../shared/auth/user";
import { later } from "../../shared/loading/lazy";
import { PageHead } from "../../shared/ui";
import { Page, Tabbed } from "../ui";

const Log = later(() => import("./log"), "Log");
const Outbox = later(() => import("./outbox"), "Outbox");
const Senders = later(() => import("./senders"), "Senders");
const Settings = later(() => import("./settings"), "Settings");
const Templates = later(() => import("./templates"), "Templates");

export function MessagesPage() {
  const { t, n } = useNoticeTexts();
  const can = useCan();
  return (
    <Page>
      <PageHead title={t.nav.messages} note={n.note} />
      <Tabbed
        parts={[
          ["log", n.tabs.log, () => <Log />],
          can("notification.outbox") && ["outbox", n.tabs.outbox, () => <Outbox />],
          ["templates", n.tabs.templates, () => <Templates />],
          ["settings", n.tabs.settings, () => <Settings />],
          ["senders", n.tabs.senders, () => <Senders />],
        ]}
      />
    </Page>
  );
}
