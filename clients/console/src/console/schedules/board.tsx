import type { Session } from "@berthhq/client";
import { Table } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import type { KeyboardEvent, ReactNode } from "react";
import { showDay, type Temporal } from "../../shared/format/time";
import { useI18n } from "../../shared/i18n";
import classes from "./board.module.css";
import type { BoardRow } from "./columns";
import { daysFrom } from "./data";
import type { Target } from "./move";
import { ScrollRegion } from "./scroll-region";
import { SessionSlot, under, useDrag } from "./slot";
import { scheduleTexts } from "./texts";

interface Props {
  rows: readonly BoardRow[];
  from: Temporal.PlainDate;
  today: string;
  movable: (session: Session) => boolean;
  onMove: (session: Session, to: Target) => void;
  onCreate: ((day: string, owner: string) => void) | undefined;
  /** Shown if there are no rows. */
  empty: ReactNode;
}

/** A week with a row per location, resource or staff member. */
export function Board({ rows, from, today, movable, onMove, onCreate, empty }: Props) {
  const { t, locale } = useI18n(scheduleTexts);
  const days = daysFrom(from);
  if (rows.length === 0) return empty;
  return (
    <ScrollRegion>
      <Table className={classes.board}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col" aria-label={t.schedule.by} />
            {days.map((day) => {
              const key = day.toString();
              return (
                <Table.Th scope="col" key={key} data-today={key === today || undefined}>
                  <span>{showDay(day, locale, "weekday")}</span>
                  <strong>{day.day}</strong>
                </Table.Th>
              );
            })}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.owner}>
              <Table.Th scope="row">
                <strong>{row.name}</strong>
                {row.note && <span>{row.note}</span>}
                <span>
                  {t.schedule.count([...row.days.values()].reduce((n, one) => n + one.length, 0))}
                </span>
              </Table.Th>
              {days.map((day) => {
                const key = day.toString();
                return (
                  <Table.Td
                    key={key}
                    data-today={key === today || undefined}
                    data-day={key}
                    data-owner={row.owner}
                  >
                    {(row.days.get(key) ?? []).map((session) => (
                      <Chip
                        key={session.id}
                        session={session}
                        owner={row.owner}
                        day={key}
                        movable={movable(session)}
                        onMove={onMove}
                      />
                    ))}
                    {onCreate && (
                      <button
                        type="button"
                        className={classes.add}
                        aria-label={t.board.add(row.name, showDay(day, locale, "day"))}
                        onClick={() => onCreate(key, row.owner)}
                      >
                        <IconPlus size={14} aria-hidden />
                      </button>
                    )}
                  </Table.Td>
                );
              })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollRegion>
  );
}

type ChipProps = Pick<Props, "onMove"> & {
  session: Session;
  owner: string;
  day: string;
  movable: boolean;
};

function Chip({ session, owner, day, movable, onMove }: ChipProps) {
  const put = (cell: HTMLElement | undefined) => {
    const { day: toDay = day, owner: to = owner } = cell?.dataset ?? {};
    if (toDay !== day || to !== owner) {
      onMove(session, { ...(toDay !== day && { day: toDay }), ...(to !== owner && { owner: to }) });
    }
  };

  const drag = useDrag({ movable, drop: (event) => put(under(event, "day")) });

  const nudge = (event: KeyboardEvent<HTMLElement>) => {
    if (!movable || !event.altKey || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const cell = event.currentTarget.closest("td");
    const row = cell?.parentElement;
    const cellIn = (other: Element | null | undefined) =>
      other instanceof HTMLTableRowElement ? other.cells[cell?.cellIndex ?? 0] : undefined;
    const to = {
      ArrowLeft: cell?.previousElementSibling,
      ArrowRight: cell?.nextElementSibling,
      ArrowUp: cellIn(row?.previousElementSibling),
      ArrowDown: cellIn(row?.nextElementSibling),
    }[event.key];
    if (to instanceof HTMLTableCellElement && to.dataset.day) put(to);
  };

  return (
    <SessionSlot
      {...drag}
      view="board"
      session={session}
      showPlace
      movable={movable}
      onKeyDown={nudge}
    />
  );
}
