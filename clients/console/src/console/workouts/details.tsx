import type { Workout } from "@berthhq/client";
import { Button } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useCan, useMe } from "../../shared/me";
import { Tag, Time } from "../../shared/ui";
import { WorkoutForm } from "./form";
import { Prose } from "./prose";

/** Shows a workout, and edits it if the user may. Deleted workouts are read-only. */
export function Whole({
  workout,
  sessionId,
  onClose,
}: {
  workout: Workout;
  /** The session in which it is shown. */
  sessionId?: string;
  onClose: () => void;
}) {
  const t = useText();
  const d = useDesk();
  const can = useCan();
  const { tenant } = useMe();
  const [editing, setEditing] = useState(false);
  if (editing) {
    return <WorkoutForm workout={workout} {...(sessionId && { sessionId })} onClose={onClose} />;
  }
  const edited = workout.updateTime?.seconds !== workout.createTime?.seconds;
  return (
    <>
      <div className="list-head">
        <span className="muted" style={{ fontSize: 12 }}>
          {edited ? d.workouts.edited : d.workouts.since}{" "}
          <Time at={workout.updateTime ?? workout.createTime} zone={tenant.timeZone} as="date" />
        </span>
        {workout.deleteTime ? (
          <Tag>{d.workouts.gone}</Tag>
        ) : (
          can("workout.write") && (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<IconPencil size={14} />}
              onClick={() => setEditing(true)}
            >
              {t.actions.edit}
            </Button>
          )
        )}
      </div>
      <Prose text={workout.body} />
    </>
  );
}
