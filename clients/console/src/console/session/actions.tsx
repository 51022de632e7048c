import { CheckInService, type Session, SessionService, SessionState } from "@berthhq/client";
import { Button } from "@mantine/core";
import { IconCheck, IconDeviceTv } from "@tabler/icons-react";
import { useText } from "../../i18n";
import { ask } from "../../shared/ask";
import { useCall } from "../../shared/calls";
import { useCan } from "../../shared/me";
import { type Action, ActionsMenu } from "../actions-menu";

export function DisplayButton({ session }: { session: Session }) {
  const t = useText();
  const make = useCall(CheckInService.method.createDisplayUrl);
  return (
    <Button
      variant="default"
      title={t.session.displayNote}
      leftSection={<IconDeviceTv size={16} />}
      loading={make.busy}
      onClick={async () => {
        // Open the window before the request, or the browser blocks it as a popup.
        const page = window.open("about:blank", "_blank");
        const answer = await make.run({ sessionId: session.id });
        const address = answer && new URL(answer.url);
        if (page && address)
          page.location.href = address.pathname.startsWith("/display")
            ? address.pathname
            : answer.url;
        else page?.close();
      }}
    >
      {t.session.display}
    </Button>
  );
}

/** Actions on the whole session. */
export function SessionActions({ session }: { session: Session }) {
  const t = useText();
  const can = useCan();
  const publish = useCall(SessionService.method.publishSession, { done: t.session.published });
  const unpublish = useCall(SessionService.method.unpublishSession);
  const block = useCall(SessionService.method.blockSession);
  const unblock = useCall(SessionService.method.unblockSession);
  const cancel = useCall(SessionService.method.cancelSession, {
    done: ({ bookingsCancelled, creditsRefunded }) =>
      t.session.sessionCancelled(bookingsCancelled, creditsRefunded),
  });
  const { id: sessionId, etag, state } = session;
  if (state === SessionState.CANCELLED) return null;
  const draft = state === SessionState.DRAFT;
  const rest: (Action | false)[] = [
    !draft &&
      can("session.publish") && {
        label: t.session.unpublish,
        run: () => unpublish.run({ sessionId, etag }),
      },
    !draft &&
      can("session.block") &&
      (session.blocked
        ? { label: t.session.unblock, run: () => unblock.run({ sessionId }) }
        : {
            label: t.session.block,
            run: async () => {
              const answer = await ask({
                title: t.session.blockTitle,
                body: t.session.blockBody,
                yes: t.session.block,
                reason: t.fields.reason,
              });
              if (answer) await block.run({ sessionId, reason: answer.reason });
            },
          }),
    can("session.cancel") && {
      label: t.session.cancel,
      danger: true,
      run: async () => {
        const answer = await ask({
          title: t.session.cancelSessionTitle(session.title),
          body: t.session.cancelSessionBody(session.seatsTaken),
          yes: t.session.cancel,
          reason: t.fields.reason,
          danger: true,
        });
        if (answer) await cancel.run({ sessionId, reason: answer.reason });
      },
    },
  ];
  return (
    <>
      {draft && can("session.publish") && (
        <Button
          variant="light"
          leftSection={<IconCheck size={16} />}
          loading={publish.busy}
          onClick={() => void publish.run({ sessionId, etag })}
        >
          {t.session.publish}
        </Button>
      )}
      <ActionsMenu outlined label={t.actions.actions} actions={rest} />
    </>
  );
}
