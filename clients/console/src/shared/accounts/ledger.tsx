import { CreditService } from "@berthhq/client";
import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import { usePages } from "../api/pages";
import { useMe } from "../auth/user";
import { useText } from "../i18n";
import { More, QueryResult, Time } from "../ui";
import { DataTable } from "../ui/data-table";
import classes from "./ledger.module.css";

interface LedgerProps {
  subscriptionId: string;
  /** Shows the reasons that staff gave. */
  staff?: boolean;
  caption: string;
  empty?: ReactNode;
}

/** The credits that a subscription received and spent. */
export function Ledger({ subscriptionId, staff = false, ...table }: LedgerProps) {
  const t = useText();
  const { tenant } = useMe();
  const ledger = usePages(
    CreditService.method.listCreditLines,
    { subscriptionId, pageSize: staff ? 12 : 10 },
    ({ lines: entries }) => entries,
  );
  return (
    <QueryResult query={ledger} rows={3}>
      {(entries) => (
        <>
          <DataTable
            rows={entries}
            className={classes.ledger}
            {...table}
            columns={[
              {
                c: "dimmed",
                ...(staff && { w: 150, className: classes.time }),
                show: ({ createTime }) => (
                  <Time at={createTime} zone={tenant.timeZone} as="dateTime" />
                ),
              },
              {
                show: ({ kind, reason }) => (
                  <>
                    {t.creditKind[kind]}
                    {staff && reason && <Text span inherit c="dimmed">{` · ${reason}`}</Text>}
                  </>
                ),
              },
              {
                ta: "right",
                show: ({ amount }) =>
                  amount > 0 ? (
                    <Text span inherit c="var(--good)">
                      +{amount}
                    </Text>
                  ) : (
                    `−${-amount}`
                  ),
              },
              { ta: "right", c: "dimmed", ...(staff && { w: 60 }), show: ({ balance }) => balance },
            ]}
          />
          <More query={ledger} />
        </>
      )}
    </QueryResult>
  );
}
