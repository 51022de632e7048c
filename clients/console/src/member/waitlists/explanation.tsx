import { WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { List, Modal, Text } from "@mantine/core";
import { showTime } from "../../shared/format/time";
import { useI18n } from "../../shared/i18n";
import { QueryResult } from "../../shared/ui";
import { describeForMember } from "../../shared/waitlists/decisions";
import { decisionTexts } from "../../shared/waitlists/texts";

interface ExplanationProps {
  entryId: string;
  opened: boolean;
  onClose: () => void;
}

/** Explains the waitlist decisions about an entry, in the user's language. */
export function Explanation({ entryId, opened, onClose }: ExplanationProps) {
  const { t, locale } = useI18n(decisionTexts);
  const query = useQuery(
    WaitlistService.method.explainWaitlistEntry,
    { entryId },
    { enabled: opened },
  );
  return (
    <Modal opened={opened} onClose={onClose} title={t.decisions.you.title}>
      <QueryResult query={query} rows={3}>
        {({ verdicts }) =>
          verdicts.length === 0 ? (
            <Text inherit>{t.decisions.you.none}</Text>
          ) : (
            <List type="ordered" spacing={12}>
              {[...verdicts].reverse().map((verdict) => (
                <List.Item key={verdict.decision?.id}>
                  {describeForMember(verdict, t.decisions, (at, zone) =>
                    showTime(at, zone, locale, "dayTime"),
                  ).join(" ")}
                </List.Item>
              ))}
            </List>
          )
        }
      </QueryResult>
    </Modal>
  );
}
