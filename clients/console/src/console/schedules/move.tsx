import { type Session, SessionService } from "@berthhq/client";
import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useRef } from "react";
import { useCall } from "../../shared/api/calls";
import { ask } from "../../shared/dialogs/question";
import {
  atWallClock,
  millis,
  minuteOfDay,
  showClock,
  showDay,
  Temporal,
  zoned,
} from "../../shared/format/time";
import { useI18n } from "../../shared/i18n";
import { useCatalog } from "../catalog/loaded";
import { type Grouping, ownerOf } from "./columns";
import { scheduleTexts } from "./texts";

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
export function useMove(group: Grouping) {
  const catalog = useCatalog();
  const { t, locale } = useI18n(scheduleTexts);
  const { run } = useCall(SessionService.method.updateSession);
  const undoable = useRef<string>(undefined);
  return async (session: Session, to: Target) => {
    if (!session.startTime) return;
    const before = zoned(session.startTime, session.timeZone);
    const day = to.day ? Temporal.PlainDate.from(to.day) : before.toPlainDate();
    const minute = to.minute ?? minuteOfDay(before);
    const startTime = atWallClock(day, minute, session.timeZone);
    const paths = millis(startTime) === millis(session.startTime) ? [] : ["start_time"];
    const { owner = ownerOf(session, group) } = to;
    const changesOwner = owner !== ownerOf(session, group);
    if (changesOwner) {
      const { locationId = session.locationId } = catalog.resource(owner) ?? {};
      const otherLocation = group === "resource" && locationId !== session.locationId;
      if (group === "location" || otherLocation) {
        const message = otherLocation ? t.schedule.otherLocation : t.board.staysThere;
        notifications.show({ color: "red", message });
        return;
      }
      paths.push(`${group}_id`);
    }
    if (paths.length === 0) return;
    const when = `${showDay(day, locale, "day")}, ${showClock(minute)}`;
    // Bookings move with the session.
    const sure =
      session.seatsTaken === 0 ||
      (await ask({
        title: t.schedule.moveTitle(session.title),
        body: t.schedule.moveBooked(session.seatsTaken, when),
        yes: t.schedule.move,
      }));
    if (!sure) return;
    const answer = await run({
      sessionId: session.id,
      session: { startTime, ...(changesOwner && { [`${group}Id`]: owner }) },
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
        <Group component="span" gap={12} wrap="nowrap">
          <Text span inherit flex={1}>
            {t.schedule.moved(session.title, when)}
          </Text>
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
        </Group>
      ),
      autoClose: 9000,
    });
  };
}
