import { type Session, SessionStatus, type Workout, WorkoutService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { ActionIcon, Group, Menu, Modal } from "@mantine/core";
import { IconArrowUp, IconBarbell, IconPlus, IconX } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { useCall } from "../../../shared/api/calls";
import { useCan } from "../../../shared/auth/user";
import { ask } from "../../../shared/dialogs/question";
import { useText } from "../../../shared/i18n";
import { useLast } from "../../../shared/state/use-last";
import { Card, QueryResult, Tag } from "../../../shared/ui";
import { later } from "../../../shared/ui/lazy";
import { CardHint, LinkButton } from "../../ui";
import { scheduleTexts } from "../texts";
import classes from "./session.module.css";
import { workoutTexts } from "./texts";

const WorkoutForm = later(() => import("./form"), "WorkoutForm");
const AttachForm = later(() => import("./form"), "AttachForm");
const WorkoutDetails = later(() => import("./form"), "WorkoutDetails");

/** The workouts of a session. */
export function SessionWorkouts({ session }: { session: Session }) {
  const t = useText(scheduleTexts, workoutTexts);
  const can = useCan();
  const workouts = useQuery(WorkoutService.method.listWorkouts, {
    filter: { sessionId: session.id },
  });
  const set = useCall(WorkoutService.method.setWorkouts);
  const write = useCall(WorkoutService.method.addInlineWorkout, { quiet: true });
  /** What is open: the form that attaches or writes a workout, or a workout by its id. */
  const [open, setOpen] = useState<string>();
  const [last, turn] = useLast(open);
  const close = () => setOpen(undefined);
  const writes = can("workout.write") && session.status !== SessionStatus.CANCELLED;
  // The etag guards against overwriting changes by other users.
  const etag = useRef(session.etag);
  useEffect(() => {
    etag.current = session.etag;
  }, [session.etag]);
  // The list is often read again before the session is, so the etag comes from the answers of calls.
  const changed = <A extends { session?: Session | undefined }>(answer: A | undefined) => {
    if (answer?.session) etag.current = answer.session.etag;
    return answer;
  };
  const put = async (workoutIds: string[]) =>
    changed(await set.run({ sessionId: session.id, workoutIds, etag: etag.current }));
  const remove = async (workout: Workout) => {
    // An inline workout is lost when it is removed.
    const sure =
      !workout.inline ||
      (await ask({
        title: t.workouts.removeTitle(workout.name),
        body: t.workouts.removeBody,
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
              <ActionIcon aria-label={t.workouts.attach}>
                <IconPlus size={17} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => setOpen("attach")}>{t.workouts.attachOne}</Menu.Item>
              <Menu.Item onClick={() => setOpen("write")}>{t.workouts.inline}</Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )
      }
    >
      <QueryResult query={workouts} rows={2}>
        {() =>
          attached.length === 0 ? (
            <CardHint>{t.workouts.nothingPlanned}</CardHint>
          ) : (
            <Attached
              workouts={attached}
              onRead={setOpen}
              onMove={writes ? put : undefined}
              onRemove={remove}
            />
          )
        }
      </QueryResult>
      <Modal
        opened={open !== undefined}
        onClose={close}
        title={
          last === "attach"
            ? t.workouts.attachOne
            : last === "write"
              ? t.workouts.inline
              : shown?.name
        }
        size={last === "attach" ? "md" : 560}
      >
        {last === "attach" && (
          <AttachForm
            key={turn}
            taken={ids}
            busy={set.busy}
            onChoose={async (id) => {
              if (await put([...ids, id])) close();
            }}
          />
        )}
        {last === "write" && (
          <WorkoutForm
            key={turn}
            onCreate={async (values) =>
              changed(await write.run({ sessionId: session.id, workout: values }))
            }
            onClose={close}
          />
        )}
        {shown && <WorkoutDetails key={turn} workout={shown} onClose={close} />}
      </Modal>
    </Card>
  );
}

interface AttachedProps {
  workouts: readonly Workout[];
  onRead: (id: string) => void;
  /** Takes the new order. Absent if the user may not change it. */
  onMove: ((ids: string[]) => unknown) | undefined;
  onRemove: (workout: Workout) => unknown;
}

/** The attached workouts, in their order. */
function Attached({ workouts, onRead, onMove, onRemove }: AttachedProps) {
  const t = useText(workoutTexts);
  const ids = workouts.map(({ id }) => id);
  return (
    <ol className={classes.plan}>
      {workouts.map((workout, at) => (
        <li key={workout.id}>
          <IconBarbell size={16} stroke={1.6} aria-hidden />
          <LinkButton onClick={() => onRead(workout.id)}>{workout.name}</LinkButton>
          {workout.inline && <Tag tone="plain">{t.workouts.thisOnly}</Tag>}
          {workout.deleteTime && <Tag>{t.workouts.gone}</Tag>}
          {onMove && (
            <Group component="span" gap={2} ml="auto" wrap="nowrap">
              {at > 0 && (
                <ActionIcon
                  size="sm"
                  aria-label={t.workouts.up(workout.name)}
                  onClick={() => {
                    const next = [...ids];
                    next.splice(at - 1, 2, workout.id, ids[at - 1] ?? "");
                    void onMove(next);
                  }}
                >
                  <IconArrowUp size={14} />
                </ActionIcon>
              )}
              <ActionIcon
                size="sm"
                aria-label={`${t.actions.remove}: ${workout.name}`}
                onClick={() => void onRemove(workout)}
              >
                <IconX size={14} />
              </ActionIcon>
            </Group>
          )}
        </li>
      ))}
    </ol>
  );
}
