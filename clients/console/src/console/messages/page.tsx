import { useCan } from "../../shared/auth/user";
import { useText } from "../../shared/i18n";
import { PageHead } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { Page, Tabbed } from "../ui";
import { messageTexts } from "./texts";

const Log = later(() => import("./log"), "Log");
const Outbox = later(() => import("./outbox"), "Outbox");
const Senders = later(() => import("./senders"), "Senders");
const Settings = later(() => import("./settings"), "Settings");
const Templates = later(() => import("./templates"), "Templates");

export function MessagesPage() {
  const t = useText(messageTexts);
  const can = useCan();
  return (
    <Page>
      <PageHead title={t.nav.messages} note={t.messages.note} />
      <Tabbed
        parts={[
          ["log", t.messages.tabs.log, () => <Log />],
          can("notification.outbox") && ["outbox", t.messages.tabs.outbox, () => <Outbox />],
          ["templates", t.messages.tabs.templates, () => <Templates />],
          ["settings", t.messages.tabs.settings, () => <Settings />],
          ["senders", t.messages.tabs.senders, () => <Senders />],
        ]}
      />
    </Page>
  );
}
