import { type SignIn, SignInService } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useCall } from "../api/calls";
import { useMe } from "../auth/user";
import { useText } from "../i18n";
import { Card, QueryResult, Tag, Time } from "../ui";
import { DataTable } from "../ui/data-table";
import { browserName } from "./browser-name";
import { Passkeys } from "./passkeys";
import { profileTexts } from "./texts";

interface SignInsProps {
  /** Absent: the user. */
  memberId?: string;
  /** Whether the user may sign the member out. */
  canEnd: boolean;
}

/** Where a member is signed in with Berth itself, and their passkeys. */
export function SignIns({ memberId = "", canEnd }: SignInsProps) {
  const t = useText(profileTexts);
  const { member } = useMe();
  const own = memberId === "" || memberId === member.id;
  const query = useQuery(SignInService.method.listSignIns, { memberId });
  const end = useCall(SignInService.method.endSignIns, { done: t.signIns.ended });
  const endAll = useCall(SignInService.method.endSignIns, {
    done: t.signIns.ended,
    ask: {
      title: own ? t.signIns.endOthersTitle : t.signIns.endAllTitle,
      body: t.signIns.endBody,
      yes: own ? t.signIns.endOthers : t.signIns.endAll,
      danger: true,
    },
  });
  return (
    <QueryResult query={query}>
      {({ signIns, passkeys }) => (
        <Stack gap="md">
          <Card title={own ? t.signIns.own : t.signIns.title} bare>
            {signIns.length === 0 ? (
              <Text inherit c="dimmed" p="md">
                {t.signIns.none}
              </Text>
            ) : (
              <DataTable
                rows={signIns}
                columns={[
                  { show: (one) => <Where of={one} /> },
                  {
                    ta: "right",
                    show: ({ id, current }) =>
                      canEnd &&
                      !current && (
                        <Button
                          variant="subtle"
                          size="compact-sm"
                          onClick={() => void end.run({ memberId, signInIds: [id] })}
                        >
                          {t.signIns.end}
                        </Button>
                      ),
                  },
                ]}
              />
            )}
            {canEnd && signIns.some(({ current }) => !current) && (
              <Group p="md">
                <Button
                  variant="default"
                  onClick={() => void endAll.run({ memberId, keepCurrent: own })}
                >
                  {own ? t.signIns.endOthers : t.signIns.endAll}
                </Button>
              </Group>
            )}
          </Card>
          <Passkeys memberId={memberId} passkeys={passkeys} own={own} canRemove={canEnd} />
        </Stack>
      )}
    </QueryResult>
  );
}

function Where({ of }: { of: SignIn }) {
  const t = useText(profileTexts);
  const { tenant } = useMe();
  return (
    <Stack gap={2}>
      <Group gap={8}>
        <strong>{browserName(of.browser) || t.signIns.unknown}</strong>
        {of.current && <Tag tone="good">{t.signIns.current}</Tag>}
      </Group>
      <Text span fz="xs" c="dimmed">
        {t.signIns.used} <Time at={of.lastUseTime} zone={tenant.timeZone} as="dateTime" />
        {" · "}
        {t.signIns.since} <Time at={of.createTime} zone={tenant.timeZone} as="dateTime" />
        {" · "}
        {t.signIns.methods[of.method]}
        {of.address && ` · ${of.address}`}
      </Text>
    </Stack>
  );
}
