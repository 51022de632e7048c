import {
  CreditService,
  type Member,
  PlanKind,
  type Subscription,
  SubscriptionStatus,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Group, Modal, NumberInput, Stack, Switch, Text, Textarea } from "@mantine/core";
import { DateInput } from "@mantine/dates";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { Ledger } from "../../../shared/accounts/ledger";
import { Terms } from "../../../shared/accounts/terms";
import { useCall } from "../../../shared/api/calls";
import { useAll } from "../../../shared/api/lists";
import { useCan, useMe } from "../../../shared/auth/user";
import { atWallClock, Temporal, zoned } from "../../../shared/format/time";
import { useFields } from "../../../shared/forms/form";
import { useText } from "../../../shared/i18n";
import { Card, QueryResult, State, Tag, type Tone } from "../../../shared/ui";
import { PlanInput } from "../../catalog/choices";
import { onlyId } from "../../catalog/data";
import { type Action, ActionsMenu, CallForm, CardHint, DialogButton, Inline } from "../../ui";
import { useSave } from "../../ui/edit-form";
import text from "../../ui/text.module.css";
import { uiTexts } from "../../ui/texts";
import { accountTexts } from "../texts";

const subscriptionTones: Partial<Record<SubscriptionStatus, Tone>> = {
  [SubscriptionStatus.ACTIVE]: "good",
  [SubscriptionStatus.PAUSED]: "warn",
  [SubscriptionStatus.DEBT]: "bad",
};

/** Also those that have ended. */
const everyStatus = [
  SubscriptionStatus.ACTIVE,
  SubscriptionStatus.PAUSED,
  SubscriptionStatus.DEBT,
  SubscriptionStatus.EXPIRED,
  SubscriptionStatus.CANCELLED,
];

/** A member's subscriptions and credit history. */
export function Credits({ member }: { member: Member }) {
  const t = useText(accountTexts, uiTexts);
  const can = useCan();
  const [ended, { toggle }] = useDisclosure();
  const balance = useQuery(CreditService.method.getBalance, {
    memberId: member.id,
    statuses: ended ? everyStatus : [],
  });
  return (
    <Stack gap={18}>
      <Group gap={12}>
        {balance.data && (
          <Text span inherit fz={20} fw={620} className={text.num}>
            {balance.data.unlimited ? t.members.unlimited : t.ui.credits(balance.data.balance)}
          </Text>
        )}
        <Switch ml="auto" size="xs" label={t.members.ended} checked={ended} onChange={toggle} />
        {can("subscription.manage") && (
          <DialogButton
            modal
            variant="default"
            label={t.members.subscribe}
            leftSection={<IconPlus size={15} />}
          >
            {(close) => <StartPlan member={member} onClose={close} />}
          </DialogButton>
        )}
      </Group>
      <QueryResult query={balance} rows={4}>
        {({ subscriptions }) =>
          subscriptions.length === 0 ? (
            <Card bare>
              <State title={t.members.noPlan} note={t.members.noPlanNote} />
            </Card>
          ) : (
            subscriptions.map((one) => <SubscriptionCard key={one.id} subscription={one} />)
          )
        }
      </QueryResult>
    </Stack>
  );
}

function SubscriptionCard({ subscription }: { subscription: Subscription }) {
  const t = useText(accountTexts, uiTexts);
  const can = useCan();
  const [granting, grant] = useDisclosure();
  const [moving, move] = useDisclosure();
  const pause = useCall(CreditService.method.pauseSubscription);
  const resume = useCall(CreditService.method.resumeSubscription);
  const debt = useCall(CreditService.method.markSubscriptionInDebt);
  const { id: subscriptionId, status, planName } = subscription;
  const end = useCall(CreditService.method.cancelSubscription, {
    ask: {
      title: t.members.endTitle(planName),
      body: t.members.endBody,
      yes: t.members.end,
      reason: t.fields.reason,
      danger: true,
    },
  });
  const running = status <= SubscriptionStatus.DEBT;
  const counted = subscription.planKind === PlanKind.CREDITS;
  const active = status === SubscriptionStatus.ACTIVE;
  const actions: Action[] = [
    [counted && can("credit.grant"), t.members.grant, grant.open],
    [true, t.members.moveEnd, move.open],
    [active, t.members.pause, () => pause.run({ subscriptionId })],
    [!active, t.members.resume, () => resume.run({ subscriptionId })],
    [active, t.members.debt, () => debt.run({ subscriptionId })],
    [true, t.members.end, () => end.run({ subscriptionId }), "danger"],
  ];
  return (
    <Card
      bare
      title={
        <Inline wrap="nowrap">
          {planName}{" "}
          <Tag tone={subscriptionTones[status] ?? ""}>{t.subscriptionStatus[status]}</Tag>
        </Inline>
      }
      extra={
        <Inline wrap="nowrap">
          {counted && <strong className={text.num}>{t.ui.credits(subscription.balance)}</strong>}
          {can("subscription.manage") && running && (
            <ActionsMenu label={`${t.actions.actions}: ${planName}`} actions={actions} />
          )}
        </Inline>
      }
    >
      <CardHint py={10}>
        <Terms of={subscription} />
      </CardHint>
      {counted && (
        <Ledger
          staff
          subscriptionId={subscriptionId}
          caption={t.members.ledger}
          empty={
            <CardHint pt={0} pb={14}>
              {t.members.noLedger}
            </CardHint>
          }
        />
      )}
      <Modal opened={granting} onClose={grant.close} title={t.members.grant}>
        {granting && <Grant subscription={subscription} onClose={grant.close} />}
      </Modal>
      <Modal opened={moving} onClose={move.close} title={t.members.moveEnd}>
        {moving && <MoveEnd subscription={subscription} onClose={move.close} />}
      </Modal>
    </Card>
  );
}

/** Changes the last day of a subscription. Without one, it runs until it is cancelled. */
function MoveEnd({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const t = useText(accountTexts);
  const zone = useMe().tenant.timeZone;
  const { id: subscriptionId, etag, endTime } = subscription;
  const [day, setDay] = useState(endTime ? zoned(endTime, zone).toPlainDate().toString() : null);
  const form = useFields({ reason: "" }, t.fields);
  const update = useSave(CreditService.method.updateSubscription);
  const end = () => ({
    endTime: atWallClock(Temporal.PlainDate.from(day ?? ""), 23 * 60 + 59, zone),
  });
  return (
    <CallForm
      act={t.actions.save}
      run={() =>
        update({
          subscriptionId,
          subscription: day ? end() : {},
          updateMask: { paths: ["end_time"] },
          etag,
          reason: form.values.reason,
        })
      }
      onClose={onClose}
    >
      <DateInput
        label={t.members.lastDay}
        description={t.members.lastDayNote}
        value={day}
        valueFormat="DD MMM YYYY"
        onChange={setDay}
        clearable
        data-autofocus
      />
      <Textarea {...form.text("reason")} maxLength={1000} autosize />
    </CallForm>
  );
}

function Grant({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const t = useText(accountTexts);
  const form = useFields({ amount: 1 as number | "", reason: "" }, t.fields);
  const { amount, reason } = form.values;
  const grant = useSave(CreditService.method.grantCredits, ({ line: entry }) =>
    t.members.granted(entry?.balance ?? 0),
  );
  return (
    <CallForm
      act={t.actions.save}
      run={() => grant({ subscriptionId: subscription.id, amount: Number(amount), reason })}
      disabled={!amount}
      onClose={onClose}
    >
      <NumberInput
        {...form.number("amount")}
        label={t.members.amount}
        description={t.members.amountNote}
        min={-10_000}
        max={10_000}
        data-autofocus
      />
      <Textarea {...form.text("reason")} maxLength={1000} autosize />
    </CallForm>
  );
}

function StartPlan({ member, onClose }: { member: Member; onClose: () => void }) {
  const t = useText(accountTexts);
  const plans = useAll(CreditService.method.listPlans, {}, (answer) => answer.plans);
  const [chosen, setPlan] = useState<string | null>(null);
  const all = plans.data ?? [];
  const plan = chosen ?? (onlyId(all) || null);
  const start = useSave(CreditService.method.createSubscription, t.members.subscribed);
  return (
    <CallForm
      act={t.members.subscribe}
      run={() => start({ memberId: member.id, subscription: { planId: plan ?? "" } })}
      disabled={!plan}
      onClose={onClose}
    >
      <PlanInput label={t.nav.plans} data-autofocus plans={all} value={plan} onChange={setPlan} />
    </CallForm>
  );
}
