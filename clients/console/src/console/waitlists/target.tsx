import type { WaitlistEntry } from "@berthhq/client";
import { plainDay, showDay, wallClock } from "../../shared/format/time";
import { useI18n } from "../../shared/i18n";
import { Tag, Time } from "../../shared/ui";
import { sessionsOf } from "../../shared/waitlists/target";
import { useCatalogQuery } from "../catalog/data";
import { routes } from "../routes";
import { Dimmed, dotted, NameLink, Note, Strong } from "../ui";
import { waitlistTexts } from "./texts";

/** What a waitlist entry is for: a session, one of several, or a time window. */
export function EntryTarget({ entry }: { entry: WaitlistEntry }) {
  const { t, locale } = useI18n(waitlistTexts);
  const { data } = useCatalogQuery();
  const { target } = entry;
  if (target.case !== "window") {
    const [first, ...others] = sessionsOf(entry);
    return (
      <>
        <NameLink to={routes.session.path({ id: first?.id ?? "" })}>{first?.title}</NameLink>{" "}
        <Dimmed>
          <Time at={first?.startTime} zone={first?.timeZone ?? ""} />
          {others.length > 0 && ` ${t.timeWindow.orOthers(others.length)}`}
        </Dimmed>
      </>
    );
  }
  const span = target.value;
  const days = [span.firstDate, span.lastDate]
    .filter((day) => day !== undefined)
    .map((day) => showDay(plainDay(day), locale, "day"));
  const where = dotted(
    data?.location(span.locationId)?.name,
    data?.resource(span.resourceId)?.name,
    data?.coach(entry.coachId)?.name,
  );
  return (
    <>
      <Strong>{data?.service(span.serviceId)?.name}</Strong>{" "}
      <Tag tone="plain">{t.timeWindow.window}</Tag>
      <Note>
        {[...new Set(days)].join(" – ")}
        {(span.earliestStart || span.latestStart) &&
          `, ${wallClock(span.earliestStart)}–${span.latestStart ? wallClock(span.latestStart) : "23:59"}`}
        {" · "}
        {where}
      </Note>
    </>
  );
}
