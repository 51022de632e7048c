import "./analytics.css";
import type { UtilizationRow } from "@berthhq/client";
import { type CSSProperties, Fragment } from "react";
import { useI18n, useText } from "../../i18n";
import { useNumbers } from "../../shared/numbers";
import { showClock, showDay, Temporal } from "../../shared/time";
import { Card, State } from "../../shared/ui";
import { Share } from "../share";

/** When seats are taken: fuller hours of the week are darker. */
export function Heat({ rows }: { rows: readonly UtilizationRow[] }) {
  const t = useText();
  const { locale } = useI18n();
  const { percent } = useNumbers();
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

/** How full the sessions of each service, or at each location, are. */
export function Used({ title, rows }: { title: string; rows: readonly UtilizationRow[] }) {
  const t = useText();
  const { count } = useNumbers();
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
                <td className="right">{count(row.sessions + row.sessionsUnlimited)}</td>
                <td className="right">
                  {row.sessions > 0
                    ? `${count(row.seatsTaken)} / ${count(row.seatsOffered)}`
                    : t.session.noLimit}
                </td>
                <td>{row.rate !== undefined && <Share of={row.rate} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
