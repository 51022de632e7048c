import type { Subscription } from "@berthhq/client";
import { Fragment } from "react";
import { useMe } from "../auth/user";
import { useText } from "../i18n";
import { Time } from "../ui";

/** Since when a subscription runs, and when it is renewed and ends. */
export function Terms({ of }: { of: Subscription }) {
  const t = useText();
  const { tenant } = useMe();
  const terms = [
    [t.common.since, of.startTime],
    [t.common.renews, of.periodEndTime],
    [t.common.ends, of.endTime],
  ] as const;
  return terms.map(
    ([name, at], index) =>
      at && (
        <Fragment key={name}>
          {index > 0 && " · "}
          {name} <Time at={at} zone={tenant.timeZone} as="date" />
        </Fragment>
      ),
  );
}
