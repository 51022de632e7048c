import { CheckInService, type DisplayLink, type Session } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Stack } from "@mantine/core";
import { millis } from "../../../shared/format/time";
import { useText } from "../../../shared/i18n";
import { QueryResult, Time } from "../../../shared/ui";
import { CallButton } from "../../../shared/ui/call-button";
import { CardHint, DataTable, Dimmed } from "../../ui";
import { scheduleTexts } from "../texts";

/** The display links of a session, which can be turned off. */
export function DisplayLinks({ session }: { session: Session }) {
  const t = useText(scheduleTexts);
  const query = useQuery(
    CheckInService.method.listDisplayLinks,
    { sessionId: session.id },
    { refetchInterval: 10_000 }, // a screen that opens a link makes no event
  );
  const zone = session.timeZone;
  return (
    <Stack gap={14}>
      <Dimmed>{t.session.displaysNote}</Dimmed>
      <QueryResult query={query} rows={3}>
        {({ displayLinks }) => (
          <DataTable
            rows={displayLinks}
            empty={<CardHint>{t.session.displayNone}</CardHint>}
            columns={[
              {
                title: t.session.displayMade,
                show: (link) => <Time at={link.createTime} zone={zone} />,
              },
              { title: t.fields.status, show: (link) => <State link={link} zone={zone} /> },
              {
                ta: "right",
                label: t.session.turnOff,
                show: (link) =>
                  !link.revokeTime && (
                    <CallButton
                      size="compact-sm"
                      variant="default"
                      method={CheckInService.method.revokeDisplayLink}
                      input={{ displayLinkId: link.id }}
                      done={t.session.displayOff}
                    >
                      {t.session.turnOff}
                    </CallButton>
                  ),
              },
            ]}
          />
        )}
      </QueryResult>
    </Stack>
  );
}

function State({ link, zone }: { link: DisplayLink; zone: string }) {
  const { displayOff, displayOn, displayOver, displaySecond, displayWaiting } =
    useText(scheduleTexts).session;
  if (link.revokeTime) return <Dimmed>{displayOff}</Dimmed>;
  if (link.openTime)
    return (
      <>
        {displayOn} <Time at={link.openTime} zone={zone} as="time" />
        {link.secondOpenTime && (
          <>
            {" · "}
            <strong>{displaySecond}</strong> <Time at={link.secondOpenTime} zone={zone} as="time" />
          </>
        )}
      </>
    );
  return <Dimmed>{millis(link.expireTime) < Date.now() ? displayOver : displayWaiting}</Dimmed>;
}
