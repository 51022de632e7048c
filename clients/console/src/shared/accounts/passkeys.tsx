import { type Passkey, SignInService } from "@berthhq/client";
import { Button, Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useCall } from "../api/calls";
import type { KeyOutcome } from "../auth/auth";
import { passkeysWork } from "../auth/passkeys";
import { useAuth, useMe } from "../auth/user";
import { useText } from "../i18n";
import { Card, Time } from "../ui";
import { DataTable } from "../ui/data-table";
import { browserName } from "./browser-name";
import { profileTexts } from "./texts";

interface PasskeysProps {
  memberId: string;
  passkeys: readonly Passkey[];
  own: boolean;
  /** Whether the user may remove them. */
  canRemove: boolean;
}

/** The passkeys that sign a member in. Their own they can add to. */
export function Passkeys({ memberId, passkeys, own, canRemove }: PasskeysProps) {
  const t = useText(profileTexts);
  const { tenant } = useMe();
  const auth = useAuth();
  const remove = useCall(SignInService.method.removePasskey, {
    done: t.passkeys.removed,
    ask: {
      title: t.passkeys.removeTitle,
      body: t.passkeys.removeBody,
      yes: t.passkeys.remove,
      danger: true,
    },
  });
  const canAdd = own && auth.own && passkeysWork();
  if (passkeys.length === 0 && !canAdd) return null;
  return (
    <Card title={t.passkeys.title} bare>
      {passkeys.length === 0 ? (
        <Text inherit c="dimmed" p="md" pb={0}>
          {t.passkeys.note}
        </Text>
      ) : (
        <DataTable
          rows={[...passkeys]}
          columns={[
            {
              show: ({ browser, createTime, lastUseTime }) => (
                <Stack gap={2}>
                  <strong>{browserName(browser) || t.signIns.unknown}</strong>
                  <Text span fz="xs" c="dimmed">
                    {t.passkeys.created}{" "}
                    <Time at={createTime} zone={tenant.timeZone} as="dateTime" />
                    {" · "}
                    {t.signIns.used} <Time at={lastUseTime} zone={tenant.timeZone} as="dateTime" />
                  </Text>
                </Stack>
              ),
            },
            {
              ta: "right",
              show: ({ id }) =>
                canRemove && (
                  <Button
                    variant="subtle"
                    size="compact-sm"
                    onClick={() => void remove.run({ memberId, passkeyId: id })}
                  >
                    {t.passkeys.remove}
                  </Button>
                ),
            },
          ]}
        />
      )}
      {canAdd && <AddPasskey />}
    </Card>
  );
}

function AddPasskey() {
  const t = useText(profileTexts);
  const auth = useAuth();
  const { tenant } = useMe();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const outcome = (of: KeyOutcome) => {
    if (of === "added") void queries.invalidateQueries();
    if (of === "again") auth.expired({ max_age: 600 });
    else if (of !== "left")
      notifications.show({ message: t.passkeys[of], color: of === "added" ? "tide" : "red" });
  };
  return (
    <Group p="md">
      <Button
        variant="default"
        loading={busy}
        onClick={() => {
          setBusy(true);
          void auth
            .addPasskey(tenant.id)
            .then(outcome)
            .finally(() => setBusy(false));
        }}
      >
        {t.passkeys.add}
      </Button>
    </Group>
  );
}
