import { Alert, Button, SimpleGrid, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconArrowRight, IconLogin2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CodeForm } from "../auth/code-form";
import { useAuth } from "../auth/user";
import { useText } from "../i18n";
import { BerthIcon, Card, Wordmark } from "../ui";
import { Mails } from "./mails";
import classes from "./sign-in.module.css";

/** The sign-in page. It is shown at any URL and returns there. */
export function SignIn({ failure }: { failure?: string | undefined }) {
  const auth = useAuth();
  const t = useText();
  const [unreachable, setUnreachable] = useState(false);
  const [chosen, setChosen] = useState("");
  const roles = t.roleNames as Record<string, string>;
  const { development = false, issuer, sign_in: own = false } = auth.config;
  const people = useQuery({
    queryKey: ["demo people"],
    queryFn: () => auth.people(),
    enabled: development,
    staleTime: Number.POSITIVE_INFINITY,
  });
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
        {(failure !== undefined || unreachable || people.isError) && (
          <Alert color="red">{failure === "sign-out" ? t.signIn.stillIn : t.signIn.failed}</Alert>
        )}
        {issuer && (
          <Button
            size="md"
            leftSection={<IconLogin2 size={18} />}
            onClick={() => auth.signIn().catch(() => setUnreachable(true))}
          >
            {t.signIn.action}
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
        {development && (
          <>
            <div>
              <Title order={2} fz={20} fw={700} mb={2}>
                {t.signIn.demo}
              </Title>
              <Text inherit c="dimmed">
                {t.signIn.demoNote}
              </Text>
            </div>
            {!people.data && <Skeleton height={280} radius="lg" />}
            {people.data?.map((tenant) => (
              <Card key={tenant.id} bare>
                <Stack gap={10} p={16}>
                  <Title order={2} fz={15} fw={600}>
                    {tenant.name}
                  </Title>
                  <SimpleGrid minColWidth={112} autoFlow="auto-fit" spacing={8}>
                    {tenant.people.map(({ subject, role }) => (
                      <Button
                        key={subject}
                        variant="default"
                        justify="space-between"
                        rightSection={<IconArrowRight size={14} aria-hidden />}
                        loading={chosen === tenant.id + subject}
                        aria-label={t.signIn.as(roles[role] ?? role, tenant.name)}
                        onClick={() => {
                          setChosen(tenant.id + subject);
                          void auth.be(tenant.id, subject);
                        }}
                      >
                        {roles[role] ?? role}
                      </Button>
                    ))}
                  </SimpleGrid>
                </Stack>
              </Card>
            ))}
            {people.data?.length === 0 && <Alert color="yellow">{t.signIn.noDemo}</Alert>}
            <Mails />
          </>
        )}
        {!own && !issuer && !development && (
          <Alert color="yellow" title={t.signIn.notSetUp}>
            {t.signIn.notSetUpNote}
          </Alert>
        )}
      </main>
    </div>
  );
}
