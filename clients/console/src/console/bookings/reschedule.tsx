import { useLast } from "../../shared/last";
import "./bookings.css";
import {
  type Booking,
  BookingService,
  type Session,
  SessionService,
  SessionState,
} from "@berthhq/client";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Button, Checkbox, Modal, Switch } from "@mantine/core";
import { useState } from "react";
import { useText } from "../../i18n";
import { useDesk } from "../../i18n/desk";
import { useAll } from "../../shared/all";
import { useCall } from "../../shared/calls";
import { Refused, useSubmit } from "../../shared/form";
import { DAY, millis } from "../../shared/time";
import { Shown, State, Time } from "../../shared/ui";
import { dayOf } from "../data";

/** Reschedules a booking. The new seat is booked before the current one is released. */
export function RescheduleModal({
  booking,
  onClose,
}: {
  booking: Booking | undefined;
  onClose: () => void;
}) {
  const d = useDesk();
  const [last, turn] = useLast(booking);
  return (
    <Modal
      opened={booking !== undefined}
      onClose={onClose}
      title={last && d.reschedule.title(last.memberName)}
      size={560}
    >
      {last && <RescheduleForm key={turn} booking={last} onClose={onClose} />}
    </Modal>
  );
}

/** How far after the booking, and after now, sessions are shown. */
const lookAhead = 14 * DAY;

function RescheduleForm({ booking, onClose }: { booking: Booking; onClose: () => void }) {
  const t = useText();
  const d = useDesk();
  const from = useQuery(SessionService.method.getSession, { sessionId: booking.sessionId });
  const session = from.data?.session;
  const [now] = useState(() => Date.now());
  const [same, setSame] = useState(true);
  const [chosen, setChosen] = useState("");
  const [items, setItems] = useState(true);
  const [notify, setNotify] = useState(true);
  const reschedule = useCall(BookingService.method.rescheduleBooking, {
    quiet: true,
    done: d.reschedule.done,
  });
  const sessions = useAll(
    SessionService.method.listSessions,
    {
      filter: {
        startsWithin: {
          start: timestampFromMs(now),
          end: timestampFromMs(Math.max(now, millis(booking.sessionStartTime)) + lookAhead),
        },
        locationIds: session ? [session.locationId] : [],
        serviceIds: session && same ? [session.serviceId] : [],
        states: [SessionState.PUBLISHED],
      },
    },
    (answer) => answer.sessions,
    { enabled: session !== undefined, keep: true },
  );
  const open = (sessions.data ?? []).filter(
    ({ id, blocked, seatsOpen }) =>
      id !== booking.sessionId && !blocked && (seatsOpen ?? Infinity) >= booking.partySize,
  );
  const days = Map.groupBy(open, dayOf);
  const kept = booking.items.filter(({ status }) => status < 3);
  const { error, onSubmit } = useSubmit(async () => {
    await reschedule.run({
      bookingId: booking.id,
      sessionId: chosen,
      moveItems: items && kept.length > 0,
      notify,
    });
    onClose();
  });
  return (
    <form className="form" onSubmit={onSubmit}>
      <p className="muted" style={{ margin: 0, fontSize: 13 }}>
        {d.reschedule.now}{" "}
        <strong style={{ color: "var(--ink)" }}>
          {booking.sessionTitle}, <Time at={booking.sessionStartTime} zone={booking.timeZone} />
        </strong>
        <br />
        {d.reschedule.note}
      </p>
      <Switch
        size="xs"
        label={d.reschedule.same}
        checked={same}
        onChange={(event) => setSame(event.currentTarget.checked)}
      />
      <Shown of={sessions} rows={5}>
        {() =>
          open.length === 0 ? (
            <State title={d.reschedule.none}>{d.reschedule.noneNote}</State>
          ) : (
            <fieldset className="choices">
              <legend className="sr">{d.reschedule.to}</legend>
              {[...days].map(([day, list]) => (
                <div key={day}>
                  <h3>
                    <Time at={list[0]?.startTime} zone={booking.timeZone} as="longDay" />
                  </h3>
                  {list.map((one) => (
                    <Choice
                      key={one.id}
                      session={one}
                      chosen={chosen === one.id}
                      onChoose={setChosen}
                    />
                  ))}
                </div>
              ))}
            </fieldset>
          )
        }
      </Shown>
      {kept.length > 0 && (
        <Checkbox
          label={d.reschedule.items(
            kept.map(({ name, quantity }) => `${quantity} ${name}`).join(", "),
          )}
          checked={items}
          onChange={(event) => setItems(event.currentTarget.checked)}
        />
      )}
      <Checkbox
        label={d.reschedule.tell}
        checked={notify}
        onChange={(event) => setNotify(event.currentTarget.checked)}
      />
      <Refused error={error} zone={booking.timeZone} />
      <div className="end">
        <Button variant="default" onClick={onClose}>
          {t.actions.back}
        </Button>
        <Button type="submit" disabled={!chosen} loading={reschedule.busy}>
          {d.reschedule.act}
        </Button>
      </div>
    </form>
  );
}

function Choice({
  session,
  chosen,
  onChoose,
}: {
  session: Session;
  chosen: boolean;
  onChoose: (id: string) => void;
}) {
  const t = useText();
  return (
    <label className="choice">
      <input type="radio" name="to" checked={chosen} onChange={() => onChoose(session.id)} />
      <Time at={session.startTime} zone={session.timeZone} as="time" />
      <span className="ellipsis">{session.title}</span>
      <span className="muted num">
        {session.seatsOpen === undefined ? t.session.noLimit : t.session.open(session.seatsOpen)}
      </span>
    </label>
  );
}
