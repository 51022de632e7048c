import "./messages.css";
import { useText } from "../../i18n";
import { useNotices } from "../../i18n/notices";
import { useCan } from "../../shared/me";
import { PageHead } from "../../shared/ui";
import { Tabbed } from "../tabbed";
import { Log } from "./log";
import { Outbox } from "./outbox";
import { Senders } from "./senders";
import { Settings } from "./settings";
import { Templates } from "./templates";

export function MessagesPage() {
  const t = useText();
  const n = useNotices();
  const can = useCan();
  const parts = [
    { key: "log", label: n.tabs.log, shown: <Log /> },
    can("notification.outbox") && { key: "outbox", label: n.tabs.outbox, shown: <Outbox /> },
    { key: "templates", label: n.tabs.templates, shown: <Templates /> },
    { key: "settings", label: n.tabs.settings, shown: <Settings /> },
    { key: "senders", label: n.tabs.senders, shown: <Senders /> },
  ].filter((part) => part !== false);
  return (
    <div className="page">
      <PageHead title={t.nav.messages} note={n.note} />
      <Tabbed parts={parts} />
    </div>
  );
}
