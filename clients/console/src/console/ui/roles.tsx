import { AccessService } from "@berthhq/client";
import { useAll } from "../../shared/api/lists";
import { useMe } from "../../shared/auth/user";
import { type Texts, useText } from "../../shared/i18n";
import { Tag } from "../../shared/ui";
import { Inline } from "./text";

/** The name of a role: built-in ones are translated. */
export const titleOf = ({ name, title }: { name: string; title?: string }, t: Texts): string =>
  (t.roleNames as Record<string, string>)[name] ?? (title || name);

/** The roles that only owners give and take. */
const owned = ["owner", "admin"];

/** Whether the user may give and take a role. */
export function useGives(): (role: string) => boolean {
  const { can } = useMe();
  return (role) => can("admin.manage") || !owned.includes(role);
}

/** The roles of staff that the user may give, also the organization's own, for a select. */
export function useStaffRoles(): { value: string; label: string }[] {
  const t = useText();
  const { can } = useMe();
  const gives = useGives();
  const roles = useAll(AccessService.method.listRoles, {}, (answer) => answer.roles, {
    enabled: can("role.read"),
  });
  const known = roles.data ?? ["coach", "admin", "owner"].map((name) => ({ name, title: "" }));
  return known
    .filter(({ name }) => name !== "member" && name !== "partner" && gives(name))
    .map((role) => ({ value: role.name, label: titleOf(role, t) }));
}

export function RoleTags({ roles }: { roles: readonly string[] }) {
  const t = useText();
  return (
    <Inline gap={4} align="stretch">
      {roles.map((name) => (
        <Tag key={name} tone={name === "member" ? "plain" : "accent"}>
          {titleOf({ name }, t)}
        </Tag>
      ))}
    </Inline>
  );
}
