import { type WaitlistFiguresRow, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { useText } from "../../i18n";
import { useNumbers } from "../../shared/numbers";
import { showSpan, spanMs } from "../../shared/time";
import { Card, Shown, State } from "../../shared/ui";
import { Figures } from "../figures";
import { Share } from "../share";

/** How well the waitlist fills what was freed, in the last 30 days. */
export function WaitlistFigures() {
  const t = useText();
  const { percent, count, mean } = useNumbers();
  const figures = useQuery(WaitlistService.method.getWaitlistAnalytics, {});
  return (
    <Shown of={figures}>
      {({ total, locations, services, cascadeDepths }) => {
        const asked = total !== undefined && total.offersSent > 0n;
        return !total || total.entries + total.offersSent === 0n ? (
          <div className="card">
            <State title={t.analytics.none} />
          </div>
        ) : (
          <>
            <Figures
              of={[
                [t.rules.joined, count(total.entries), t.rules.stillWaiting(Number(total.active))],
                [t.rules.gotPlace, percent(total.conversionRate), count(total.booked)],
                [t.rules.promoted, count(total.promoted)],
                [t.rules.offered, count(total.offersSent)],
                [
                  t.rules.accepted,
                  asked ? percent(total.acceptanceRate) : "–",
                  asked ? count(total.accepted) : "",
                ],
                [
                  t.rules.answerTime,
                  total.averageResponseTime ? showSpan(spanMs(total.averageResponseTime)) : "–",
                ],
                [
                  t.rules.depth,
                  asked ? mean(total.averageCascadeDepth) : "–",
                  asked ? t.rules.deepest(total.maxCascadeDepth) : "",
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
                <td className="right">{count(figures?.entries ?? 0)}</td>
                <td className="right">
                  <Share of={figures?.conversionRate ?? 0} />
                </td>
                <td className="right">{count(figures?.offersSent ?? 0)}</td>
                <td className="right">{percent(figures?.acceptanceRate ?? 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
