import {
  CreditService,
  type Member,
  PlanKind,
  type Subscription,
  SubscriptionStatus,
} from "@berthhq/client";
import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { Button, Modal, NumberInput, Select, Switch, Textarea } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useText } from "../../i18n";
import { useAll } from "../../shared/all";
import { ask } from "../../shared/ask";
import { useCall } from "../../shared/calls";
import { FormEnd, Refused, useSubmit } from "../../shared/form";
import { useCan, useMe } from "../../shared/me";
import { Card, More, paged, Shown, State, Tag, Time, type Tone } from "../../shared/ui";
import { type Action, ActionsMenu } from "../actions-menu";

const subscriptionTones: Record<number, Tone> = { 1: "good", 2: "warn", 3: "bad" };

/** A member's subscriptions and credit history. */
export function Credits({ member }: { member: Member }) {
  const t = useText();
  const can = useCan();
  const [ended, setEnded] = useState(false);
  const [starting, setStarting] = useState(false);
  const balance = useQuery(CreditService.method.getBalance, {
    memberId: member.id,
    includeEnded: ended,
  });
  return (
    <div className="stack">
      <div style={{ display: "flex", flexWrap: "wrap", gap: 12, alignItems: "center" }}>
        {balance.data && (
          <span style={{ fontSize: 20, fontWeight: 620 }} className="num">
            {balance.data.unlimited
              ? t.members.unlimited
              : t.plans.creditCount(balance.data.balance)}
          </span>
        )}
        <Switch
          ml="auto"
          size="xs"
          label={t.members.ended}
          checked={ended}
          onChange={(event) => setEnded(event.currentTarget.checked)}
        />
        {can("subscription.manage") && (
          <Button
            size="sm"
            variant="default"
            leftSection={<IconPlus size={15} />}
            onClick={() => setStarting(true)}
          >
            {t.members.subscribe}
          </Button>
        )}
      </div>
      <Shown of={balance} rows={4}>
        {({ subscriptions }) =>
          subscriptions.length === 0 ? (
            <div className="card">
              <State title={t.members.noPlan}>{t.members.noPlanNote}</State>
            </div>
          ) : (
            subscriptions.map((one) => <SubscriptionCard key={one.id} subscription={one} />)
          )
        }
      </Shown>
      <Modal opened={starting} onClose={() => setStarting(false)} title={t.members.subscribe}>
        {starting && <StartPlan member={member} onClose={() => setStarting(false)} />}
      </Modal>
    </div>
  );
}

function SubscriptionCard({ subscription }: { subscription: Subscription }) {
  const t = useText();
  const can = useCan();
  const { tenant } = useMe();
  const [granting, setGranting] = useState(false);
  const pause = useCall(CreditService.method.pauseSubscription);
  const resume = useCall(CreditService.method.resumeSubscription);
  const debt = useCall(CreditService.method.markDebt);
  const end = useCall(CreditService.method.cancelSubscription);
  const { id: subscriptionId, status, planName } = subscription;
  const running = status <= SubscriptionStatus.DEBT;
  const counted = subscription.planKind === PlanKind.CREDITS;
  const active = status === SubscriptionStatus.ACTIVE;
  const finish = async () => {
    const answer = await ask({
      title: t.members.endTitle(planName),
      body: t.members.endBody,
      yes: t.members.end,
      reason: t.fields.reason,
      danger: true,
    });
    if (answer) await end.run({ subscriptionId, reason: answer.reason });
  };
  const actions: (Action | false)[] = [
    counted && can("credit.grant") && { label: t.members.grant, run: () => setGranting(true) },
    active
      ? { label: t.members.pause, run: () => pause.run({ subscriptionId }) }
      : { label: t.members.resume, run: () => resume.run({ subscriptionId }) },
    active && { label: t.members.debt, run: () => debt.run({ subscriptionId }) },
    { label: t.members.end, run: finish, danger: true },
  ];
  return (
    <Card
      bare
      title={
        <span style={{ display: "inline-flex", gap: 10, alignItems: "center" }}>
          {planName}{" "}
          <Tag tone={subscriptionTones[status] ?? ""}>{t.subscriptionStatus[status]}</Tag>
        </span>
      }
      extra={
        <span style={{ display: "inline-flex", gap: 10, alignItems: "center" }}>
          {counted && <strong className="num">{t.plans.creditCount(subscription.balance)}</strong>}
          {can("subscription.manage") && running && (
            <ActionsMenu label={`${t.actions.actions}: ${planName}`} actions={actions} />
          )}
        </span>
      }
    >
      <p className="muted" style={{ margin: 0, padding: "10px 16px", fontSize: 13 }}>
        {t.session.since} <Time at={subscription.startTime} zone={tenant.timeZone} as="date" />
        {subscription.periodEndTime && (
          <>
            {" · "}
            {t.members.renews}{" "}
            <Time at={subscription.periodEndTime} zone={tenant.timeZone} as="date" />
          </>
        )}
        {subscription.endTime && (
          <>
            {" · "}
            {t.members.ends} <Time at={subscription.endTime} zone={tenant.timeZone} as="date" />
          </>
        )}
      </p>
      {counted && <Ledger subscriptionId={subscriptionId} />}
      <Modal opened={granting} onClose={() => setGranting(false)} title={t.members.grant}>
        {granting && <Grant subscription={subscription} onClose={() => setGranting(false)} />}
      </Modal>
    </Card>
  );
}

function Ledger({ subscriptionId }: { subscriptionId: string }) {
  const t = useText();
  const { tenant } = useMe();
  const ledger = useInfiniteQuery(
    CreditService.method.listLedger,
    { subscriptionId, pageSize: 12, pageToken: "" },
    paged,
  );
  return (
    <Shown of={ledger} rows={3}>
      {({ pages }) => {
        const entries = pages.flatMap((page) => page.entries);
        if (entries.length === 0) {
          return (
            <p className="muted" style={{ margin: 0, padding: "0 16px 14px", fontSize: 13 }}>
              {t.members.noLedger}
            </p>
          );
        }
        return (
          <>
            <table className="table" style={{ borderTop: "1px solid var(--line)" }}>
              <caption className="sr">{t.members.ledger}</caption>
              <tbody>
                {entries.map((entry) => (
                  <tr key={entry.id}>
                    <td className="muted" style={{ width: 150, whiteSpace: "nowrap" }}>
                      <Time at={entry.createTime} zone={tenant.timeZone} as="dateTime" />
                    </td>
                    <td>
                      {t.creditKind[entry.kind]}
                      {entry.reason && <span className="muted"> · {entry.reason}</span>}
                    </td>
                    <td
                      className="right num"
                      style={{ color: entry.amount > 0 ? "var(--good)" : undefined }}
                    >
                      {entry.amount > 0 ? `+${entry.amount}` : `−${-entry.amount}`}
                    </td>
                    <td className="right num muted" style={{ width: 60 }}>
                      {entry.balance}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <More of={ledger} />
          </>
        );
      }}
    </Shown>
  );
}

function Grant({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const t = useText();
  const [amount, setAmount] = useState<number | "">(1);
  const [reason, setReason] = useState("");
  const grant = useCall(CreditService.method.grantCredits, {
    quiet: true,
    done: ({ entry }) => t.members.granted(entry?.balance ?? 0),
  });
  const { error, onSubmit } = useSubmit(async () => {
    await grant.run({ subscriptionId: subscription.id, amount: Number(amount), reason });
    onClose();
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      <NumberInput
        label={t.members.amount}
        description={t.members.amountNote}
        value={amount}
        min={-10_000}
        max={10_000}
        onChange={(value) => setAmount(typeof value === "number" ? value : "")}
        data-autofocus
      />
      <Textarea
        label={t.fields.reason}
        value={reason}
        maxLength={1000}
        autosize
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <Refused error={error} />
      <FormEnd act={t.actions.save} busy={grant.busy} disabled={!amount} onCancel={onClose} />
    </form>
  );
}

function StartPlan({ member, onClose }: { member: Member; onClose: () => void }) {
  const t = useText();
  const plans = useAll(CreditService.method.listPlans, {}, (answer) => answer.plans);
  const [plan, setPlan] = useState<string | null>(null);
  const start = useCall(CreditService.method.subscribe, {
    quiet: true,
    done: t.members.subscribed,
  });
  const { error, onSubmit } = useSubmit(async () => {
    await start.run({ memberId: member.id, planId: plan ?? "" });
    onClose();
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      <Select
        label={t.nav.plans}
        required
        data-autofocus
        value={plan}
        onChange={setPlan}
        data={
          plans.data?.map(({ id, plan: input }) => ({ value: id, label: input?.name ?? id })) ?? []
        }
      />
      <Refused error={error} />
      <FormEnd act={t.members.subscribe} busy={start.busy} disabled={!plan} onCancel={onClose} />
    </form>
  );
}
