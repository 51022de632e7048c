import { type WaitlistOffer, WaitlistOfferStatus, WaitlistService } from "@berthhq/client";
import { IconTicket } from "@tabler/icons-react";
import { useCall } from "../../../shared/api/calls";
import { usePages } from "../../../shared/api/pages";
import { useCan } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { sessionOf } from "../../../shared/schedules/summary";
import { State, Tag, Time, type Tone } from "../../../shared/ui";
import { Countdown } from "../../../shared/ui/countdown";
import { routes } from "../../routes";
import {
  type Action,
  ActionsMenu,
  Dimmed,
  dotted,
  List,
  NameLink,
  Note,
  Person,
  TenantTime,
} from "../../ui";
import { Filters, useDeskFilter } from "./filters";
import { deskTexts } from "./texts";

const { LIVE, ACCEPTED, EXPIRED } = WaitlistOfferStatus;

const tones: Partial<Record<WaitlistOfferStatus, Tone>> = {
  [LIVE]: "accent",
  [ACCEPTED]: "good",
  [EXPIRED]: "warn",
};

/** Offers, newest first: without a status those that can still be accepted. */
export function Offers() {
  const t = useText(deskTexts);
  const can = useCan();
  const filter = useDeskFilter();
  const [{ status }] = routes.waitlist.useSearch();
  const offers = usePages(
    WaitlistService.method.listWaitlistOffers,
    { filter: { ...filter, statuses: [status || LIVE] }, pageSize: 50 },
    (page) => page.offers,
    { keep: true, refetchInterval: 60_000 },
  );
  return (
    <>
      <Filters statuses={{ ...t.desk.offerStatuses, [LIVE]: "" }} any={t.desk.stillOpen} />
      <List
        query={offers}
        skeleton={10}
        caption={t.desk.offers}
        empty={<State icon={IconTicket} title={t.desk.noOffers} note={t.desk.noOffersNote} />}
        columns={[
          {
            title: t.desk.who,
            show: ({ memberId, memberName, createTime }) => (
              <Person
                to={can("member.read") && routes.member.path({ id: memberId })}
                name={memberName}
              >
                {t.common.since} <TenantTime at={createTime} as="dateTime" />
              </Person>
            ),
          },
          {
            title: t.desk.session,
            show: (offer) => {
              const { id, title, startTime, timeZone } = sessionOf(offer);
              return (
                <>
                  <NameLink to={routes.session.path({ id })}>{title}</NameLink>{" "}
                  <Dimmed>
                    <Time at={startTime} zone={timeZone} />
                  </Dimmed>
                  <Note>
                    {dotted(
                      offer.seats > 1 && `× ${offer.seats}`,
                      offer.byHand && t.desk.byHand,
                      offer.firstToClaim && t.offers.first,
                      !offer.byHand &&
                        !offer.firstToClaim &&
                        offer.attempt > 1 &&
                        t.desk.nth(offer.attempt),
                    )}
                  </Note>
                </>
              );
            },
          },
          {
            title: t.desk.status,
            show: ({ status, expireTime, reason, closeTime }) => (
              <>
                <Tag tone={tones[status] ?? ""}>{t.desk.offerStatuses[status]}</Tag>{" "}
                {status === LIVE ? (
                  <Countdown until={expireTime} />
                ) : (
                  <Dimmed>
                    <TenantTime at={closeTime ?? expireTime} as="dateTime" />
                  </Dimmed>
                )}
                {reason && <Note mt={3}>{reason}</Note>}
              </>
            ),
          },
          can("waitlist.manage") && {
            label: t.actions.actions,
            ta: "right",
            w: 1,
            show: (offer) => offer.status === LIVE && <Actions offer={offer} />,
          },
        ]}
      />
    </>
  );
}

function Actions({ offer: { id: offerId, memberName } }: { offer: WaitlistOffer }) {
  const t = useText(deskTexts);
  const accept = useCall(WaitlistService.method.acceptWaitlistOffer, {
    ask: {
      title: t.desk.acceptTitle(memberName),
      body: t.desk.acceptBody,
      yes: t.desk.accept,
    },
  });
  const decline = useCall(WaitlistService.method.declineWaitlistOffer, {
    ask: {
      title: t.desk.declineTitle(memberName),
      body: t.desk.declineBody,
      yes: t.desk.decline,
      reason: t.fields.reason,
    },
  });
  const end = useCall(WaitlistService.method.expireWaitlistOffer, {
    ask: {
      title: t.desk.endTitle(memberName),
      body: t.desk.declineBody,
      yes: t.offers.end,
      reason: t.fields.reason,
      danger: true,
    },
  });
  const actions: Action[] = [
    [true, t.desk.accept, () => accept.run({ offerId })],
    [true, t.desk.decline, () => decline.run({ offerId })],
    [true, t.offers.end, () => end.run({ offerId }), "danger"],
  ];
  return <ActionsMenu label={`${t.actions.actions}: ${memberName}`} actions={actions} />;
}
