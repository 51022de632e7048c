import { type Booking, BookingService, SessionService, SessionStatus } from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Box, Checkbox, Switch, Text } from "@mantine/core";
import { useState } from "react";
import { DAY, millis } from "../../shared/format/time";
import { useFields } from "../../shared/forms/form";
import { useText } from "../../shared/i18n";
import { useSessions } from "../../shared/schedules/sessions";
import { sessionOf } from "../../shared/schedules/summary";
import { QueryResult, State, Time } from "../../shared/ui";
import { CallForm, Dimmed, Panel } from "../ui";
import { useSave } from "../ui/edit-form";
import { dayOf } from "../ui/sessions";
import text from "../ui/text.module.css";
import { uiTexts } from "../ui/texts";
import classes from "./reschedule.module.css";
import { bookingTexts } from "./texts";

interface RescheduleModalProps {
  booking: Booking | undefined;
  onClose: () => void;
}

/** Reschedules a booking. The new seat is booked before the current one is released. */
export function RescheduleModal({ booking, onClose }: RescheduleModalProps) {
  const t = useText(bookingTexts);
  return (
    <Panel
      modal
      of={booking}
      title={({ memberName }) => t.reschedule.title(memberName)}
      width={560}
      onClose={onClose}
    >
      {(moved) => <RescheduleForm booking={moved} onClose={onClose} />}
    </Panel>
  );
}

/** How far after the booking, and after now, sessions are shown. */
const lookAhead = 14 * DAY;

function RescheduleForm({ booking, onClose }: { booking: Booking; onClose: () => void }) {
  const t = useText(bookingTexts, uiTexts);
  const from = useQuery(SessionService.method.getSession, { sessionId: sessionOf(booking).id });
  const session = from.data?.session;
  const [now] = useState(() => Date.now());
  const { values, set, ...form } = useFields({ same: true, chosen: "", items: true, notify: true });
  const { same, chosen, items, notify } = values;
  const reschedule = useSave(BookingService.method.rescheduleBooking, t.reschedule.done);
  const sessions = useSessions(
    {
      startsWithin: {
        start: timestampFromMs(now),
        end: timestampFromMs(Math.max(now, millis(sessionOf(booking).startTime)) + lookAhead),
      },
      locationIds: session ? [session.locationId] : [],
      serviceIds: session && same ? [session.serviceId] : [],
      statuses: [SessionStatus.PUBLISHED],
    },
    { enabled: session !== undefined, keep: true },
  );
  const open = (sessions.data ?? []).filter(
    ({ id, blocked, seatsOpen }) =>
      id !== sessionOf(booking).id && !blocked && (seatsOpen ?? Infinity) >= booking.partySize,
  );
  const days = Map.groupBy(open, dayOf);
  const kept = booking.items.filter(({ status }) => status < 3);
  const run = () =>
    reschedule({
      bookingId: booking.id,
      sessionId: chosen,
      moveItems: items && kept.length > 0,
      notify,
    });
  return (
    <CallForm
      act={t.reschedule.act}
      cancel={t.actions.back}
      run={run}
      disabled={!chosen}
      zone={sessionOf(booking).timeZone}
      onClose={onClose}
    >
      <Text c="dimmed" fz="sm">
        {t.reschedule.now}{" "}
        <Box component="strong" c="var(--ink)">
          {sessionOf(booking).title},{" "}
          <Time at={sessionOf(booking).startTime} zone={sessionOf(booking).timeZone} />
        </Box>
        <br />
        {t.reschedule.note}
      </Text>
      <Switch size="xs" label={t.reschedule.same} {...form.flag("same")} />
      <QueryResult query={sessions} rows={5}>
        {() =>
          open.length === 0 ? (
            <State title={t.reschedule.none} note={t.reschedule.noneNote} />
          ) : (
            <fieldset className={classes.choices}>
              <legend className={text.hidden}>{t.reschedule.to}</legend>
              {[...days].map(([day, list]) => (
                <div key={day}>
                  <h3>
                    <Time at={list[0]?.startTime} zone={sessionOf(booking).timeZone} as="longDay" />
                  </h3>
                  {list.map((one) => (
                    <label key={one.id} className={classes.choice}>
                      <input
                        type="radio"
                        name="to"
                        checked={chosen === one.id}
                        onChange={() => set({ chosen: one.id })}
                      />
                      <Time at={one.startTime} zone={one.timeZone} as="time" />
                      <Text span inherit truncate>
                        {one.title}
                      </Text>
                      <Dimmed className={text.num}>
                        {one.seatsOpen === undefined
                          ? t.ui.noLimit
                          : t.bookings.open(one.seatsOpen)}
                      </Dimmed>
                    </label>
                  ))}
                </div>
              ))}
            </fieldset>
          )
        }
      </QueryResult>
      {kept.length > 0 && (
        <Checkbox
          label={t.reschedule.items(
            kept.map(({ name, quantity }) => `${quantity} ${name}`).join(", "),
          )}
          {...form.flag("items")}
        />
      )}
      <Checkbox label={t.reschedule.tell} {...form.flag("notify")} />
    </CallForm>
  );
}
