import { CreditService, PlanKind } from "@berthhq/client";
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { IconWallet } from "@tabler/icons-react";
import { useText } from "../i18n";
import { useMe } from "../shared/me";
import { Card, More, paged, Shown, State, Tag, Time } from "../shared/ui";
import { Heading } from "./heading";

export function CreditsPage() {
  const t = useText();
  const { tenant } = useMe();
  const balance = useQuery(CreditService.method.getBalance, {}, { refetchInterval: 60_000 });
  return (
    <>
      <Heading>{t.app.credits}</Heading>
      <Shown of={balance}>
        {({ subscriptions, balance: credits, unlimited }) =>
          subscriptions.length === 0 ? (
            <div className="card">
              <State icon={IconWallet} title={t.app.noPlan}>
                {t.app.noPlanNote}
              </State>
            </div>
          ) : (
            <div style={{ display: "grid", gap: 14 }}>
              <div className="balance">
                <strong>{unlimited ? t.app.unlimited : credits}</strong>
                {!unlimited && <span>{t.app.credits}</span>}
              </div>
              {subscriptions.map((one) => (
                <Card
                  key={one.id}
                  bare
                  title={one.planName}
                  extra={
                    <Tag tone={one.status === 1 ? "good" : "warn"}>
                      {t.subscriptionStatus[one.status]}
                    </Tag>
                  }
                >
                  <p className="muted" style={{ margin: 0, padding: "10px 16px", fontSize: 13 }}>
                    {one.planKind === PlanKind.CREDITS && `${t.app.credit(one.balance)} · `}
                    {t.session.since} <Time at={one.startTime} zone={tenant.timeZone} as="date" />
                    {one.periodEndTime && (
                      <>
                        {" · "}
                        {t.members.renews}{" "}
                        <Time at={one.periodEndTime} zone={tenant.timeZone} as="date" />
                      </>
                    )}
                    {one.endTime && (
                      <>
                        {" · "}
                        {t.members.ends} <Time at={one.endTime} zone={tenant.timeZone} as="date" />
                      </>
                    )}
                  </p>
                  {one.planKind === PlanKind.CREDITS && <Ledger subscriptionId={one.id} />}
                </Card>
              ))}
            </div>
          )
        }
      </Shown>
    </>
  );
}

function Ledger({ subscriptionId }: { subscriptionId: string }) {
  const t = useText();
  const { tenant } = useMe();
  const ledger = useInfiniteQuery(
    CreditService.method.listLedger,
    { subscriptionId, pageSize: 10, pageToken: "" },
    paged,
  );
  return (
    <Shown of={ledger} rows={3}>
      {({ pages }) => (
        <>
          <table className="table" style={{ borderTop: "1px solid var(--line)" }}>
            <caption className="sr">{t.app.ledger}</caption>
            <tbody>
              {pages
                .flatMap((page) => page.entries)
                .map((entry) => (
                  <tr key={entry.id}>
                    <td className="muted">
                      <Time at={entry.createTime} zone={tenant.timeZone} as="dateTime" />
                    </td>
                    <td>{t.creditKind[entry.kind]}</td>
                    <td
                      className="right num"
                      style={{ color: entry.amount > 0 ? "var(--good)" : undefined }}
                    >
                      {entry.amount > 0 ? `+${entry.amount}` : `−${-entry.amount}`}
                    </td>
                    <td className="right num muted">{entry.balance}</td>
                  </tr>
                ))}
            </tbody>
          </table>
          <More of={ledger} />
        </>
      )}
    </Shown>
  );
}
