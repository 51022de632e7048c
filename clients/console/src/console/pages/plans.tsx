import { CreditService, type Plan, PlanKind } from "@berthhq/client";
import { type Duration, durationFromMs } from "@bufbuild/protobuf/wkt";
import { NumberInput, Radio, Switch, Textarea } from "@mantine/core";
import { IconTicket } from "@tabler/icons-react";
import { useState } from "react";
import { type Messages, useI18n, useText } from "../../i18n";
import { useAll } from "../../shared/all";
import { useCall, useRead } from "../../shared/calls";
import { useMe } from "../../shared/me";
import { amountOf, moneyOf, showMoney } from "../../shared/money";
import { DAY, spanMs } from "../../shared/time";
import { PageHead, Shown } from "../../shared/ui";
import { EntityTable } from "../catalog/list";
import { EditForm, maskOf } from "../form";
import { Name, Price } from "../inputs";

export function PlansPage() {
  const t = useText();
  const { locale } = useI18n();
  const [retired, setRetired] = useState(false);
  const plans = useAll(
    CreditService.method.listPlans,
    { includeInactive: true },
    (answer) => answer.plans,
  );
  return (
    <div className="page">
      <PageHead title={t.nav.plans}>
        <Switch
          size="xs"
          label={t.plans.inactive}
          checked={retired}
          onChange={(event) => setRetired(event.currentTarget.checked)}
        />
      </PageHead>
      <Shown of={plans}>
        {(all) => (
          <EntityTable
            entities={all.map((plan) => ({
              id: plan.id,
              name: plan.plan?.name ?? "",
              active: plan.plan?.active ?? false,
              plan,
            }))}
            archived={retired}
            archivedLabel={t.plans.notSold}
            hidden={t.plans.hidden}
            permission="plan.write"
            note={t.plans.note}
            add={t.plans.add}
            none={t.plans.none}
            noneNote={t.plans.noneNote}
            icon={IconTicket}
            subtitle={({ plan }) =>
              plan.plan?.description && (
                <div className="muted" style={{ fontSize: 12 }}>
                  {plan.plan.description}
                </div>
              )
            }
            columns={[
              { title: t.plans.kind, show: ({ plan }) => counted(plan, t) },
              {
                title: t.plans.limits,
                show: ({ plan }) => <span className="muted">{limits(plan, t)}</span>,
              },
              {
                title: t.plans.price,
                right: true,
                show: ({ plan }) => showMoney(plan.plan?.price, locale) || "–",
              },
            ]}
            form={(thing, close) => <PlanForm plan={thing?.plan} onClose={close} />}
          />
        )}
      </Shown>
    </div>
  );
}

/** "10 credits every 30 days", "Unlimited". */
function counted({ plan }: Plan, t: Messages): string {
  if (plan?.kind !== PlanKind.CREDITS) return t.plans.kinds[plan?.kind ?? 0] ?? "";
  const count = t.plans.creditCount(plan.credits);
  return plan.period
    ? t.plans.perDays(count, Math.round(spanMs(plan.period) / DAY))
    : t.plans.once(count);
}

const limits = ({ plan }: Plan, t: Messages): string =>
  [
    plan?.dailyLimit && t.plans.aDay(plan.dailyLimit),
    plan?.weeklyLimit && t.plans.aWeek(plan.weeklyLimit),
  ]
    .filter(Boolean)
    .join(", ") || t.plans.noLimit;

/** In days, or "" if absent. */
const daysOf = (span: Duration | undefined): number | "" =>
  span ? Math.round(spanMs(span) / DAY) : "";

interface Values {
  name: string;
  description: string;
  kind: PlanKind;
  credits: number | "";
  period: number | "";
  term: number | "";
  dailyLimit: number | "";
  weeklyLimit: number | "";
  allowOverlap: boolean;
  price: number | "";
  active: boolean;
}

function versionOf(plan: Plan | undefined) {
  const input = plan?.plan;
  const values: Values = {
    name: input?.name ?? "",
    description: input?.description ?? "",
    kind: input?.kind ?? PlanKind.CREDITS,
    credits: input ? input.credits || "" : 10,
    period: daysOf(input?.period),
    term: daysOf(input?.term),
    dailyLimit: input?.dailyLimit ?? "",
    weeklyLimit: input?.weeklyLimit ?? "",
    allowOverlap: input?.allowOverlap ?? false,
    price: amountOf(input?.price),
    active: input?.active ?? true,
  };
  return { values, etag: plan?.etag ?? "" };
}

function PlanForm({ plan, onClose }: { plan: Plan | undefined; onClose: () => void }) {
  const t = useText();
  const { tenant } = useMe();
  const read = useRead();
  const create = useCall(CreditService.method.createPlan, { quiet: true, done: t.done.saved });
  const update = useCall(CreditService.method.updatePlan, { quiet: true, done: t.done.saved });
  const currency = plan?.plan?.price?.currencyCode || tenant.currency;
  const inputOf = (values: Values) => {
    const { kind, credits, period, term, dailyLimit, weeklyLimit, price } = values;
    const counts = kind === PlanKind.CREDITS;
    return {
      name: values.name.trim(),
      description: values.description,
      kind,
      allowOverlap: values.allowOverlap,
      active: values.active,
      ...(counts && credits !== "" && { credits }),
      ...(counts && period !== "" && { period: durationFromMs(period * DAY) }),
      ...(term !== "" && { term: durationFromMs(term * DAY) }),
      ...(dailyLimit !== "" && { dailyLimit }),
      ...(weeklyLimit !== "" && { weeklyLimit }),
      ...(price !== "" && { price: moneyOf(price, currency) }),
    };
  };
  return (
    <EditForm<Values>
      fresh={!plan}
      current={versionOf(plan)}
      names={{
        ...t.fields,
        credits: t.plans.credits,
        period: t.plans.period,
        term: t.plans.term,
        price: t.plans.price,
        dailyLimit: t.plans.daily,
        weeklyLimit: t.plans.weekly,
        allowOverlap: t.plans.overlap,
        active: t.plans.sold,
      }}
      reread={async () => {
        const { plans } = await read(CreditService.method.listPlans, {
          includeInactive: true,
          pageSize: 500,
        });
        return versionOf(plans.find(({ id }) => id === plan?.id) ?? plan);
      }}
      save={(values, changed, etag) =>
        plan
          ? update.run({
              planId: plan.id,
              plan: inputOf(values),
              updateMask: { paths: changed.map(maskOf) },
              etag,
            })
          : create.run({ plan: inputOf(values) })
      }
      onClose={onClose}
    >
      {({ values, set, ...form }) => (
        <>
          <Name {...form.text("name")} />
          <Textarea
            {...form.text("description")}
            label={t.fields.description}
            autosize
            maxLength={4000}
          />
          <Radio.Group
            label={t.plans.kind}
            value={String(values.kind)}
            onChange={(kind) => set({ kind: Number(kind) })}
          >
            <div style={{ display: "grid", gap: 8, marginTop: 6 }}>
              {[PlanKind.CREDITS, PlanKind.UNLIMITED, PlanKind.COURSE].map((kind) => (
                <Radio
                  key={kind}
                  value={String(kind)}
                  disabled={plan !== undefined}
                  label={t.plans.kinds[kind]}
                  description={t.plans.kindNotes[kind]}
                />
              ))}
            </div>
          </Radio.Group>
          {values.kind === PlanKind.CREDITS && (
            <div className="two">
              <NumberInput
                {...form.number("credits")}
                label={t.plans.credits}
                min={1}
                max={10_000}
                required
              />
              <NumberInput
                {...form.number("period")}
                label={t.plans.period}
                description={t.plans.periodNote}
                inputWrapperOrder={["label", "input", "description"]}
                min={1}
                max={400}
              />
            </div>
          )}
          <div className="two">
            <NumberInput
              {...form.number("dailyLimit")}
              label={t.plans.daily}
              placeholder={t.plans.noLimit}
              min={1}
              max={100}
            />
            <NumberInput
              {...form.number("weeklyLimit")}
              label={t.plans.weekly}
              placeholder={t.plans.noLimit}
              min={1}
              max={700}
            />
          </div>
          <div className="two">
            <NumberInput
              {...form.number("term")}
              label={t.plans.term}
              description={t.plans.termNote}
              inputWrapperOrder={["label", "input", "description"]}
              min={1}
              max={3660}
            />
            <Price {...form.number("price")} currency={currency} />
          </div>
          <Switch {...form.flag("allowOverlap")} label={t.plans.overlap} />
          <Switch {...form.flag("active")} label={t.plans.sold} />
        </>
      )}
    </EditForm>
  );
}
