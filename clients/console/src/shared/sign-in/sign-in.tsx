import { Alert, Button, Text, Title } from "@mantine/core";
import { IconLogin2 } from "@tabler/icons-react";
import { useState } from "react";
import { CodeForm } from "../auth/code-form";
import { useAuth } from "../auth/user";
import { useText } from "../i18n";
import { BerthIcon, Wordmark } from "../ui";
import { Demo } from "./demo";
import classes from "./sign-in.module.css";

/** The sign-in page. It is shown at any URL and returns there. */
export function SignIn({ failure }: { failure?: string | undefined }) {
  const auth = useAuth();
  const t = useText();
  const [unreachable, setUnreachable] = useState(false);
  const { development = false, issuer, sign_in: own = false } = auth.config;
  const forMembers = auth.base !== "/";
  return (
    <div className={classes.page}>
      <div className={classes.intro}>
        <Wordmark>
          <BerthIcon size={28} /> Berth
        </Wordmark>
        <div>
          <h1>{forMembers ? t.signIn.memberTitle : t.signIn.title}</h1>
          <p>{forMembers ? t.signIn.memberNote : t.signIn.note}</p>
        </div>
      </div>
      <main className={classes.choices}>
        {(failure !== undefined || unreachable) && (
          <Alert color="red">{failure === "sign-out" ? t.signIn.stillIn : t.signIn.failed}</Alert>
        )}
        {auth.invited && <Text>{t.signIn.invited}</Text>}
        {issuer && (
          <Button
            size="md"
            leftSection={<IconLogin2 size={18} />}
            onClick={() => auth.signIn().catch(() => setUnreachable(true))}
          >
            {own ? t.signIn.byAccount : t.signIn.action}
          </Button>
        )}
        {own && (
          <section className={classes.code}>
            <Title order={2} fz={20} fw={700} mb={14}>
              {t.signIn.byMail}
            </Title>
            <CodeForm />
            <Text inherit c="dimmed" mt={14}>
              {t.signIn.uninvited}
            </Text>
          </section>
        )}
        {development && <Demo />}
        {!own && !issuer && !development && (
          <Alert color="yellow" title={t.signIn.notSetUp}>
            {t.signIn.notSetUpNote}
          </Alert>
        )}
      </main>
    </div>
  );
}
