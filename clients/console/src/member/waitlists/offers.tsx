import { type WaitlistOffer, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { useCall } from "../../shared/api/calls";
import { useText } from "../../shared/i18n";
import { sessionOf } from "../../shared/schedules/summary";
import { Card, Time } from "../../shared/ui";
import { Countdown } from "../../shared/ui/countdown";
import { routes } from "../routes";
import { memberTexts } from "../texts";
import { Note, SummaryCard } from "../ui";
import classes from "./offers.module.css";

export const useEntries = () =>
  useQuery(
    WaitlistService.method.listWaitlistEntries,
    { pageSize: 100 },
    { refetchInterval: 60_000 },
  );

/** Shown on every page while an offer is open. */
export function OfferBanner() {
  const t = useText(memberTexts);
  const offers = (useEntries().data?.entries ?? []).flatMap(({ liveOffer }) => liveOffer ?? []);
  return (
    <div aria-live="polite">
      {offers.map(({ id, session, expireTime }) => (
        <Card bare className={classes.banner} key={id}>
          <span>
            {t.app.offer.here(sessionOf({ session }).title)} <Countdown until={expireTime} />
          </span>
          <Button
            component={Link}
            to={routes.bookings.path()}
            size="sm"
            flex="none"
            aria-label={`${t.app.offer.see}: ${sessionOf({ session }).title}`}
          >
            {t.app.offer.see}
          </Button>
        </Card>
      ))}
    </div>
  );
}

/** An open offer. */
export function OfferCard({ offer }: { offer: WaitlistOffer }) {
  const t = useText(memberTexts);
  const { title, startTime, timeZone } = sessionOf(offer);
  const accept = useCall(WaitlistService.method.acceptWaitlistOffer, {
    done: t.app.bookedNow(title),
  });
  const decline = useCall(WaitlistService.method.declineWaitlistOffer);
  return (
    <SummaryCard
      highlighted
      label={`${t.offers.yours}: ${title}`}
      title={title}
      seats={offer.seats}
      time={
        <>
          {t.offers.yours} · <Countdown until={offer.expireTime} />
        </>
      }
      notes={
        <Note>
          <Time at={startTime} zone={timeZone} />
          {offer.firstToClaim && ` · ${t.offers.first}`}
        </Note>
      }
      actions={
        <>
          <Button loading={accept.busy} onClick={() => void accept.run({ offerId: offer.id })}>
            {t.offers.accept}
          </Button>
          <Button
            variant="default"
            loading={decline.busy}
            onClick={() => void decline.run({ offerId: offer.id })}
          >
            {t.offers.decline}
          </Button>
        </>
      }
    />
  );
}
