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
