import { CreditService, type Plan, PlanKind } from "@berthhq/client";
import { type Duration, durationFromMs } from "@bufbuild/protobuf/wkt";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import {
  Alert,
  Button,
  Drawer,
  NumberInput,
  Radio,
  Switch,
  Textarea,
  TextInput,
} from "@mantine/core";
import { IconPencil, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { type Messages, useSpeech, useText } from "../../i18n";
import { useAll } from "../../shared/all";
import { useDo } from "../../shared/calls";
import { useEditing } from "../../shared/editing";
import { explain } from "../../shared/errors";
import { useCan, useMe } from "../../shared/root";
import { DAY, here } from "../../shared/time";
import { PageHead, Shown, State, Tag } from "../../shared/ui";
import { Conflict } from "../conflict";

export function PlansPage() {
  const t = useText();
  const can = useCan();
  const [inactive, setInactive] = useState(false);
  const [edited, setEdited] = useState<Plan | "new">();
  const plans = useAll(
    CreditService.method.listPlans,
    { includeInactive: inactive },
    (answer) => answer.plans,
    { keep: true },
  );
  const open = plans.data?.find((plan) => edited !== "new" && plan.id === edited?.id) ?? edited;
  return (
    <div className="page">
      <PageHead title={t.nav.plans} note={t.plans.note}>
        <Switch
          size="xs"
          label={t.plans.inactive}
          checked={inactive}
          onChange={(event) => setInactive(event.currentTarget.checked)}
        />
        {can("plan.write") && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setEdited("new")}>
            {t.plans.add}
          </Button>
        )}
      </PageHead>
      <div className="card">
        <Shown of={plans}>
          {(all) =>
            all.length === 0 ? (
              <State title={t.plans.none}>{t.plans.noneNote}</State>
            ) : (
              <List plans={all} onEdit={can("plan.write") ? setEdited : undefined} />
            )
          }
        </Shown>
      </div>
      <Drawer
        opened={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={edited === "new" ? t.plans.add : t.actions.edit}
      >
        {open && (
          <PlanForm plan={open === "new" ? undefined : open} onClose={() => setEdited(undefined)} />
        )}
      </Drawer>
    </div>
  );
}

const daysOf = (span: Duration | undefined): number | "" =>
  span ? Math.round((Number(span.seconds) * 1000) / DAY) : "";

function counted(plan: Plan, t: Messages): string {
  const input = plan.plan;
  if (input?.kind !== PlanKind.CREDITS) return t.plans.kinds[input?.kind ?? 0] ?? "";
  const count = t.plans.creditCount(input.credits);
  const days = daysOf(input.period);
  return days === "" ? t.plans.once(count) : t.plans.perDays(count, days);
}

function List({
  plans,
  onEdit,
}: {
  plans: readonly Plan[];
  onEdit: ((plan: Plan) => void) | undefined;
}) {
  const t = useText();
  const { locale } = useSpeech();
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t.fields.name}</th>
            <th scope="col">{t.plans.kind}</th>
            <th scope="col">{t.plans.limits}</th>
            <th scope="col" className="right">
              {t.plans.price}
            </th>
            <th scope="col">{t.fields.status}</th>
            {onEdit && <th scope="col" aria-label={t.actions.actions} />}
          </tr>
        </thead>
        <tbody>
          {plans.map((plan) => {
            const input = plan.plan;
            const limits = [
              input?.dailyLimit && t.plans.aDay(input.dailyLimit),
              input?.weeklyLimit && t.plans.aWeek(input.weeklyLimit),
            ].filter(Boolean);
            return (
              <tr key={plan.id}>
                <td>
                  <strong style={{ fontWeight: 560 }}>{input?.name}</strong>
                  {input?.description && (
                    <div className="muted" style={{ fontSize: 12 }}>
                      {input.description}
                    </div>
                  )}
                </td>
                <td>{counted(plan, t)}</td>
                <td className="muted">{limits.join(", ") || t.plans.noLimit}</td>
                <td className="right num">
                  {input?.price &&
                    new Intl.NumberFormat(locale, {
                      style: "currency",
                      currency: input.price.currencyCode || "EUR",
                    }).format(Number(input.price.units) + input.price.nanos / 1e9)}
                </td>
                <td>
                  {input?.active ? (
                    <Tag tone="good">{t.plans.sold}</Tag>
                  ) : (
                    <Tag>{t.plans.notSold}</Tag>
                  )}
                </td>
                {onEdit && (
                  <td className="right">
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      leftSection={<IconPencil size={14} />}
                      aria-label={`${t.actions.edit}: ${input?.name}`}
                      onClick={() => onEdit(plan)}
                    >
                      {t.actions.edit}
                    </Button>
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

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
    price: input?.price ? Number(input.price.units) + input.price.nanos / 1e9 : "",
    active: input?.active ?? true,
  };
  return { values, etag: plan?.etag ?? "" };
}

const masks: Record<string, string> = {
  dailyLimit: "daily_limit",
  weeklyLimit: "weekly_limit",
  allowOverlap: "allow_overlap",
};

function PlanForm({ plan, onClose }: { plan: Plan | undefined; onClose: () => void }) {
  const t = useText();
  const { locale } = useSpeech();
  const { tenant } = useMe();
  const transport = useTransport();
  const [error, setError] = useState<unknown>();
  const create = useDo(CreditService.method.createPlan, { quiet: true, done: t.done.saved });
  const update = useDo(CreditService.method.updatePlan, { quiet: true, done: t.done.saved });
  const inputOf = (values: Values) => ({
    name: values.name.trim(),
    description: values.description,
    kind: values.kind,
    allowOverlap: values.allowOverlap,
    active: values.active,
    ...(values.kind === PlanKind.CREDITS && values.credits !== "" && { credits: values.credits }),
    ...(values.kind === PlanKind.CREDITS &&
      values.period !== "" && { period: durationFromMs(values.period * DAY) }),
    ...(values.term !== "" && { term: durationFromMs(values.term * DAY) }),
    ...(values.dailyLimit !== "" && { dailyLimit: values.dailyLimit }),
    ...(values.weeklyLimit !== "" && { weeklyLimit: values.weeklyLimit }),
    ...(values.price !== "" && {
      price: {
        currencyCode: plan?.plan?.price?.currencyCode || tenant.currency,
        units: BigInt(Math.trunc(values.price)),
        nanos: Math.round((values.price % 1) * 100) * 10_000_000,
      },
    }),
  });
  const editing = useEditing<Values>({
    current: versionOf(plan),
    failed: setError,
    reread: async () => {
      const answer = await callUnaryMethod(transport, CreditService.method.listPlans, {
        includeInactive: true,
        pageSize: 500,
      });
      return versionOf(answer.plans.find(({ id }) => id === plan?.id) ?? plan);
    },
    save: (values, changed, etag) =>
      plan
        ? update.run({
            planId: plan.id,
            plan: inputOf(values),
            updateMask: { paths: changed.map((key) => masks[key] ?? key) },
            etag,
          })
        : create.run({ plan: inputOf(values) }),
  });
  const { values, set } = editing;
  const number = (
    key: "credits" | "period" | "term" | "dailyLimit" | "weeklyLimit" | "price",
    label: string,
  ) => ({
    label,
    min: 0,
    value: values[key],
    onChange: (value: string | number) => set({ [key]: typeof value === "number" ? value : "" }),
  });
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        setError(undefined);
        void editing.submit().then((saved) => saved && onClose());
      }}
    >
      <Conflict
        theirs={editing.theirs}
        names={{
          ...t.fields,
          credits: t.plans.credits,
          price: t.plans.price,
          dailyLimit: t.plans.daily,
          weeklyLimit: t.plans.weekly,
        }}
        onTake={editing.takeTheirs}
      />
      <TextInput
        label={t.fields.name}
        required
        maxLength={200}
        value={values.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        data-autofocus
      />
      <Textarea
        label={t.fields.description}
        autosize
        maxLength={4000}
        value={values.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
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
          <NumberInput {...number("credits", t.plans.credits)} min={1} max={10_000} required />
          <NumberInput
            {...number("period", t.plans.period)}
            min={1}
            max={400}
            description={t.plans.periodNote}
            inputWrapperOrder={["label", "input", "description"]}
          />
        </div>
      )}
      <div className="two">
        <NumberInput
          {...number("dailyLimit", t.plans.daily)}
          min={1}
          max={100}
          placeholder={t.plans.noLimit}
        />
        <NumberInput
          {...number("weeklyLimit", t.plans.weekly)}
          min={1}
          max={700}
          placeholder={t.plans.noLimit}
        />
      </div>
      <div className="two">
        <NumberInput
          {...number("term", t.plans.term)}
          min={1}
          max={3660}
          description={t.plans.termNote}
          inputWrapperOrder={["label", "input", "description"]}
        />
        <NumberInput
          {...number("price", t.plans.price)}
          decimalScale={2}
          suffix={` ${tenant.currency}`}
        />
      </div>
      <Switch
        label={t.plans.overlap}
        checked={values.allowOverlap}
        onChange={(event) => set({ allowOverlap: event.currentTarget.checked })}
      />
      <Switch
        label={t.plans.sold}
        checked={values.active}
        onChange={(event) => set({ active: event.currentTarget.checked })}
      />
      {error !== undefined && <Alert color="red">{explain(error, t, locale, here())}</Alert>}
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={editing.saving} disabled={editing.changed.length === 0}>
          {plan ? t.actions.save : t.actions.create}
        </Button>
      </div>
    </form>
  );
}
