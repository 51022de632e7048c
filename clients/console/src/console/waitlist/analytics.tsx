import {
  type GetWaitlistAnalyticsResponse,
  type WaitlistFiguresRow,
  WaitlistService,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { SegmentedControl } from "@mantine/core";
import type { ComponentProps } from "react";
import { useText } from "../../i18n";
import { useAddress } from "../../shared/address";
import { useMe } from "../../shared/me";
import { useNumbers } from "../../shared/numbers";
import { showSpan, spanMs, startOf, today } from "../../shared/time";
import { Card, Shown, State } from "../../shared/ui";
import type { Catalog } from "../data";
import { LevelPicker, useLevel } from "../layers/level";
import { Share } from "../share";
import { Stats } from "../stats";

const spans = [7, 30, 90];

/** Waitlist analytics of the last days, for the organization or part of it. */
export function WaitlistAnalytics({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const { tenant } = useMe();
  const { target } = useLevel();
  const [params, change] = useAddress();
  const days = Number(params.get("days")) || 30;
  const end = today(tenant.timeZone).add({ days: 1 });
  const figures = useQuery(
    WaitlistService.method.getWaitlistAnalytics,
    {
      ...target,
      within: {
        start: startOf(end.subtract({ days }), tenant.timeZone),
        end: startOf(end, tenant.timeZone),
      },
    },
    { placeholderData: (before) => before },
  );
  return (
    <>
      <div className="filters">
        <SegmentedControl
          size="sm"
          aria-label={t.bulk.days}
          value={String(days)}
          onChange={(value) => change({ days: value === "30" ? null : value })}
          data={spans.map((n) => ({ value: String(n), label: t.analytics.days(n) }))}
        />
        <LevelPicker catalog={catalog} label={t.rules.countedFor} />
      </div>
      <AnalyticsTables of={figures} />
    </>
  );
}

function AnalyticsTables({
  of,
}: {
  of: ComponentProps<typeof Shown<GetWaitlistAnalyticsResponse>>["of"];
}) {
  const t = useText();
  const { percent, count, mean } = useNumbers();
  return (
    <Shown of={of}>
      {({ total, locations, services, cascadeDepths }) => {
        const hasOffers = total !== undefined && total.offersSent > 0n;
        return !total || total.entries + total.offersSent === 0n ? (
          <div className="card">
            <State title={t.analytics.none} />
          </div>
        ) : (
          <>
            <Stats
              of={[
                [t.rules.joined, count(total.entries), t.rules.stillWaiting(Number(total.active))],
                [
                  t.rules.gotPlace,
                  total.entries > 0n ? percent(total.conversionRate) : "–",
                  t.rules.outOf(count(total.booked), count(total.entries)),
                ],
                [t.rules.promoted, count(total.promoted)],
                [t.rules.offered, count(total.offersSent)],
                [
                  t.rules.accepted,
                  hasOffers ? percent(total.acceptanceRate) : "–",
                  hasOffers ? t.rules.outOf(count(total.accepted), count(total.offersSent)) : "",
                ],
                [
                  t.rules.answerTime,
                  total.averageResponseTime ? showSpan(spanMs(total.averageResponseTime)) : "–",
                ],
                [
                  t.rules.depth,
                  total.accepted > 0n ? mean(total.averageCascadeDepth) : "–",
                  total.accepted > 0n ? t.rules.deepest(total.maxCascadeDepth) : "",
                ],
              ]}
            />
            <div className="stack">
              <Parts title={t.analytics.byLocation} rows={locations} />
              <Parts title={t.analytics.byService} rows={services} />
              {cascadeDepths.length > 0 && (
                <Card title={t.rules.depths}>
                  <dl className="facts">
                    {cascadeDepths.map((entries, at) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: the index is the number of offers
                      <div key={at} style={{ display: "contents" }}>
                        <dt>{t.rules.offersUntil(at + 1)}</dt>
                        <dd>
                          <Share of={Number(entries) / Math.max(...cascadeDepths.map(Number))}>
                            {count(entries)}
                          </Share>
                        </dd>
                      </div>
                    ))}
                  </dl>
                </Card>
              )}
            </div>
          </>
        );
      }}
    </Shown>
  );
}

function Parts({ title, rows }: { title: string; rows: readonly WaitlistFiguresRow[] }) {
  const t = useText();
  const { percent, count } = useNumbers();
  if (rows.length === 0) return null;
  return (
    <Card title={title} bare>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must reach scrollable content */}
      <section className="scroll-x" tabIndex={0} aria-label={title}>
        <table className="table">
          <thead>
            <tr>
              {[
                t.analytics.name,
                t.rules.joined,
                t.rules.gotPlace,
                t.rules.offered,
                t.rules.accepted,
              ].map((name, at) => (
                <th key={name} scope="col" className={at > 0 ? "right" : ""}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, name, figures }) => (
              <tr key={key}>
                <td>{name}</td>
                <td className="right">{count(figures?.entries ?? 0)}</td>
                <td className="right">
                  <Share of={figures?.conversionRate ?? 0} />
                </td>
                <td className="right">{count(figures?.offersSent ?? 0)}</td>
                <td className="right">
                  {figures && figures.offersSent > 0n ? percent(figures.acceptanceRate) : "–"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Card>
  );
}
