import { CreditService, type Plan, PlanKind, type PlanLength, PlanSchema } from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { NumberInput, Radio, Stack, Switch, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconTicket } from "@tabler/icons-react";
import { useAll } from "../../shared/api/lists";
import { useMe } from "../../shared/auth/user";
import { amountOf, moneyOf, showMoney } from "../../shared/format/money";
import { useI18n, useText } from "../../shared/i18n";
import { PageHead, QueryResult } from "../../shared/ui";
import { Dimmed, Note, Page, right } from "../ui";
import { EditForm, pick, useSave } from "../ui/edit-form";
import { Columns, Name, Price } from "../ui/inputs";
import { type UiTexts, uiTexts } from "../ui/texts";
import { everyStatus } from "./data";
import { EntityTable, type MakingProps } from "./entity-table";
import { type CatalogTexts, catalogTexts } from "./texts";

export function PlansPage() {
  const { t, locale } = useI18n(catalogTexts, uiTexts);
  const [retired, { toggle }] = useDisclosure();
  const plans = useAll(
    CreditService.method.listPlans,
    { filter: { statuses: everyStatus } },
    (answer) => answer.plans,
  );
  return (
    <Page>
      <PageHead title={t.nav.plans}>
        <Switch size="xs" label={t.plans.inactive} checked={retired} onChange={toggle} />
      </PageHead>
      <QueryResult query={plans}>
        {(all) => (
          <EntityTable
            entities={all}
            archived={retired}
            archivedLabel={t.plans.notSold}
            hidden={t.plans.hidden}
            permission="plan.write"
            note={t.plans.note}
            add={t.plans.add}
            none={t.plans.none}
            noneNote={t.plans.noneNote}
            icon={IconTicket}
            subtitle={({ description }) => description && <Note>{description}</Note>}
            columns={[
              { title: t.plans.kind, show: (plan) => counted(plan, t) },
              { title: t.plans.limits, show: (plan) => <Dimmed>{limits(plan, t)}</Dimmed> },
              {
                title: t.ui.price,
                ...right,
                show: ({ price }) => showMoney(price, locale) || "–",
              },
            ]}
            Form={PlanForm}
          />
        )}
      </QueryResult>
    </Page>
  );
}

/** "10 credits every 30 days", "Unlimited". */
function counted({ kind, credits, period }: Plan, t: CatalogTexts & UiTexts): string {
  if (kind !== PlanKind.CREDITS) return t.plans.kinds[kind] ?? "";
  const count = t.ui.credits(credits);
  return period ? t.plans.perDays(count, Number(period.length.value)) : t.plans.once(count);
}

const limits = ({ dailyLimit, weeklyLimit }: Plan, t: CatalogTexts & UiTexts): string =>
  [dailyLimit && t.plans.aDay(dailyLimit), weeklyLimit && t.plans.aWeek(weeklyLimit)]
    .filter(Boolean)
    .join(", ") || t.plans.noLimit;

/** In days, or "" if absent. */
const daysOf = (of: PlanLength | undefined): number | "" => of?.length.value ?? "";

const lengthOf = (days: number) => ({ length: { case: "days" as const, value: days } });

const blank = create(PlanSchema, { kind: PlanKind.CREDITS, credits: 10, active: true });

const valuesOf = (plan: Plan = blank) => ({
  ...pick(plan, "name", "description", "kind", "allowOverlap", "active"),
  credits: plan.credits || ("" as const),
  period: daysOf(plan.period),
  term: daysOf(plan.term),
  dailyLimit: plan.dailyLimit ?? ("" as const),
  weeklyLimit: plan.weeklyLimit ?? ("" as const),
  price: amountOf(plan.price),
});

/** Creates or edits a plan. */
export function PlanForm({ entity: plan, onClose, onMade }: MakingProps<Plan>) {
  const t = useText(catalogTexts, uiTexts);
  const { tenant } = useMe();
  const make = useSave(CreditService.method.createPlan);
  const update = useSave(CreditService.method.updatePlan);
  const currency = plan?.price?.currencyCode || tenant.currency;
  const limit = { placeholder: t.plans.noLimit, min: 1 };
  const inputOf = (values: ReturnType<typeof valuesOf>) => {
    const { credits, period, term, dailyLimit, weeklyLimit, price, ...input } = values;
    const counts = input.kind === PlanKind.CREDITS;
    return {
      ...input,
      name: input.name.trim(),
      ...(counts && credits !== "" && { credits }),
      ...(counts && period !== "" && { period: lengthOf(period) }),
      ...(term !== "" && { term: lengthOf(term) }),
      ...(dailyLimit !== "" && { dailyLimit }),
      ...(weeklyLimit !== "" && { weeklyLimit }),
      ...(price !== "" && { price: moneyOf(price, currency) }),
    };
  };
  return (
    <EditForm
      entity={plan}
      valuesOf={valuesOf}
      names={{
        ...t.fields,
        ...t.plans,
        price: t.ui.price,
        dailyLimit: t.plans.daily,
        weeklyLimit: t.plans.weekly,
        allowOverlap: t.plans.overlap,
        active: t.plans.sold,
      }}
      save={async (values, { updateMask, etag }) => {
        const input = inputOf(values);
        if (plan) return update({ planId: plan.id, plan: input, updateMask, etag });
        const made = (await make({ plan: input }))?.plan;
        if (made) onMade?.(made);
        return made;
      }}
      onClose={onClose}
    >
      {({ values, set, ...form }) => (
        <>
          <Name {...form.text("name")} />
          <Textarea {...form.text("description")} autosize maxLength={4000} />
          <Radio.Group
            label={t.plans.kind}
            value={String(values.kind)}
            onChange={(kind) => set({ kind: Number(kind) })}
          >
            <Stack gap={8} mt={6}>
              {[PlanKind.CREDITS, PlanKind.UNLIMITED, PlanKind.COURSE].map((kind) => (
                <Radio
                  key={kind}
                  value={String(kind)}
                  disabled={plan !== undefined}
                  label={t.plans.kinds[kind]}
                  description={t.plans.kindNotes[kind]}
                />
              ))}
            </Stack>
          </Radio.Group>
          {values.kind === PlanKind.CREDITS && (
            <Columns>
              <NumberInput {...form.number("credits")} min={1} max={10_000} required />
              <NumberInput
                {...form.number("period")}
                description={t.plans.periodNote}
                inputWrapperOrder={["label", "input", "description"]}
                min={1}
                max={400}
              />
            </Columns>
          )}
          <Columns>
            <NumberInput {...form.number("dailyLimit")} {...limit} max={100} />
            <NumberInput {...form.number("weeklyLimit")} {...limit} max={700} />
          </Columns>
          <Columns>
            <NumberInput
              {...form.number("term")}
              description={t.plans.termNote}
              inputWrapperOrder={["label", "input", "description"]}
              min={1}
              max={3660}
            />
            <Price {...form.number("price")} currency={currency} />
          </Columns>
          <Switch {...form.flag("allowOverlap")} />
          <Switch {...form.flag("active")} />
        </>
      )}
    </EditForm>
  );
}
