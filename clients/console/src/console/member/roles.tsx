import { AccessService, type Member } from "@berthhq/client";
import { ActionIcon, Button, Select } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useText } from "../../i18n";
import { useAll } from "../../shared/all";
import { useCall } from "../../shared/calls";
import { useCan } from "../../shared/me";
import { Card } from "../../shared/ui";

/** A member's roles. */
export function Roles({ member }: { member: Member }) {
  const t = useText();
  const can = useCan();
  const names = t.roleNames as Record<string, string>;
  const roles = useAll(AccessService.method.listRoles, {}, (answer) => answer.roles);
  const title = (name: string) =>
    names[name] ?? roles.data?.find((role) => role.name === name)?.title ?? name;
  const give = useCall(AccessService.method.assignRole);
  const take = useCall(AccessService.method.revokeRole);
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Card title={t.fields.roles}>
      <div style={{ display: "grid", gap: 8 }}>
        {member.roles.map((role) => (
          <div key={role} style={{ display: "flex", alignItems: "center", gap: 10 }}>
            <span style={{ flex: 1 }}>
              <strong style={{ fontWeight: 560 }}>{title(role)}</strong>
              <div className="muted" style={{ fontSize: 12 }}>
                {roles.data?.find(({ name }) => name === role)?.description}
              </div>
            </span>
            {can("role.assign") && (
              <ActionIcon
                aria-label={t.members.takeRole(title(role))}
                loading={take.busy}
                onClick={() => void take.run({ memberId: member.id, role })}
              >
                <IconX size={16} />
              </ActionIcon>
            )}
          </div>
        ))}
        {can("role.assign") && (
          <div style={{ display: "flex", gap: 8, marginTop: 6 }}>
            <Select
              aria-label={t.members.giveRole}
              placeholder={t.members.giveRole}
              style={{ flex: 1 }}
              value={chosen}
              onChange={setChosen}
              data={(roles.data ?? [])
                .filter(({ name }) => !member.roles.includes(name) && name !== "partner")
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
          </div>
        )}
      </div>
    </Card>
  );
}
