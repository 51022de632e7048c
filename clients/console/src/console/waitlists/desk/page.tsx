import { useText } from "../../../shared/i18n";
import { PageHead } from "../../../shared/ui";
import { WithCatalog } from "../../catalog/loaded";
import { Page, Tabbed } from "../../ui";
import { History, Notes } from "./decisions";
import { Entries } from "./entries";
import { Offers } from "./offers";
import { deskTexts } from "./texts";

/** The filters that all tabs share. */
const shared = ["service", "location", "date"];

/** The waitlist of the organization: who waits, open offers, what staff have to do, and what happened. */
export function WaitlistPage() {
  const t = useText(deskTexts);
  return (
    <Page>
      <PageHead title={t.nav.waitlist} note={t.desk.note} />
      <WithCatalog>
        <Tabbed
          shared={shared}
          parts={[
            ["entries", t.desk.entries, () => <Entries />],
            ["offers", t.desk.offers, () => <Offers />],
            ["notes", t.desk.notes, () => <Notes />],
            ["history", t.desk.history, () => <History />],
          ]}
        />
      </WithCatalog>
    </Page>
  );
}
