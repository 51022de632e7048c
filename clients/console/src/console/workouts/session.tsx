import { type Session, SessionService, SessionState, type Workout } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { ActionIcon, Button, Menu, Modal, Select } from "@mantine/core";
import { IconArrowUp, IconBarbell, IconPlus, IconX } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useAll } from "../../shared/all";
import { ask } from "../../shared/ask";
import { useCall } from "../../shared/calls";
import { named } from "../../shared/form";
import { useLast } from "../../shared/last";
import { useCan } from "../../shared/me";
import { Card, Shown, Tag } from "../../shared/ui";
import { Whole } from "./details";
import { WorkoutForm } from "./form";

/** The workouts of a session. */
export function SessionWorkouts({ session }: { session: Session }) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const workouts = useQuery(SessionService.method.listWorkouts, { sessionId: session.id });
  const set = useCall(SessionService.method.setWorkouts);
  const write = useCall(SessionService.method.addInlineWorkout, { quiet: true });
  const [doing, setDoing] = useState<"attach" | "write">();
  const [read, setRead] = useState<string>();
  const [last, turn] = useLast(read);
  const writes = can("workout.write") && session.state !== SessionState.CANCELLED;
  // The etag guards against overwriting changes by other users.
  const etag = useRef(session.etag);
  useEffect(() => {
    etag.current = session.etag;
  }, [session.etag]);
  const put = async (workoutIds: string[]) => {
    const answer = await set.run({ sessionId: session.id, workoutIds, etag: etag.current });
    if (answer?.session) etag.current = answer.session.etag;
    return answer;
  };
  const remove = async (workout: Workout) => {
    // An inline workout is lost when it is removed.
    const sure =
      !workout.inline ||
      (await ask({
        title: d.workouts.removeTitle(workout.name),
        body: d.workouts.removeBody,
        yes: t.actions.remove,
        danger: true,
      }));
    if (sure) await put(ids.filter((id) => id !== workout.id));
  };
  const attached = workouts.data?.workouts ?? [];
  const ids = attached.map(({ id }) => id);
  const shown = attached.find(({ id }) => id === last);
  return (
    <Card
      bare
      title={t.session.workouts}
      extra={
        writes && (
          <Menu>
            <Menu.Target>
              <ActionIcon aria-label={d.workouts.attach}>
                <IconPlus size={17} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => setDoing("attach")}>{d.workouts.attachOne}</Menu.Item>
              <Menu.Item onClick={() => setDoing("write")}>{d.workouts.inline}</Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )
      }
    >
      <Shown of={workouts} rows={2}>
        {() =>
          attached.length === 0 ? (
            <p className="muted" style={{ margin: 0, padding: "14px 16px", fontSize: 13 }}>
              {d.workouts.nothingPlanned}
            </p>
          ) : (
            <ol className="plan">
              {attached.map((workout, at) => (
                <li key={workout.id}>
                  <IconBarbell size={16} stroke={1.6} aria-hidden />
                  <button type="button" className="as-link" onClick={() => setRead(workout.id)}>
                    {workout.name}
                  </button>
                  {workout.inline && <Tag tone="plain">{d.workouts.thisOnly}</Tag>}
                  {workout.deleteTime && <Tag>{d.workouts.gone}</Tag>}
                  {writes && (
                    <span className="plan-actions">
                      {at > 0 && (
                        <ActionIcon
                          size="sm"
                          aria-label={d.workouts.up(workout.name)}
                          onClick={() => {
                            const next = [...ids];
                            next.splice(at - 1, 2, workout.id, ids[at - 1] ?? "");
                            void put(next);
                          }}
                        >
                          <IconArrowUp size={14} />
                        </ActionIcon>
                      )}
                      <ActionIcon
                        size="sm"
                        aria-label={`${t.actions.remove}: ${workout.name}`}
                        onClick={() => void remove(workout)}
                      >
                        <IconX size={14} />
                      </ActionIcon>
                    </span>
                  )}
                </li>
              ))}
            </ol>
          )
        }
      </Shown>
      <Modal
        opened={read !== undefined}
        onClose={() => setRead(undefined)}
        title={shown?.name ?? ""}
        size={560}
      >
        {shown && (
          <Whole
            key={turn}
            workout={shown}
            sessionId={session.id}
            onClose={() => setRead(undefined)}
          />
        )}
      </Modal>
      <Modal
        opened={doing === "attach"}
        onClose={() => setDoing(undefined)}
        title={d.workouts.attachOne}
      >
        {doing === "attach" && (
          <Attach
            taken={ids}
            busy={set.busy}
            onChoose={async (id) => {
              if (await put([...ids, id])) setDoing(undefined);
            }}
          />
        )}
      </Modal>
      <Modal
        opened={doing === "write"}
        onClose={() => setDoing(undefined)}
        title={d.workouts.inline}
        size={560}
      >
        {doing === "write" && (
          <WorkoutForm
            create={(values) => write.run({ sessionId: session.id, ...values })}
            onClose={() => setDoing(undefined)}
          />
        )}
      </Modal>
    </Card>
  );
}

function Attach({
  taken,
  busy,
  onChoose,
}: {
  taken: readonly string[];
  busy: boolean;
  onChoose: (id: string) => Promise<void>;
}) {
  const t = useText();
  const d = useDesk();
  const [chosen, setChosen] = useState<string | null>(null);
  const workouts = useAll(SessionService.method.listWorkouts, {}, (answer) => answer.workouts);
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen) void onChoose(chosen);
      }}
    >
      <Select
        label={t.nav.workouts}
        searchable
        data-autofocus
        value={chosen}
        onChange={setChosen}
        nothingFoundMessage={d.workouts.none}
        data={named((workouts.data ?? []).filter(({ id }) => !taken.includes(id)))}
      />
      <div className="end">
        <Button type="submit" disabled={!chosen} loading={busy}>
          {d.workouts.attach}
        </Button>
      </div>
    </form>
  );
}
