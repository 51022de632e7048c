import {
  type AnalyticsFilterSchema,
  AnalyticsService,
  type AttendanceDay,
  type BookingChannel,
  type BookingTrendPoint,
  TrendBucket,
  UtilizationGroup,
  type UtilizationRow,
} from "@berthhq/client";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { useQuery } from "@connectrpc/connect-query";
import { Box, Button, SegmentedControl, SimpleGrid, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { keepPreviousData } from "@tanstack/react-query";
import { Fragment } from "react";
import { useAll } from "../../../shared/api/lists";
import { useMe } from "../../../shared/auth/user";
import { useNumbers } from "../../../shared/format/numbers";
import {
  type CivilDay,
  civilDay,
  plainDay,
  showClock,
  showDay,
  Temporal,
  today,
} from "../../../shared/format/time";
import { useI18n, useText } from "../../../shared/i18n";
import { Card, PageHead, QueryResult, State } from "../../../shared/ui";
import { useCatalog, WithCatalog } from "../../catalog/loaded";
import { routes } from "../../routes";
import { DataTable, FilterSelect, List, Page, Share, SmallHint, Stats } from "../../ui";
import { uiTexts } from "../../ui/texts";
import { Bars, type Row, type Series } from "./bars";
import classes from "./charts.module.css";
import { analyticsTexts } from "./texts";

export const AnalyticsPage = () => (
  <WithCatalog>
    <Analytics />
  </WithCatalog>
);

/** The figures of before stay until new ones have loaded. */
const keep = { placeholderData: keepPreviousData };

const useUtilization = (
  filter: MessageInitShape<typeof AnalyticsFilterSchema>,
  groupBy: UtilizationGroup,
) =>
  useQuery(
    AnalyticsService.method.getUtilization,
    { filter, groupBy },
    { ...keep, select: ({ rows }) => rows },
  );

function Analytics() {
  const catalog = useCatalog();
  const t = useText(analyticsTexts, uiTexts);
  const { tenant } = useMe();
  const { percent, count } = useNumbers();
  const [{ days, location, service }, change] = routes.analytics.useSearch();
  const end = today(tenant.timeZone);
  const filter = {
    startDate: civilDay(end.subtract({ days: days - 1 })),
    endDate: civilDay(end),
    locationIds: location ? [location] : [],
    serviceIds: service ? [service] : [],
  };
  const { getAttendanceSummary, getBookingTrend, listAttendanceDaily } = AnalyticsService.method;
  const summary = useQuery(getAttendanceSummary, { filter }, keep);
  const daily = useAll(listAttendanceDaily, { filter }, (answer) => answer.days, { keep: true });
  const bucket = days > 60 ? TrendBucket.WEEK : TrendBucket.DAY;
  const trend = useQuery(getBookingTrend, { filter, bucket }, keep);
  const heat = useUtilization(filter, UtilizationGroup.WEEKDAY_HOUR);
  const services = useUtilization(filter, UtilizationGroup.SERVICE);
  const locations = useUtilization(filter, UtilizationGroup.LOCATION);
  return (
    <Page>
      <PageHead title={t.nav.analytics} note={t.analytics.note}>
        <SegmentedControl
          aria-label={t.ui.days}
          value={String(days)}
          onChange={(value) => change({ days: Number(value) })}
          data={[7, 28, 90].map((n) => ({ value: String(n), label: t.ui.lastDays(n) }))}
        />
        <FilterSelect
          w={165}
          aria-label={t.fields.location}
          all={t.ui.allLocations}
          entities={catalog.locations}
          value={location}
          onChange={(location) => change({ location })}
        />
        <FilterSelect
          w={165}
          aria-label={t.fields.service}
          all={t.analytics.all}
          entities={catalog.services}
          value={service}
          onChange={(service) => change({ service })}
        />
      </PageHead>
      <QueryResult query={summary} rows={2}>
        {({ counts }) =>
          counts && (
            <Stats
              of={[
                [t.analytics.booked, count(counts.booked), ""],
                [
                  t.analytics.attendance,
                  percent(counts.attendanceRate),
                  t.analytics.attendanceNote,
                ],
                [t.analytics.noShow, percent(counts.noShowRate), count(counts.noShows)],
                [t.analytics.fill, percent(counts.fillRate), t.analytics.fillNote],
                [
                  t.analytics.cancelled,
                  percent(counts.cancellationRate),
                  t.analytics.cancelledNote(percent(counts.lateCancellationRate)),
                ],
                [
                  t.analytics.sessions,
                  count(counts.sessions),
                  t.analytics.sessionsNote(counts.sessionsCancelled),
                ],
                [
                  t.analytics.promoted,
                  count(counts.promoted),
                  t.analytics.promotedNote(counts.waitlisted),
                ],
              ]}
            />
          )
        }
      </QueryResult>
      <Stack gap={18}>
        <QueryResult query={daily}>{(all) => <Daily days={all} />}</QueryResult>
        <SimpleGrid minColWidth="min(100%, 420px)" autoFlow="auto-fit" spacing={18}>
          <QueryResult query={trend}>{({ points }) => <Trend points={points} />}</QueryResult>
          <QueryResult query={heat}>{(rows) => <Heat rows={rows} />}</QueryResult>
          <Used title={t.ui.byService} query={services} />
          <Used title={t.ui.byLocation} query={locations} />
        </SimpleGrid>
      </Stack>
    </Page>
  );
}

interface Point {
  readonly date: CivilDay | undefined;
  readonly values: Row["values"];
}

interface ChartProps {
  title: string;
  points: readonly Point[];
  series: readonly Series[];
}

/** A chart that can be shown as a table. */
function Chart({ title, points, series }: ChartProps) {
  const { t, locale } = useI18n(analyticsTexts, uiTexts);
  const [table, { toggle }] = useDisclosure();
  const data = points.flatMap(({ date, values }) =>
    date ? { label: showDay(plainDay(date), locale, "day"), values } : [],
  );
  const empty = data.every(({ values }) => series.every(({ name }) => !values[name]));
  return (
    <Card
      title={title}
      extra={
        !empty && (
          <Button size="compact-xs" variant="subtle" color="gray" onClick={toggle}>
            {table ? t.analytics.chart : t.analytics.table}
          </Button>
        )
      }
    >
      {empty ? (
        <State title={t.ui.none} />
      ) : table ? (
        <DataTable
          rows={data}
          id="label"
          maxHeight={260}
          columns={[
            { title: t.analytics.day, show: ({ label }) => label },
            ...series.map(({ name, label }) => ({
              title: label,
              ta: "right" as const,
              show: ({ values }: Row) => values[name] ?? 0,
            })),
          ]}
        />
      ) : (
        <Bars data={data} series={series} />
      )}
    </Card>
  );
}

/** Attendance per day. */
function Daily({ days }: { days: readonly AttendanceDay[] }) {
  const t = useText(analyticsTexts);
  return (
    <Chart
      title={t.analytics.daily}
      points={days.map(({ date, counts }) => {
        const came = counts?.attended ?? 0;
        const absent = counts?.noShows ?? 0;
        const booked = (counts?.booked ?? 0) - came - absent;
        return { date, values: { came, absent, booked } };
      })}
      series={[
        { name: "came", label: t.analytics.attendance, color: "tide.6" },
        { name: "booked", label: t.bookingStatus[2], color: "tide.2" },
        { name: "absent", label: t.analytics.noShow, color: "orange.5" },
      ]}
    />
  );
}

/** By number: with the enum, the page would load all that the contract has about bookings. */
const channelColors: Record<BookingChannel, string> = {
  0: "",
  1: "tide.6",
  2: "yellow.6",
  3: "grape.5",
};

/** Bookings made over time. */
function Trend({ points }: { points: readonly BookingTrendPoint[] }) {
  const t = useText(analyticsTexts, uiTexts);
  const used = new Set(points.flatMap(({ channels }) => channels.map(({ channel }) => channel)));
  return (
    <Chart
      title={t.analytics.trend}
      points={points.map(({ date, channels }) => ({
        date,
        values: Object.fromEntries(channels.map(({ channel, bookings }) => [channel, bookings])),
      }))}
      series={([1, 2, 3] satisfies BookingChannel[])
        .filter((channel) => used.has(channel))
        .map((channel) => ({
          name: String(channel),
          label: t.ui.channel[channel],
          color: channelColors[channel],
        }))}
    />
  );
}

/** When seats are taken: fuller hours of the week are darker. */
function Heat({ rows }: { rows: readonly UtilizationRow[] }) {
  const { t, locale } = useI18n(analyticsTexts, uiTexts);
  const { percent } = useNumbers();
  const used = rows.filter(({ seatsOffered }) => seatsOffered > 0);
  const hours = [...new Set(used.flatMap(({ hour }) => hour ?? []))].sort((a, b) => a - b);
  const monday = Temporal.PlainDate.from("2024-01-01");
  return (
    <Card title={t.analytics.heat}>
      {used.length === 0 ? (
        <State title={t.ui.none} />
      ) : (
        <>
          <SmallHint mb={12}>{t.analytics.heatNote}</SmallHint>
          <Box
            className={classes.heat}
            __vars={{ "--hours": String(hours.length) }}
            role="img"
            aria-label={t.analytics.heat}
          >
            <span />
            {hours.map((hour) => (
              <Text key={hour} span inherit ta="center">
                {showClock(hour * 60)}
              </Text>
            ))}
            {Array.from({ length: 7 }, (_, at) => {
              const day = showDay(monday.add({ days: at }), locale, "weekday");
              return (
                <Fragment key={day}>
                  <span>{day}</span>
                  {hours.map((hour) => {
                    const row = used.find((one) => one.weekday === at + 1 && one.hour === hour);
                    const heat = Math.round((row?.rate ?? 0) * 100);
                    return (
                      <Box
                        component="span"
                        key={hour}
                        className={classes.cell}
                        __vars={{ "--heat": `${Math.min(heat, 100) / 2}%` }}
                        title={`${day} ${showClock(hour * 60)}: ${percent(row?.rate)}`}
                      >
                        {row && heat}
                      </Box>
                    );
                  })}
                </Fragment>
              );
            })}
          </Box>
        </>
      )}
    </Card>
  );
}

/** How full the sessions of each service, or at each location, are. */
function Used({ title, query }: { title: string; query: ReturnType<typeof useUtilization> }) {
  const t = useText(analyticsTexts, uiTexts);
  const { count } = useNumbers();
  return (
    <List
      query={query}
      title={title}
      empty={<State title={t.ui.none} />}
      columns={[
        { title: t.ui.name, show: ({ name }) => name },
        {
          title: t.analytics.sessions,
          ta: "right",
          show: ({ sessions, sessionsUnlimited }) => count(sessions + sessionsUnlimited),
        },
        {
          title: t.analytics.taken,
          ta: "right",
          show: ({ sessions, seatsTaken, seatsOffered }) =>
            sessions > 0 ? `${count(seatsTaken)} / ${count(seatsOffered)}` : t.ui.noLimit,
        },
        {
          title: t.analytics.rate,
          show: ({ rate }) => rate !== undefined && <Share of={rate} />,
        },
      ]}
    />
  );
}
