import { type Session, SessionService } from "@berthhq/client";
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useCallback, useRef } from "react";
import { useI18n, useText } from "../../i18n";
import { useCall } from "../../shared/calls";
import {
  atWallClock,
  millis,
  minuteOfDay,
  showClock,
  showDay,
  Temporal,
  zoned,
} from "../../shared/time";
import type { Catalog } from "../data";
import type { Group } from "./columns";
import { confirmMove } from "./confirm";

/** Where a session moves to. Absent fields stay the same. */
export interface Target {
  /** Such as 2026-03-18. */
  readonly day?: string;
  /** Minute of the day. */
  readonly minute?: number;
  /** The id of a resource or staff member, or "" for none; the grouping decides which. */
  readonly owner?: string;
}

/** Moves a session to where it was dropped, after confirmation if it has bookings. */
export function useMove(catalog: Catalog, group: Group) {
  const t = useText();
  const { locale } = useI18n();
  const update = useCall(SessionService.method.updateSession);
  const { run } = update;
  const undoable = useRef<string>(undefined);
  return useCallback(
    async (session: Session, to: Target) => {
      if (!session.startTime) return;
      const before = zoned(session.startTime, session.timeZone);
      const day = to.day ? Temporal.PlainDate.from(to.day) : before.toPlainDate();
      const minute = to.minute ?? minuteOfDay(before);
      const startTime = atWallClock(day, minute, session.timeZone);
      const paths = ["start_time"];
      const put: { resourceId?: string; coachId?: string } = {};
      const { owner } = to;
      if (owner !== undefined && group === "location" && owner !== session.locationId) {
        notifications.show({ color: "red", message: t.board.staysThere });
        return;
      }
      if (owner !== undefined && group === "resource" && owner !== session.resourceId) {
        const resource = catalog.resource(owner);
        if (resource && resource.locationId !== session.locationId) {
          notifications.show({ color: "red", message: t.schedule.otherLocation });
          return;
        }
        put.resourceId = owner;
        paths.push("resource_id");
      }
      if (owner !== undefined && group === "coach" && owner !== session.coachId) {
        put.coachId = owner;
        paths.push("coach_id");
      }
      if (millis(startTime) === millis(session.startTime)) paths.shift();
      if (paths.length === 0) return;
      const when = `${showDay(day, locale, "day")}, ${showClock(minute)}`;
      if (session.seatsTaken > 0 && !(await confirmMove(session, when, t))) return;
      const answer = await run({
        sessionId: session.id,
        session: { startTime, ...put },
        updateMask: { paths },
        etag: session.etag,
      });
      const moved = answer?.session;
      if (!moved) return;
      // Only the last move can be undone: earlier ones have been overwritten.
      if (undoable.current) notifications.hide(undoable.current);
      const id = `moved-${session.id}-${moved.etag}`;
      undoable.current = id;
      notifications.show({
        id,
        message: (
          <span style={{ display: "flex", gap: 12, alignItems: "center" }}>
            <span style={{ flex: 1 }}>{t.schedule.moved(session.title, when)}</span>
            <Button
              size="compact-sm"
              variant="light"
              onClick={() => {
                notifications.hide(id);
                const { startTime: back, resourceId, coachId } = session;
                void run({
                  sessionId: session.id,
                  session: { ...(back && { startTime: back }), resourceId, coachId },
                  updateMask: { paths },
                  etag: moved.etag,
                });
              }}
            >
              {t.actions.undo}
            </Button>
          </span>
        ),
        autoClose: 9000,
      });
    },
    [catalog, group, run, t, locale],
  );
}
