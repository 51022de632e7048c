import {
  ListScope,
  type WaitlistEntry,
  WaitlistEntryStatus,
  WaitlistService,
} from "@berthhq/client";
import { IconClockHour4 } from "@tabler/icons-react";
import { useState } from "react";
import { useCall } from "../../../shared/api/calls";
import { usePages } from "../../../shared/api/pages";
import { useCan } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { State, Tag, type Tone } from "../../../shared/ui";
import { Countdown } from "../../../shared/ui/countdown";
import { staffReason } from "../../../shared/waitlists/decisions";
import { decisionTexts } from "../../../shared/waitlists/texts";
import { routes } from "../../routes";
import { type Action, ActionsMenu, dotted, List, Note, Panel, Person, TenantTime } from "../../ui";
import { Flag } from "../flag";
import { EntryTarget } from "../target";
import { waitlistTexts } from "../texts";
import { MoveForm, OfferForm, PriorityForm } from "./act";
import { Filters, useDeskFilter } from "./filters";
import { deskTexts } from "./texts";
import { Why } from "./why";

const { WAITING, OFFERED, BOOKED } = WaitlistEntryStatus;

const tones: Partial<Record<WaitlistEntryStatus, Tone>> = { [OFFERED]: "accent", [BOOKED]: "good" };

const waits = ({ status }: WaitlistEntry) => status === WAITING || status === OFFERED;

type Act = "why" | "offer" | "priority" | "move";

/** All entries, in order of joining, with what staff can do about them. */
export function Entries() {
  const t = useText(deskTexts, decisionTexts, waitlistTexts);
  const can = useCan();
  const filter = useDeskFilter();
  const [{ status }] = routes.waitlist.useSearch();
  const [opened, setOpened] = useState<{ act: Act; entry: WaitlistEntry }>();
  const entries = usePages(
    WaitlistService.method.listWaitlistEntries,
    {
      scope: ListScope.ALL,
      filter: { ...filter, statuses: status ? [status] : [] },
      pageSize: 50,
    },
    (page) => page.entries,
    { keep: true, refetchInterval: 60_000 },
  );
  const close = () => setOpened(undefined);
  const titles: Record<Act, (name: string) => string> = {
    why: t.desk.whyTitle,
    offer: t.desk.offerTitle,
    priority: t.desk.priorityTitle,
    move: t.desk.moveTitle,
  };
  return (
    <>
      <Filters statuses={t.desk.statuses} any={t.desk.stillWaiting} />
      <List
        query={entries}
        skeleton={10}
        caption={t.desk.entries}
        empty={<State icon={IconClockHour4} title={t.desk.nobody} note={t.desk.nobodyNote} />}
        columns={[
          {
            title: t.desk.who,
            show: (entry) => (
              <Person
                to={can("member.read") && routes.member.path({ id: entry.memberId })}
                name={entry.memberName}
                mark={entry.flagged && <Flag />}
              >
                {entry.partySize > 1 && `× ${entry.partySize} · `}
                {t.common.since} <TenantTime at={entry.createTime} as="dateTime" />
              </Person>
            ),
          },
          { title: t.desk.waitsFor, show: (entry) => <EntryTarget entry={entry} /> },
          { title: t.desk.status, show: (entry) => <Status entry={entry} /> },
          {
            label: t.actions.actions,
            ta: "right",
            w: 1,
            show: (entry) => <Actions entry={entry} onOpen={(act) => setOpened({ act, entry })} />,
          },
        ]}
      />
      <Panel
        of={opened}
        modal
        width={opened?.act === "why" ? 720 : 480}
        title={({ act, entry }) => titles[act](entry.memberName)}
        onClose={close}
      >
        {({ act, entry }) => {
          if (act === "why") return <Why entry={entry} />;
          if (act === "offer") return <OfferForm entry={entry} onClose={close} />;
          if (act === "priority") return <PriorityForm entry={entry} onClose={close} />;
          return <MoveForm entry={entry} onClose={close} />;
        }}
      </Panel>
    </>
  );
}

function Status({ entry }: { entry: WaitlistEntry }) {
  const t = useText(deskTexts, decisionTexts, waitlistTexts);
  const { status, liveOffer, position, passedOverReason, currentScore, mode } = entry;
  if (liveOffer) {
    return (
      <>
        <Tag tone="accent">{t.desk.statuses[status]}</Tag>{" "}
        <Countdown until={liveOffer.expireTime} />
      </>
    );
  }
  return (
    <>
      <Tag tone={tones[status] ?? ""}>
        {position === undefined ? t.desk.statuses[status] : t.waitlist.position(position)}
      </Tag>
      {waits(entry) && (
        <Note mt={3}>
          {dotted(
            t.decisions.staff.next[mode],
            currentScore !== undefined && t.scoring.score(currentScore),
          )}
        </Note>
      )}
      {passedOverReason > 0 && (
        <Note>{t.common.skipped(staffReason(passedOverReason, t.decisions))}</Note>
      )}
    </>
  );
}

function Actions({ entry, onOpen }: { entry: WaitlistEntry; onOpen: (act: Act) => void }) {
  const t = useText(deskTexts, waitlistTexts);
  const can = useCan();
  const manage = can("waitlist.manage");
  const remove = useCall(WaitlistService.method.removeWaitlistEntry, {
    ask: {
      title: t.waitlist.removeTitle(entry.memberName),
      yes: t.waitlist.removeEntry,
      reason: t.fields.reason,
      danger: true,
    },
  });
  const free = manage && entry.status === WAITING;
  const actions: Action[] = [
    [true, t.desk.why, () => onOpen("why")],
    [free, t.desk.offer, () => onOpen("offer")],
    [manage && waits(entry), t.desk.priority, () => onOpen("priority")],
    [free, t.desk.move, () => onOpen("move")],
    [
      manage && waits(entry),
      t.waitlist.removeEntry,
      () => remove.run({ entryId: entry.id }),
      "danger",
    ],
  ];
  return <ActionsMenu label={`${t.actions.actions}: ${entry.memberName}`} actions={actions} />;
}
