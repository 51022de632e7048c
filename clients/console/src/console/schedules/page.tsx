import { type Session, SessionStatus } from "@berthhq/client";
import { Button, Skeleton, Stack } from "@mantine/core";
import { useDisclosure, useMediaQuery } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { Link, useNavigate } from "react-router";
import { useCan } from "../../shared/auth/user";
import { Temporal, today } from "../../shared/format/time";
import { useText } from "../../shared/i18n";
import { QueryResult, State } from "../../shared/ui";
import { useNow } from "../../shared/ui/countdown";
import { later } from "../../shared/ui/lazy";
import { Drawer } from "../../shared/ui/overlays";
import { useTitle } from "../../shared/ui/title";
import { useCatalog, WithCatalog } from "../catalog/loaded";
import { routes } from "../routes";
import { Panel } from "../ui";
import { Agenda } from "./agenda";
import { useBoardRows, useColumns } from "./columns";
import { type Range, useDraft, useRange, useSchedule } from "./data";
import { TimeGrid } from "./grid";
import type { Drop } from "./layout";
import { useMove } from "./move";
import { scheduleTexts } from "./texts";
import { Toolbar } from "./toolbar";

const NewSession = later(() => import("./new-session"), "NewSession");
const Board = later(() => import("./board"), "Board");
const Bulk = later(() => import("./bulk"), "Bulk");

export function SchedulePage() {
  const t = useText();
  useTitle(t.nav.schedule);
  return (
    <WithCatalog skeleton={gridSkeleton}>
      <Schedule />
    </WithCatalog>
  );
}

const gridSkeleton = (
  <Stack p={20} gap={14}>
    <Skeleton height={34} width={420} />
    <Skeleton height="70vh" radius="lg" />
  </Stack>
);

function Schedule() {
  const t = useText(scheduleTexts);
  const go = useNavigate();
  const now = useNow(30_000); // for the line that marks now
  const range = useRange(now);
  const narrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  const sessions = useSchedule(range);
  const drafting = useDraft(range);
  const [bulk, { open: openBulk, close: closeBulk }] = useDisclosure();
  return (
    <Stack gap={0} h="100%">
      <Toolbar
        range={range}
        sessions={sessions.data}
        narrow={narrow}
        onBulk={openBulk}
        onNew={drafting.begin}
      />
      <QueryResult query={sessions} skeleton={gridSkeleton}>
        {(all) => (
          <Sessions sessions={all} range={range} now={now} narrow={narrow} drafting={drafting} />
        )}
      </QueryResult>
      <span id="move-hint" hidden>
        {t.schedule.moveHint}
      </span>
      <Panel of={drafting.draft} title={() => t.schedule.newSession} onClose={drafting.close}>
        {(draft) => (
          <NewSession
            draft={draft}
            onClose={drafting.close}
            onMade={({ id, title, date }) => {
              // It may be in another week, and the first location decides which day is today.
              range.change({ date: Temporal.PlainDate.from(date) });
              notifications.show({
                message: t.schedule.made(title),
                onClick: () => void go(routes.session.path({ id })),
              });
            }}
          />
        )}
      </Panel>
      <Drawer opened={bulk} onClose={closeBulk} title={t.bulk.title} size={520}>
        <Bulk range={range} onClose={closeBulk} />
      </Drawer>
    </Stack>
  );
}

/** The sessions as a list, a board or a grid. */
function Sessions({
  sessions,
  range,
  now,
  narrow,
  drafting: { begin, beginAt, beginOn },
}: {
  sessions: readonly Session[];
  range: Range;
  now: number;
  narrow: boolean;
  drafting: ReturnType<typeof useDraft>;
}) {
  const t = useText(scheduleTexts);
  const can = useCan();
  const { view, by, group, from, zone, locationId } = range;
  const columns = useColumns(sessions, range, now);
  const rows = useBoardRows(sessions, range);
  const move = useMove(group);
  const drop = (session: Session, { column, minute }: Drop) =>
    void move(session, view === "week" ? { day: column, minute } : { owner: column, minute });
  const { locations, services } = useCatalog();
  const bare = locations.length === 0 || services.length === 0;
  const empty = (
    <State
      compact
      title={t.schedule.empty}
      note={bare && can("tenant.update") && t.schedule.firstNote}
      action={
        <>
          {bare && can("tenant.update") && (
            <Button component={Link} to={routes.setup.path()}>
              {t.nav.setup}
            </Button>
          )}
          {can("session.create") && (
            <Button variant="default" onClick={begin}>
              {t.schedule.first}
            </Button>
          )}
        </>
      }
    />
  );
  const movable = ({ status: state }: Session) =>
    can("session.update") && state !== SessionStatus.CANCELLED;
  if (narrow) return <Agenda columns={columns} showPlace={!locationId} empty={empty} />;
  if (view === "week" && by) {
    return (
      <Board
        empty={empty}
        rows={rows}
        from={from}
        today={today(zone, now).toString()}
        movable={movable}
        onMove={move}
        onCreate={can("session.create") ? beginOn : undefined}
      />
    );
  }
  return (
    <TimeGrid
      empty={empty}
      columns={columns}
      movable={movable}
      onMove={drop}
      onCreate={can("session.create") ? beginAt : undefined}
      showPlace={!locationId}
    />
  );
}
