import {
  type Booking,
  BookingItemStatus,
  BookingService,
  CatalogService,
  EligibilityStatus,
  type Location,
  type Service,
  type Session,
} from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import {
  Alert,
  Button,
  Checkbox,
  Flex,
  Modal,
  NativeSelect,
  NumberInput,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useSet } from "@mantine/hooks";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";
import { useCall } from "../../shared/api/calls";
import { useAll } from "../../shared/api/lists";
import { showPrice } from "../../shared/format/money";
import { zoneName } from "../../shared/format/time";
import { Form, FormError, useFields, useSubmit } from "../../shared/forms/form";
import { useI18n, useText } from "../../shared/i18n";
import { sessionOf } from "../../shared/schedules/summary";
import { useLast } from "../../shared/state/use-last";
import { Countdown, usePassed } from "../../shared/ui/countdown";
import { PlanChoice, usePlans } from "../accounts/plans";
import { routes } from "../routes";
import { memberTexts } from "../texts";
import { DayAndTime, Note } from "../ui";
import { waitlistTexts } from "../waitlists/texts";
import classes from "./book.module.css";
import { useKeptText } from "./kept";
import { bookingTexts } from "./texts";

/** A group of inputs for a booking's items. */
function ItemsFieldset({ children }: { children: ReactNode }) {
  const t = useText(bookingTexts);
  return (
    <fieldset className={classes.items}>
      <legend>{t.hold.extras}</legend>
      {children}
    </fieldset>
  );
}

/** Confirms or releases a hold: items, plan and partner membership. */
export function ConfirmForm({ booking, onDone }: { booking: Booking; onDone: () => void }) {
  const { t, locale } = useI18n(bookingTexts, memberTexts);
  const benefits = useQuery(CatalogService.method.listBenefitProviders, {}, { staleTime: 60_000 });
  const providers = (benefits.data?.providers ?? []).filter(({ active }) => active);
  const expired = usePassed(booking.holdExpireTime);
  const items = booking.items.filter(({ status }) => status === BookingItemStatus.PENDING);
  const dropped = useSet<string>(); // the ids of items that are not kept
  const form = useFields({ plan: "", provider: "", number: "" });
  const { plan, provider, number } = form.values;
  const confirm = useCall(BookingService.method.confirmBooking, {
    quiet: true,
    done: t.app.bookedNow(sessionOf(booking).title),
  });
  const release = useCall(BookingService.method.releaseHold, { done: t.hold.released });
  const { error, onSubmit } = useSubmit(async () => {
    await confirm.run({
      bookingId: booking.id,
      subscriptionId: plan,
      benefitProviderCode: provider,
      benefitMembershipNumber: provider && number.trim(),
      items: { bookingItemIds: items.map(({ id }) => id).filter((id) => !dropped.has(id)) },
    });
    onDone();
  });
  if (expired) return <Alert color="yellow">{t.hold.over}</Alert>;
  return (
    <Form onSubmit={onSubmit}>
      <div className={classes.status} role="status">
        <span>
          {t.hold.held}
          {booking.partySize > 1 && ` × ${booking.partySize}`} · {t.hold.left}
        </span>
        <Countdown until={booking.holdExpireTime} />
      </div>
      <Note>{t.hold.heldNote}</Note>
      {items.length > 0 && (
        <ItemsFieldset>
          {items.map(({ id, name, quantity, price }) => (
            <Checkbox
              key={id}
              label={[t.hold.keep(name, quantity), showPrice(price, locale)]
                .filter(Boolean)
                .join(", ")}
              checked={!dropped.has(id)}
              onChange={({ currentTarget: { checked } }) => {
                if (checked) dropped.delete(id);
                else dropped.add(id);
              }}
            />
          ))}
        </ItemsFieldset>
      )}
      {providers.length > 0 && (
        <NativeSelect
          {...form.text("provider")}
          label={t.hold.card}
          data={[
            { value: "", label: t.hold.noCard },
            ...providers.map(({ code, name }) => ({ value: code, label: name })),
          ]}
        />
      )}
      {provider && (
        <TextInput {...form.text("number")} label={t.hold.cardNumber} required maxLength={100} />
      )}
      <PlanChoice value={plan} onChange={(plan) => form.set({ plan })} error={error} />
      <FormError error={error} zone={sessionOf(booking).timeZone} />
      <Flex gap={8}>
        <Button type="submit" flex={1} loading={confirm.busy} data-autofocus>
          {t.hold.confirm}
        </Button>
        <Button
          variant="default"
          loading={release.busy}
          onClick={async () => {
            if (await release.run({ bookingId: booking.id })) onDone();
          }}
        >
          {t.hold.release}
        </Button>
      </Flex>
    </Form>
  );
}

interface Props {
  location: Location | undefined;
  serviceOf: (session: Session) => Service | undefined;
  onClose: () => void;
}

/** Books the chosen session of a week. */
export function BookDialog({ chosen, ...props }: Props & { chosen: Session | undefined }) {
  const [session, turn] = useLast(chosen);
  return (
    <Modal opened={chosen !== undefined} onClose={props.onClose} title={session?.title ?? ""}>
      {session && <BookForm key={turn} session={session} {...props} />}
    </Modal>
  );
}

/** If the session has items, the seat is held first while the member chooses. */
function BookForm({ session, location, serviceOf, onClose }: Props & { session: Session }) {
  const { t, locale } = useI18n(bookingTexts, memberTexts, waitlistTexts);
  const service = serviceOf(session);
  const items = useAll(
    CatalogService.method.listItems,
    { filter: { locationId: session.locationId } },
    (answer) => answer.items,
    { staleTime: 60_000 },
  );
  usePlans(); // loaded now, because both steps may need them
  const least = service?.minParty || 1;
  const most = service?.maxParty || least;
  const kept = useKeptText(session);
  const offered = session.eligibility?.offerSeats;
  const form = useFields({ party: offered ?? least, guests: "", plan: "" });
  const [quantities, setQuantities] = useState<Readonly<Record<string, number>>>({});
  const [held, setHeld] = useState<Booking>();
  const book = useCall(BookingService.method.book, {
    quiet: true,
    done: ({ outcome }) =>
      outcome.case === "entry"
        ? t.app.queuedNow(outcome.value.position ?? 0)
        : t.app.bookedNow(session.title),
  });
  const hold = useCall(BookingService.method.holdBooking, { quiet: true });
  const waits = session.eligibility?.status === EligibilityStatus.WAITLIST;
  // A booking accepts an offer; a hold does not.
  const holds = !waits && !kept && (items.data?.length ?? 0) > 0;
  const { party, guests, plan } = form.values;
  const { error, onSubmit } = useSubmit(async () => {
    const request = { sessionId: session.id, partySize: party, note: guests };
    if (!holds) {
      await book.run({ ...request, subscriptionId: plan });
      onClose();
      return;
    }
    const chosen = Object.entries(quantities).filter(([, quantity]) => quantity > 0);
    const answer = await hold.run({
      ...request,
      items: chosen.map(([itemId, quantity]) => ({ itemId, quantity })),
    });
    setHeld(answer?.booking);
  });
  const description = session.description || service?.description;
  return (
    <Stack gap={14}>
      <div>
        <Text inherit fw={600}>
          <DayAndTime at={session.startTime} zone={session.timeZone} />
        </Text>
        <Note>
          {session.coachName && `${t.app.with(session.coachName)} · `}
          {location?.name}
          {location?.address && `, ${location.address}`} · {zoneName(session.timeZone, locale)}
        </Note>
        {kept && <Note>{kept}</Note>}
      </div>
      {held ? (
        <ConfirmForm booking={held} onDone={onClose} />
      ) : (
        <Form onSubmit={onSubmit}>
          {description && (
            <Text inherit className={classes.description}>
              {description}
            </Text>
          )}
          {most > 1 && (
            <NumberInput {...form.count("party", 1)} label={t.app.party} min={least} max={most} />
          )}
          {party > 1 && (
            <TextInput
              {...form.text("guests")}
              label={t.hold.guests}
              description={t.hold.guestsNote}
              maxLength={1000}
            />
          )}
          {holds ? (
            <ItemsFieldset>
              {items.data?.map(({ id, name, price, stock }) => (
                <NumberInput
                  key={id}
                  label={[name, showPrice(price, locale)].filter(Boolean).join(", ")}
                  description={t.hold.inStock(stock)}
                  min={0}
                  max={Math.min(stock, 100)}
                  value={quantities[id] ?? 0}
                  onChange={(next) => setQuantities({ ...quantities, [id]: Number(next) || 0 })}
                />
              ))}
            </ItemsFieldset>
          ) : (
            <PlanChoice value={plan} onChange={(plan) => form.set({ plan })} error={error} />
          )}
          <FormError error={error} zone={session.timeZone} />
          {holds && <Note>{t.hold.note}</Note>}
          <Button
            type="submit"
            size="md"
            fullWidth
            loading={book.busy || hold.busy}
            disabled={items.isPending}
            data-autofocus
          >
            {waits ? t.common.join : holds ? t.hold.hold : t.common.book}
          </Button>
          {waits && (
            <Button
              component={Link}
              to={routes.waitForAny.path({ session: [session.id] })}
              variant="subtle"
            >
              {t.any.here}
            </Button>
          )}
        </Form>
      )}
    </Stack>
  );
}
