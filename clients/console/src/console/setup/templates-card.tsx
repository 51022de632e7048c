import { CatalogService, CreditService, SettingLevel } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button, SegmentedControl, SimpleGrid } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type ReactNode, useState } from "react";
import { useCall } from "../../shared/api/calls";
import { useAll } from "../../shared/api/lists";
import { useCan } from "../../shared/auth/user";
import { showSpan, spanMs } from "../../shared/format/time";
import { Form, FormError, useSubmit } from "../../shared/forms/form";
import { options } from "../../shared/forms/options";
import { useText } from "../../shared/i18n";
import { Card, Tag } from "../../shared/ui";
import { everyStatus } from "../catalog/data";
import { useCatalog } from "../catalog/loaded";
import { catalogTexts } from "../catalog/texts";
import { settingTexts } from "../settings/texts";
import { SmallHint } from "../ui";
import { maskOf } from "../ui/edit-form";
import { uiTexts } from "../ui/texts";
import classes from "./page.module.css";
import { type TemplateName, templates } from "./templates";
import { setupTexts } from "./texts";

const list = <T extends object>(of: T) =>
  Object.entries(of) as [keyof T, NonNullable<T[keyof T]>][];

/** Names are unique, ignoring case. */
const has = (all: readonly { name: string }[], name: string) =>
  all.some((one) => one.name.toLowerCase() === name.toLowerCase());

/** Adds what a kind of organization usually starts with, unless it exists already. */
export function Templates() {
  const t = useText(catalogTexts, setupTexts, settingTexts, uiTexts);
  const can = useCan();
  const [chosen, choose] = useState<TemplateName>("studio");
  const catalog = useCatalog();
  const known = useAll(
    CreditService.method.listPlans,
    { filter: { statuses: everyStatus } },
    (answer) => answer.plans,
  ).data;
  const rules = useQuery(CatalogService.method.getPolicy, {}).data?.effective?.layers.find(
    ({ level }) => level === SettingLevel.TENANT,
  );
  const makeService = useCall(CatalogService.method.createService, { quiet: true });
  const makePlan = useCall(CreditService.method.createPlan, { quiet: true });
  const setPolicy = useCall(CatalogService.method.updatePolicy, { quiet: true });

  const template = templates[chosen];
  const services = list(template.services).map(([key, service]) => {
    const name = t.starters.services[key];
    return { name, service, there: has(catalog.services, name) };
  });
  const plans = list(template.plans).map(([key, plan]) => {
    const name = t.starters.plans[key];
    return { name, plan, there: has(known ?? [], name) };
  });
  const policy = list(template.policy).map(([field, value]) => ({
    field,
    name: t.policies.fields[field]?.[0] ?? field,
    value,
    there: rules?.policy?.[field] !== undefined,
  }));
  const left = [...services, ...plans, ...policy].some(({ there }) => !there);

  const { error, busy, onSubmit } = useSubmit(async () => {
    // What was added before an error is there when it is tried again.
    for (const { name, service, there } of services) {
      if (!there) await makeService.run({ service: { ...service, name } });
    }
    for (const { name, plan, there } of plans) {
      if (!there) await makePlan.run({ plan: { ...plan, name } });
    }
    const open = policy.filter(({ there }) => !there);
    if (open.length > 0) {
      await setPolicy.run({
        level: SettingLevel.TENANT,
        policy: Object.fromEntries(open.map(({ field, value }) => [field, value])),
        updateMask: { paths: open.map(({ field }) => maskOf(field)) },
        etag: rules?.etag ?? "",
      });
    }
    notifications.show({ message: t.starters.applied, color: "tide" });
  });

  if (!["catalog.write", "plan.write", "policy.write"].every(can)) return null;
  return (
    <Card title={t.starters.title}>
      <Form onSubmit={onSubmit}>
        <SmallHint>{t.starters.note}</SmallHint>
        <SegmentedControl
          fullWidth
          aria-label={t.starters.kind}
          value={chosen}
          onChange={choose}
          data={options(t.starters.kinds)}
        />
        <SimpleGrid cols={{ base: 1, sm: 3 }} spacing={24} verticalSpacing={14}>
          <Part title={t.catalog.services}>
            {services.map(({ name, service, there }) => (
              <Line key={name} name={name} there={there}>
                {showSpan(spanMs(service.duration))}, {t.starters.seats(service.defaultCapacity)}
              </Line>
            ))}
          </Part>
          <Part title={t.nav.plans}>
            {plans.map(({ name, plan, there }) => (
              <Line key={name} name={name} there={there}>
                {plan.credits ? t.ui.credits(plan.credits) : t.plans.kinds[plan.kind]}
              </Line>
            ))}
          </Part>
          <Part title={t.nav.policies}>
            {policy.map(({ name, value, there }) => (
              <Line key={name} name={name} there={there}>
                {showSpan(spanMs(value))}
              </Line>
            ))}
          </Part>
        </SimpleGrid>
        <SmallHint>{left ? t.starters.noPrices : t.starters.nothing}</SmallHint>
        <FormError error={error} />
        {left && (
          <Button
            type="submit"
            variant="default"
            w="fit-content"
            loading={busy}
            disabled={!known || !rules}
          >
            {t.starters.apply}
          </Button>
        )}
      </Form>
    </Card>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className={classes.part}>{title}</h3>
      <ul className={classes.services}>{children}</ul>
    </section>
  );
}

interface LineProps {
  name: string;
  there: boolean;
  children: ReactNode;
}

/** Something that a template adds. */
function Line({ name, there, children }: LineProps) {
  const t = useText(setupTexts);
  return (
    <li>
      {name}
      {there ? <Tag>{t.starters.there}</Tag> : <span>{children}</span>}
    </li>
  );
}
