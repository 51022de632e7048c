import {
  SessionService,
  type WaitlistDecision,
  WaitlistMove,
  WaitlistService,
} from "@berthhq/client";
import { IconChecks, IconHistory } from "@tabler/icons-react";
import { useState } from "react";
import { useAll } from "../../../shared/api/lists";
import { usePages } from "../../../shared/api/pages";
import { useCan, useMe } from "../../../shared/auth/user";
import { showTime, type Timestamp } from "../../../shared/format/time";
import { useI18n, useText } from "../../../shared/i18n";
import { sessionOf } from "../../../shared/schedules/summary";
import { State, Tag, Time } from "../../../shared/ui";
import { later } from "../../../shared/ui/lazy";
import { describeForStaff, describeTodo } from "../../../shared/waitlists/decisions";
import { decisionTexts } from "../../../shared/waitlists/texts";
import { routes } from "../../routes";
import { Dimmed, List, MoreButton, NameLink, Note, quiet, TenantTime } from "../../ui";
import { moveTones } from "../moves";
import { Filters, useDeskFilter } from "./filters";
import { deskTexts } from "./texts";

const Decisions = later(() => import("../decisions"), "Decisions");

/** Seats that nobody on the waitlist took, as long as staff can still give them to somebody. */
export function Notes() {
  const t = useText(deskTexts, decisionTexts);
  const filter = useDeskFilter();
  const can = useCan();
  const notes = usePages(
    WaitlistService.method.listWaitlistDecisions,
    { filter: { ...filter, openNotes: true }, pageSize: 50 },
    (page) => page.decisions,
    { keep: true, refetchInterval: 60_000 },
  );
  const sessionIds = [...new Set(notes.data?.map((one) => sessionOf(one).id))].slice(0, 1000);
  const sessions = useAll(
    SessionService.method.listSessions,
    { filter: { sessionIds } },
    (answer) => answer.sessions,
    { keep: true, enabled: sessionIds.length > 0 && can("session.read") },
  );
  const openSeats = (id: string) => sessions.data?.find((one) => one.id === id)?.seatsOpen;
  return (
    <>
      <Filters />
      <List
        query={notes}
        skeleton={8}
        caption={t.desk.notes}
        empty={<State icon={IconChecks} title={t.desk.noNotes} note={t.desk.noNotesNote} />}
        columns={[
          { title: t.desk.session, show: (one) => <OfSession decision={one} /> },
          {
            title: t.desk.what,
            show: (one) => (
              <>
                {describeTodo(one, t.decisions) || one.staffNote}
                <Note mt={3}>
                  <TenantTime at={one.decideTime} as="dateTime" />
                </Note>
              </>
            ),
          },
          {
            title: t.desk.seats,
            ...quiet,
            show: (one) => {
              const open = openSeats(sessionOf(one).id);
              return open === undefined ? "" : t.desk.openSeats(open);
            },
          },
        ]}
      />
    </>
  );
}

/** All decisions of the waitlist, newest first. */
export function History() {
  const { t, locale } = useI18n(deskTexts, decisionTexts);
  const filter = useDeskFilter();
  const { tenant } = useMe();
  const [open, setOpen] = useState<string>();
  const decisions = usePages(
    WaitlistService.method.listWaitlistDecisions,
    { filter, pageSize: 50 },
    (page) => page.decisions,
    { keep: true, refetchInterval: 60_000 },
  );
  const show = (at: Timestamp, zone: string) => showTime(at, zone, locale, "dayTime");
  return (
    <>
      <Filters />
      <List
        query={decisions}
        skeleton={10}
        caption={t.desk.history}
        empty={<State icon={IconHistory} title={t.desk.noHistory} note={t.desk.noHistoryNote} />}
        details={(one) => open === one.id && <Decisions decisions={[one]} zone={tenant.timeZone} />}
        columns={[
          { ...quiet, show: ({ decideTime }) => <TenantTime at={decideTime} as="dateTime" /> },
          { title: t.desk.session, show: (one) => <OfSession decision={one} /> },
          {
            title: t.desk.what,
            show: (one) => (
              <>
                {t.decisions.triggers[one.trigger]}{" "}
                <Tag tone={moveTones[one.move] ?? ""}>
                  {t.decisions.moves[one.move] ?? WaitlistMove[one.move]}
                </Tag>
                <Note mt={3}>{describeForStaff(one, t.decisions, locale, show).at(-1)}</Note>
              </>
            ),
          },
          {
            label: t.actions.more,
            ta: "right",
            w: 1,
            show: (one) => (
              <MoreButton
                of={sessionOf(one).title}
                open={open === one.id}
                onClick={() => setOpen(open === one.id ? undefined : one.id)}
              />
            ),
          },
        ]}
      />
    </>
  );
}

function OfSession({ decision }: { decision: WaitlistDecision }) {
  const { id, title, startTime, timeZone } = sessionOf(decision);
  return (
    <>
      <NameLink to={routes.session.path({ id })}>{title}</NameLink>
      <Dimmed display="block" fz="xs">
        <Time at={startTime} zone={timeZone} />
      </Dimmed>
    </>
  );
}
