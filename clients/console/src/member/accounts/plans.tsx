import {
  CreditService,
  ErrorReason,
  PlanKind,
  type Subscription,
  SubscriptionStatus,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { NativeSelect } from "@mantine/core";
import { reasonOf } from "../../shared/api/errors";
import { useText } from "../../shared/i18n";
import { memberTexts } from "../texts";

/** Subscriptions that can pay for a booking. */
export function usePlans(): readonly Subscription[] {
  const balance = useQuery(CreditService.method.getBalance, {});
  return (balance.data?.subscriptions ?? []).filter(
    ({ status }) => status === SubscriptionStatus.ACTIVE,
  );
}

interface PlanChoiceProps {
  value: string;
  onChange: (id: string) => void;
  /** The error of the last attempt. */
  error: unknown;
}

/** Chooses the plan that pays, if the member must choose one. */
export function PlanChoice({ value, onChange, error }: PlanChoiceProps) {
  const t = useText(memberTexts);
  const plans = usePlans();
  const required = plans.length > 1 || reasonOf(error) === ErrorReason.PLAN_CHOICE_REQUIRED;
  if (!required) return null;
  return (
    <NativeSelect
      label={t.app.plan}
      required
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[
        { value: "", label: "" },
        ...plans.map(({ id, planName, balance, planKind }) => ({
          value: id,
          label:
            planKind === PlanKind.CREDITS ? `${planName} (${t.app.credit(balance)})` : planName,
        })),
      ]}
    />
  );
}
