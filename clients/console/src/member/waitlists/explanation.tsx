import { WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { List, Modal, Text } from "@mantine/core";
import { useI18n } from "../../i18n";
import { useDecisionTexts } from "../../i18n/decisions";
import { showTime } from "../../shared/format/time";
import { QueryResult } from "../../shared/ui";
import { describeForMember } from "../../shared/waitlists/decisions";

interface ExplanationProps {
  entryId: string;
  opened: boolean;
  onClose: () => void;
}

/** Explains the waitlist decisions about an entry, in the user's language. */
export function Explanation({ entryId, opened, onClose }: ExplanationProps) {
  const texts = useDecisionTexts();
  const { locale } = useI18n();
  const query = useQuery(WaitlistService.method.explainEntry, { entryId }, { enabled: opened });
  return (
    <Modal opened={opened} onClose={onClose} title={texts.you.title}>
      <QueryResult query={query} rows={3}>
        {({ verdicts }) =>
          verdicts.length === 0 ? (
            <Text inherit>{texts.you.none}</Text>
          ) : (
            <List type="ordered" spacing={12}>
              {[...verdicts].reverse().map((verdict) => (
                <List.Item key={verdict.decision?.id}>
                  {describeForMember(verdict, texts, (at, zone) =>
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
