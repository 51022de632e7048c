import { type CSSProperties, useEffect, useRef } from "react";
import { useI18n } from "../../i18n";
import { showDay, Temporal } from "../../shared/time";
import { State } from "../../shared/ui";
import { type Catalog, fallbackColor } from "../data";
import { type Column, SlotText, slotClass } from "./grid";
import { useOpenSession } from "./open";

/** The schedule on phones: a list. */
export function Agenda({
  columns,
  catalog,
  showPlace,
  empty,
}: {
  columns: readonly Column[];
  catalog: Catalog;
  showPlace: boolean;
  empty: string;
}) {
  const { t, locale } = useI18n();
  const { pathOf, open } = useOpenSession();
  const today = useRef<HTMLElement>(null);
  const first = columns.map(({ key }) => key).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when other days are shown
  useEffect(() => {
    today.current?.scrollIntoView();
  }, [first]);
  if (columns.every(({ sessions }) => sessions.length === 0)) return <State title={empty} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must reach scrollable content
    <section className="grid-wrap agenda" tabIndex={0} aria-label={t.nav.schedule}>
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
                  <a
                    href={pathOf(session.id)}
                    className={slotClass(session)}
                    style={
                      {
                        "--c": catalog.service(session.serviceId)?.color || fallbackColor,
                      } as CSSProperties
                    }
                    onClick={(event) => open(event, session.id)}
                  >
                    <SlotText session={session} catalog={catalog} showPlace={showPlace} />
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ),
      )}
    </section>
  );
}
