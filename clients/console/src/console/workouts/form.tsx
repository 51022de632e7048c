import { SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { FormEnd, Refused, useFields, useSubmit } from "../../shared/form";
import { Prose } from "./prose";

/** Writes a workout, reusable or for one session alone. */
export function WorkoutForm({
  save,
  busy,
  onClose,
}: {
  save: (values: { name: string; body: string }) => Promise<unknown>;
  busy: boolean;
  onClose: () => void;
}) {
  const t = useText();
  const form = useFields({ name: "", body: "" });
  const { name, body } = form.values;
  const { error, onSubmit } = useSubmit(async () => {
    await save({ name: name.trim(), body });
    onClose();
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      <TextInput
        {...form.text("name")}
        label={t.fields.name}
        required
        maxLength={200}
        data-autofocus
      />
      <WorkoutBody {...form.text("body")} />
      <Refused error={error} />
      <FormEnd act={t.actions.create} busy={busy} disabled={!name.trim()} onCancel={onClose} />
    </form>
  );
}

/** What is trained, as it is typed or as it will be read. */
export function WorkoutBody(typed: {
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
