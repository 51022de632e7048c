import { type WaitlistEntry, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useMe } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { QueryResult, State } from "../../../shared/ui";
import { later } from "../../../shared/ui/lazy";
import { deskTexts } from "./texts";

const Decisions = later(() => import("../decisions"), "Decisions");

/** What was decided about an entry, newest first. */
export function Why({ entry }: { entry: WaitlistEntry }) {
  const t = useText(deskTexts);
  const { tenant } = useMe();
  const explanation = useQuery(WaitlistService.method.explainWaitlistEntry, { entryId: entry.id });
  return (
    <QueryResult query={explanation} rows={6}>
      {({ verdicts }) => {
        const decisions = verdicts.flatMap(({ decision }) => (decision ? [decision] : []));
        if (decisions.length === 0) return <State title={t.desk.whyNone} />;
        return <Decisions decisions={decisions} zone={tenant.timeZone} />;
      }}
    </QueryResult>
  );
}
