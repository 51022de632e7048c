import "./board.css";
import type { Session } from "@berthhq/client";
import { IconPlus } from "@tabler/icons-react";
import { type CSSProperties, type KeyboardEvent, memo, useMemo } from "react";
import { useI18n, useText } from "../../i18n";
import { showDay, type Temporal } from "../../shared/time";
import { State } from "../../shared/ui";
import { type Catalog, dayOf, fallbackColor } from "../data";
import type { Group } from "./columns";
import { under, useDrag } from "./drag";
import { SlotText, slotClass, spanOf } from "./grid";
import type { Target } from "./move";
import { useOpenSession } from "./open";

/** A row of the board. */
export interface BoardRow {
  /** The id of the location, resource or staff member; empty for sessions without one. */
  readonly owner: string;
  readonly name: string;
  readonly note: string;
  /** Sessions by date, such as 2026-03-18, in order of start. */
  readonly days: ReadonlyMap<string, readonly Session[]>;
}

interface Arrangement {
  group: Group;
  from: Temporal.PlainDate;
  catalog: Catalog;
  locationId: string;
}

/**
 * The rows of a week: every location, resource or staff member, and one row for sessions without.
 */
export function useBoardRows(
  sessions: readonly Session[],
  { group, catalog, locationId }: Arrangement,
): BoardRow[] {
  const t = useText();
  return useMemo(() => {
    const ownerOf = (session: Session) =>
      group === "location"
        ? session.locationId
        : group === "resource"
          ? session.resourceId
          : catalog.coach(session.coachId)
            ? session.coachId
            : "";
    const ordered = [...sessions].sort((a, b) => spanOf(a).from - spanOf(b).from);
    const of = Map.groupBy(ordered, ownerOf);
    const here = (id: string) => !locationId || id === locationId;
    const place = (id: string) => catalog.location(id)?.name ?? "";
    const owners =
      group === "location"
        ? catalog.locations
            .filter(({ id, active }) => here(id) && (active || of.has(id)))
            .map(({ id, name }) => ({ id, name, note: "" }))
        : group === "resource"
          ? catalog.resources
              .filter((one) => here(one.locationId) && (one.active || of.has(one.id)))
              .map((one) => ({ id: one.id, name: one.name, note: place(one.locationId) }))
          : catalog.staff
              .filter(({ id, roles }) => of.has(id) || roles.includes("coach"))
              .map(({ id, name }) => ({ id, name, note: "" }));
    const unassigned = group === "resource" ? t.schedule.noResource : t.schedule.noCoach;
    if (of.has("")) owners.push({ id: "", name: unassigned, note: "" });
    return owners.map(({ id, name, note }) => ({
      owner: id,
      name,
      note,
      days: Map.groupBy(of.get(id) ?? [], dayOf),
    }));
  }, [sessions, group, catalog, locationId, t]);
}

interface Props {
  rows: readonly BoardRow[];
  from: Temporal.PlainDate;
  today: string;
  catalog: Catalog;
  movable: (session: Session) => boolean;
  onMove: (session: Session, to: Target) => void;
  onCreate: ((day: string, owner: string) => void) | undefined;
  empty: string;
}

/** A week with a row per location, resource or staff member. */
export function Board({ rows, from, today, catalog, movable, onMove, onCreate, empty }: Props) {
  const t = useText();
  const { locale } = useI18n();
  const days = Array.from({ length: 7 }, (_, at) => from.add({ days: at }));
  if (rows.length === 0) return <State title={empty} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards must reach scrollable content
    <section className="grid-wrap" tabIndex={0} aria-label={t.nav.schedule}>
      <table className="board">
        <thead>
          <tr>
            <th scope="col" aria-label={t.schedule.by} />
            {days.map((day) => {
              const key = day.toString();
              return (
                <th scope="col" key={key} className={key === today ? "today" : undefined}>
                  <span>{showDay(day, locale, "weekday")}</span>
                  <strong>{day.day}</strong>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.owner}>
              <th scope="row">
                <strong>{row.name}</strong>
                {row.note && <span>{row.note}</span>}
                <span className="num">
                  {t.schedule.count([...row.days.values()].reduce((n, one) => n + one.length, 0))}
                </span>
              </th>
              {days.map((day) => {
                const key = day.toString();
                return (
                  <td
                    key={key}
                    className={key === today ? "today" : undefined}
                    data-day={key}
                    data-owner={row.owner}
                  >
                    {(row.days.get(key) ?? []).map((session) => (
                      <Chip
                        key={session.id}
                        session={session}
                        owner={row.owner}
                        day={key}
                        catalog={catalog}
                        movable={movable(session)}
                        onMove={onMove}
                      />
                    ))}
                    {onCreate && (
                      <button
                        type="button"
                        className="board-add"
                        aria-label={t.board.add(row.name, showDay(day, locale, "day"))}
                        onClick={() => onCreate(key, row.owner)}
                      >
                        <IconPlus size={14} aria-hidden />
                      </button>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const Chip = memo(function Chip({
  session,
  owner,
  day,
  catalog,
  movable,
  onMove,
}: {
  session: Session;
  owner: string;
  day: string;
  catalog: Catalog;
  movable: boolean;
  onMove: (session: Session, to: Target) => void;
}) {
  const { pathOf, open } = useOpenSession();
  const put = (cell: HTMLElement | undefined) => {
    const { day: toDay = day, owner: to = owner } = cell?.dataset ?? {};
    if (toDay !== day || to !== owner) {
      onMove(session, { ...(toDay !== day && { day: toDay }), ...(to !== owner && { owner: to }) });
    }
  };

  const { offset, dragged, onPointerDown } = useDrag({
    movable,
    drop: (event) => put(under(event, "day")),
  });

  const nudge = (event: KeyboardEvent<HTMLElement>) => {
    if (!movable || !event.altKey || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const cell = event.currentTarget.closest("td");
    const row = cell?.parentElement;
    const at = cell?.cellIndex ?? 0;
    const neighbors = {
      ArrowLeft: cell?.previousElementSibling,
      ArrowRight: cell?.nextElementSibling,
    };
    const rows = { ArrowUp: row?.previousElementSibling, ArrowDown: row?.nextElementSibling };
    const to =
      neighbors[event.key as keyof typeof neighbors] ??
      (rows[event.key as keyof typeof rows] as HTMLTableRowElement | undefined)?.cells[at];
    if (to instanceof HTMLTableCellElement && to.dataset.day) put(to);
  };

  return (
    <a
      href={pathOf(session.id)}
      draggable={false}
      className={`${slotClass(session)} ${movable ? "movable" : ""} ${offset ? "moving" : ""}`}
      style={
        {
          "--c": catalog.service(session.serviceId)?.color || fallbackColor,
          ...(offset && { transform: `translate(${offset.x}px, ${offset.y}px)` }),
        } as CSSProperties
      }
      onPointerDown={onPointerDown}
      onKeyDown={nudge}
      onClick={(event) => (dragged.current ? event.preventDefault() : open(event, session.id))}
      aria-describedby={movable ? "move-hint" : undefined}
    >
      <SlotText session={session} catalog={catalog} showPlace />
    </a>
  );
});
