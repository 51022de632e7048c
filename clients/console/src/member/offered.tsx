import { type Offer, WaitlistService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { Link } from "react-router";
import { useText } from "../i18n";
import { useMemberTexts } from "../i18n/member";
import { useCall } from "../shared/calls";
import { Countdown } from "../shared/countdown";
import { Time } from "../shared/ui";

export const useEntries = () =>
  useQuery(WaitlistService.method.listMyEntries, { pageSize: 100 }, { refetchInterval: 60_000 });

/** Shown on every page while an offer is open. */
export function OfferBanner() {
  const m = useMemberTexts();
  const offers = (useEntries().data?.entries ?? []).flatMap(({ liveOffer }) => liveOffer ?? []);
  return (
    <div aria-live="polite">
      {offers.map(({ id, sessionTitle, expireTime }) => (
        <div className="card banner-offer" key={id}>
          <span>
            {m.offer.here(sessionTitle)} <Countdown until={expireTime} />
          </span>
          <Button
            component={Link}
            to="/bookings"
            size="sm"
            style={{ flex: "none" }}
            aria-label={`${m.offer.see}: ${sessionTitle}`}
          >
            {m.offer.see}
          </Button>
        </div>
      ))}
    </div>
  );
}

/** An open offer. */
export function Offered({ offer }: { offer: Offer }) {
  const t = useText();
  const accept = useCall(WaitlistService.method.acceptOffer, {
    done: t.app.bookedNow(offer.sessionTitle),
  });
  const decline = useCall(WaitlistService.method.declineOffer);
  return (
    <article
      className="card ticket offered"
      aria-label={`${t.offers.yours}: ${offer.sessionTitle}`}
    >
      <div>
        <div className="when">
          {t.offers.yours} · <Countdown until={offer.expireTime} />
        </div>
        <div className="what">
          {offer.sessionTitle}
          {offer.seats > 1 && <span className="muted"> × {offer.seats}</span>}
        </div>
        <div className="muted">
          <Time at={offer.sessionStartTime} zone={offer.timeZone} />
          {offer.firstToClaim && ` · ${t.offers.first}`}
        </div>
      </div>
      <div className="actions">
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
      </div>
    </article>
  );
}
