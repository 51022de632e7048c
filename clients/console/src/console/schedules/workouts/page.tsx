import { type Workout, WorkoutService } from "@berthhq/client";
import { Button, Group, SimpleGrid } from "@mantine/core";
import { IconBarbell, IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useCall } from "../../../shared/api/calls";
import { useAll } from "../../../shared/api/lists";
import { useCan } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { contains } from "../../../shared/search/fold";
import { Card, PageHead, QueryResult, State } from "../../../shared/ui";
import { Page, Panel } from "../../ui";
import { SearchInput } from "../../ui/inputs";
import { WorkoutDetails, WorkoutForm } from "./form";
import classes from "./page.module.css";
import { plain } from "./prose";
import { workoutTexts } from "./texts";

/** Reusable workouts to attach to sessions. */
export function WorkoutsPage() {
  const t = useText(workoutTexts);
  const can = useCan();
  const [query, setQuery] = useState("");
  const [open, setOpen] = useState<string>();
  const close = () => setOpen(undefined);
  const create = useCall(WorkoutService.method.createWorkout, {
    quiet: true,
    done: ({ workout }) => t.workouts.made(workout?.name ?? ""),
  });
  const workouts = useAll(WorkoutService.method.listWorkouts, {}, (answer) => answer.workouts);
  const workoutOf = (id: string) => workouts.data?.find((workout) => workout.id === id);
  const fits = ({ name, body }: Workout) => contains(`${name} ${body}`, query);
  return (
    <Page>
      <PageHead title={t.nav.workouts} note={t.workouts.note}>
        {can("workout.write") && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen("new")}>
            {t.workouts.add}
          </Button>
        )}
      </PageHead>
      <QueryResult query={workouts}>
        {(all) =>
          all.length === 0 ? (
            <Card bare>
              <State icon={IconBarbell} title={t.workouts.none} note={t.workouts.noneNote} />
            </Card>
          ) : (
            <>
              <Group gap={8} mb={12}>
                <SearchInput
                  label={t.workouts.find}
                  flex="1 1 260px"
                  maw={420}
                  value={query}
                  onChange={setQuery}
                />
              </Group>
              {all.filter(fits).length === 0 && <State title={t.workouts.notFound} />}
              <SimpleGrid minColWidth={260} spacing={12}>
                {all.filter(fits).map((workout) => (
                  <button
                    type="button"
                    key={workout.id}
                    className={classes.workout}
                    onClick={() => setOpen(workout.id)}
                  >
                    <strong>{workout.name}</strong>
                    <span className={classes.body}>{plain(workout.body)}</span>
                  </button>
                ))}
              </SimpleGrid>
            </>
          )
        }
      </QueryResult>
      <Panel
        of={open}
        title={(id) => (id === "new" ? t.workouts.add : workoutOf(id)?.name)}
        width={560}
        onClose={close}
      >
        {(id) => {
          const workout = workoutOf(id);
          if (id === "new")
            return (
              <WorkoutForm onCreate={(values) => create.run({ workout: values })} onClose={close} />
            );
          return workout && <WorkoutDetails workout={workout} onClose={close} />;
        }}
      </Panel>
    </Page>
  );
}
