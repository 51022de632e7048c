import { AccessService, type Member } from "@berthhq/client";
import { ActionIcon, Button, Group, Select, Stack, Text } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useCall } from "../../../shared/api/calls";
import { useAll } from "../../../shared/api/lists";
import { useMe } from "../../../shared/auth/user";
import { useText } from "../../../shared/i18n";
import { Card } from "../../../shared/ui";
import { Note, Strong } from "../../ui";
import { titleOf, useGives } from "../../ui/roles";
import { accountTexts } from "../texts";
import { Ownership } from "./ownership";

/** A member's roles. */
export function Roles({ member }: { member: Member }) {
  const t = useText(accountTexts);
  const { can, member: me } = useMe();
  const gives = useGives();
  const roles = useAll(AccessService.method.listRoles, {}, (answer) => answer.roles);
  const title = (name: string) =>
    titleOf(roles.data?.find((role) => role.name === name) ?? { name }, t);
  const give = useCall(AccessService.method.assignRole);
  const take = useCall(AccessService.method.revokeRole);
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Card title={t.fields.roles}>
      <Stack gap={8}>
        {member.roles.map((role) => (
          <Group key={role} gap={10} wrap="nowrap">
            <Text span inherit flex={1}>
              <Strong>{title(role)}</Strong>
              <Note>{roles.data?.find(({ name }) => name === role)?.description}</Note>
            </Text>
            {can("role.assign") && (gives(role) || member.id === me.id) && (
              <ActionIcon
                aria-label={t.members.takeRole(title(role))}
                loading={take.busy}
                onClick={() => void take.run({ memberId: member.id, role })}
              >
                <IconX size={16} />
              </ActionIcon>
            )}
          </Group>
        ))}
        {can("role.assign") && (
          <Group gap={8} align="stretch" wrap="nowrap" mt={6}>
            <Select
              aria-label={t.members.giveRole}
              placeholder={t.members.giveRole}
              flex={1}
              value={chosen}
              onChange={setChosen}
              data={(roles.data ?? [])
                .filter(
                  ({ name }) => !member.roles.includes(name) && name !== "partner" && gives(name),
                )
                .map(({ name }) => ({ value: name, label: title(name) }))}
            />
            <Button
              disabled={!chosen}
              loading={give.busy}
              onClick={async () => {
                if (chosen && (await give.run({ memberId: member.id, role: chosen })))
                  setChosen(null);
              }}
            >
              {t.members.giveRole}
            </Button>
          </Group>
        )}
        {chosen && member.email && <Note>{t.members.roleInvites(member.email)}</Note>}
        <Ownership member={member} />
      </Stack>
    </Card>
  );
}
