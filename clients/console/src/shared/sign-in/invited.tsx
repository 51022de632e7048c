import { Button } from "@mantine/core";
import { IconMailQuestion } from "@tabler/icons-react";
import type { InvitationFailure } from "../auth/auth";
import { useAuth } from "../auth/user";
import { useText } from "../i18n";
import { State } from "../ui";
import classes from "./sign-in.module.css";

interface InvitedProps {
  /** What the user knows the account by. */
  account: string;
  /** The account is also for other tenants. */
  elsewhere: boolean;
  failure: InvitationFailure;
}

/** The page of a person who has opened an invitation that they could not accept. */
export function Invited({ account, elsewhere, failure }: InvitedProps) {
  const auth = useAuth();
  const t = useText();
  const text = t.invitation;
  const said = {
    other: { title: text.other, note: text.otherNote(account) },
    link: { title: text.invalid, note: text.invalidNote(account) },
    unreachable: { title: text.failed, note: text.failedNote },
  }[failure];
  return (
    <main className={classes.stranger}>
      <State
        icon={IconMailQuestion}
        {...said}
        action={
          <>
            {failure === "other" && (
              <Button onClick={() => void auth.signOutInvited()}>{text.signOut}</Button>
            )}
            {failure === "unreachable" && (
              <Button onClick={() => void auth.acceptInvitation()}>{t.actions.retry}</Button>
            )}
            {elsewhere && (
              <Button variant="default" onClick={() => auth.chooseInvited()}>
                {t.signIn.otherTenant}
              </Button>
            )}
            <Button
              variant={failure === "link" ? "filled" : "default"}
              onClick={() => auth.leaveInvitation()}
            >
              {text.stay}
            </Button>
          </>
        }
      />
    </main>
  );
}
