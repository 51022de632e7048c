import {
  AnalyticsService,
  type AttendanceCounts,
  TrendBucket,
  UtilizationGroup,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { SegmentedControl, Select } from "@mantine/core";
import { useText } from "../../i18n";
import { useAddress } from "../../shared/address";
import { useAll } from "../../shared/all";
import { named } from "../../shared/form";
import { useMe } from "../../shared/me";
import { useNumbers } from "../../shared/numbers";
import { civilDay, today } from "../../shared/time";
import { PageHead, Shown } from "../../shared/ui";
import { type Catalog, useCatalog } from "../data";
import { Stats } from "../stats";
import { Daily, Trend } from "./charts";
import { Heat, Used } from "./seats";

export function AnalyticsPage() {
  const catalog = useCatalog();
  return <Shown of={catalog}>{(all) => <Analytics catalog={all} />}</Shown>;
}

function Analytics({ catalog }: { catalog: Catalog }) {
  const t = useText();
  const { tenant } = useMe();
  const [params, change] = useAddress();
  const days = Number(params.get("days")) || 28;
  const location = params.get("location") ?? "";
  const service = params.get("service") ?? "";
  const end = today(tenant.timeZone);
  const filter = {
    startDate: civilDay(end.subtract({ days: days - 1 })),
    endDate: civilDay(end),
    locationIds: location ? [location] : [],
    serviceIds: service ? [service] : [],
  };
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
          onChange={(value) => change({ days: value === "28" ? null : value })}
          data={[7, 28, 90].map((n) => ({ value: String(n), label: t.analytics.days(n) }))}
        />
        <Select
          w={165}
          aria-label={t.fields.location}
          allowDeselect={false}
          value={location || "all"}
          onChange={(value) => change({ location: value === "all" ? null : value })}
          data={[{ value: "all", label: t.schedule.allLocations }, ...named(catalog.locations)]}
        />
        <Select
          w={165}
          aria-label={t.fields.service}
          allowDeselect={false}
          value={service || "all"}
          onChange={(value) => change({ service: value === "all" ? null : value })}
          data={[{ value: "all", label: t.analytics.all }, ...named(catalog.services)]}
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
  const { percent, count } = useNumbers();
  return (
    <Stats
      of={[
        [t.analytics.booked, count(counts.booked), ""],
        [t.analytics.attendance, percent(counts.attendanceRate), t.analytics.attendanceNote],
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
          t.analytics.promotedNote(Number(counts.waitlisted)),
        ],
      ]}
    />
  );
}
