import { Anchor, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useAuth } from "../auth/user";
import { useText } from "../i18n";
import { Card } from "../ui";
import classes from "./sign-in.module.css";

const shown = 5;

/** The newest mails about signing in, with codes and links. Only a server for development has them. */
export function Mails() {
  const auth = useAuth();
  const t = useText();
  const mails = useQuery({
    queryKey: ["development mails"],
    queryFn: () => auth.mails(),
    refetchInterval: 3000,
  });
  if (!mails.data?.length) return null;
  return (
    <Stack component="section" gap={10}>
      <Title order={2} fz={20} fw={700}>
        {t.signIn.mails}
      </Title>
      {mails.data.slice(0, shown).map((mail) => (
        <Card key={mail.id} bare>
          <Stack gap={4} p={16}>
            <Text inherit c="dimmed">
              {mail.to}
            </Text>
            <Title order={3} fz={15} fw={600}>
              {mail.subject}
            </Title>
            <Text inherit className={classes.mail}>
              {linked(mail.text)}
            </Text>
          </Stack>
        </Card>
      ))}
    </Stack>
  );
}

/** The text with its links to this server. */
function linked(text: string) {
  return text.split(/(https?:\/\/\S+)/).map((part) =>
    part.startsWith(`${location.origin}/`) ? (
      <Anchor underline="always" key={part} href={part}>
        {part}
      </Anchor>
    ) : (
      part
    ),
  );
}
