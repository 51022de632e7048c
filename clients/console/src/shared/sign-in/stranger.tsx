import { Button } from "@mantine/core";
import { IconUserQuestion } from "@tabler/icons-react";
import { useAuth } from "../auth/user";
import { useText } from "../i18n";
import { State } from "../ui";
import classes from "./sign-in.module.css";

interface StrangerProps {
  /** What the user knows the account by. */
  account: string;
  /** The account is also for other tenants. */
  elsewhere: boolean;
}

/** The page of a person who has signed in, and is no member of the tenant. */
export function Stranger({ account, elsewhere }: StrangerProps) {
  const auth = useAuth();
  const t = useText();
  return (
    <main className={classes.stranger}>
      <State
        icon={IconUserQuestion}
        title={t.signIn.stranger}
        note={
          <>
            {t.signIn.strangerNote(account)} {t.signIn.strangerAsk}
          </>
        }
        action={
          <>
            <Button onClick={() => location.reload()}>{t.actions.retry}</Button>
            {elsewhere && (
              <Button variant="default" onClick={() => auth.choose("")}>
                {t.signIn.otherTenant}
              </Button>
            )}
            <Button variant="default" onClick={() => void auth.signOut()}>
              {t.signIn.out}
            </Button>
          </>
        }
      />
    </main>
  );
}
