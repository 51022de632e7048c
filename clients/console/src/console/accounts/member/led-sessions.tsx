import {
  type FindSubstitutesResponse,
  type Member,
  SessionService,
  type SessionSummary,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button, Group, Progress, Select, Stack } from "@mantine/core";
import { useState } from "react";
import { useCall } from "../../../shared/api/calls";
import { useEach } from "../../../shared/api/each";
import { useText } from "../../../shared/i18n";
import { Card, QueryResult, State, Time } from "../../../shared/ui";
import { routes } from "../../routes";
import { DataTable, Dimmed, NameLink, right } from "../../ui";
import { memberPageTexts } from "./texts";

interface LedSessionsProps {
  member: Member;
  /** Whether they cannot lead sessions any more. Without sessions it then shows nothing. */
  left?: boolean;
}

/** The future sessions that a member leads, and who could lead them instead. */
export function LedSessions({ member, left = false }: LedSessionsProps) {
  const t = useText(memberPageTexts);
  const found = useQuery(SessionService.method.findSubstitutes, { coachId: member.id });
  if (left && !found.data?.count) return null;
  return (
    <Card title={t.led.title}>
      <QueryResult query={found} skeleton={3}>
        {(answer) =>
          answer.count === 0 ? (
            <State title={t.led.none} note={t.led.noneNote} />
          ) : (
            <Stack gap={14}>
              <Dimmed>
                {t.led.count(answer.count, answer.sessions.length)} {left && t.led.left}
              </Dimmed>
              <ReplaceAll found={answer} />
              <DataTable
                caption={t.led.title}
                rows={answer.sessions}
                columns={[
                  {
                    c: "dimmed",
                    w: 170,
                    show: ({ startTime, timeZone }) => <Time at={startTime} zone={timeZone} />,
                  },
                  {
                    show: ({ id, title }) => (
                      <NameLink to={routes.session.path({ id })}>{title}</NameLink>
                    ),
                  },
                  {
                    ...right,
                    w: 220,
                    show: (session) => <Replace session={session} found={answer} />,
                  },
                ]}
              />
            </Stack>
          )
        }
      </QueryResult>
    </Card>
  );
}

/** The change of a session that gives it another coach. */
const leadBy = (sessionId: string, coachId: string) => ({
  sessionId,
  session: { coachId },
  updateMask: { paths: ["coach_id"] },
});

/** Lets somebody who is free lead one session. */
function Replace({ session, found }: { session: SessionSummary; found: FindSubstitutesResponse }) {
  const t = useText(memberPageTexts);
  const update = useCall(SessionService.method.updateSession);
  const free = found.substitutes.filter(({ sessionIds }) => sessionIds.includes(session.id));
  return (
    <Select
      size="xs"
      searchable
      aria-label={t.led.leads(session.title)}
      placeholder={free.length > 0 ? t.led.choose : t.led.nobody}
      disabled={free.length === 0 || update.busy}
      value={null}
      data={free.map(({ memberId, name }) => ({ value: memberId, label: name }))}
      onChange={(coach) => coach && void update.run(leadBy(session.id, coach))}
    />
  );
}

/** Lets somebody lead all sessions for which they are free. */
function ReplaceAll({ found }: { found: FindSubstitutesResponse }) {
  const t = useText(memberPageTexts);
  const [chosen, setChosen] = useState<string | null>(null);
  const each = useEach(SessionService.method.updateSession);
  const { length: all } = found.sessions;
  const sessions = found.substitutes.find(({ memberId }) => memberId === chosen)?.sessionIds ?? [];
  return (
    <>
      <Group gap={8}>
        <Select
          searchable
          flex="1 1 220px"
          aria-label={t.led.chooseForAll}
          placeholder={t.led.chooseForAll}
          value={chosen}
          onChange={setChosen}
          data={found.substitutes.map(({ memberId, name, sessionIds: { length } }) => ({
            value: memberId,
            label: length === all ? name : t.led.freeFor(name, length, all),
          }))}
        />
        <Button
          disabled={sessions.length === 0}
          loading={each.done !== undefined}
          onClick={async () => {
            if (chosen) await each.run(sessions.map((id) => leadBy(id, chosen)));
            setChosen(null);
          }}
        >
          {t.led.replace(sessions.length)}
        </Button>
      </Group>
      {each.done !== undefined && (
        <Progress value={each.done * 100} aria-label={t.led.replace(sessions.length)} />
      )}
    </>
  );
}
