import { SessionService, type Workout } from "@berthhq/client";
import { Button, Drawer, TextInput } from "@mantine/core";
import { IconBarbell, IconPlus, IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useAll } from "../../shared/all";
import { useDo } from "../../shared/calls";
import { useCan, useMe } from "../../shared/me";
import { PageHead, Shown, State, Time } from "../../shared/ui";
import { WorkoutForm } from "./form";
import { Prose, plain } from "./prose";

/** Plans of what is trained, to attach to sessions. */
export function WorkoutsPage() {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const [query, setQuery] = useState("");
  const [open, setOpen] = useState<Workout | "new">();
  const create = useDo(SessionService.method.createWorkout, {
    quiet: true,
    done: ({ workout }) => d.workouts.made(workout?.name ?? ""),
  });
  const workouts = useAll(SessionService.method.listWorkouts, {}, (answer) => answer.workouts);
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
                    onClick={() => setOpen(workout)}
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
        onClose={() => setOpen(undefined)}
        title={open === "new" ? d.workouts.add : open?.name}
        size={560}
      >
        {open === "new" && (
          <WorkoutForm save={create.run} busy={create.busy} onClose={() => setOpen(undefined)} />
        )}
        {open !== undefined && open !== "new" && <Whole workout={open} />}
      </Drawer>
    </div>
  );
}

function Whole({ workout }: { workout: Workout }) {
  const d = useDesk();
  const { tenant } = useMe();
  return (
    <>
      <p className="muted" style={{ marginTop: 0, fontSize: 12 }}>
        {d.workouts.since} <Time at={workout.createTime} zone={tenant.timeZone} as="date" />
      </p>
      <Prose text={workout.body} />
    </>
  );
}
