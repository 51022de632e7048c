import { SessionService, type Workout } from "@berthhq/client";
import { Button, SegmentedControl, Textarea } from "@mantine/core";
import { useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { ask } from "../../shared/ask";
import { useCall, useRead } from "../../shared/calls";
import { EditForm } from "../form";
import { Name } from "../inputs";
import { Prose } from "./prose";

interface Values {
  name: string;
  body: string;
}

const versionOf = (workout: Workout | undefined) => ({
  values: { name: workout?.name ?? "", body: workout?.body ?? "" },
  etag: workout?.etag ?? "",
});

/** Edits an existing workout, or creates one. */
type Begun =
  | { workout: Workout; create?: never }
  | { workout?: never; create: (values: Values) => Promise<unknown> };

/** Creates or edits a workout. An edit shows in every session that has the workout. */
export function WorkoutForm({
  workout,
  create,
  sessionId = "",
  onClose,
}: Begun & {
  /** The session of an inline workout; absent for reusable ones. */
  sessionId?: string;
  onClose: () => void;
}) {
  const t = useText();
  const d = useDesk();
  const read = useRead();
  const update = useCall(SessionService.method.updateWorkout, { quiet: true, done: t.done.saved });
  return (
    <EditForm<Values>
      fresh={!workout}
      current={versionOf(workout)}
      names={{ name: t.fields.name, body: d.workouts.body }}
      reread={async () => {
        const { workouts } = await read(SessionService.method.listWorkouts, {
          sessionId,
          pageSize: 500,
        });
        return versionOf(workouts.find(({ id }) => id === workout?.id) ?? workout);
      }}
      save={(values, changed, etag) => {
        const written = { ...values, name: values.name.trim() };
        return workout
          ? update.run({
              workoutId: workout.id,
              ...written,
              updateMask: { paths: [...changed] },
              etag,
            })
          : create(written);
      }}
      onClose={onClose}
      aside={workout && !workout.inline && <Delete workout={workout} onDone={onClose} />}
    >
      {(form) => (
        <>
          {workout && !workout.inline && (
            <p className="muted" style={{ margin: 0, fontSize: 13 }}>
              {d.workouts.everywhere}
            </p>
          )}
          <Name {...form.text("name")} />
          <Body {...form.text("body")} />
        </>
      )}
    </EditForm>
  );
}

function Delete({ workout, onDone }: { workout: Workout; onDone: () => void }) {
  const d = useDesk();
  const remove = useCall(SessionService.method.deleteWorkout, {
    done: d.workouts.deleted(workout.name),
  });
  return (
    <Button
      variant="subtle"
      color="red"
      loading={remove.busy}
      onClick={async () => {
        const sure = await ask({
          title: d.workouts.deleteTitle(workout.name),
          body: d.workouts.deleteBody,
          yes: d.workouts.delete,
          danger: true,
        });
        if (sure && (await remove.run({ workoutId: workout.id, etag: workout.etag }))) onDone();
      }}
    >
      {d.workouts.delete}
    </Button>
  );
}

/** The text of a workout, as source or preview. */
function Body(typed: {
  value: string;
  onChange: (event: { currentTarget: { value: string } }) => void;
}) {
  const d = useDesk();
  const [reading, setReading] = useState(false);
  return (
    <>
      <SegmentedControl
        size="xs"
        style={{ justifySelf: "start" }}
        aria-label={d.workouts.view}
        value={reading ? "read" : "write"}
        onChange={(value) => setReading(value === "read")}
        data={[
          { value: "write", label: d.workouts.write },
          { value: "read", label: d.workouts.read },
        ]}
      />
      {reading ? (
        <Prose text={typed.value} />
      ) : (
        <Textarea
          {...typed}
          label={d.workouts.body}
          description={d.workouts.bodyNote}
          autosize
          minRows={8}
          maxRows={22}
          maxLength={20_000}
        />
      )}
    </>
  );
}
