import { CreditService, PlanKind, SubscriptionStatus } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Stack } from "@mantine/core";
import { IconWallet } from "@tabler/icons-react";
import { Terms } from "../../shared/accounts/terms";
import { useText } from "../../shared/i18n";
import { Card, QueryResult, State, Tag } from "../../shared/ui";
import { later } from "../../shared/ui/lazy";
import { memberTexts } from "../texts";
import { Heading, Small } from "../ui";
import classes from "./credits.module.css";

const Ledger = later(() => import("../../shared/accounts/ledger"), "Ledger");

export function CreditsPage() {
  const t = useText(memberTexts);
  const query = useQuery(CreditService.method.getBalance, {}, { refetchInterval: 60_000 });
  return (
    <>
      <Heading>{t.app.credits}</Heading>
      <QueryResult query={query}>
        {({ subscriptions, balance, unlimited }) =>
          subscriptions.length === 0 ? (
            <Card bare>
              <State icon={IconWallet} title={t.app.noPlan} note={t.app.noPlanNote} />
            </Card>
          ) : (
            <Stack gap={14}>
              <div className={classes.balance}>
                <strong>{unlimited ? t.app.unlimited : balance}</strong>
                {!unlimited && <span>{t.app.credits}</span>}
              </div>
              {subscriptions.map((one) => (
                <Card
                  key={one.id}
                  bare
                  title={one.planName}
                  extra={
                    <Tag tone={one.status === SubscriptionStatus.ACTIVE ? "good" : "warn"}>
                      {t.subscriptionStatus[one.status]}
                    </Tag>
                  }
                >
                  <Small px={16} py={10}>
                    {one.planKind === PlanKind.CREDITS && `${t.app.credit(one.balance)} · `}
                    <Terms of={one} />
                  </Small>
                  {one.planKind === PlanKind.CREDITS && (
                    <Ledger subscriptionId={one.id} caption={t.app.ledger} />
                  )}
                </Card>
              ))}
            </Stack>
          )
        }
      </QueryResult>
    </>
  );
}
