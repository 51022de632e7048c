import {
  type WaitlistFigures as Figures,
  type WaitlistFiguresRow,
  WaitlistService,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useSpeech, useText } from "../i18n";
import { millis, showSpan } from "../shared/time";
import { Card, Shown, State } from "../shared/ui";

/** How well the waitlist fills what was freed, in the last 30 days. */
export function WaitlistFigures() {
  const t = useText();
  const { locale } = useSpeech();
  const figures = useQuery(WaitlistService.method.getWaitlistAnalytics, {});
  const percent = (rate: number) =>
    new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }).format(rate);
  const span = (of: Figures) =>
    of.averageResponseTime
      ? showSpan(millis({ ...of.averageResponseTime, $typeName: "google.protobuf.Timestamp" }))
      : "–";
  return (
    <Shown of={figures}>
      {({ total, locations, services, cascadeDepths }) =>
        !total || total.entries + total.offersSent === 0n ? (
          <div className="card">
            <State title={t.analytics.none} />
          </div>
        ) : (
          <>
            <dl className="stats">
              {(
                [
                  [
                    t.rules.joined,
                    String(total.entries),
                    t.rules.stillWaiting(Number(total.active)),
                  ],
                  [t.rules.gotPlace, percent(total.conversionRate), String(total.booked)],
                  [t.rules.promoted, String(total.promoted), ""],
                  [t.rules.offered, String(total.offersSent), ""],
                  [t.rules.accepted, percent(total.acceptanceRate), String(total.accepted)],
                  [t.rules.answerTime, span(total), ""],
                  [
                    t.rules.depth,
                    total.averageCascadeDepth.toFixed(1),
                    t.rules.deepest(total.maxCascadeDepth),
                  ],
                ] as const
              ).map(([label, value, note]) => (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd>{value}</dd>
                  <dd className="note">{note || "\u00a0"}</dd>
                </div>
              ))}
            </dl>
            <div className="stack">
              <Parts title={t.analytics.byLocation} rows={locations} percent={percent} />
              <Parts title={t.analytics.byService} rows={services} percent={percent} />
              {cascadeDepths.length > 0 && (
                <Card title={t.rules.depths}>
                  <dl className="facts">
                    {cascadeDepths.map((count, at) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: the index is the number of offers
                      <div key={at} style={{ display: "contents" }}>
                        <dt>{t.rules.offersUntil(at + 1)}</dt>
                        <dd className="num">{String(count)}</dd>
                      </div>
                    ))}
                  </dl>
                </Card>
              )}
            </div>
          </>
        )
      }
    </Shown>
  );
}

function Parts({
  title,
  rows,
  percent,
}: {
  title: string;
  rows: readonly WaitlistFiguresRow[];
  percent: (rate: number) => string;
}) {
  const t = useText();
  if (rows.length === 0) return null;
  return (
    <Card title={title} bare>
      <div className="scroll-x">
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
                <td className="right">{String(figures?.entries ?? 0)}</td>
                <td className="right">{percent(figures?.conversionRate ?? 0)}</td>
                <td className="right">{String(figures?.offersSent ?? 0)}</td>
                <td className="right">{percent(figures?.acceptanceRate ?? 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
