import "@mantine/charts/styles.css";
import type { AttendanceDay, BookingTrendPoint } from "@berthhq/client";
import { BarChart } from "@mantine/charts";
import { Button } from "@mantine/core";
import { useState } from "react";
import { useI18n, useText } from "../../i18n";
import { plainDay, showDay } from "../../shared/time";
import { Card, State } from "../../shared/ui";

/** A chart that can be shown as a table. */
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

/** Attendance per day. */
export function Daily({ days }: { days: readonly AttendanceDay[] }) {
  const t = useText();
  const { locale } = useI18n();
  const data = days.flatMap(({ date, counts }) => {
    if (!date) return [];
    const day = plainDay(date);
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

/** Bookings made over time. */
export function Trend({ points }: { points: readonly BookingTrendPoint[] }) {
  const t = useText();
  const { locale } = useI18n();
  const channels = [1, 2, 3].filter((channel) =>
    points.some((point) => point.channels.some((c) => c.channel === channel)),
  );
  const colors = ["", "tide.6", "yellow.6", "grape.5"];
  const data = points.flatMap((point) => {
    if (!point.date) return [];
    const day = plainDay(point.date);
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
