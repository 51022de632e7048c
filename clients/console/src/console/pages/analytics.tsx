import {
  AnalyticsService,
  type AttendanceCounts,
  type AttendanceDay,
  type BookingTrendPoint,
  TrendBucket,
  UtilizationGroup,
  type UtilizationRow,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import "@mantine/charts/styles.css";
import { BarChart } from "@mantine/charts";
import { Button, SegmentedControl, Select } from "@mantine/core";
import { type CSSProperties, Fragment, useState } from "react";
import { useSearchParams } from "react-router";
import { useSpeech, useText } from "../../i18n";
import { useAll } from "../../shared/all";
import { useMe } from "../../shared/root";
import { showClock, showDay, Temporal, today } from "../../shared/time";
import { Card, PageHead, Shown, State } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";

export function AnalyticsPage() {
  const catalog = useCatalog();
  return <Shown of={catalog}>{(all) => <Analytics catalog={all} />}</Shown>;
}

const date = ({ year, month, day }: Temporal.PlainDate) => ({ year, month, day });
const plain = (d: { year: number; month: number; day: number } | undefined) =>
  Temporal.PlainDate.from({ year: d?.year ?? 2000, month: d?.month ?? 1, day: d?.day ?? 1 });

function usePercent() {
  const { locale } = useSpeech();
  return (rate: number | undefined) =>
    rate === undefined
      ? "–"
      : new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }).format(rate);
}

function Analytics({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const { tenant } = useMe();
  const [params, setParams] = useSearchParams();
  const days = Number(params.get("days")) || 28;
  const location = params.get("location") ?? "";
  const service = params.get("service") ?? "";
  const end = today(tenant.timeZone);
  const filter = {
    startDate: date(end.subtract({ days: days - 1 })),
    endDate: date(end),
    locationIds: location ? [location] : [],
    serviceIds: service ? [service] : [],
  };
  const change = (name: string, value: string | null) =>
    setParams(
      (before) => {
        if (value && value !== "all") before.set(name, value);
        else before.delete(name);
        return before;
      },
      { replace: true },
    );
  const summary = useQuery(
    AnalyticsService.method.getAttendanceSummary,
    { filter },
    { placeholderData: (b) => b },
  );
  const daily = useAll(
    AnalyticsService.method.listAttendanceDaily,
    { filter },
    (answer) => answer.days,
    { keep: true },
  );
  const trend = useQuery(
    AnalyticsService.method.getBookingTrend,
    { filter, bucket: days > 60 ? TrendBucket.WEEK : TrendBucket.DAY },
    { placeholderData: (b) => b },
  );
  const heat = useQuery(
    AnalyticsService.method.getUtilization,
    { filter, groupBy: UtilizationGroup.WEEKDAY_HOUR },
    { placeholderData: (b) => b },
  );
  const services = useQuery(
    AnalyticsService.method.getUtilization,
    { filter, groupBy: UtilizationGroup.SERVICE },
    { placeholderData: (b) => b },
  );
  const locations = useQuery(
    AnalyticsService.method.getUtilization,
    { filter, groupBy: UtilizationGroup.LOCATION },
    { placeholderData: (b) => b },
  );
  return (
    <div className="page">
      <PageHead title={t.nav.analytics} note={t.analytics.note}>
        <SegmentedControl
          size="sm"
          aria-label={t.bulk.days}
          value={String(days)}
          onChange={(value) => change("days", value === "28" ? null : value)}
          data={[7, 28, 90].map((n) => ({ value: String(n), label: t.analytics.days(n) }))}
        />
        <Select
          w={165}
          aria-label={t.fields.location}
          allowDeselect={false}
          value={location || "all"}
          onChange={(value) => change("location", value)}
          data={[
            { value: "all", label: t.schedule.allLocations },
            ...catalog.locations.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
        <Select
          w={165}
          aria-label={t.fields.service}
          allowDeselect={false}
          value={service || "all"}
          onChange={(value) => change("service", value)}
          data={[
            { value: "all", label: t.analytics.all },
            ...catalog.services.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
      </PageHead>
      <Shown of={summary} rows={2}>
        {({ counts }) => counts && <Numbers counts={counts} />}
      </Shown>
      <div className="stack">
        <Shown of={daily}>{(all) => <Daily days={all} />}</Shown>
        <div
          className="split"
          style={{ gridTemplateColumns: "repeat(auto-fit, minmax(min(100%, 420px), 1fr))" }}
        >
          <Shown of={trend}>{({ points }) => <Trend points={points} />}</Shown>
          <Shown of={heat}>{({ rows }) => <Heat rows={rows} />}</Shown>
          <Shown of={services}>
            {({ rows }) => <Used title={t.analytics.byService} rows={rows} />}
          </Shown>
          <Shown of={locations}>
            {({ rows }) => <Used title={t.analytics.byLocation} rows={rows} />}
          </Shown>
        </div>
      </div>
    </div>
  );
}

function Numbers({ counts }: { counts: AttendanceCounts }) {
  const t = useText();
  const { locale } = useSpeech();
  const percent = usePercent();
  const number = (n: number | bigint) => new Intl.NumberFormat(locale).format(n);
  const cells: [string, string, string][] = [
    [t.analytics.booked, number(counts.booked), ""],
    [t.analytics.attendance, percent(counts.attendanceRate), t.analytics.attendanceNote],
    [t.analytics.noShow, percent(counts.noShowRate), number(counts.noShows)],
    [t.analytics.fill, percent(counts.fillRate), t.analytics.fillNote],
    [
      t.analytics.cancelled,
      percent(counts.cancellationRate),
      t.analytics.cancelledNote(percent(counts.lateCancellationRate)),
    ],
    [
      t.analytics.sessions,
      number(counts.sessions),
      t.analytics.sessionsNote(counts.sessionsCancelled),
    ],
    [
      t.analytics.promoted,
      number(counts.promoted),
      t.analytics.promotedNote(Number(counts.waitlisted)),
    ],
  ];
  return (
    <dl className="stats">
      {cells.map(([label, value, note]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
          <dd className="note">{note || "\u00a0"}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Every chart is a table too. */
function Chart({
  title,
  data,
  series,
}: {
  title: string;
  data: { day: string; label: string; [series: string]: string | number }[];
  series: { name: string; label: string; color: string }[];
}) {
  const t = useText();
  const [table, setTable] = useState(false);
  const empty = data.every((row) => series.every(({ name }) => !row[name]));
  return (
    <Card
      title={title}
      extra={
        !empty && (
          <Button size="compact-xs" variant="subtle" color="gray" onClick={() => setTable(!table)}>
            {table ? t.analytics.chart : t.analytics.table}
          </Button>
        )
      }
    >
      {empty ? (
        <State title={t.analytics.none} />
      ) : table ? (
        <div style={{ maxHeight: 260, overflow: "auto" }}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{t.analytics.day}</th>
                {series.map(({ name, label }) => (
                  <th key={name} scope="col" className="right">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.map((row) => (
                <tr key={row.day}>
                  <td>{row.label}</td>
                  {series.map(({ name }) => (
                    <td key={name} className="right">
                      {row[name]}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <BarChart
          h={240}
          data={data}
          dataKey="label"
          type="stacked"
          series={series}
          withLegend
          legendProps={{ verticalAlign: "bottom", height: 30 }}
          tickLine="none"
          gridAxis="x"
          barProps={{ radius: 2, isAnimationActive: false }}
          xAxisProps={{ minTickGap: 22 }}
          yAxisProps={{ width: 34, allowDecimals: false }}
        />
      )}
    </Card>
  );
}

function Daily({ days }: { days: readonly AttendanceDay[] }) {
  const t = useText();
  const { locale } = useSpeech();
  const data = days.map(({ date: at, counts }) => {
    const day = plain(at);
    const came = Number(counts?.attended ?? 0n);
    const absent = Number(counts?.noShows ?? 0n);
    return {
      day: day.toString(),
      label: showDay(day, locale, "day"),
      came,
      absent,
      booked: Number(counts?.booked ?? 0n) - came - absent,
    };
  });
  return (
    <Chart
      title={t.analytics.daily}
      data={data}
      series={[
        { name: "came", label: t.analytics.attendance, color: "tide.6" },
        { name: "booked", label: t.bookingStatus[2] ?? "", color: "tide.2" },
        { name: "absent", label: t.analytics.noShow, color: "orange.5" },
      ]}
    />
  );
}

function Trend({ points }: { points: readonly BookingTrendPoint[] }) {
  const t = useText();
  const { locale } = useSpeech();
  const channels = [1, 2, 3].filter((channel) =>
    points.some((point) => point.channels.some((c) => c.channel === channel)),
  );
  const colors = ["", "tide.6", "yellow.6", "grape.5"];
  const data = points.map((point) => {
    const day = plain(point.date);
    return {
      day: day.toString(),
      label: showDay(day, locale, "day"),
      ...Object.fromEntries(
        channels.map((channel) => [
          `c${channel}`,
          Number(point.channels.find((c) => c.channel === channel)?.bookings ?? 0n),
        ]),
      ),
    };
  });
  return (
    <Chart
      title={t.analytics.trend}
      data={data}
      series={channels.map((channel) => ({
        name: `c${channel}`,
        label: t.session.channel[channel] ?? "",
        color: colors[channel] ?? "gray",
      }))}
    />
  );
}

function Heat({ rows }: { rows: readonly UtilizationRow[] }) {
  const t = useText();
  const { locale } = useSpeech();
  const percent = usePercent();
  const used = rows.filter(({ seatsOffered }) => seatsOffered > 0n);
  const hours = [...new Set(used.map(({ hour }) => hour))].sort((a, b) => a - b);
  const monday = Temporal.PlainDate.from("2024-01-01");
  return (
    <Card title={t.analytics.heat}>
      {used.length === 0 ? (
        <State title={t.analytics.none} />
      ) : (
        <>
          <p className="muted" style={{ margin: "0 0 12px", fontSize: 13 }}>
            {t.analytics.heatNote}
          </p>
          <div
            className="heat"
            style={{ "--hours": hours.length } as CSSProperties}
            role="img"
            aria-label={t.analytics.heat}
          >
            <span />
            {hours.map((hour) => (
              <span key={hour} style={{ textAlign: "center" }}>
                {showClock(hour * 60)}
              </span>
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
                      <span
                        key={hour}
                        className="cell"
                        style={{ "--heat": `${Math.min(heat, 100) / 2}%` } as CSSProperties}
                        title={`${day} ${showClock(hour * 60)}: ${percent(row?.rate)}`}
                      >
                        {row && heat}
                      </span>
                    );
                  })}
                </Fragment>
              );
            })}
          </div>
        </>
      )}
    </Card>
  );
}

function Used({ title, rows }: { title: string; rows: readonly UtilizationRow[] }) {
  const t = useText();
  const percent = usePercent();
  return (
    <Card title={title} bare>
      {rows.length === 0 ? (
        <State title={t.analytics.none} />
      ) : (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t.analytics.name}</th>
              <th scope="col" className="right">
                {t.analytics.sessions}
              </th>
              <th scope="col" className="right">
                {t.analytics.taken}
              </th>
              <th scope="col">{t.analytics.rate}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name + row.serviceId + row.locationId}>
                <td>{row.name}</td>
                <td className="right">{row.sessions + row.sessionsUnlimited}</td>
                <td className="right">
                  {row.sessions > 0 ? `${row.seatsTaken} / ${row.seatsOffered}` : t.session.noLimit}
                </td>
                <td>
                  {row.rate !== undefined && (
                    <span className="seats">
                      <i
                        style={{ "--part": `${Math.min(100, row.rate * 100)}%` } as CSSProperties}
                        aria-hidden
                      />
                      {percent(row.rate)}
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
