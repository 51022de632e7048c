import { type WaitlistFiguresRow, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Group, SegmentedControl, Stack } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { useMe } from "../../shared/auth/user";
import { useNumbers } from "../../shared/format/numbers";
import { showSpan, spanMs, startOf, today } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { Card, QueryResult, State } from "../../shared/ui";
import { routes } from "../routes";
import { LevelPicker, useLevel } from "../settings/level";
import { DataTable, Facts, Share, Stats } from "../ui";
import { uiTexts } from "../ui/texts";
import { waitlistTexts } from "./texts";

const spans = [7, 30, 90];

/** Waitlist analytics of the last days, for the organization or part of it. */
export function WaitlistAnalytics() {
  const t = useText(uiTexts, waitlistTexts);
  const { tenant } = useMe();
  const { percent, count, mean } = useNumbers();
  const { target } = useLevel();
  const [{ days }, change] = routes.waitlistRules.useSearch();
  const end = today(tenant.timeZone).add({ days: 1 });
  const figures = useQuery(
    WaitlistService.method.getWaitlistAnalytics,
    {
      ...target,
      createdWithin: {
        start: startOf(end.subtract({ days }), tenant.timeZone),
        end: startOf(end, tenant.timeZone),
      },
    },
    { placeholderData: keepPreviousData },
  );
  return (
    <>
      <Group gap={8} mb={12}>
        <SegmentedControl
          aria-label={t.ui.days}
          value={days}
          onChange={(days) => change({ days })}
          data={spans.map((value) => ({ value, label: t.ui.lastDays(value) }))}
        />
        <LevelPicker label={t.rules.countedFor} />
      </Group>
      <QueryResult query={figures}>
        {({ total, locations, services, cascadeDepths }) => {
          const hasOffers = total !== undefined && total.offersSent > 0;
          return !total || total.entries + total.offersSent === 0 ? (
            <Card bare>
              <State title={t.ui.none} />
            </Card>
          ) : (
            <>
              <Stats
                of={[
                  [t.rules.joined, count(total.entries), t.rules.stillWaiting(total.active)],
                  [
                    t.rules.gotPlace,
                    total.entries > 0 ? percent(total.conversionRate ?? 0) : "–",
                    t.rules.outOf(count(total.booked), count(total.entries)),
                  ],
                  [t.rules.promoted, count(total.promoted)],
                  [t.rules.offered, count(total.offersSent)],
                  [
                    t.rules.accepted,
                    hasOffers ? percent(total.acceptanceRate ?? 0) : "–",
                    hasOffers ? t.rules.outOf(count(total.accepted), count(total.offersSent)) : "",
                  ],
                  [
                    t.rules.answerTime,
                    total.averageResponseTime ? showSpan(spanMs(total.averageResponseTime)) : "–",
                  ],
                  [
                    t.rules.depth,
                    total.averageCascadeDepth === undefined ? "–" : mean(total.averageCascadeDepth),
                    total.maxCascadeDepth === undefined
                      ? ""
                      : t.rules.deepest(total.maxCascadeDepth),
                  ],
                ]}
              />
              <Stack gap={18}>
                <Parts title={t.ui.byLocation} rows={locations} />
                <Parts title={t.ui.byService} rows={services} />
                {cascadeDepths.length > 0 && (
                  <Card title={t.rules.depths}>
                    <Facts
                      of={cascadeDepths.map((entries, at) => [
                        t.rules.offersUntil(at + 1),
                        <Share
                          key="share"
                          of={Number(entries) / Math.max(...cascadeDepths.map(Number))}
                        >
                          {count(entries)}
                        </Share>,
                      ])}
                    />
                  </Card>
                )}
              </Stack>
            </>
          );
        }}
      </QueryResult>
    </>
  );
}

function Parts({ title, rows }: { title: string; rows: readonly WaitlistFiguresRow[] }) {
  const t = useText(uiTexts, waitlistTexts);
  const { percent, count } = useNumbers();
  if (rows.length === 0) return null;
  return (
    <Card title={title} bare>
      <DataTable
        rows={rows}
        id="key"
        region={title}
        columns={[
          { title: t.ui.name, show: ({ name }) => name },
          {
            title: t.rules.joined,
            ta: "right",
            show: ({ figures }) => count(figures?.entries ?? 0),
          },
          {
            title: t.rules.gotPlace,
            ta: "right",
            show: ({ figures }) => <Share of={figures?.conversionRate ?? 0} />,
          },
          {
            title: t.rules.offered,
            ta: "right",
            show: ({ figures }) => count(figures?.offersSent ?? 0),
          },
          {
            title: t.rules.accepted,
            ta: "right",
            show: ({ figures }) =>
              figures && figures.offersSent > 0 ? percent(figures.acceptanceRate) : "–",
          },
        ]}
      />
    </Card>
  );
}
