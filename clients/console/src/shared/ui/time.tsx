import { showTime, type TimeStyle, type Timestamp, zoneName } from "../format/time";
import { useI18n } from "../i18n";

interface TimeProps {
  at: Timestamp | undefined;
  zone: string;
  as?: TimeStyle;
}

/** A time in a time zone. A tooltip shows the full time and the zone. */
export function Time({ at, zone, as = "dayTime" }: TimeProps) {
  const { locale } = useI18n();
  if (!at) return null;
  const title = `${showTime(at, zone, locale, "full")} ${zoneName(zone, locale, Number(at.seconds) * 1000)} (${zone})`;
  return (
    <time dateTime={new Date(Number(at.seconds) * 1000).toISOString()} title={title}>
      {showTime(at, zone, locale, as)}
    </time>
  );
}
