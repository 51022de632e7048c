import { type Booking, BookingService, BookingStatus, type Session } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Alert, Box, Button, Group, Stack } from "@mantine/core";
import { FormFoot } from "../../shared/forms/form";
import { useText } from "../../shared/i18n";
import { Time } from "../../shared/ui";
import { useCatalog } from "../catalog/loaded";
import { Dimmed } from "../ui";
import { ConfirmHold } from "./confirm";
import classes from "./hold.module.css";
import { NewHold } from "./new-hold";
import { bookingTexts } from "./texts";

/** An existing hold, or a session to hold a seat in. */
export interface Held {
  readonly session: Session;
  readonly booking?: Booking;
}

export interface HoldProps<H> {
  held: H;
  onChange: (held: Held | undefined) => void;
}

/** What is held, and the form that holds it, or confirms or releases the hold. */
export function Hold({ held: { session, booking }, onChange }: HoldProps<Held>) {
  const { location } = useCatalog();
  const close = () => onChange(undefined);
  return (
    <>
      <Group component="p" justify="space-between" gap="2px 12px" fz="sm" className={classes.what}>
        <Box component="strong" fw={600}>
          {session.title}
        </Box>
        <Dimmed>
          <Time at={session.startTime} zone={session.timeZone} />
          {" · "}
          {location(session.locationId)?.name}
        </Dimmed>
      </Group>
      {booking ? (
        <HeldBooking held={booking} onAgain={() => onChange({ session })} onClose={close} />
      ) : (
        <NewHold
          session={session}
          onHeld={(made) => onChange({ session, booking: made })}
          onClose={close}
        />
      )}
    </>
  );
}

interface HeldBookingProps {
  held: Booking;
  onAgain: () => void;
  onClose: () => void;
}

/** Shows the current booking, because another user may confirm or release it. */
function HeldBooking({ held, onAgain, onClose }: HeldBookingProps) {
  const t = useText(bookingTexts);
  const query = useQuery(BookingService.method.getBooking, { bookingId: held.id });
  const booking = query.data?.booking ?? held;
  const confirmed = booking.status === BookingStatus.CONFIRMED;
  if (booking.status === BookingStatus.PENDING) {
    return <ConfirmHold booking={booking} onClose={onClose} onAgain={onAgain} />;
  }
  return (
    <Stack gap={14}>
      <Alert color={confirmed ? "tide" : "yellow"}>{t.hold.became[booking.status]}</Alert>
      <FormFoot>
        {!confirmed && <Button onClick={onAgain}>{t.hold.again}</Button>}
        <Button variant="default" onClick={onClose}>
          {t.hold.close}
        </Button>
      </FormFoot>
    </Stack>
  );
}
