import { Alert, Button, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { useSpeech, useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { explain } from "../../shared/errors";
import { here } from "../../shared/time";
import { Prose } from "./prose";

/** Writes a workout, reusable or for one session alone. */
export function WorkoutForm({
  save,
  onClose,
}: {
  save: (values: { name: string; body: string }) => Promise<unknown>;
  onClose: () => void;
}) {
  const t = useText();
  const d = useDesk();
  const { locale } = useSpeech();
  const [name, setName] = useState("");
  const [body, setBody] = useState("");
  const [reading, setReading] = useState(false);
  const [saving, setSaving] = useState(false);
  const [error, setError] = useState<unknown>();
  return (
    <form
      className="form"
      onSubmit={async (event) => {
        event.preventDefault();
        setError(undefined);
        setSaving(true);
        try {
          await save({ name: name.trim(), body });
          onClose();
        } catch (thrown) {
          setError(thrown);
        } finally {
          setSaving(false);
        }
      }}
    >
      <TextInput
        label={t.fields.name}
        required
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
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
        <Prose text={body} />
      ) : (
        <Textarea
          label={d.workouts.body}
          description={d.workouts.bodyNote}
          autosize
          minRows={8}
          maxRows={22}
          maxLength={20_000}
          value={body}
          onChange={(event) => setBody(event.currentTarget.value)}
        />
      )}
      {error !== undefined && <Alert color="red">{explain(error, t, locale, here())}</Alert>}
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button type="submit" loading={saving} disabled={!name.trim()}>
          {t.actions.create}
        </Button>
      </div>
    </form>
  );
}
