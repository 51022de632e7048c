import { type ReactNode, useEffect, useRef } from "react";
import { showDay, Temporal } from "../../shared/format/time";
import { useI18n } from "../../shared/i18n";
import classes from "./agenda.module.css";
import type { Column } from "./columns";
import { ScrollRegion } from "./scroll-region";
import { SessionSlot } from "./slot";

interface AgendaProps {
  columns: readonly Column[];
  showPlace: boolean;
  /** Shown if there are no sessions. */
  empty: ReactNode;
}

/** The schedule on phones: a list. */
export function Agenda({ columns, showPlace, empty }: AgendaProps) {
  const { locale } = useI18n();
  const today = useRef<HTMLElement>(null);
  const first = columns.map(({ key }) => key).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when other days are shown
  useEffect(() => {
    today.current?.scrollIntoView();
  }, [first]);
  if (columns.every(({ sessions }) => sessions.length === 0)) return empty;
  return (
    <ScrollRegion>
      <div className={classes.agenda}>
        {columns.map(({ key, title, sessions, kind }) =>
          sessions.length === 0 ? null : (
            <section key={key} ref={kind === "today" ? today : undefined}>
              <h2>
                {/^\d{4}-/.test(key)
                  ? showDay(Temporal.PlainDate.from(key), locale, "longDay")
                  : title}
              </h2>
              <ul>
                {sessions.map((session) => (
                  <li key={session.id}>
                    <SessionSlot view="agenda" session={session} showPlace={showPlace} />
                  </li>
                ))}
              </ul>
            </section>
          ),
        )}
      </div>
    </ScrollRegion>
  );
}
