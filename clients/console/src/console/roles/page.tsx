import { AccessService, type Permission, type Role } from "@berthhq/client";
import { useQuery } from "@connectrpc/connect-query";
import { Button, Drawer } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { useText } from "../../i18n";
import { useDescribed } from "../../i18n/permissions";
import { useAll } from "../../shared/all";
import { useLast } from "../../shared/last";
import { useCan } from "../../shared/me";
import { PageHead, Shown } from "../../shared/ui";
import { Tabbed } from "../tabbed";
import { Ask } from "./ask";
import { RoleForm } from "./form";
import { Matrix } from "./matrix";
import { titleOf } from "./names";
import { People } from "./people";

/** All permissions, with descriptions in the user's language. */
function usePermissions() {
  const described = useDescribed();
  return useQuery(
    AccessService.method.listPermissions,
    {},
    {
      staleTime: Number.POSITIVE_INFINITY,
      select: ({ permissions }) =>
        permissions.map((one) => ({
          ...one,
          description: described.permissions[one.name] ?? one.description,
        })),
    },
  );
}

export function RolesPage() {
  const t = useText();
  const can = useCan();
  const [edited, setEdited] = useState<string>();
  const roles = useAll(AccessService.method.listRoles, {}, (answer) => answer.roles, {
    refetchInterval: 60_000,
  });
  const permissions = usePermissions();
  return (
    <div className="page">
      <PageHead title={t.nav.roles} note={t.roles.note}>
        {can("role.write") && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setEdited("")}>
            {t.roles.add}
          </Button>
        )}
      </PageHead>
      <Shown of={roles}>
        {(all) => (
          <Shown of={permissions}>
            {(every) => (
              <Parts roles={all} permissions={every} edited={edited} onEdit={setEdited} />
            )}
          </Shown>
        )}
      </Shown>
    </div>
  );
}

function Parts({
  roles,
  permissions,
  edited,
  onEdit,
}: {
  roles: readonly Role[];
  permissions: readonly Permission[];
  /** The name of the role to edit; empty to create one. */
  edited: string | undefined;
  onEdit: (role: string | undefined) => void;
}) {
  const t = useText();
  const can = useCan();
  const [last, turn] = useLast(edited);
  const role = roles.find(({ name }) => name === last);
  const close = () => onEdit(undefined);
  const parts = [
    {
      key: "matrix",
      label: t.roles.matrix,
      shown: (
        <Matrix
          roles={roles}
          permissions={permissions}
          onEdit={can("role.write") ? ({ name }) => onEdit(name) : undefined}
        />
      ),
    },
    can("member.read") && {
      key: "people",
      label: t.roles.people,
      shown: <People roles={roles} />,
    },
    can("access.check") && {
      key: "ask",
      label: t.roles.ask,
      shown: <Ask permissions={permissions} roles={roles} />,
    },
  ].filter((part) => part !== false);
  return (
    <>
      <Tabbed parts={parts} />
      <Drawer
        opened={edited !== undefined}
        onClose={close}
        title={role ? t.roles.edit(titleOf(role, t)) : t.roles.add}
        size={520}
      >
        <RoleForm key={turn} role={role} roles={roles} permissions={permissions} onClose={close} />
      </Drawer>
    </>
  );
}
