import { SessionService, type Workout } from "@berthhq/client";
import { Button, Drawer, TextInput } from "@mantine/core";
import { IconBarbell, IconPlus, IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useAll } from "../../shared/all";
import { useCall } from "../../shared/calls";
import { useLast } from "../../shared/last";
import { useCan } from "../../shared/me";
import { PageHead, Shown, State } from "../../shared/ui";
import { Whole } from "./details";
import { WorkoutForm } from "./form";
import { plain } from "./prose";

/** Reusable workouts to attach to sessions. */
export function WorkoutsPage() {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const [query, setQuery] = useState("");
  const [open, setOpen] = useState<string>();
  const close = () => setOpen(undefined);
  const create = useCall(SessionService.method.createWorkout, {
    quiet: true,
    done: ({ workout }) => d.workouts.made(workout?.name ?? ""),
  });
  const workouts = useAll(SessionService.method.listWorkouts, {}, (answer) => answer.workouts);
  const [last, turn] = useLast(open);
  const shown = workouts.data?.find(({ id }) => id === last);
  const wanted = query.trim().toLowerCase();
  const fits = ({ name, body }: Workout) => `${name} ${body}`.toLowerCase().includes(wanted);
  const adding = can("workout.write") && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen("new")}>
      {d.workouts.add}
    </Button>
  );
  return (
    <div className="page">
      <PageHead title={t.nav.workouts} note={d.workouts.note}>
        {adding}
      </PageHead>
      <Shown of={workouts}>
        {(all) =>
          all.length === 0 ? (
            <div className="card">
              <State icon={IconBarbell} title={d.workouts.none}>
                {d.workouts.noneNote}
              </State>
            </div>
          ) : (
            <>
              <div className="filters">
                <TextInput
                  type="search"
                  style={{ flex: "1 1 260px", maxWidth: 420 }}
                  leftSection={<IconSearch size={16} aria-hidden />}
                  placeholder={d.workouts.find}
                  aria-label={d.workouts.find}
                  value={query}
                  onChange={(event) => setQuery(event.currentTarget.value)}
                />
              </div>
              {all.filter(fits).length === 0 && <State title={d.workouts.notFound} />}
              <div className="workouts">
                {all.filter(fits).map((workout) => (
                  <button
                    type="button"
                    key={workout.id}
                    className="workout"
                    onClick={() => setOpen(workout.id)}
                  >
                    <strong>{workout.name}</strong>
                    <span className="workout-body">{plain(workout.body)}</span>
                  </button>
                ))}
              </div>
            </>
          )
        }
      </Shown>
      <Drawer
        opened={open !== undefined}
        onClose={close}
        title={last === "new" ? d.workouts.add : shown?.name}
        size={560}
      >
        {last === "new" && <WorkoutForm key={turn} create={create.run} onClose={close} />}
        {shown && <Whole key={turn} workout={shown} onClose={close} />}
      </Drawer>
    </div>
  );
}
