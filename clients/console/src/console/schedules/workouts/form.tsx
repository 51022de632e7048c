import { type Workout, WorkoutSchema, WorkoutService } from "@berthhq/client";
import { create } from "@bufbuild/protobuf";
import { Button, Group, SegmentedControl, Select, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPencil } from "@tabler/icons-react";
import { useState } from "react";
import { useCall } from "../../../shared/api/calls";
import { useAll } from "../../../shared/api/lists";
import { useMe } from "../../../shared/auth/user";
import { type Bound, Form, FormFoot, useSubmit } from "../../../shared/forms/form";
import { named, options } from "../../../shared/forms/options";
import { useText } from "../../../shared/i18n";
import { Tag, Time } from "../../../shared/ui";
import { CallButton } from "../../../shared/ui/call-button";
import { Dimmed, SmallHint } from "../../ui";
import { EditForm, pick } from "../../ui/edit-form";
import { Name } from "../../ui/inputs";
import { Prose } from "./prose";
import { workoutTexts } from "./texts";

interface WorkoutDetailsProps {
  workout: Workout;
  onClose: () => void;
}

/** Shows a workout, and edits it if the user may. Deleted workouts are read-only. */
export function WorkoutDetails({ workout, onClose }: WorkoutDetailsProps) {
  const t = useText(workoutTexts);
  const { can, tenant } = useMe();
  const [editing, { open: edit }] = useDisclosure();
  if (editing) return <WorkoutForm workout={workout} onClose={onClose} />;
  const edited = workout.updateTime?.seconds !== workout.createTime?.seconds;
  return (
    <>
      <Group gap="10px 20px" justify="space-between" mb={12} fz="sm">
        <Dimmed fz="xs">
          {edited ? t.workouts.edited : t.workouts.since}{" "}
          <Time at={workout.updateTime ?? workout.createTime} zone={tenant.timeZone} as="date" />
        </Dimmed>
        {workout.deleteTime ? (
          <Tag>{t.workouts.gone}</Tag>
        ) : (
          can("workout.write") && (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconPencil size={14} />}
              onClick={edit}
            >
              {t.actions.edit}
            </Button>
          )
        )}
      </Group>
      <Prose text={workout.body} />
    </>
  );
}

const valuesOf = (workout = create(WorkoutSchema)) => pick(workout, "name", "body");
type Values = ReturnType<typeof valuesOf>;

interface WorkoutFormProps {
  workout?: Workout;
  /** Creates a workout, if there is none to edit. */
  onCreate?: (values: Values) => Promise<unknown>;
  onClose: () => void;
}

/** Creates or edits a workout. An edit shows in every session that has the workout. */
export function WorkoutForm({ workout, onCreate, onClose }: WorkoutFormProps) {
  const t = useText(workoutTexts);
  const update = useCall(WorkoutService.method.updateWorkout, { quiet: true, done: t.done.saved });
  return (
    <EditForm
      entity={workout}
      valuesOf={valuesOf}
      names={{ name: t.fields.name, body: t.workouts.body }}
      save={async ({ name, body }, { updateMask, etag }) => {
        const values = { name: name.trim(), body };
        if (!workout) return onCreate?.(values);
        return update.run({ workoutId: workout.id, workout: values, updateMask, etag });
      }}
      onClose={onClose}
      aside={
        workout &&
        !workout.inline && (
          <CallButton
            variant="subtle"
            color="red"
            method={WorkoutService.method.deleteWorkout}
            input={{ workoutId: workout.id, etag: workout.etag }}
            ask={{
              title: t.workouts.deleteTitle(workout.name),
              body: t.workouts.deleteBody,
              yes: t.workouts.delete,
              danger: true,
            }}
            done={t.workouts.deleted(workout.name)}
            onDone={onClose}
          >
            {t.workouts.delete}
          </CallButton>
        )
      }
    >
      {(form) => (
        <>
          {workout && !workout.inline && <SmallHint>{t.workouts.everywhere}</SmallHint>}
          <Name {...form.text("name")} />
          <Body {...form.text("body")} />
        </>
      )}
    </EditForm>
  );
}

/** The text of a workout, as source or preview. */
function Body(typed: ReturnType<Bound<Values>["text"]>) {
  const t = useText(workoutTexts);
  const [reading, setReading] = useState(false);
  return (
    <>
      <SegmentedControl
        size="xs"
        w="fit-content"
        aria-label={t.workouts.view}
        value={reading ? "read" : "write"}
        onChange={(value) => setReading(value === "read")}
        data={options({ write: t.workouts.write, read: t.workouts.read })}
      />
      {reading ? (
        <Prose text={typed.value} />
      ) : (
        <Textarea
          {...typed}
          label={t.workouts.body}
          description={t.workouts.bodyNote}
          autosize
          minRows={8}
          maxRows={22}
          maxLength={20_000}
        />
      )}
    </>
  );
}

interface AttachFormProps {
  taken: readonly string[];
  busy: boolean;
  onChoose: (id: string) => Promise<void>;
}

/** Attaches a workout to a session. */
export function AttachForm({ taken, busy, onChoose }: AttachFormProps) {
  const t = useText(workoutTexts);
  const [chosen, setChosen] = useState<string | null>(null);
  const { onSubmit } = useSubmit(async () => {
    if (chosen) await onChoose(chosen);
  });
  const workouts = useAll(WorkoutService.method.listWorkouts, {}, (answer) => answer.workouts);
  return (
    <Form onSubmit={onSubmit}>
      <Select
        label={t.nav.workouts}
        searchable
        data-autofocus
        openOnFocus={false} // The dropdown would cover the dialog that has just opened.
        value={chosen}
        onChange={setChosen}
        nothingFoundMessage={t.workouts.none}
        data={named((workouts.data ?? []).filter(({ id }) => !taken.includes(id)))}
      />
      <FormFoot>
        <Button type="submit" disabled={!chosen} loading={busy}>
          {t.workouts.attach}
        </Button>
      </FormFoot>
    </Form>
  );
}
